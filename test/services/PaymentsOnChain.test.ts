import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { priceOf } from "#domain/EndpointPrice.ts"
import type { PaymentRow } from "#domain/Payment.ts"
import { Principal } from "#domain/Principal.ts"
import type { Authorization } from "#domain/protocol/Authorization.ts"
import * as BusMemory from "#layers/BusMemory.ts"
import * as Platform from "#layers/Platform.ts"
import * as Postgres from "#layers/Postgres.ts"
import * as RailSimulated from "#layers/RailSimulated.ts"
import { ChainSettlements } from "#services/ChainSettlements.ts"
import { ChainPolicy } from "#services/ChainSettlements/Policy.ts"
import { Deployment } from "#services/Deployment.ts"
import { Doctor } from "#services/Doctor.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { Ledger } from "#services/Ledger.ts"
import { Payments } from "#services/Payments.ts"
import { Tenants } from "#services/Tenants.ts"
import { Wallets } from "#services/Wallets.ts"
import { authorization, chain, unattended } from "./ChainSettlementsHarness.ts"

const publicUrl = "https://turnpike.test"
const deployment = Layer.succeed(Deployment, { environment: "live", publicUrl, scannerUrl: publicUrl })
/** A live server whose chain is simulated. */
const live = (changed: Partial<ChainPolicy>) =>
  Platform.layer.pipe(
    Layer.provideMerge(
      ChainSettlements.layer.pipe(
        Layer.provide(
          Layer.effect(
            ChainPolicy,
            Effect.map(ChainPolicy, (usual) => ({ ...usual, ...changed }))
          )
        )
      )
    ),
    Layer.provideMerge(RailSimulated.layer),
    Layer.provideMerge(Layer.mergeAll(Postgres.layerTest, BusMemory.layer, deployment))
  )

const answer = {
  status: 200,
  millis: 12,
  kept: { status: 200, headers: ["X-From", "origin"], body: Buffer.from("served") }
}
let shops = 0

/** A seller on Base, and what somebody signed for it. */
const market = Effect.gen(function* () {
  const { id, account_id } = yield* (yield* Tenants).create({ name: "A seller" })
  const seller = new Principal({
    tenant_id: id,
    environment: "live",
    actor_type: "api_key",
    actor_id: "key",
    account_id,
    scopes: ["*:*"]
  })
  const address = `0x${(++shops).toString(16).padStart(40, "a")}`
  const till = (yield* (yield* Wallets).create(seller, { network: "base-mainnet", address })).id
  const endpoint = yield* (yield* Endpoints).create(seller, {
    name: "Weather",
    path: "/a",
    method: "GET",
    network: "base-mainnet",
    originUrl: "https://origin.example"
  })
  const snapshot = { endpoint, price: priceOf(endpoint.basePrice, []), origin: undefined }
  const signed: Authorization = authorization({
    network: "base-mainnet",
    payTo: address,
    validUntil: new Date(86_400_000)
  })
  const call = { authorization: signed, snapshot, method: "GET", fingerprint: "f" }
  const payments = yield* Payments
  const present = payments.present(call)
  const granted = Effect.flatMap(present, (grant) =>
    grant._tag === "Granted" ? Effect.succeed(grant.payment) : Effect.die(grant)
  )
  const capture = (payment: PaymentRow) => payments.capture(payment, answer, signed)
  const earned = Effect.map(
    Effect.flatMap(Ledger, (ledger) => ledger.account(till)),
    ({ posted }) => posted
  )
  const record = Effect.map(payments.list(seller, endpoint.id, { limit: 10 }), ([one]) => one)
  return { payments, call, present, granted, capture, earned, record }
})

/** Turns of every worker, until the payment is no longer being settled. */
const worked = (present: Effect.Success<typeof market>["record"]) =>
  Effect.gen(function* () {
    yield* TestClock.adjust("2 minutes")
    yield* (yield* ChainSettlements).reconcileDue
    yield* (yield* Payments).resolveDue
    return (yield* present)?.status
  }).pipe(Effect.repeat({ until: (status) => status !== "settling" }))

const inOrder = Effect.gen(function* () {
  const findings = yield* (yield* Doctor).examine
  return findings.flatMap(({ broken }) => broken)
})

layer(live({}), { timeout: "60 seconds" })("a payment whose money is on a chain", (it) => {
  it.effect("moves when the origin has answered, and the books follow", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { capture, earned, granted, record } = yield* market
      const payment = yield* granted
      assert.strictEqual(yield* earned, 0n)
      assert.strictEqual((yield* capture(payment)).charged, 10_000n)
      assert.strictEqual(yield* earned, 10_000n)
      const shown = yield* record
      assert.deepInclude(shown, { status: "captured", charged: 10_000n, payer_wallet_id: null, origin_ms: 12 })
      assert.match(String(shown?.transaction), /^0x[0-9a-f]{64}$/)
      assert.deepStrictEqual(yield* inOrder, [])
    })
  )

  it.effect("is not served when the chain would not give it", () =>
    Effect.gen(function* () {
      yield* chain.does("refuse")
      const { present, record } = yield* market
      assert.deepStrictEqual(yield* present, { _tag: "Refused", reason: "insufficient_funds" })
      assert.isUndefined(yield* record)
    })
  )

  it.effect("that is refused after the answer moves nothing, and may be tried again", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { capture, earned, granted, record } = yield* market
      const first = yield* granted
      yield* chain.does("refuse")
      const refused = yield* Effect.flip(capture(first))
      assert.deepInclude(refused, { _tag: "SETTLEMENT_REFUSED", reason: "insufficient_funds" })
      assert.deepInclude(yield* record, { status: "released", failure: "settlement_refused", charged: null })
      yield* chain.does("settle")
      const second = yield* granted
      assert.strictEqual(second.attempt, 2)
      assert.strictEqual((yield* capture(second)).charged, 10_000n)
      assert.strictEqual(yield* earned, 10_000n)
      assert.deepStrictEqual(yield* inOrder, [])
    })
  )

  it.effect("brought fifty times at once is taken for one call", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { present } = yield* market
      const grants = yield* Effect.all(
        Array.from({ length: 50 }, () => Effect.result(present)),
        { concurrency: 50 }
      )
      assert.strictEqual(
        grants.filter((grant) => grant._tag === "Success" && grant.success._tag === "Granted").length,
        1
      )
    })
  )
})

layer(live(unattended), { timeout: "60 seconds" })("a payment for which nobody waits", (it) => {
  it.effect("that is not decided stays so until the chain decides; its answer waits", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { capture, earned, granted, present, record } = yield* market
      const payment = yield* granted
      yield* chain.does("pending")
      assert.strictEqual((yield* Effect.flip(capture(payment)))._tag, "SETTLEMENT_PENDING")
      assert.strictEqual((yield* Effect.flip(present))._tag, "SETTLEMENT_PENDING")
      assert.strictEqual(yield* earned, 0n)
      yield* chain.does("settle")
      assert.strictEqual(yield* worked(record), "captured")
      yield* (yield* Payments).resolveDue
      assert.strictEqual(yield* earned, 10_000n)
      const grant = yield* present
      assert.strictEqual(grant._tag === "Answered" ? Buffer.from(grant.answer.body).toString() : grant._tag, "served")
      assert.deepStrictEqual(yield* inOrder, [])
    })
  )

  it.effect("that moved while its answer was lost is booked once", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { capture, earned, granted, record } = yield* market
      const payment = yield* granted
      yield* chain.does("lose")
      assert.strictEqual((yield* Effect.flip(capture(payment)))._tag, "SETTLEMENT_PENDING")
      yield* chain.does("settle")
      assert.strictEqual(yield* worked(record), "captured")
      assert.strictEqual(yield* earned, 10_000n)
    })
  )

  it.effect("whose process died before it asked the chain is given back, also at a second attempt", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { capture, earned, granted, record } = yield* market
      const payment = yield* granted
      yield* chain.does("refuse")
      yield* Effect.flip(capture(payment))
      assert.strictEqual(yield* worked(record), "released")
      yield* chain.does("settle")
      const sql = yield* SqlClient.SqlClient
      const second = yield* granted
      yield* sql`UPDATE payments SET state = 'settling' WHERE id = ${second.id}`
      assert.strictEqual(yield* worked(record), "released")
      assert.strictEqual(yield* earned, 0n)
      assert.strictEqual((yield* granted).attempt, 3)
    })
  )

  it.effect("that the chain refuses late ends no attempt but its own", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { capture, granted, payments, record } = yield* market
      const { id, ...payment } = yield* granted
      yield* chain.does("pending")
      yield* Effect.flip(capture({ ...payment, id }))
      const sql = yield* SqlClient.SqlClient
      // Its process stood still until its lease was over: another attempt is about to ask the chain.
      yield* sql`UPDATE payments SET attempt = 2, lease_until = '2100-01-01' WHERE id = ${id}`
      yield* chain.does("refuse")
      const booked = sql`SELECT 1 FROM chain_settlements WHERE payment_id = ${id} AND booked_at IS NOT NULL`
      const worked = Effect.gen(function* () {
        yield* TestClock.adjust("2 minutes")
        yield* (yield* ChainSettlements).reconcileDue
        yield* payments.resolveDue
        return (yield* booked).length
      })
      yield* Effect.repeat(worked, { until: (rows) => rows === 1 })
      assert.strictEqual((yield* record)?.status, "settling")
    })
  )
})
