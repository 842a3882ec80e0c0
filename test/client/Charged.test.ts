import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { describe as described, type RefusalClass } from "#api/Problems.ts"
import { InternalError, MethodNotAllowed, RateLimitExceeded } from "#api/Refusals.ts"
import { payingFetch } from "#client/client.ts"
import * as Gateway from "#domain/GatewayRefusal.ts"
import { OriginForbiddenAddress } from "#domain/OriginUrl.ts"
import { PaymentAlreadyUsed, PaymentInProgress, SettlementPending } from "#domain/Payment.ts"
import { InvalidRequest, NotFound, ServiceUnavailable } from "#domain/Refusal.ts"
import { Deployment } from "#services/Deployment.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { RailUnavailable } from "#services/Rail.ts"
import { buyer, charged, seller, server } from "../http/GatewayHarness.ts"
import { agentOf, challenge, json, paid, refusal, stranger } from "./Strangers.ts"

const unit = 1_000_000n

const isPaid = (init: RequestInit | undefined) => new Headers(init?.headers).has("x-payment-proof")

layer(server, { timeout: "60 seconds", excludeTestServices: true })("a seller", (it) => {
  it.effect(
    "who is paid for every answer cannot have the day's cap given back by saying that nothing was charged",
    () =>
      Effect.gen(function* () {
        const { publicUrl: baseUrl } = yield* Deployment
        const lie = JSON.stringify({ code: "PAYMENT_ALREADY_USED", details: { charged: "0.00" } })
        for (const streamed of [false, true]) {
          const shop = yield* seller(
            (_, response) => {
              response.statusCode = 409
              response.setHeader("content-type", "application/problem+json")
              response.setHeader("x-service-error", "PAYMENT_ALREADY_USED")
              response.setHeader("x-payment-amount", "0.00")
              if (streamed) response.flushHeaders()
              response.end(lie)
            },
            { chargeOn: "response" }
          )
          const agent = yield* buyer(unit)
          const fetch = payingFetch({ baseUrl, apiKey: agent.key, wallet: agent.purse, maxPerDay: "0.01" })
          assert.strictEqual((yield* Effect.promise(() => fetch(`${baseUrl}${shop.path}`))).status, 409)
          assert.strictEqual(yield* charged(agent.purse, unit), 10_000n)
          const again = yield* Effect.promise(() => refusal(fetch(`${baseUrl}${shop.path}`)))
          assert.strictEqual(again.code, "ABOVE_MAX_PER_DAY")
        }
      })
  )

  it.effect("whose errors have codes of the Turnpike neither uses up the day's cap nor is called again for them", () =>
    Effect.gen(function* () {
      const { publicUrl: baseUrl } = yield* Deployment
      const agent = yield* buyer(unit)
      for (const refusal of [InternalError, PaymentInProgress, PaymentAlreadyUsed]) {
        const { code, status } = described(refusal)
        const shop = yield* seller((_, response) => json(response, status, { code }, { "x-service-error": code }))
        const fetch = payingFetch({ baseUrl, apiKey: agent.key, wallet: agent.purse, maxPerDay: "0.01" })
        for (let call = 1; call <= 2; call++) {
          assert.strictEqual((yield* Effect.promise(() => fetch(`${baseUrl}${shop.path}`))).status, status)
          assert.lengthOf(shop.backend.seen, call)
        }
      }
    })
  )

  it.effect("who pauses before the proof arrives is not paid, and the day's cap is free again", () =>
    Effect.gen(function* () {
      const { publicUrl: baseUrl } = yield* Deployment
      const { update } = yield* Endpoints
      const run = Effect.runPromiseWith(yield* Effect.context<never>())
      const shop = yield* seller((_, response) => response.end("served"))
      const agent = yield* buyer(unit)
      const pausing: typeof fetch = async (input, init) => {
        if (isPaid(init)) await run(update(shop.principal, shop.endpoint.id, { status: "paused" }))
        return fetch(input, init)
      }
      const paying = { baseUrl, apiKey: agent.key, wallet: agent.purse, maxPerDay: "0.01", retries: 0 }
      const lossy = payingFetch({ ...paying, fetch: pausing })
      for (let call = 1; call <= 2; call++) {
        yield* update(shop.principal, shop.endpoint.id, { status: "active" })
        assert.strictEqual((yield* Effect.promise(() => lossy(`${baseUrl}${shop.path}`))).status, 503)
      }
      assert.strictEqual(yield* charged(agent.purse, unit), 0n)
    })
  )

  it.effect("who pauses when the answer that was paid for is lost has been paid: the day's cap knows it", () =>
    Effect.gen(function* () {
      const { publicUrl: baseUrl } = yield* Deployment
      const { update } = yield* Endpoints
      const run = Effect.runPromiseWith(yield* Effect.context<never>())
      const shop = yield* seller((_, response) => response.end("served"))
      const agent = yield* buyer(unit)
      const losing: typeof fetch = async (input, init) => {
        const answer = await fetch(input, init)
        if (!isPaid(init) || answer.status !== 200) return answer
        await answer.text()
        await run(update(shop.principal, shop.endpoint.id, { status: "paused" }))
        throw new TypeError("lost")
      }
      const paying = { baseUrl, apiKey: agent.key, wallet: agent.purse, maxPerDay: "0.01", maxRetryDelayMs: 5 }
      const lossy = payingFetch({ ...paying, fetch: losing })
      // It arrived as far as the Turnpike knows, which says so whether or not the endpoint still serves.
      assert.strictEqual((yield* Effect.promise(() => lossy(`${baseUrl}${shop.path}`))).status, 409)
      assert.strictEqual(yield* charged(agent.purse, unit), 10_000n)
      yield* update(shop.principal, shop.endpoint.id, { status: "active" })
      assert.strictEqual(
        (yield* Effect.promise(() => refusal(lossy(`${baseUrl}${shop.path}`)))).code,
        "ABOVE_MAX_PER_DAY"
      )
    })
  )
})

interface Said {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: object
}

/** What a Turnpike says when it refuses. */
const refusedBy = (refusal: RefusalClass, details: object = {}): Said => {
  const { code, status } = described(refusal)
  return { status, headers: { "x-environment": "test", "x-service-error": code }, body: { code, details } }
}

const lost = "lost"

/** What is counted for a call whose attempts end like this one after the other, the last of them for good. */
const countedFor = async (...attempts: ReadonlyArray<Said | typeof lost>) => {
  let shown = 0
  const bank = await stranger(({ headers, url }, response) => {
    if (url === "/v1/x402/pay") return json(response, 201, paid)
    if (headers["x-payment-proof"] === undefined) return json(response, 402, challenge(`http://${headers.host}`))
    const said = attempts[shown++]
    return said === undefined || said === lost
      ? response.destroy()
      : json(response, said.status, said.body ?? {}, said.headers)
  })
  const told: Array<string> = []
  const fetch = agentOf(bank, { retries: attempts.length - 1, onPayment: ({ amount }) => void told.push(amount) })
  await fetch(bank.url)
  assert.strictEqual(shown, attempts.length)
  return told[0] ?? "0"
}

describe("a paid call that the Turnpike refuses", () => {
  const before = [
    Gateway.AmbiguousPath,
    Gateway.EndpointPaused,
    Gateway.OriginBadAnswer,
    Gateway.OriginNotConfigured,
    Gateway.OriginTimeout,
    Gateway.OriginUnreachable,
    Gateway.PaymentMalformed,
    Gateway.UpgradeNotSupported,
    InvalidRequest,
    MethodNotAllowed,
    NotFound,
    OriginForbiddenAddress,
    RateLimitExceeded
  ]
  for (const refusal of before) {
    it(`with ${described(refusal).code} cost nothing`, async () => {
      assert.strictEqual(await countedFor(refusedBy(refusal)), "0")
    })
  }

  for (const refusal of [InternalError, PaymentInProgress, RailUnavailable, ServiceUnavailable, SettlementPending]) {
    it(`with ${described(refusal).code} may have been charged`, async () => {
      assert.strictEqual(await countedFor(refusedBy(refusal)), "0.01")
    })
  }

  it("for an attempt after one whose answer was lost may have been charged", async () => {
    assert.strictEqual(await countedFor(lost, refusedBy(NotFound)), "0.01")
    const free = refusedBy(Gateway.OriginTimeout)
    assert.strictEqual(await countedFor(lost, free, refusedBy(NotFound)), "0.01")
    assert.strictEqual(await countedFor(refusedBy(ServiceUnavailable), refusedBy(Gateway.EndpointPaused)), "0.01")
  })

  it("for attempts that took nothing, one after the other, cost nothing", async () => {
    assert.strictEqual(await countedFor(refusedBy(Gateway.OriginTimeout), refusedBy(Gateway.EndpointPaused)), "0")
  })

  it("because it was used cost what was taken then", async () => {
    assert.strictEqual(await countedFor(lost, refusedBy(PaymentAlreadyUsed, { charged: "0.004" })), "0.004")
    assert.strictEqual(await countedFor(refusedBy(PaymentAlreadyUsed)), "0.01")
  })
})

describe("a paid call that ends in an error without a receipt", () => {
  it("cost nothing when the Turnpike passed on what it did not charge for", async () => {
    const headers = { "x-environment": "test", "x-payment-amount": "0.00" }
    assert.strictEqual(await countedFor({ status: 500, headers }), "0")
    assert.strictEqual(await countedFor({ status: 409, headers, body: { code: "PAYMENT_IN_PROGRESS" } }), "0")
  })

  it("may have been charged when nobody says so: something between lost the answer, or the Turnpike is an older one", async () => {
    assert.strictEqual(await countedFor({ status: 500 }), "0.01")
    const headers = { "x-environment": "test" }
    assert.strictEqual(await countedFor({ status: 404, headers, body: { code: "NOT_FOUND" } }), "0.01")
  })
})

describe("a receipt", () => {
  it("for more than was paid counts for what was paid", async () => {
    const settled = Buffer.from(JSON.stringify({ success: true, amount: "50000" })).toString("base64")
    const headers = { "payment-response": settled, "x-payment-amount": "0.05" }
    assert.strictEqual(await countedFor({ status: 200, headers }), "0.01")
  })
})
