import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { hash } from "node:crypto"
import type { EndpointChange } from "#domain/Endpoint.ts"
import { flat } from "#domain/Price.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { Payments } from "#services/Payments.ts"
import { balance, buyer, charged, openStream, pay, seller, send, server } from "./GatewayHarness.ts"
import { baseSeller, callWith, signer, signFor } from "./X402Harness.ts"

const funds = 1_000_000n
const closings: ReadonlyArray<readonly [string, EndpointChange, readonly [number, string]]> = [
  ["paused", { status: "paused" }, [503, "ENDPOINT_PAUSED"]],
  ["disabled", { status: "disabled" }, [404, "NOT_FOUND"]],
  ["left without an origin", { originUrl: null }, [503, "ORIGIN_NOT_CONFIGURED"]]
]

const spaced = Schedule.spaced("50 millis")

/** Until the gateway serves the endpoint no more. */
const closed = (path: string, [status]: readonly [number, string]) =>
  Effect.repeat(send(path), { until: (seen) => seen.status === status, schedule: Schedule.spaced("20 millis") })

layer(server, { timeout: "60 seconds", excludeTestServices: true })("an endpoint that serves no more", (it) => {
  for (const [how, change, refusal] of closings) {
    it.effect(`${how}: what was signed and paid for is given again, and nothing more is taken`, () =>
      Effect.gen(function* () {
        const shop = yield* baseSeller((_, response) => response.end("paid for"), { path: "/a/*" })
        const { account, purse } = yield* signer(funds)
        const [one, unused] = [yield* signFor(account, `${shop.path}/b`), yield* signFor(account, `${shop.path}/b`)]
        assert.strictEqual((yield* callWith(`${shop.path}/b`, one.header)).status, 200)
        yield* (yield* Endpoints).update(shop.principal, shop.endpoint.id, change)
        yield* closed(`${shop.path}/b`, refusal)
        const again = yield* callWith(`${shop.path}/b`, one.header)
        assert.deepStrictEqual(
          [again.status, again.body, again.headers["idempotency-replayed"]],
          [200, "paid for", "true"]
        )
        const other = yield* callWith(`${shop.path}/c`, one.header)
        assert.deepStrictEqual([other.status, other.json.code], [409, "PAYMENT_ALREADY_USED"])
        for (const header of [unused.header, "garbage", "e30="]) {
          const refused = yield* callWith(`${shop.path}/b`, header)
          assert.deepStrictEqual([refused.status, refused.json.code], refusal)
        }
        assert.strictEqual(shop.backend.seen.length, 1)
        assert.deepStrictEqual(yield* balance(purse), { posted: funds - 10_000n, held: 0n })
      })
    )

    it.effect(`${how}: a proof whose answer was lost gets it, and one that was not used stays so`, () =>
      Effect.gen(function* () {
        const shop = yield* seller((_, response) => response.end("called"))
        const agent = yield* buyer(funds)
        const wanted = { url: shop.endpoint.gatewayUrl, from_wallet_id: agent.purse }
        const [paid, unused] = [(yield* pay(agent.key, wanted)).json, (yield* pay(agent.key, wanted)).json]
        const payments = yield* Payments
        const claimed = yield* payments.claim({
          proof: paid.proof,
          snapshot: { endpoint: shop.endpoint, price: flat(shop.endpoint.basePrice), origin: undefined },
          method: "GET",
          fingerprint: hash("sha256", `GET\n${shop.path}`)
        })
        if (claimed._tag !== "Granted") return assert.fail(claimed._tag)
        const show = (proof: string) => send(shop.path, { headers: { "x-payment-proof": proof } })
        yield* (yield* Endpoints).update(shop.principal, shop.endpoint.id, change)
        yield* closed(shop.path, refusal)
        const early = yield* show(paid.proof)
        assert.deepStrictEqual([early.status, early.json.code], [409, "PAYMENT_IN_PROGRESS"])
        const kept = { status: 200, headers: [], body: Buffer.from("stored") }
        yield* payments.capture(claimed.payment, { status: 200, millis: 5, kept })
        payments.seen(claimed.payment.id, false)
        assert.strictEqual((yield* show(paid.proof)).body, "stored")
        for (const proof of [unused.proof, "nonsense"]) {
          const refused = yield* show(proof)
          assert.deepStrictEqual([refused.status, refused.json.code], refusal)
        }
        assert.strictEqual((yield* payments.verify(unused.proof)).payment?.state, "authorized")
        assert.strictEqual(shop.backend.seen.length, 0)
        assert.strictEqual(yield* charged(agent.purse, funds), 10_000n)
      })
    )
  }
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })("a call that is under way", (it) => {
  it.effect("is asked for again after as long as it has gone on, not when the time for it ends", () =>
    Effect.gen(function* () {
      const arrived = Promise.withResolvers<void>()
      const shop = yield* baseSeller(() => arrived.resolve())
      const { account } = yield* signer(funds)
      const { header } = yield* signFor(account, shop.path)
      yield* Effect.forkChild(openStream(shop.path, { "payment-signature": header }))
      yield* Effect.promise(() => arrived.promise)
      const early = yield* callWith(shop.path, header)
      assert.deepStrictEqual([early.status, early.json.code], [409, "PAYMENT_IN_PROGRESS"])
      assert.isBelow(Number(early.headers["retry-after"]), 10)
    })
  )

  it.effect("and sends a body is so as well, when its endpoint serves no more", () =>
    Effect.gen(function* () {
      const arrived = Promise.withResolvers<void>()
      const shop = yield* baseSeller(() => arrived.resolve(), { method: "POST" })
      const { account } = yield* signer(funds)
      const upload = { method: "POST", body: "sent" }
      const { header } = yield* signFor(account, shop.path, upload)
      const again = callWith(shop.path, header, upload)
      yield* Effect.forkChild(again)
      yield* Effect.promise(() => arrived.promise)
      yield* (yield* Endpoints).update(shop.principal, shop.endpoint.id, { status: "paused" })
      yield* Effect.repeat(send(shop.path, upload), { until: ({ status }) => status === 503, schedule: spaced })
      const later = yield* Effect.repeat(again, {
        until: ({ headers, status }) => status !== 409 || Number(headers["retry-after"]) > 1,
        schedule: spaced
      }).pipe(Effect.timeout("20 seconds"))
      assert.deepStrictEqual([later.status, later.json.code], [409, "PAYMENT_IN_PROGRESS"])
      assert.isBelow(Number(later.headers["retry-after"]), 30)
    })
  )
})
