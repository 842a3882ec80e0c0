import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { NewEndpoint } from "#domain/Endpoint.ts"
import { priceOf } from "#domain/EndpointPrice.ts"
import type { PaymentRow } from "#domain/Payment.ts"
import { Principal } from "#domain/Principal.ts"
import type { Authorization } from "#domain/protocol/Authorization.ts"
import * as BusMemory from "#layers/BusMemory.ts"
import * as Platform from "#layers/Platform.ts"
import * as Postgres from "#layers/Postgres.ts"
import * as RailSimulated from "#layers/RailSimulated.ts"
import * as Test from "#layers/Test.ts"
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

const funds = 1_000_000n
const kept = (text: string) => ({
  status: 200,
  millis: 12,
  kept: { status: 200, headers: [], body: Buffer.from(text) }
})
const streamed = { status: 200, millis: 12, kept: undefined }
let addresses = 0
const newAddress = () => `0x${(++addresses).toString(16).padStart(40, "b")}`

const principal = Effect.fnUntraced(function* (environment: "sandbox" | "live") {
  const { id, account_id } = yield* (yield* Tenants).create({ name: "A tenant" })
  return new Principal({
    tenant_id: id,
    environment,
    actor_type: "api_key",
    actor_id: "key",
    account_id,
    scopes: ["*:*"]
  })
})

/** A seller on Base, and somebody who signs for it. */
const market = Effect.fnUntraced(function* (environment: "sandbox" | "live", endpoint: Partial<NewEndpoint> = {}) {
  const network = environment === "live" ? "base-mainnet" : "base-sepolia"
  const [seller, buyer] = [yield* principal(environment), yield* principal(environment)]
  const [payTo, payer] = [newAddress(), newAddress()]
  const wallets = yield* Wallets
  const payments = yield* Payments
  const till = (yield* wallets.create(seller, { network, address: payTo })).id
  const purse = (yield* wallets.create(buyer, { network, address: payer })).id
  if (environment === "sandbox") yield* wallets.fund(buyer, purse, { amount: funds, currency: "USDC" })
  const record = yield* (yield* Endpoints).create(seller, {
    name: "Weather",
    path: "/a",
    method: "GET",
    network,
    originUrl: "https://origin.example",
    ...endpoint
  })
  const snapshot = { endpoint: record, price: priceOf(record.basePrice, record.volumeDiscounts), origin: undefined }
  const signs = (changed: Partial<Authorization> = {}): Authorization =>
    authorization({ network, payTo, payer, validUntil: new Date(864_000_000), ...changed })
  const bring = (signed: Authorization, fingerprint = "f") =>
    payments.present({ authorization: signed, snapshot, method: "GET", fingerprint })
  const granted = (signed: Authorization, fingerprint?: string) =>
    Effect.flatMap(bring(signed, fingerprint), (grant) =>
      grant._tag === "Granted" ? Effect.succeed(grant.payment) : Effect.die(grant)
    )
  const money = Effect.map(
    Effect.flatMap(Ledger, (ledger) => ledger.account(purse)),
    ({ held, posted }) => ({ held, posted })
  )
  const record_ = Effect.map(payments.list(seller, record.id, { limit: 10 }), ([one]) => one)
  return { payments, endpoint: record, till, purse, signs, bring, granted, money, record: record_, payTo, buyer }
})

/** How many events say that this payment failed. */
const failures = Effect.fnUntraced(function* ({ id }: PaymentRow) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT e.seq FROM events e JOIN payments p ON p.id = ${id}
    WHERE e.type = 'x402.payment.failed' AND e.tenant_id = p.tenant_id`
  return rows.length
})

const inOrder = Effect.gen(function* () {
  const findings = yield* (yield* Doctor).examine
  return findings.flatMap(({ broken }) => broken)
})

/** A second process on the same database. */
const twoProcesses = Effect.gen(function* () {
  const context = yield* Layer.build(Layer.fresh(Platform.layer))
  return [yield* Payments, yield* Effect.provide(Payments, context)]
})

const free: Partial<Authorization> = { amount: 0n }

layer(Test.layer, { timeout: "60 seconds" })("a signed payment that costs nothing", (it) => {
  it.effect("is used by one call of many, counts, and answers again", () =>
    Effect.gen(function* () {
      const { bring, endpoint, money, payments, purse, signs } = yield* market("sandbox")
      const signed = signs(free)
      const grants = yield* Effect.all(
        Array.from({ length: 20 }, () => Effect.result(bring(signed))),
        { concurrency: 20 }
      )
      const won = grants.flatMap((grant) =>
        grant._tag === "Success" && grant.success._tag === "Granted" ? [grant.success.payment] : []
      )
      assert.strictEqual(won.length, 1)
      for (const payment of won) {
        assert.deepStrictEqual(yield* payments.capture(payment, kept("gift")), {
          charged: 0n,
          transaction: (yield* payments.capture(payment, kept("gift"))).transaction
        })
      }
      assert.strictEqual((yield* (yield* Ledger).tally(endpoint.id, purse)).count, 1n)
      assert.deepStrictEqual(yield* money, { held: 0n, posted: funds })
      assert.strictEqual((yield* bring(signed))._tag, "Answered")
      assert.deepStrictEqual(yield* inOrder, [])
    })
  )

  it.effect("may be tried again by one call when the origin failed", () =>
    Effect.gen(function* () {
      const { bring, granted, payments, signs } = yield* market("sandbox")
      const signed = signs(free)
      yield* payments.release(yield* granted(signed), "origin_status")
      const grants = yield* Effect.all([Effect.result(bring(signed)), Effect.result(bring(signed))], { concurrency: 2 })
      assert.strictEqual(
        grants.filter((grant) => grant._tag === "Success" && grant.success._tag === "Granted").length,
        1
      )
    })
  )

  it.effect("whose process died is ended once, by whichever process finds it", () =>
    Effect.gen(function* () {
      const processes = yield* twoProcesses
      const { granted, record, signs } = yield* market("sandbox")
      const payment = yield* granted(signs(free))
      yield* TestClock.adjust("41 seconds")
      yield* Effect.all(
        processes.map((one) => one.resolveDue),
        { concurrency: 2 }
      )
      assert.deepInclude(yield* record, { status: "released", failure: "interrupted" })
      assert.strictEqual(yield* failures(payment), 1)
    })
  )
})

layer(Test.layer, { timeout: "60 seconds" })("a signed payment whose money is in the ledger", (it) => {
  it.effect("and whose hold ended before its call was found dead still says that it failed, once", () =>
    Effect.gen(function* () {
      const processes = yield* twoProcesses
      const { granted, money, record, signs } = yield* market("sandbox")
      const payment = yield* granted(signs())
      yield* TestClock.adjust("2 minutes")
      yield* (yield* Ledger).expireDue
      yield* Effect.all(
        processes.map((one) => one.resolveDue),
        { concurrency: 2 }
      )
      assert.strictEqual((yield* record)?.status, "released")
      assert.strictEqual(yield* failures(payment), 1)
      assert.deepStrictEqual(yield* money, { held: 0n, posted: funds })
    })
  )

  it.effect("says what is missing when it is tried again without money", () =>
    Effect.gen(function* () {
      const { bring, buyer, granted, payments, purse, signs } = yield* market("sandbox")
      const signed = signs({ amount: funds })
      yield* payments.release(yield* granted(signed), "origin_status")
      const other = yield* granted(signs())
      assert.deepStrictEqual(yield* bring(signed), { _tag: "Refused", reason: "insufficient_funds" })
      yield* payments.release(other, "origin_status")
      yield* (yield* Wallets).freeze(buyer, purse, "lost")
      assert.deepStrictEqual(yield* bring(signed), { _tag: "Refused", reason: "wallet_frozen" })
    })
  )

  it.effect("is not tried without end", () =>
    Effect.gen(function* () {
      const { bring, granted, payments, signs } = yield* market("sandbox")
      const signed = signs()
      const { id } = yield* granted(signed)
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE payments SET attempt = 1000 WHERE id = ${id}`
      const [row] = yield* sql`SELECT hold_id FROM payments WHERE id = ${id}`
      assert.isDefined(row)
      yield* sql`UPDATE payments SET state = 'released' WHERE id = ${id}`
      assert.deepStrictEqual(yield* bring(signed), {
        _tag: "Refused",
        reason: "invalid_exact_evm_nonce_already_used"
      })
      yield* payments.resolveDue
    })
  )

  it.effect("of a maximum costs its payer's own price when the origin says nothing", () =>
    Effect.gen(function* () {
      const { granted, money, payments, signs } = yield* market("sandbox", {
        volumeDiscounts: [{ threshold: 1, priceMultiplier: 0.5 }]
      })
      const maximum: Partial<Authorization> = { scheme: "upto", method: "permit2" }
      assert.strictEqual((yield* payments.capture(yield* granted(signs(maximum)), streamed)).charged, 10_000n)
      assert.strictEqual((yield* payments.capture(yield* granted(signs(maximum)), streamed)).charged, 5_000n)
      const reported = { ...streamed, reported: 9_000n }
      assert.strictEqual((yield* payments.capture(yield* granted(signs(maximum)), reported)).charged, 9_000n)
      assert.deepStrictEqual(yield* money, { held: 0n, posted: funds - 24_000n })
    })
  )
})

layer(live({}), { timeout: "60 seconds" })("a signed payment whose money is on a chain", (it) => {
  it.effect("is not served again when the chain would not give it any more", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { bring, granted, payments, signs } = yield* market("live")
      const signed = signs()
      const first = yield* granted(signed)
      yield* chain.does("refuse")
      yield* Effect.flip(payments.capture(first, kept("a"), signed))
      assert.deepStrictEqual(yield* bring(signed), { _tag: "Refused", reason: "insufficient_funds" })
      yield* chain.does("settle")
      assert.strictEqual((yield* granted(signed)).attempt, 2)
    })
  )

  it.effect("under one identifier is one payment", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { bring, granted, payments, signs } = yield* market("live")
      const identifier = "order-0123456789abcdef"
      const signed = signs({ identifier })
      yield* payments.capture(yield* granted(signed), kept("named"), signed)
      assert.strictEqual((yield* bring(signed))._tag, "Answered")
      assert.strictEqual((yield* Effect.flip(bring(signs({ identifier }))))._tag, "IDEMPOTENCY_KEY_REUSED")
    })
  )

  it.effect("from the receiver to itself is none", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { bring, payTo, record, signs } = yield* market("live")
      assert.deepStrictEqual(yield* bring(signs({ payer: payTo })), { _tag: "Refused", reason: "payer_is_receiver" })
      assert.isUndefined(yield* record)
    })
  )

  it.effect("is not served when it would end before the origin must have answered", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { bring, signs } = yield* market("live", { timeoutMs: 60_000 })
      assert.deepStrictEqual(yield* bring(signs({ validUntil: new Date(65_000) })), {
        _tag: "Refused",
        reason: "invalid_exact_evm_payload_authorization_valid_before"
      })
      assert.strictEqual((yield* bring(signs({ validUntil: new Date(66_000) })))._tag, "Granted")
    })
  )

  it.effect("never answers with what an earlier attempt was answered", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { bring, granted, payments, signs } = yield* market("live")
      const signed = signs()
      const first = yield* granted(signed, "one")
      yield* chain.does("refuse")
      yield* Effect.flip(payments.capture(first, kept("for one"), signed))
      yield* chain.does("settle")
      yield* payments.capture(yield* granted(signed, "other"), streamed, signed)
      assert.strictEqual((yield* Effect.flip(bring(signed, "other")))._tag, "PAYMENT_ALREADY_USED")
    })
  )

  it.effect("keeps its answer as long as others once it is settled, and no answer that nobody paid", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { bring, granted, payments, signs } = yield* market("live")
      const [paid, unpaid] = [signs(), signs()]
      yield* payments.capture(yield* granted(paid), kept("a"), paid)
      const refused = yield* granted(unpaid)
      yield* chain.does("refuse")
      yield* Effect.flip(payments.capture(refused, kept("b"), unpaid))
      const sql = yield* SqlClient.SqlClient
      yield* TestClock.adjust("1 second")
      yield* payments.resolveDue
      assert.deepStrictEqual(yield* sql`SELECT 1 FROM payment_answers WHERE payment_id = ${refused.id}`, [])
      assert.strictEqual((yield* bring(paid))._tag, "Answered")
      yield* TestClock.adjust("16 minutes")
      yield* payments.resolveDue
      assert.strictEqual((yield* Effect.flip(bring(paid)))._tag, "PAYMENT_ALREADY_USED")
    })
  )

  it.effect("whose process died before the origin answered fails once, by whichever process finds it", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const processes = yield* twoProcesses
      const { granted, record, signs } = yield* market("live")
      const payment = yield* granted(signs())
      yield* TestClock.adjust("41 seconds")
      yield* Effect.all(
        processes.map((one) => one.resolveDue),
        { concurrency: 2 }
      )
      assert.deepInclude(yield* record, { status: "released", failure: "interrupted" })
      assert.strictEqual(yield* failures(payment), 1)
    })
  )

  it.effect("that costs nothing does not trouble the chain", () =>
    Effect.gen(function* () {
      yield* chain.does("refuse")
      const { bring, granted, payments, record, signs } = yield* market("live")
      const signed = signs(free)
      yield* payments.release(yield* granted(signed), "origin_status")
      const payment = yield* granted(signed)
      assert.deepStrictEqual(yield* payments.capture(payment, kept("gift"), signed), { charged: 0n, transaction: null })
      assert.strictEqual((yield* bring(signed))._tag, "Answered")
      assert.strictEqual((yield* record)?.status, "captured")
    })
  )

  it.effect("of a maximum costs its payer's own price when the origin says nothing", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { granted, payments, signs } = yield* market("live", {
        volumeDiscounts: [{ threshold: 1, priceMultiplier: 0.5 }]
      })
      const take = Effect.fnUntraced(function* (changed: Partial<Authorization>) {
        const signed = signs(changed)
        return (yield* payments.capture(yield* granted(signed), streamed, signed)).charged
      })
      assert.strictEqual(yield* take({ scheme: "upto", method: "permit2" }), 10_000n)
      assert.strictEqual(yield* take({ scheme: "upto", method: "permit2" }), 5_000n)
      // What was signed as a price is that price on a chain: nothing less can be taken.
      assert.strictEqual(yield* take({}), 10_000n)
      assert.deepStrictEqual(yield* inOrder, [])
    })
  )
})

layer(live(unattended), { timeout: "60 seconds" })("a signed payment that the chain decides late", (it) => {
  it.effect("is booked although another attempt began meanwhile", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { granted, payments, record, signs } = yield* market("live")
      const signed = signs()
      const payment = yield* granted(signed)
      yield* chain.does("pending")
      yield* Effect.flip(payments.capture(payment, kept("late"), signed))
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE payments SET attempt = 2, state = 'released' WHERE id = ${payment.id}`
      yield* chain.does("settle")
      yield* Effect.gen(function* () {
        yield* TestClock.adjust("2 minutes")
        yield* (yield* ChainSettlements).reconcileDue
        yield* payments.resolveDue
        const rows =
          yield* sql`SELECT 1 FROM chain_settlements WHERE payment_id = ${payment.id} AND concluded_at < now()`
        return rows.length
      }).pipe(Effect.repeat({ until: (concluded) => concluded === 1 }))
      yield* TestClock.adjust("10 minutes")
      yield* payments.resolveDue
      assert.deepInclude(yield* record, { status: "captured", charged: 10_000n })
      assert.deepStrictEqual(yield* inOrder, [])
    })
  )
})
