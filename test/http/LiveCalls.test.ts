import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import type { RequestListener, ServerResponse } from "node:http"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import * as Http from "#http/Http.ts"
import * as Postgres from "#layers/Postgres.ts"
import * as RailSimulated from "#layers/RailSimulated.ts"
import { ChainSettlements } from "#services/ChainSettlements.ts"
import { ChainPolicy } from "#services/ChainSettlements/Policy.ts"
import { Payments } from "#services/Payments.ts"
import { chain } from "../services/ChainSettlementsHarness.ts"
import { market } from "../services/SignedPaymentsHarness.ts"
import { listener, origin, send, services } from "./GatewayHarness.ts"
import { authorize, callWith, decoded, encoded } from "./X402Harness.ts"

/** Nobody waits long for the chain, and what it says is booked by whoever comes first. */
const hasty = Layer.succeed(ChainPolicy, {
  ...ChainPolicy.defaultValue(),
  wait: Duration.millis(50),
  firstRetry: Duration.millis(20),
  longestRetry: Duration.millis(20),
  // Workers are interrupted here, and what they had taken must not wait long for others.
  lease: Duration.seconds(2),
  bookingGrace: Duration.zero
})
const live = Http.layer.pipe(
  Layer.provideMerge(services),
  Layer.provideMerge(ChainSettlements.layer.pipe(Layer.provide([hasty, Postgres.layerTest]))),
  Layer.provideMerge(RailSimulated.layer),
  Layer.provideMerge(listener({ TURNPIKE_ENVIRONMENT: "live", TURNPIKE_TRUSTED_PROXIES: "127.0.0.1" }))
)
const base = {
  chainId: 8453,
  name: "USD Coin",
  verifyingContract: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
} as const

/** A live endpoint in front of this origin, and a payment that somebody signed for it. */
const paid = Effect.fnUntraced(function* (answers: RequestListener) {
  yield* chain.does("settle")
  const backend = yield* origin(answers)
  const { endpoint, record } = yield* market("live", { originUrl: backend.url })
  const path = `/x402/${endpoint.id}`
  const [accepted] = decoded((yield* send(path)).headers["payment-required"]).accepts
  const account = privateKeyToAccount(generatePrivateKey())
  const payload = yield* authorize(account, accepted, undefined, base)
  return { path, backend, record, account, accepted, payload, header: encoded({ x402Version: 2, accepted, payload }) }
})

/** What the workers do meanwhile. */
const working = Effect.gen(function* () {
  yield* (yield* ChainSettlements).reconcileDue
  yield* (yield* Payments).resolveDue
}).pipe(Effect.repeat(Schedule.spaced("50 millis")), Effect.andThen(Effect.never))

layer(live, { timeout: "60 seconds", excludeTestServices: true })("an answer that a chain has to settle", (it) => {
  it.effect("and that is too large to keep waits for the chain, and arrives whole with its receipt", () =>
    Effect.gen(function* () {
      const body = "x".repeat(100_000)
      const shop = yield* paid((_, response) => response.setHeader("Content-Length", body.length).end(body))
      yield* chain.does("pending")
      const call = yield* Effect.forkChild(callWith(shop.path, shop.header))
      const sql = yield* SqlClient.SqlClient
      yield* Effect.repeat(sql`SELECT 1 FROM chain_settlements WHERE attempts > 2`, {
        until: (pending) => pending.length === 1,
        schedule: Schedule.spaced("20 millis")
      }).pipe(Effect.raceFirst(working))
      assert.isUndefined(call.pollUnsafe())
      yield* chain.does("settle")
      const answer = yield* Effect.raceFirst(Fiber.join(call), working)
      assert.deepStrictEqual([answer.status, answer.body === body], [200, true])
      assert.strictEqual(decoded(answer.headers["payment-response"]).success, true)
      const again = yield* callWith(shop.path, shop.header)
      assert.deepStrictEqual([again.status, again.json.code], [409, "PAYMENT_ALREADY_USED"])
      assert.strictEqual(shop.backend.seen.length, 1)
    })
  )

  it.effect("and of which the origin sends no byte asks no chain for money", () =>
    Effect.gen(function* () {
      let broken = true
      const shop = yield* paid((request, response) => {
        if (!broken) return response.end("served")
        response.writeHead(200, { "content-length": 6 }).flushHeaders()
        setTimeout(() => request.socket.destroy(), 1_500)
      })
      const answer = yield* callWith(shop.path, shop.header)
      assert.deepStrictEqual([answer.status, answer.json.code], [502, "ORIGIN_UNREACHABLE"])
      assert.deepInclude(yield* shop.record, { status: "released", failure: "origin_unreachable" })
      broken = false
      // This one is settled, or soon will be.
      const again = yield* callWith(shop.path, shop.header)
      assert.include([200, 503], again.status)
      assert.strictEqual(shop.backend.seen.length, 2)
    })
  )

  it.effect("and of a chain that cannot be asked is not fetched, and whoever paid is told when to come again", () =>
    Effect.gen(function* () {
      const shop = yield* paid((_, response) => response.end("served"))
      yield* chain.does("unavailable")
      const { headers, json, status } = yield* callWith(shop.path, shop.header)
      assert.deepStrictEqual([status, json.code, headers["retry-after"]], [503, "RAIL_UNAVAILABLE", "5"])
      assert.isEmpty(shop.backend.seen)
      yield* chain.does("settle")
      assert.strictEqual((yield* callWith(shop.path, shop.header)).status, 200)
    })
  )

  it.effect("and that streams events begins when the chain has decided: who is refused gets none of them", () =>
    Effect.gen(function* () {
      const called = Promise.withResolvers<ServerResponse>()
      const shop = yield* paid((_, response) => called.resolve(response))
      const call = yield* Effect.forkChild(callWith(shop.path, shop.header))
      const response = yield* Effect.promise(() => called.promise)
      yield* chain.does("refuse")
      response.writeHead(200, { "content-type": "text/event-stream" }).write("data: one\n\n")
      const answer = yield* Fiber.join(call)
      assert.deepStrictEqual([answer.status, answer.json.error], [402, "insufficient_funds"])
    })
  )

  it.effect("and that arrived is for whom it was, and not for whoever writes down again what the chain shows", () =>
    Effect.gen(function* () {
      const shop = yield* paid((_, response) => response.end("for the payer"))
      const { authorization, signature } = shop.payload
      const shown = encoded({ x402Version: 1, scheme: "exact", network: "base", payload: { signature, authorization } })
      const from = (address: string, payment = shown) =>
        send(shop.path, { headers: { "x-payment": payment, "x-forwarded-for": address } })
      const payer = "203.0.113.7"
      const anew = Buffer.from(JSON.stringify(decoded(shown), null, 1)).toString("base64")
      assert.deepInclude(yield* from(payer), { status: 200, body: "for the payer" })
      // At once, and when the mark was written.
      yield* Effect.repeat(
        Effect.gen(function* () {
          for (const stranger of [yield* from("198.51.100.9"), yield* from(payer, anew)]) {
            assert.deepStrictEqual([stranger.status, stranger.json?.code], [409, "PAYMENT_ALREADY_USED"])
          }
          assert.deepInclude(yield* from(payer), { status: 200, body: "for the payer" })
        }),
        { schedule: Schedule.spaced("100 millis"), times: 4 }
      )
      assert.strictEqual(shop.backend.seen.length, 1)
    })
  )

  it.effect("and for which the payer signed nothing after all is not fetched", () =>
    Effect.gen(function* () {
      let status = 400
      const shop = yield* paid((_, response) => response.writeHead(status).end("served"))
      assert.strictEqual((yield* callWith(shop.path, shop.header)).status, 400)
      status = 200
      const { nonce } = shop.payload.authorization
      const nothing = yield* authorize(
        shop.account,
        { ...shop.accepted, amount: "0" },
        (plain) => ({ ...plain, nonce }),
        base
      )
      const shown = encoded({ x402Version: 1, scheme: "exact", network: "base", payload: nothing })
      assert.strictEqual((yield* send(shop.path, { headers: { "x-payment": shown } })).status, 402)
      assert.strictEqual(shop.backend.seen.length, 1)
    })
  )

  it.effect("and that dawdles is kept all the same, for the payer to ask for again", () =>
    Effect.gen(function* () {
      const shop = yield* paid((_, response) => {
        response.writeHead(200, { "content-length": 6 }).flushHeaders()
        setTimeout(() => response.end("served"), 1_500)
      })
      yield* chain.does("pending")
      const pending = yield* callWith(shop.path, shop.header)
      assert.deepStrictEqual([pending.status, pending.json.code], [503, "SETTLEMENT_PENDING"])
      yield* chain.does("settle")
      yield* Effect.repeat(shop.record, {
        until: (payment) => payment?.status === "captured",
        schedule: Schedule.spaced("20 millis")
      }).pipe(Effect.raceFirst(working))
      const answer = yield* callWith(shop.path, shop.header)
      assert.deepStrictEqual([answer.status, answer.body], [200, "served"])
      assert.strictEqual(shop.backend.seen.length, 1)
    })
  )
})
