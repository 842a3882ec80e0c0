import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { disputesScope } from "#domain/Dispute.ts"
import { toTypeId } from "#domain/Ids.ts"
import { version } from "#domain/LedgerAccount.ts"
import { refundsScope } from "#domain/Refund.ts"
import { Disputes } from "#services/Disputes.ts"
import { Ledger } from "#services/Ledger.ts"
import { Refunds } from "#services/Refunds.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { whileOthersHave } from "./LockHarness.ts"
import {
  available,
  dispute,
  empty,
  eventsAbout,
  hundred,
  paid,
  platform,
  refund,
  services,
  sound
} from "./RefundsHarness.ts"

const answer = { response: "It was delivered", counter_evidence: [] }
const typesOf = (events: ReadonlyArray<{ readonly type: string }>) => events.map(({ type }) => type)

/** Everything that is due, however often a step has to be made. */
const resolveAll = Effect.flatMap(Disputes, ({ resolveDue }) =>
  Effect.repeat(resolveDue, { until: (due) => due === 0 })
)

/** A dispute whose time to be answered is over, and whose respondent has spent the money. */
const unpaid = Effect.gen(function* () {
  const { caller, id, payer, receiver } = yield* paid
  const { id: dp } = yield* dispute(caller, id)
  const giveBack = yield* empty(caller, receiver)
  yield* TestClock.adjust("30 days")
  yield* resolveAll
  const ended = yield* (yield* Disputes).get(caller, dp)
  const rf = ended.refund_id
  if (rf === null) return assert.fail("no refund was awarded")
  return { caller, id, payer, receiver, dp, rf, ended, giveBack }
})

layer(platform, { timeout: "60 seconds" })("a refund that was awarded and cannot be paid", (it) => {
  it.effect("stays pending, keeps its part of the transfer, and is paid within the hour once there is money", () =>
    Effect.gen(function* () {
      const { get, retryDue } = yield* Refunds
      const { caller, dp, ended, giveBack, id, payer, rf } = yield* unpaid
      assert.deepInclude(ended, { status: "resolved", resolution: "full_refund" })
      assert.deepInclude(yield* get(caller, rf), { status: "pending", dispute_id: dp, refund_transfer_id: null })
      assert.deepInclude(yield* Effect.flip(refund(caller, id, 1n)), { _tag: "AMOUNT_EXCEEDS_REMAINING" })
      yield* TestClock.adjust("59 minutes")
      yield* giveBack(hundred)
      assert.strictEqual(yield* retryDue, 0)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* retryDue, 1)
      const made = yield* get(caller, rf)
      assert.deepInclude(made, { status: "completed", amount: hundred })
      assert.strictEqual(yield* available(caller, payer), hundred)
      assert.strictEqual((yield* (yield* Transfers).get(caller, id)).refunded_amount, hundred)
      assert.strictEqual(yield* retryDue, 0)
      const told = yield* eventsAbout(toTypeId("rf", rf), toTypeId("tx", id), toTypeId("tx", made.refund_transfer_id!))
      assert.deepStrictEqual(typesOf(told).slice(2), [
        "refund.created",
        "transfer.created",
        "transfer.completed",
        "refund.completed",
        "transfer.refunded"
      ])
      yield* sound
    })
  )

  it.effect("is tried 24 times in a day, then daily, and has failed after 15 days, which frees its part", () =>
    Effect.gen(function* () {
      const { get, retryDue } = yield* Refunds
      const { caller, giveBack, id, rf } = yield* unpaid
      let tries = 0
      for (let hour = 0; hour < 24; hour++) {
        yield* TestClock.adjust("1 hour")
        tries += yield* retryDue
      }
      assert.strictEqual(tries, 24)
      for (let day = 0; day < 13; day++) {
        yield* TestClock.adjust("1 day")
        tries += yield* retryDue
      }
      assert.strictEqual(tries, 37)
      assert.strictEqual((yield* get(caller, rf)).status, "pending")
      yield* TestClock.adjust("1 day")
      yield* retryDue
      assert.deepInclude(yield* get(caller, rf), { status: "failed", failure_reason: "insufficient_funds" })
      assert.strictEqual((yield* eventsAbout(toTypeId("rf", rf))).at(-1)?.type, "refund.failed")
      yield* giveBack(hundred)
      yield* TestClock.adjust("1 day")
      assert.strictEqual(yield* retryDue, 0)
      assert.strictEqual((yield* refund(caller, id)).refund.amount, hundred)
      yield* sound
    })
  )

  it.effect("because its respondent is frozen is paid after the thaw", () =>
    Effect.gen(function* () {
      const { get, retryDue } = yield* Refunds
      const { freeze, unfreeze } = yield* Wallets
      const { caller, id, receiver } = yield* paid
      const { id: dp } = yield* dispute(caller, id)
      yield* freeze(caller, receiver, "test")
      yield* TestClock.adjust("30 days")
      yield* resolveAll
      const rf = (yield* (yield* Disputes).get(caller, dp)).refund_id!
      assert.strictEqual((yield* get(caller, rf)).status, "pending")
      yield* unfreeze(caller, receiver)
      yield* TestClock.adjust("1 hour")
      yield* retryDue
      assert.strictEqual((yield* get(caller, rf)).status, "completed")
    })
  )

  it.effect("is paid once by any number of processes, beside refunds of what else is left", () =>
    Effect.gen(function* () {
      const { get } = yield* Refunds
      const { caller, id, payer, receiver } = yield* paid
      const { id: dp } = yield* dispute(caller, id, { amount_disputed: 60_000_000n })
      const giveBack = yield* empty(caller, receiver)
      yield* TestClock.adjust("30 days")
      yield* resolveAll
      yield* giveBack(hundred)
      yield* TestClock.adjust("1 hour")
      const elsewhere = yield* Layer.build(Layer.fresh(services))
      const retry = Effect.asVoid(Effect.flatMap(Refunds, ({ retryDue }) => retryDue))
      const part = Effect.asVoid(Effect.result(refund(caller, id, 30_000_000n)))
      const all = [retry, part, Effect.provide(retry, elsewhere), Effect.provide(part, elsewhere), retry, part]
      yield* Effect.all(all, { concurrency: 6 })
      const rf = (yield* (yield* Disputes).get(caller, dp)).refund_id!
      assert.strictEqual((yield* get(caller, rf)).status, "completed")
      assert.strictEqual(yield* available(caller, payer), 90_000_000n)
      yield* sound
    })
  )

  it.effect("that a dead process had taken is tried when its lease is over", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { get, retryDue } = yield* Refunds
      const { caller, giveBack, rf } = yield* unpaid
      yield* giveBack(hundred)
      yield* TestClock.adjust("1 hour")
      yield* sql`UPDATE refunds SET due_at = due_at + interval '1 minute' WHERE id = ${rf}`
      assert.strictEqual(yield* retryDue, 0)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* retryDue, 1)
      assert.strictEqual((yield* get(caller, rf)).status, "completed")
    })
  )

  it.effect("that another process has in hand is left to it, and keeps nobody waiting", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { retryDue } = yield* Refunds
      const { giveBack } = yield* unpaid
      yield* giveBack(hundred)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* whileOthersHave(sql`SELECT 1 FROM refunds FOR UPDATE`, retryDue), 0)
      assert.isAbove(yield* retryDue, 0)
    })
  )

  it.effect("and is put off puts off no other", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { get, retryDue } = yield* Refunds
      const poor = yield* paid
      yield* dispute(poor.caller, poor.id)
      yield* empty(poor.caller, poor.receiver)
      const { caller, giveBack, rf } = yield* unpaid
      yield* giveBack(hundred)
      yield* sql`UPDATE refunds SET due_at = due_at + interval '30 minutes' WHERE id = ${rf}`
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* retryDue, 1)
      assert.strictEqual((yield* get(caller, rf)).status, "pending")
      yield* TestClock.adjust("30 minutes")
      assert.strictEqual(yield* retryDue, 1)
      assert.strictEqual((yield* get(caller, rf)).status, "completed")
      yield* sound
    })
  )
})

layer(platform, { timeout: "60 seconds" })("versions", (it) => {
  it.effect("in the rows are those of the ledger's fences after all kinds of changes", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { tally } = yield* Ledger
      const { addEvidence, resolve, respond } = yield* Disputes
      const { caller, id } = yield* paid
      yield* refund(caller, id, 1n)
      const { id: dp } = yield* dispute(caller, id)
      yield* addEvidence(caller, dp, [{ type: "a", description: "b" }])
      yield* respond(caller, dp, answer)
      yield* resolve(caller, dp, { resolution: "partial_refund", refund_amount: 5n, notes: null })
      const countOf = (scope: string) => Effect.map(tally(scope, version), ({ count }) => count)
      const [row] = yield* sql`SELECT refunds_version FROM transfers WHERE id = ${id}`
      assert.deepStrictEqual([row?.["refunds_version"], yield* countOf(refundsScope(id))], [2n, 2n])
      const [other] = yield* sql`SELECT version FROM disputes WHERE id = ${dp}`
      assert.deepStrictEqual([other?.["version"], yield* countOf(dp)], [3n, 3n])
      assert.strictEqual(yield* countOf(disputesScope(id)), 1n)
    })
  )
})
