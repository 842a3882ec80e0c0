import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ScannerCredits } from "#services/ScannerCredits.ts"
import { balance, charge, grant, linesOf, platform, sound, statesOf, tenantWith } from "./ScannerCreditsHarness.ts"

layer(platform, { timeout: "60 seconds" })("a charge", (it) => {
  it.effect("takes its credits at once and says what is left", () =>
    Effect.gen(function* () {
      const tenant_id = yield* tenantWith(10)
      assert.deepInclude(yield* charge(tenant_id, { operation: "test", credits: 5 }), { credits: 5, remaining: 5 })
      assert.deepInclude(yield* charge(tenant_id), { credits: 1, remaining: 4 })
      assert.deepStrictEqual(yield* balance(tenant_id), { balance: 4, granted_total: 10, consumed_total: 6 })
      yield* sound
    })
  )

  it.effect("that the purse does not cover is refused with both figures, and leaves nothing", () =>
    Effect.gen(function* () {
      const tenant_id = yield* tenantWith(4)
      const refused = yield* Effect.flip(charge(tenant_id, { operation: "test", credits: 5 }))
      assert.deepInclude(refused, { _tag: "INSUFFICIENT_CREDITS", balance: 4, required: 5 })
      assert.deepStrictEqual(yield* statesOf(tenant_id), {})
      assert.strictEqual((yield* linesOf(tenant_id)).length, 1)
      yield* sound
    })
  )

  it.effect("at zero is refused", () =>
    Effect.gen(function* () {
      const tenant_id = yield* tenantWith(0)
      const refused = yield* Effect.flip(charge(tenant_id))
      assert.deepInclude(refused, { _tag: "INSUFFICIENT_CREDITS", balance: 0, required: 1 })
    })
  )

  it.effect("is earned with what the transaction writes, or not at all", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { earn } = yield* ScannerCredits
      const tenant_id = yield* tenantWith(1)
      const open = yield* charge(tenant_id)
      yield* Effect.flip(sql.withTransaction(Effect.andThen(earn(open), Effect.fail("no result"))))
      assert.deepStrictEqual(yield* statesOf(tenant_id), { open: 1 })
      assert.isTrue(yield* sql.withTransaction(earn(open)))
      assert.isTrue(yield* earn(open), "who lost the answer asks again")
      assert.deepStrictEqual(yield* statesOf(tenant_id), { earned: 1 })
      yield* sound
    })
  )

  it.effect("is given back once, however often that is asked for", () =>
    Effect.gen(function* () {
      const { giveBack } = yield* ScannerCredits
      const tenant_id = yield* tenantWith(7)
      const open = yield* charge(tenant_id, { operation: "test", credits: 5 })
      const answers = yield* Effect.all(
        Array.from({ length: 20 }, () => giveBack(open, "scanner_failed")),
        { concurrency: 20 }
      )
      assert.deepStrictEqual([...new Set(answers)], [7])
      assert.deepStrictEqual(yield* statesOf(tenant_id), { returned: 1 })
      assert.deepStrictEqual(yield* balance(tenant_id), { balance: 7, granted_total: 7, consumed_total: 0 })
      yield* sound
    })
  )

  it.effect("that is being given back is not earned, and one that is earned not given back", () =>
    Effect.gen(function* () {
      const { earn, giveBack, isReturned, promiseBack } = yield* ScannerCredits
      const tenant_id = yield* tenantWith(2)
      const [first, second] = [yield* charge(tenant_id), yield* charge(tenant_id)]
      yield* promiseBack(first, "scanner_failed", 1)
      assert.isFalse(yield* isReturned(first))
      yield* giveBack(first, "scanner_failed")
      assert.isFalse(yield* earn(first))
      assert.isTrue(yield* earn(second))
      assert.strictEqual(yield* giveBack(second, "scanner_failed"), 1)
      assert.deepStrictEqual(yield* Effect.forEach([first, second], isReturned), [true, false])
      assert.deepStrictEqual(yield* statesOf(tenant_id), { earned: 1, returned: 1 })
      yield* sound
    })
  )

  it.effect("is given back in part, and the rest is earned", () =>
    Effect.gen(function* () {
      const { earn, giveBack } = yield* ScannerCredits
      const tenant_id = yield* tenantWith(10)
      const some = yield* charge(tenant_id, { operation: "test", credits: 6 })
      assert.strictEqual(yield* giveBack(some, "targets_not_scanned", 2), 6)
      assert.isFalse(yield* earn(some))
      const none = yield* charge(tenant_id)
      assert.strictEqual(yield* giveBack(none, "nothing_to_return", 0), 5)
      assert.deepStrictEqual(yield* statesOf(tenant_id), { earned: 1, returned: 1 })
      assert.deepStrictEqual(yield* balance(tenant_id), { balance: 5, granted_total: 10, consumed_total: 5 })
      yield* sound
    })
  )

  it.effect("of another tenant is neither earned nor given back", () =>
    Effect.gen(function* () {
      const { earn, giveBack, prolong } = yield* ScannerCredits
      const [tenant_id, stranger] = [yield* tenantWith(1), yield* tenantWith(1)]
      const open = yield* charge(tenant_id)
      assert.isFalse(yield* earn({ ...open, tenant_id: stranger }))
      assert.strictEqual(yield* giveBack({ ...open, tenant_id: stranger }, "theft"), 1)
      yield* prolong({ ...open, tenant_id: stranger })
      assert.deepStrictEqual(yield* statesOf(tenant_id), { open: 1 })
      yield* sound
    })
  )
})

layer(platform, { timeout: "60 seconds" })("an abandoned charge", (it) => {
  it.effect("is returned when nothing was heard of it for two minutes, and not before", () =>
    Effect.gen(function* () {
      const { earn, prolong, returnAbandoned } = yield* ScannerCredits
      const tenant_id = yield* tenantWith(2)
      yield* charge(tenant_id)
      const long = yield* charge(tenant_id)
      yield* TestClock.adjust("119 seconds")
      assert.strictEqual(yield* returnAbandoned, 0)
      yield* prolong(long)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* returnAbandoned, 1)
      assert.deepStrictEqual(yield* statesOf(tenant_id), { open: 1, returned: 1 })
      assert.isTrue(yield* earn(long))
      yield* sound
    })
  )

  it.effect("is returned also when the process died between its promise and the ledger, or after the ledger", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { giveBack, promiseBack, returnAbandoned } = yield* ScannerCredits
      const tenant_id = yield* tenantWith(9)
      const promised = yield* charge(tenant_id, { operation: "test", credits: 4 })
      yield* promiseBack(promised, "half_done", 3)
      const given = yield* charge(tenant_id, { operation: "test", credits: 5 })
      yield* giveBack(given, "scanner_failed")
      // As it is when the last step was lost.
      yield* sql`UPDATE credit_charges SET state = 'returning', ended_at = NULL, due_at = created_at + interval '2 minutes'
        WHERE id = ${given.id}`
      assert.deepStrictEqual(yield* statesOf(tenant_id), { returning: 2 })
      yield* sound
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(yield* returnAbandoned, 2)
      assert.deepStrictEqual(yield* statesOf(tenant_id), { returned: 2 })
      assert.strictEqual((yield* balance(tenant_id)).balance, 8)
      yield* sound
    })
  )

  it.effect("is promised back only if the transaction commits", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { promiseBack } = yield* ScannerCredits
      const tenant_id = yield* tenantWith(1)
      const open = yield* charge(tenant_id)
      yield* Effect.flip(sql.withTransaction(Effect.andThen(promiseBack(open, "why", 1), Effect.fail("no"))))
      assert.deepStrictEqual(yield* statesOf(tenant_id), { open: 1 })
    })
  )
})

layer(platform, { timeout: "60 seconds" })("the credit ledger", (it) => {
  it.effect("has a line for each movement, newest first, with what it was for and the balance after it", () =>
    Effect.gen(function* () {
      const { earn, giveBack } = yield* ScannerCredits
      const tenant_id = yield* tenantWith(10)
      const scan = yield* charge(tenant_id, { source: "req_scan" })
      yield* earn(scan)
      const test = yield* charge(tenant_id, { operation: "test", credits: 5, source: "req_test", metadata: { a: "b" } })
      yield* giveBack(test, "scanner_failed", 2)
      yield* grant(tenant_id, 1, "goodwill")
      const shown = (yield* linesOf(tenant_id)).map(({ created_at: _, seq: __, ...line }) => line)
      assert.deepStrictEqual(shown, [
        { delta: 1, reason: "adjustment", source: null, balance_after: 7, metadata: {} },
        {
          delta: 2,
          reason: "refund",
          source: "req_test",
          balance_after: 6,
          metadata: { a: "b", operation: "test", charge_id: test.id, return_reason: "scanner_failed" }
        },
        {
          delta: -5,
          reason: "consume",
          source: "req_test",
          balance_after: 4,
          metadata: { a: "b", operation: "test", charge_id: test.id }
        },
        {
          delta: -1,
          reason: "consume",
          source: "req_scan",
          balance_after: 9,
          metadata: { domain: "shop.test", operation: "scan", charge_id: scan.id }
        },
        { delta: 10, reason: "grant", source: null, balance_after: 10, metadata: {} }
      ])
    })
  )

  it.effect("is read in stretches, and shows nobody else's lines", () =>
    Effect.gen(function* () {
      const tenant_id = yield* tenantWith(5)
      const stranger = yield* tenantWith(5)
      for (const of of [tenant_id, stranger, tenant_id]) yield* charge(of)
      const all = yield* linesOf(tenant_id)
      assert.deepStrictEqual(
        all.map(({ balance_after }) => balance_after),
        [3, 4, 5]
      )
      assert.deepStrictEqual(yield* linesOf(tenant_id, 2), all.slice(0, 2))
      assert.deepStrictEqual(yield* linesOf(tenant_id, 2, all[1]?.seq), all.slice(2))
    })
  )
})
