import { endpoint, payment } from "#domain/Examples/Records.ts"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Endpoint, EndpointChange, NewEndpoint, NoReceivingWallet } from "#domain/Endpoint.ts"
import { EndpointTest } from "#domain/EndpointTest.ts"
import { EndpointId, PaymentId } from "#domain/Ids.ts"
import { OriginNotAllowed } from "#domain/OriginUrl.ts"
import { Payment } from "#domain/Payment.ts"
import { CurrencyMismatch, IdempotencyKeyReused } from "#domain/PostingRefused.ts"
import { Forbidden, NotFound, StateTransitionInvalid } from "#domain/Refusal.ts"
import { NetworkMismatch } from "#domain/Transfer.ts"
import { NetworkNotAvailable } from "#domain/Wallet.ts"
import { Authorization, Requires, WaitsForOthers } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { createdOnce, idempotencyHeaders } from "./Idempotency.ts"
import { cursorPage, cursorQuery, page, pageQuery } from "./Pagination.ts"
import { problem, problems } from "./Problems.ts"
import { IdempotencyKeysDiffer } from "./Refusals.ts"
import { statistics } from "./Statistics.ts"

const params = { id: EndpointId }
const data = <S extends Schema.Top>(schema: S) => Schema.Struct({ data: schema })

const create = HttpApiEndpoint.post("create", "/endpoints", {
  headers: idempotencyHeaders,
  payload: NewEndpoint,
  success: Endpoint.pipe(HttpApiSchema.status(201)),
  error: problems(
    NotFound,
    NoReceivingWallet,
    NetworkNotAvailable,
    NetworkMismatch,
    CurrencyMismatch,
    OriginNotAllowed,
    IdempotencyKeyReused,
    IdempotencyKeysDiffer
  )
})
  .annotate(Requires, { resource: "x402", action: "write" })
  .annotateMerge(
    documented({
      summary: "Register an endpoint",
      description:
        "Puts a price on a path of your own HTTP service. Callers use `gatewayUrl`; a call is forwarded to `originUrl` + `path` once it " +
        "is paid for. `path` starts with `/`; a last segment `*` covers everything below it, and what a caller appends to `gatewayUrl` " +
        "is passed on as it is. `method` `ANY` covers GET, HEAD, POST, PUT, PATCH and DELETE.\n\n" +
        "`basePrice` is a JSON number above 0.0001, at most 999999, with at most 6 decimals (0.01 when left out). `volumeDiscounts`: " +
        "from `threshold` completed calls of one payer on, the price is multiplied; the highest threshold reached applies, the result " +
        "is rounded down to 0.000001, and a multiplier of 0 makes the call free. A payer's calls that are under way at once may all have a price that only " +
        "a few calls have, where a later threshold makes them dearer again. `originUrl` must be a public http or https address " +
        "without query; without it calls answer 503 `ORIGIN_NOT_CONFIGURED` and nobody is asked for money. `walletId` is where money " +
        "arrives (the account's oldest wallet of that currency and network when left out); a `currency` or `network` beside it must be the wallet's. `timeoutMs` (100 to 120000) is how long the " +
        "origin may take from the end of the request until the body of its answer begins; a caller may take two minutes for its request, and ten " +
        "seconds for any part of it (408 `REQUEST_TIMEOUT`). An endpoint has at most 256 calls under way at its origin, and one payer 128 of them: " +
        "others wait for a second, and are then answered 503, or 429, with `Retry-After`. `rateLimit` the calls a minute of one payer, `chargeOn` `success` charges answers below 400 and " +
        "`response` every answer but a 402 of the origin's own. An answer of at most 64 KiB is charged when it is whole, one without a length " +
        "that is not whole within a tenth of a second as a stream, and a longer one or an event stream when its body begins; what breaks off before is free. What an origin streams may then pause for `timeoutMs`, and for a minute in any case. `schemes` is how callers of x402 may pay: `exact`, or (on Base) `upto`, a signed maximum of which the " +
        'origin\'s answer header `Settlement-Overrides` (`{"amount":"1500"}` micro-units, `"50%"` or `"$0.02"`) says how much is ' +
        "taken, at most the payer's own price after `volumeDiscounts`; such a call reaches it with `X-Payment-Scheme: upto`. `mpp` also offers the Machine Payments Protocol: `evm/charge` on Base, `solana/charge` on Solana. `forwardHeaders` are added to every request to the origin, for example a key by which it knows the " +
        "gateway; events leave them out, and who may not write sees their names with the value `[redacted]`. `webhookUrl` is sent `x402.payment.completed` and `x402.payment.failed` of this endpoint, as webhooks are: it " +
        "is a subscription of its own, found by `GET /v1/webhooks?endpoint_id=`, whose secret " +
        "`POST /v1/webhooks/{id}/rotate-secret` shows.\n\n" +
        createdOnce,
      body: {
        name: "Weather",
        path: "/v1/forecast",
        method: "GET",
        basePrice: 0.01,
        originUrl: "https://weather.example.com",
        volumeDiscounts: [{ threshold: 1000, priceMultiplier: 0.8 }]
      },
      answer: { ...endpoint, totalCalls: 0, totalRevenue: 0 }
    })
  )

const list = HttpApiEndpoint.get("list", "/endpoints", { query: pageQuery, success: page(Endpoint) })
  .annotate(Requires, { resource: "x402", action: "read" })
  .annotateMerge(
    documented({
      summary: "List endpoints",
      description:
        "The endpoints of the caller's tenant, newest first, disabled ones included. What their `forwardHeaders` say is shown to callers " +
        "with `x402:write`, and `[redacted]` to others.",
      answer: { data: [endpoint], pagination: { page: 1, limit: 50, total: 1, totalPages: 1 } }
    })
  )

const get = HttpApiEndpoint.get("get", "/endpoints/:id", { params, success: data(Endpoint), error: problem(NotFound) })
  .annotate(Requires, { resource: "x402", action: "read" })
  .annotateMerge(
    documented({
      summary: "Get an endpoint",
      description:
        "`totalCalls` and `totalRevenue` are exact and of now. What `forwardHeaders` say is shown to callers with `x402:write`, and " +
        "`[redacted]` to others. The id is a uuid or its `epd_…` form.",
      answer: { data: endpoint }
    })
  )

const update = HttpApiEndpoint.patch("update", "/endpoints/:id", {
  params,
  payload: EndpointChange,
  success: data(Endpoint),
  error: problems(NotFound, StateTransitionInvalid, OriginNotAllowed)
})
  .annotate(Requires, { resource: "x402", action: "write" })
  .annotateMerge(
    documented({
      summary: "Change an endpoint",
      description:
        "Fields that are left out stay; null clears those that may be null. Only `active` serves: a `paused` endpoint answers 503 " +
        "`ENDPOINT_PAUSED`, a `disabled` one 404; only an answer that was paid for and lost is still given. Active and paused change " +
        "into each other and into disabled; disabled becomes active " +
        "only. A list price that was quoted before a rise stays valid as long as its quote: 60 seconds for `pay`, 300 for a signed payment. A " +
        "payer's discount that is taken away does so for a signed payment only. Emits `x402.endpoint.updated`. What is so already is no " +
        "change: it emits nothing, and leaves `updatedAt` as it is.",
      body: { basePrice: 0.02, status: "active" },
      answer: { data: { ...endpoint, basePrice: 0.02 } }
    })
  )

const remove = HttpApiEndpoint.delete("remove", "/endpoints/:id", { params, error: problem(NotFound) })
  .annotate(Requires, { resource: "x402", action: "write" })
  .annotateMerge(
    documented({
      summary: "Disable an endpoint",
      description:
        "The endpoint stays readable with status `disabled`, and its gateway address answers 404. Repeating it is fine."
    })
  )

const payments = HttpApiEndpoint.get("payments", "/endpoints/:id/payments", {
  params,
  query: cursorQuery(PaymentId),
  success: cursorPage(Payment, PaymentId),
  error: problem(NotFound)
})
  .annotate(Requires, { resource: "x402", action: "read" })
  .annotateMerge(
    documented({
      summary: "List an endpoint's payments",
      description:
        "Newest first. `amount` is what was reserved, `charged` what was taken: null while nothing was. `protocol` is how the payer paid: " +
        "with a proof of ours (`native`), or signed for x402 or MPP; then `payer_address` and `transaction` are as the chain shows them " +
        "(in the sandbox the ledger is the chain). Pass `next_cursor` as `cursor` " +
        "to read on.",
      answer: {
        data: [payment],
        pagination: { limit: 50, next_cursor: null }
      }
    })
  )

const test = HttpApiEndpoint.post("test", "/endpoints/:id/test", {
  params,
  success: data(EndpointTest),
  error: problems(NotFound, Forbidden)
})
  .annotate(Requires, { resource: "x402", action: "write" })
  .annotate(WaitsForOthers, true)
  .annotateMerge(
    documented({
      summary: "Try an endpoint with a simulated agent",
      description:
        "Sandbox only (live: 403). A new wallet of the caller's account is funded by the faucet and makes one whole call through the " +
        "gateway: 402, pay, retry, and a look at what was charged; then it is frozen. It is a real sandbox call: the origin is " +
        "called, the payment shows in the list of payments and counts in the totals. The request has the endpoint's method (GET " +
        "for `ANY`), no body, and for a path with `*` nothing after it. A stream of events has to begin, and need not end. The " +
        "answer is 200 whatever the outcome; `status` and the steps say what went wrong.",
      answer: {
        data: {
          status: "passed",
          endpointId: endpoint.id,
          paymentId: payment.id,
          duration_ms: 41,
          steps: [
            { step: "fund", status: "passed", duration_ms: 12, http_status: null, detail: "0.01 USDC in a new wallet" },
            {
              step: "discover",
              status: "passed",
              duration_ms: 3,
              http_status: 402,
              detail: "0.01 USDC on solana-devnet"
            },
            { step: "pay", status: "passed", duration_ms: 6, http_status: null, detail: "0.01 USDC reserved" },
            { step: "call", status: "passed", duration_ms: 18, http_status: 200, detail: "the origin answered 200" },
            { step: "verify", status: "passed", duration_ms: 2, http_status: null, detail: "0.01 USDC charged" }
          ]
        }
      }
    })
  )

export class EndpointsApi extends HttpApiGroup.make("endpoints")
  .add(create, list, get, update, remove, payments, statistics, test)
  .middleware(Authorization)
  .prefix("/v1/x402")
  .annotateMerge(
    OpenApi.annotations({
      title: "Pay-per-call endpoints",
      description: "Prices on paths of your own HTTP service, and the gateway that collects them."
    })
  ) {}
