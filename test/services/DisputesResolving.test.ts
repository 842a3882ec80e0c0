import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import migration from "#layers/migrations/0023_own_changes.ts"
import { Disputes } from "#services/Disputes.ts"
import { promises } from "#services/Doctor/Refunds.ts"
import { Refunds } from "#services/Refunds.ts"
import { Wallets } from "#services/Wallets.ts"
import { answer, claimOf, verdict } from "./DisputesHarness.ts"
import { interrupted } from "./LockHarness.ts"
import {
  available,
  crossed,
  dispute,
  empty,
  hundred,
  paid,
  platform,
  refund,
  services,
  sound,
  tagsOf
} from "./RefundsHarness.ts"

layer(platform, { timeout: "60 seconds" })("resolving a dispute", (it) => {
  it.effect("with a refund that the respondent cannot pay leaves it as it was", () =>
    Effect.gen(function* () {
      const disputes = yield* Disputes
      const { caller, id, receiver } = yield* paid
      const opened = yield* dispute(caller, id)
      const giveBack = yield* empty(caller, receiver)
      const refused = yield* Effect.flip(disputes.resolve(caller, opened.id, verdict("full_refund")))
      assert.strictEqual(refused._tag, "INSUFFICIENT_BALANCE")
      assert.deepStrictEqual(yield* disputes.get(caller, opened.id), opened)
      yield* giveBack(hundred)
      yield* (yield* Wallets).freeze(caller, receiver, "test")
      const frozen = yield* Effect.flip(disputes.resolve(caller, opened.id, verdict("full_refund")))
      assert.strictEqual(frozen._tag, "WALLET_FROZEN")
      assert.deepStrictEqual(yield* disputes.get(caller, opened.id), opened)
      yield* sound
    })
  )

  it.effect("refunds at most what is disputed and was not refunded since it was filed", () =>
    Effect.gen(function* () {
      const { resolve } = yield* Disputes
      const { caller, id, payer } = yield* paid
      yield* refund(caller, id, 30_000_000n)
      const { id: dp } = yield* dispute(caller, id, { amount_disputed: 60_000_000n })
      const more = yield* Effect.flip(resolve(caller, dp, verdict("partial_refund", 60_000_001n)))
      assert.deepInclude(more, { _tag: "AMOUNT_EXCEEDS_REMAINING", remaining: "60.00" })
      yield* refund(caller, id, 20_000_000n)
      const less = yield* Effect.flip(resolve(caller, dp, verdict("partial_refund", 40_000_001n)))
      assert.deepInclude(less, { _tag: "AMOUNT_EXCEEDS_REMAINING", remaining: "40.00" })
      yield* resolve(caller, dp, verdict("full_refund"))
      assert.strictEqual(yield* available(caller, payer), 90_000_000n)
      yield* sound
    })
  )

  it.effect("refunds nothing when as much as is disputed was refunded since, although more is left", () =>
    Effect.gen(function* () {
      const { resolve } = yield* Disputes
      const { caller, id, payer } = yield* paid
      const { id: dp } = yield* dispute(caller, id, { amount_disputed: 40_000_000n })
      yield* refund(caller, id, 45_000_000n)
      for (const wanted of [verdict("full_refund"), verdict("partial_refund", 1n)]) {
        const nothing = yield* Effect.flip(resolve(caller, dp, wanted))
        assert.deepInclude(nothing, { _tag: "AMOUNT_EXCEEDS_REMAINING", remaining: "0.00" })
      }
      yield* resolve(caller, dp, verdict("no_refund"))
      assert.strictEqual(yield* available(caller, payer), 45_000_000n)
      yield* sound
    })
  )

  it.effect("does not count what an earlier dispute awarded, whether that is paid or given up meanwhile", () =>
    Effect.gen(function* () {
      const { resolve } = yield* Disputes
      for (const isPaid of [true, false]) {
        const { caller, id, payer, receiver } = yield* paid
        yield* dispute(caller, id, { amount_disputed: 40_000_000n })
        const giveBack = yield* empty(caller, receiver)
        yield* TestClock.adjust("30 days")
        yield* (yield* Disputes).resolveDue
        const { id: dp } = yield* dispute(caller, id, { amount_disputed: 50_000_000n })
        if (isPaid) yield* giveBack(hundred)
        yield* TestClock.adjust("16 days")
        yield* (yield* Refunds).retryDue
        if (!isPaid) yield* giveBack(hundred)
        const before = yield* available(caller, payer)
        assert.strictEqual(before, isPaid ? 40_000_000n : 0n)
        yield* refund(caller, id, 10_000_000n)
        yield* resolve(caller, dp, verdict("full_refund"))
        assert.strictEqual((yield* available(caller, payer)) - before, 50_000_000n)
      }
      yield* sound
    })
  )

  it.effect(
    "that was open when the database learned to keep what was refunded before counts what was refunded since",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { resolve } = yield* Disputes
        const { caller, id, payer } = yield* paid
        yield* refund(caller, id, 30_000_000n)
        yield* TestClock.adjust("1 second")
        const { id: dp } = yield* dispute(caller, id, { amount_disputed: 60_000_000n })
        yield* TestClock.adjust("1 second")
        yield* refund(caller, id, 20_000_000n)
        yield* sql`ALTER TABLE disputes DROP COLUMN promised_before`
        yield* sql`ALTER TABLE scheduled_transfers DROP COLUMN changed_by`
        yield* sql.withTransaction(migration)
        yield* resolve(caller, dp, verdict("full_refund"))
        assert.strictEqual(yield* available(caller, payer), 90_000_000n)
        yield* sound
      })
  )

  it.effect("with more than it is about is found by the doctor", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { caller, id } = yield* paid
      const { id: dp } = yield* dispute(caller, id, { amount_disputed: 5n })
      yield* (yield* Disputes).resolve(caller, dp, verdict("full_refund"))
      const broken = Effect.filter(promises(sql), ({ query }) => Effect.map(query, (rows) => rows.length > 0))
      assert.deepStrictEqual(yield* broken, [])
      yield* sql`UPDATE disputes SET amount_disputed = 4 WHERE id = ${dp}`
      const found = (yield* broken).map(({ promise }) => promise)
      yield* sql`UPDATE disputes SET amount_disputed = 5 WHERE id = ${dp}`
      assert.deepStrictEqual(found, ["a dispute brings back no more than it is about"])
    })
  )

  it.effect("with a refund when everything has come back meanwhile is refused; without one it ends", () =>
    Effect.gen(function* () {
      const { resolve } = yield* Disputes
      const { caller, id } = yield* paid
      const { id: dp } = yield* dispute(caller, id)
      yield* refund(caller, id)
      const nothing = yield* Effect.flip(resolve(caller, dp, verdict("full_refund")))
      assert.strictEqual(nothing._tag, "AMOUNT_EXCEEDS_REMAINING")
      assert.strictEqual((yield* resolve(caller, dp, verdict("no_refund"))).dispute.status, "resolved")
    })
  )

  it.effect("of a cross-border transfer refunds at its own rate", () =>
    Effect.gen(function* () {
      const { resolve } = yield* Disputes
      const { caller, id, payer, receiver } = yield* crossed(100_000_000n, 1_000_000n, 90_000_000n)
      const { id: dp } = yield* dispute(caller, id)
      yield* resolve(caller, dp, verdict("partial_refund", 50_000_000n))
      assert.strictEqual(yield* available(caller, payer), 50_000_000n)
      assert.strictEqual(yield* available(caller, receiver), 45_000_000n)
      yield* sound
    })
  )

  it.effect("20 times at once, in two processes, makes one refund", () =>
    Effect.gen(function* () {
      const { caller, id, payer } = yield* paid
      const { id: dp } = yield* dispute(caller, id, { amount_disputed: 5_000_000n })
      const elsewhere = yield* Layer.build(Layer.fresh(services))
      const one = Effect.result(Effect.flatMap(Disputes, ({ resolve }) => resolve(caller, dp, verdict("full_refund"))))
      const answers = yield* Effect.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? one : Effect.provide(one, elsewhere))),
        { concurrency: 20 }
      )
      assert.deepStrictEqual(tagsOf(answers), [...Array.from({ length: 19 }, () => "STATE_TRANSITION_INVALID"), "done"])
      assert.strictEqual(yield* available(caller, payer), 5_000_000n)
      yield* sound
    })
  )

  it.effect("that another process ends after it was read is told so, and not what became of the money", () =>
    Effect.gen(function* () {
      const { caller, id } = yield* paid
      const { id: dp } = yield* dispute(caller, id)
      const elsewhere = yield* Layer.build(Layer.fresh(services))
      const one = Effect.flatMap(Disputes, ({ resolve }) => resolve(caller, dp, verdict("full_refund")))
      const late = yield* interrupted(Effect.flip(one), "FROM transfers t CROSS JOIN", Effect.provide(one, elsewhere))
      assert.strictEqual(late._tag, "STATE_TRANSITION_INVALID")
    })
  )

  it.effect("and refunding the same transfer at once never give back more than was paid", () =>
    Effect.gen(function* () {
      const { caller, id, payer } = yield* paid
      const { id: dp } = yield* dispute(caller, id)
      const elsewhere = yield* Layer.build(Layer.fresh(services))
      yield* Effect.all(
        [
          Effect.result(Effect.flatMap(Disputes, ({ resolve }) => resolve(caller, dp, verdict("full_refund")))),
          Effect.provide(Effect.result(refund(caller, id, 60_000_000n)), elsewhere)
        ],
        { concurrency: 2 }
      )
      assert.strictEqual(yield* available(caller, payer), hundred)
      yield* sound
    })
  )

  it.effect("under one key answers what it answered, and another verdict under it is refused", () =>
    Effect.gen(function* () {
      const { resolve } = yield* Disputes
      const { caller, id, payer } = yield* paid
      const { id: dp } = yield* dispute(caller, id)
      const once = resolve(caller, dp, verdict("full_refund"), claimOf(caller, "resolve"))
      const answers = yield* Effect.all(
        Array.from({ length: 30 }, () => once),
        { concurrency: 30 }
      )
      assert.strictEqual(answers.filter(({ replayed }) => !replayed).length, 1)
      assert.strictEqual(new Set(answers.map(({ dispute }) => dispute.refund_id)).size, 1)
      assert.isTrue((yield* once).replayed)
      assert.strictEqual(yield* available(caller, payer), hundred)
      const other = resolve(caller, dp, verdict("no_refund"), claimOf(caller, "resolve", "2"))
      assert.strictEqual((yield* Effect.flip(other))._tag, "IDEMPOTENCY_KEY_REUSED")
    })
  )
})

layer(platform, { timeout: "60 seconds" })("the list of disputes", (it) => {
  it.effect("is newest first, in pages, narrowed by every filter, and knows what is due soon", () =>
    Effect.gen(function* () {
      const { list, respond } = yield* Disputes
      const { caller, id, pay, payer } = yield* paid
      yield* (yield* Wallets).fund(caller, payer, { amount: hundred, currency: "USDC" })
      const other = yield* pay()
      const first = yield* dispute(caller, id)
      yield* TestClock.adjust("28 days")
      const second = yield* dispute(caller, other.id)
      const ids = (filter: Parameters<typeof list>[1], offset = 0, limit = 10) =>
        Effect.map(list(caller, filter, { limit, offset }), ({ disputes, total }) => [
          disputes.map((one) => one.id),
          total
        ])
      assert.deepStrictEqual(yield* ids({}), [[second.id, first.id], 2])
      assert.deepStrictEqual(yield* ids({}, 1, 1), [[first.id], 2])
      assert.deepStrictEqual(yield* ids({ transfer_id: id }), [[first.id], 1])
      assert.deepStrictEqual(yield* ids({ due_soon: "true" }), [[first.id], 1])
      yield* respond(caller, first.id, answer)
      assert.deepStrictEqual(yield* ids({ due_soon: "true" }), [[], 0])
      assert.deepStrictEqual(yield* ids({ status: "under_review" }), [[first.id], 1])
    })
  )
})
