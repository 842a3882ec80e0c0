import { assert, layer } from "@effect/vitest"
import { Effect, Layer, type Result } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import type { PaymentRow } from "#domain/Payment.ts"
import * as Platform from "#layers/Platform.ts"
import * as Test from "#layers/Test.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { type Grant, Payments } from "#services/Payments.ts"
import { PaymentPolicy } from "#services/Payments/Policy.ts"
import { Wallets } from "#services/Wallets.ts"
import { answered, funds, market } from "./PaymentsHarness.ts"

const stateOf = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`SELECT state, attempt, failure FROM payments WHERE id = ${id}`
  return row
})

layer(Test.layer, { timeout: "60 seconds" })("a payment", (it) => {
  it.effect("lives sixty seconds; unused, its money comes back by itself", () =>
    Effect.gen(function* () {
      const { claim, money, payments, purse, reserve } = yield* market()
      const paid = yield* reserve
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual(yield* payments.resolveDue, 0)
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* claim(paid.proof), { _tag: "Refused", reason: "proof_expired" })
      assert.deepStrictEqual(yield* money(purse), { held: 10_000n, posted: funds })
      assert.strictEqual(yield* payments.resolveDue, 1)
      assert.deepStrictEqual(yield* money(purse), { held: 0n, posted: funds })
      assert.strictEqual((yield* stateOf(paid.id))?.["state"], "expired")
      assert.strictEqual(yield* payments.resolveDue, 0)
    })
  )

  it.effect(
    "is the same to the call that takes it, which reads its row by hand, as to whoever asks about its proof",
    () =>
      Effect.gen(function* () {
        const discounts = [
          { threshold: 10, priceMultiplier: 0.9 },
          { threshold: 100, priceMultiplier: 0.5 }
        ]
        const { granted, payments, reserve } = yield* market({ volumeDiscounts: discounts })
        const paid = yield* reserve
        const taken = yield* granted(paid.proof)
        assert.strictEqual(taken.price.tiers.length, 2)
        assert.deepStrictEqual(taken, (yield* payments.verify(paid.proof)).payment)
      })
  )

  it.effect("whose process died comes back when its lease ends, and may be used again", () =>
    Effect.gen(function* () {
      const { claim, granted, money, payments, purse, reserve, till } = yield* market({ timeoutMs: 5000 })
      const paid = yield* reserve
      yield* granted(paid.proof)
      yield* TestClock.adjust("14 seconds")
      assert.strictEqual(yield* payments.resolveDue, 0)
      assert.strictEqual((yield* Effect.flip(claim(paid.proof)))._tag, "PAYMENT_IN_PROGRESS")
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* payments.resolveDue, 1)
      assert.deepStrictEqual(yield* money(purse), { held: 0n, posted: funds })
      const again = yield* granted(paid.proof)
      assert.strictEqual(again.attempt, 2)
      assert.deepStrictEqual(yield* money(purse), { held: 10_000n, posted: funds })
      assert.strictEqual((yield* payments.capture(again, answered(200))).charged, 10_000n)
      assert.deepStrictEqual(yield* money(till), { held: 0n, posted: 10_000n })
    })
  )

  it.effect("is not charged by a call whose lease had ended, and charged once by the next", () =>
    Effect.gen(function* () {
      const { granted, money, payments, purse, reserve } = yield* market({ timeoutMs: 5000 })
      const paid = yield* reserve
      const slow = yield* granted(paid.proof)
      yield* TestClock.adjust("16 seconds")
      yield* payments.resolveDue
      assert.strictEqual((yield* Effect.flip(payments.capture(slow, answered(200))))._tag, "HOLD_NOT_OPEN")
      const next = yield* granted(paid.proof)
      yield* payments.capture(next, answered(200))
      yield* payments.release(next, "origin_timeout")
      yield* payments.release(slow, "origin_timeout")
      assert.deepStrictEqual(yield* money(purse), { held: 0n, posted: funds - 10_000n })
      assert.strictEqual((yield* stateOf(paid.id))?.["state"], "captured")
    })
  )

  it.effect("charged twice is charged once", () =>
    Effect.gen(function* () {
      const { granted, money, payments, purse, reserve } = yield* market()
      const payment = yield* granted((yield* reserve).proof)
      const all = yield* Effect.all(
        Array.from({ length: 20 }, () =>
          Effect.map(payments.capture(payment, answered(200)), ({ charged }) => charged)
        ),
        {
          concurrency: 20
        }
      )
      assert.deepStrictEqual(new Set(all), new Set([10_000n]))
      assert.deepStrictEqual(yield* money(purse), { held: 0n, posted: funds - 10_000n })
    })
  )

  it.effect("given back is taken again by one call of many", () =>
    Effect.gen(function* () {
      const { claim, granted, money, payments, purse, reserve } = yield* market()
      const paid = yield* reserve
      yield* payments.release(yield* granted(paid.proof), "origin_status", answered(500))
      const grants = yield* Effect.all(
        Array.from({ length: 30 }, () => Effect.result(claim(paid.proof))),
        {
          concurrency: 30
        }
      )
      const winners = grants.filter((grant) => grant._tag === "Success" && grant.success._tag === "Granted")
      assert.strictEqual(winners.length, 1)
      assert.deepStrictEqual(yield* money(purse), { held: 10_000n, posted: funds })
    })
  )

  it.effect("a price that rose after it was quoted is not asked for; one that fell is", () =>
    Effect.gen(function* () {
      const { buyer, money, payments, purse, record, seller } = yield* market()
      const endpoints = yield* Endpoints
      const payQuoted = Effect.fnUntraced(function* (to: bigint) {
        const snapshot = yield* endpoints.directory.load(record.id)
        if (snapshot === null) return yield* Effect.die("gone")
        const payment_request_id = payments.request(snapshot, "GET").request
        yield* endpoints.update(seller, record.id, { basePrice: to })
        return (yield* payments.pay(buyer, { payment_request_id, from_wallet_id: purse })).paid.amount
      })
      assert.strictEqual(yield* payQuoted(50_000n), 10_000n)
      assert.strictEqual(yield* payQuoted(20_000n), 20_000n)
      assert.deepStrictEqual(yield* money(purse), { held: 30_000n, posted: funds })
    })
  )

  it.effect("is taken by a right call, whatever wrong calls come with it", () =>
    Effect.gen(function* () {
      const [{ call, payments, reserve }, other] = [yield* market({ method: "ANY" }), yield* market()]
      const [{ proof }, before] = [yield* reserve, yield* reserve]
      const right = call(proof)
      const wrong = { ...right, snapshot: other.call(proof).snapshot }
      // The claim before them is on its way to the database when they come, so that they go there together.
      const calls = [call(before.proof), wrong, right, right, { ...right, method: "POST" }]
      const [first, elsewhere, ...grants] = yield* Effect.all(
        calls.map((one) => Effect.result(payments.claim(one))),
        { concurrency: calls.length }
      )
      assert.containsSubset(first, { success: { _tag: "Granted" } })
      assert.containsSubset(elsewhere, { success: { _tag: "Refused", reason: "proof_for_another_endpoint" } })
      assert.strictEqual(grants.filter(isGranted).length, 1)
    })
  )

  it.effect("a payment request lives sixty seconds", () =>
    Effect.gen(function* () {
      const { buyer, payments, purse, record } = yield* market()
      const snapshot = yield* (yield* Endpoints).directory.load(record.id)
      if (snapshot === null) return yield* Effect.die("gone")
      const payment_request_id = payments.request(snapshot, "GET").request
      yield* TestClock.adjust("61 seconds")
      const refused = yield* Effect.flip(payments.pay(buyer, { payment_request_id, from_wallet_id: purse }))
      assert.strictEqual(refused._tag, "QUOTE_EXPIRED")
    })
  )

  it.effect("a frozen wallet reserves nothing; what it reserved before is still charged", () =>
    Effect.gen(function* () {
      const { buyer, granted, payments, purse, reserve } = yield* market()
      const paid = yield* reserve
      yield* (yield* Wallets).freeze(buyer, purse, "lost")
      assert.strictEqual((yield* Effect.flip(reserve))._tag, "WALLET_FROZEN")
      assert.strictEqual((yield* payments.capture(yield* granted(paid.proof), answered(200))).charged, 10_000n)
    })
  )

  it.effect("one idempotency key is one payment; with other parameters it is refused", () =>
    Effect.gen(function* () {
      const { buyer, money, payments, purse, record } = yield* market()
      const claim = { tenant_id: buyer.tenant_id, operation: "x402.pay", key: "k", fingerprint: "1" }
      const pay = (fingerprint: string) =>
        payments.pay(buyer, { url: record.gatewayUrl, from_wallet_id: purse }, { ...claim, fingerprint })
      const all = yield* Effect.all(
        Array.from({ length: 20 }, () => pay("1")),
        { concurrency: 20 }
      )
      assert.strictEqual(
        new Set(all.map(({ paid }) => `${paid.id} ${paid.proof} ${paid.expires_at.getTime()}`)).size,
        1
      )
      assert.strictEqual(all.filter(({ replayed }) => replayed).length, 19)
      assert.strictEqual((yield* Effect.flip(pay("2")))._tag, "IDEMPOTENCY_KEY_REUSED")
      assert.deepStrictEqual(yield* money(purse), { held: 10_000n, posted: funds })
    })
  )

  it.effect("a key answers the first answer for a day, also when the quote is over and the endpoint paused", () =>
    Effect.gen(function* () {
      const { buyer, payments, purse, record, seller } = yield* market()
      const endpoints = yield* Endpoints
      const snapshot = yield* endpoints.directory.load(record.id)
      const pay = {
        payment_request_id: snapshot === null ? "" : payments.request(snapshot, "GET").request,
        from_wallet_id: purse
      }
      const claim = { tenant_id: buyer.tenant_id, operation: "x402.pay", key: "day", fingerprint: "f" }
      const first = yield* payments.pay(buyer, pay, claim)
      yield* TestClock.adjust("61 seconds")
      yield* endpoints.update(seller, record.id, { status: "paused" })
      assert.deepStrictEqual(yield* payments.pay(buyer, pay, claim), { paid: first.paid, replayed: true })
      const other = yield* Effect.flip(payments.pay(buyer, pay, { ...claim, fingerprint: "g" }))
      assert.strictEqual(other._tag, "IDEMPOTENCY_KEY_REUSED")
      assert.strictEqual((yield* Effect.flip(payments.pay(buyer, pay)))._tag, "QUOTE_EXPIRED")
    })
  )

  it.effect("a free call moves nothing and counts", () =>
    Effect.gen(function* () {
      const { granted, money, payments, purse, record, reserve, seller } = yield* market({
        volumeDiscounts: [{ threshold: 1, priceMultiplier: 0 }]
      })
      yield* payments.capture(yield* granted((yield* reserve).proof), answered(200))
      const free = yield* reserve
      assert.strictEqual(free.amount, 0n)
      const payment = yield* granted(free.proof)
      yield* payments.release(payment, "origin_status", answered(500))
      assert.strictEqual((yield* payments.capture(yield* granted(free.proof), answered(200))).charged, 0n)
      assert.deepStrictEqual(yield* money(purse), { held: 0n, posted: funds - 10_000n })
      const { totalCalls, totalRevenue } = yield* (yield* Endpoints).get(seller, record.id)
      assert.deepStrictEqual([totalCalls, totalRevenue], [2n, 10_000n])
    })
  )
})

const isGranted = (grant: Result.Result<Grant, unknown>) => grant._tag === "Success" && grant.success._tag === "Granted"

/** A second process on the same database. */
const twoProcesses = Effect.gen(function* () {
  const context = yield* Layer.build(Layer.fresh(Platform.layer))
  return { first: yield* Payments, second: yield* Effect.provide(Payments, context) }
})

layer(Test.layer, { timeout: "60 seconds" })("two processes", (it) => {
  it.effect("one of them wins a payment; both together end each due payment once", () =>
    Effect.gen(function* () {
      const { first, second } = yield* twoProcesses
      const { call, money, purse, reserve } = yield* market()
      const proofs = yield* Effect.all(
        Array.from({ length: 20 }, () => reserve),
        { concurrency: 20 }
      )
      const grants = yield* Effect.all(
        proofs.flatMap(({ proof }) => [first, second].map((one) => Effect.result(one.claim(call(proof))))),
        { concurrency: 40 }
      )
      const won: Array<PaymentRow> = []
      for (const grant of grants) {
        if (grant._tag === "Success" && grant.success._tag === "Granted") won.push(grant.success.payment)
      }
      assert.strictEqual(new Set(won.map(({ id }) => id)).size, 20)
      assert.strictEqual(won.length, 20)
      yield* TestClock.adjust("41 seconds")
      yield* Effect.all([first.resolveDue, second.resolveDue], { concurrency: 2 })
      assert.deepStrictEqual(yield* money(purse), { held: 0n, posted: funds })
      const sql = yield* SqlClient.SqlClient
      const releases = yield* sql`SELECT count(*)::int AS n FROM movements WHERE kind = 'release'`
      assert.strictEqual(releases[0]?.["n"], 20)
    })
  )
})

layer(
  Test.layer.pipe(
    Layer.provide(
      Layer.effect(
        PaymentPolicy,
        Effect.map(PaymentPolicy, (usual) => ({ ...usual, feeBasisPoints: 290 }))
      )
    )
  ),
  { timeout: "60 seconds" }
)("a platform fee", (it) => {
  it.effect("is taken from the payee, rounded down, with the charge", () =>
    Effect.gen(function* () {
      const { granted, money, payments, purse, reserve, till } = yield* market({ basePrice: 12_345n })
      yield* payments.capture(yield* granted((yield* reserve).proof), answered(200))
      assert.deepStrictEqual(yield* money(purse), { held: 0n, posted: funds - 12_345n })
      assert.deepStrictEqual(yield* money(till), { held: 0n, posted: 12_345n - 358n })
    })
  )
})
