import { Clock, Duration, Effect, Exit } from "effect"
import { hash } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Refusal } from "#api/Problems.ts"
import { PaymentMalformed, UpgradeNotSupported } from "#domain/GatewayRefusal.ts"
import type { RawHeaders } from "#domain/HttpHeaders.ts"
import { formatDecimal } from "#domain/Money.ts"
import { fingerprintFrom, type ProofRefusal } from "#domain/Payment.ts"
import type { Demanded } from "#domain/protocol/Demand.ts"
import { challengeBeside, speaksMpp } from "#domain/protocol/Mpp.ts"
import { failureHeaders } from "#domain/protocol/Receipt.ts"
import { type Presented, readPayment } from "#domain/protocol/X402Payload.ts"
import { Deployment } from "#services/Deployment.ts"
import { type Call, Gateway } from "#services/Gateway.ts"
import { HttpPolicy } from "#services/HttpPolicy.ts"
import { Payments, type ProvenCall } from "#services/Payments.ts"
import { PaymentPolicy } from "#services/Payments/Policy.ts"
import type { PublicHttp } from "#services/PublicHttp.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { monotonic } from "#services/RealTime.ts"
import type { RawExchange } from "../RawRoutes.ts"
import { hasBody } from "../ReadableBody.ts"
import { RateLimiter } from "../RateLimiter.ts"
import * as Suspects from "../Suspects.ts"
import type { Ground } from "./Ground.ts"
import * as Headers from "./Headers.ts"
import { PaidCall } from "./PaidCall.ts"
import { paywallHeaders, paywallPage, wantsHtml } from "./Paywall.ts"
import * as UnderWay from "./UnderWay.ts"

/** Writes a 402. Most requests end here: one header array, one string, no promise. */
const askForMoney = (
  request: IncomingMessage,
  response: ServerResponse,
  always: ReadonlyArray<string>,
  { body, challenge, header }: Demanded,
  { kind, page }: { readonly kind: RawHeaders; readonly page?: string | undefined }
) => {
  const shown = page ?? body
  const headers = [...kind, ...Headers.ofQuote, ...always, "PAYMENT-REQUIRED", header]
  if (challenge !== undefined) {
    headers.push("WWW-Authenticate", challengeBeside(request.headers.authorization, challenge))
  }
  headers.push("Content-Length", String(Buffer.byteLength(shown)))
  response.writeHead(402, headers)
  response.end(request.method === "HEAD" ? undefined : shown)
}

/** The id of the challenge that a credential of MPP answers. */
const challengeIn = (presented: Presented): string | undefined =>
  presented._tag === "Mpp" && typeof presented.challenge["id"] === "string" ? presented.challenge["id"] : undefined

const asJson: RawHeaders = ["Content-Type", "application/json"]

const bearer = /^bearer +((?:pk|agent|sess)_[!-~]{1,200})$/i

/**
 * What tells a request from others of the same method to the same address, without reading its body: what answers usually depend on.
 * Not every field, because clients send some of them anew with every attempt, as the time or the number of the attempt.
 */
const telling = [
  "accept",
  "accept-encoding",
  "accept-language",
  "range",
  "if-range",
  "if-match",
  "if-none-match",
  "if-modified-since",
  "if-unmodified-since",
  "content-length",
  "content-type",
  "content-encoding",
  "cookie",
  "authorization",
  "payment-authorization",
  "payment-signature",
  "x-payment"
] as const

/** Clients make up another boundary every time they send a form. */
const boundary = /;\s*boundary=(?:"[^"]*"|[^;]*)/i

/**
 * Tells this request from all others. The payment is part of it to the letter: what was signed is public once a chain has it, and
 * must not be enough to ask for the answer. So is the method: the answer to HEAD announces a body that it does not have. The body
 * is not: it is read when the payment was taken, and this is needed before, so two bodies of one length and type are one request.
 */
const fingerprintOf = ({ headers, method = "", url = "" }: IncomingMessage): string => {
  let told = `${method}\n${url}`
  for (const name of telling) {
    const value = headers[name]
    if (value === undefined) continue
    told += `\n${name}: ${name === "content-type" ? String(value).replace(boundary, "") : String(value)}`
  }
  return hash("sha256", told)
}

/**
 * Serves one call: asks for money, or takes it and forwards the call by `forward`. Whatever is sold here goes through this, our own
 * operations as well.
 */
export const make = Effect.fnUntraced(function* (forward: PublicHttp["Service"]["forward"]) {
  const gateway = yield* Gateway
  const payments = yield* Payments
  const deployment = yield* Deployment
  const publicUrl = new URL(deployment.publicUrl)
  const { trustedProxies } = yield* HttpPolicy
  const { uploadLife } = yield* PaymentPolicy
  const { callsPerPayer } = yield* PublicHttpPolicy
  const clock = yield* Clock.Clock
  const limiter = yield* RateLimiter
  const isOnChain = deployment.environment === "live"
  const refusedPayments = yield* Suspects.make("refused payments of")
  const unknownCallers = yield* Suspects.make("unknown callers of")
  const runCallback = Effect.runCallbackWith(yield* Effect.context<never>())
  const { begin } = yield* UnderWay.make
  const ground: Ground = {
    payments,
    gateway,
    forward,
    uploadMillis: Duration.toMillis(uploadLife),
    callsPerPayer,
    host: publicUrl.host,
    scheme: publicUrl.protocol.slice(0, -1),
    trusted: new Set(trustedProxies),
    now: () => clock.currentTimeMillisUnsafe(),
    passed: () => Math.floor(monotonic(clock)),
    run: (effect, onExit) => {
      const end = begin()
      runCallback(effect, {
        onExit: (exit) => {
          onExit(exit)
          end()
        }
      })
    }
  }

  const pageFor = (call: Call, request: IncomingMessage) => {
    if (!wantsHtml(request.headers.accept)) return undefined
    const { endpoint } = call.snapshot
    return paywallPage({
      title: endpoint.name,
      method: call.method,
      url: deployment.publicUrl + (request.url ?? ""),
      gatewayUrl: endpoint.gatewayUrl,
      price: formatDecimal(endpoint.basePrice),
      currency: endpoint.currency,
      network: endpoint.network,
      payUrl: `${deployment.publicUrl}/v1/x402/pay`,
      docsUrl: `${deployment.publicUrl}/docs`,
      environment: deployment.environment
    })
  }
  const unpaid = (
    called: Call,
    request: IncomingMessage,
    response: ServerResponse,
    exchange: RawExchange,
    reason: ProofRefusal,
    failed: boolean
  ) => {
    const page = failed ? undefined : pageFor(called, request)
    // Our own client takes the endpoint from the body, and where that is none or a page, from the header.
    const call = page === undefined && called.method !== "HEAD" ? called : { ...called, url: undefined }
    const ask = (demanded: Demanded) => {
      const kind = page === undefined ? asJson : paywallHeaders
      const verdict = failed ? failureHeaders(call.snapshot.endpoint.network, reason) : []
      askForMoney(request, response, [...exchange.headers, ...verdict], demanded, { kind, page })
    }
    const token = bearer.exec(request.headers.authorization ?? "")?.[1]
    const header = request.headers["sign-in-with-x"]
    const signIn = typeof header === "string" ? header : undefined
    if ((token === undefined && signIn === undefined) || !gateway.hasDiscounts(call)) {
      return ask(gateway.quote(call, reason))
    }
    const identity = { token, signIn }
    const tooMany = unknownCallers.refusal(request)
    const quoted = gateway.quoteFor(call, identity, reason)
    // Whoever is known at once is asked for his own price, whoever else calls from there.
    const quotedIfKnown = Effect.flatMap(gateway.remembers(identity), (known) => (known ? quoted : Effect.undefined))
    ground.run(tooMany === undefined ? quoted : quotedIfKnown, (exit) => {
      if (Exit.isFailure(exit)) return ask(gateway.quote(call, reason))
      if (exit.value === undefined) return tooMany && exchange.refuse(tooMany)
      if (exit.value.isStranger) unknownCallers.count(request)
      ask(exit.value.demanded)
    })
  }

  /** `closed`: no call is served, and this is what one is told that asks for nothing that was paid for. */
  const serve = (
    call: Call,
    request: IncomingMessage,
    response: ServerResponse,
    exchange: RawExchange,
    closed?: Refusal
  ) => {
    const { headers } = request
    const isClosed = closed !== undefined
    if (!isClosed && headers.upgrade?.toLowerCase().includes("websocket") === true) {
      return exchange.refuse(new UpgradeNotSupported(), ["Upgrade", "HTTP/1.1", "Connection", "Upgrade, close"])
    }
    const proof = headers["x-payment-proof"]
    const ask = (reason: ProofRefusal, failed = false) =>
      isClosed ? exchange.refuse(closed) : unpaid(call, request, response, exchange, reason, failed)
    const paidCall = (asking: (reason: ProofRefusal) => void, challenge?: string) => {
      // Whoever left while the endpoint was looked up has closed already, and would be waited for without end.
      if (!response.closed) response.once("close", begin())
      return new PaidCall(ground, call, request, response, exchange, asking, challenge)
    }
    if (typeof proof === "string") {
      const paid = paidCall(ask)
      const shown: ProvenCall = {
        proof,
        snapshot: call.snapshot,
        method: request.method ?? "",
        fingerprint: fingerprintOf(request),
        uploads: hasBody(headers)
      }
      return paid.start(isClosed ? payments.recall(shown) : payments.claim(shown))
    }
    const presented = readPayment(headers)
    if (presented === undefined) return ask("payment_required")
    if (presented._tag === "Malformed") {
      if (presented.by === "mpp" && speaksMpp(call.snapshot.endpoint)) return ask(presented.reason, true)
      return exchange.refuse(closed ?? new PaymentMalformed({ reason: presented.reason }))
    }
    const tooMany = refusedPayments.refusal(request)
    if (tooMany !== undefined) return exchange.refuse(tooMany)
    const paid = paidCall((reason) => {
      refusedPayments.count(request)
      ask(reason, true)
    }, challengeIn(presented))
    const taking = isClosed ? gateway.recall : gateway.take
    const told = fingerprintOf(request)
    const fingerprint = isOnChain ? fingerprintFrom(told, hash("sha256", limiter.addressOf(request))) : told
    return paid.start(taking(call, presented, fingerprint, hasBody(headers)))
  }
  return { ground, serve }
})
