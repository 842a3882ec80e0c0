import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Test from "#layers/Test.ts"
import { nonce, now, signTransfer } from "../domain/protocol/Payers.ts"
import { ask, fair, requirementsOf, theirs } from "./FacilitatorHarness.ts"

const day = 86_400_000
const told = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql`SELECT id FROM facilitated`).length
})

layer(Test.layer, { timeout: "60 seconds" })("forgetting who was told of a settlement", (it) => {
  it.effect("tells nobody again, however long the payment is valid", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(now)
      const { facilitator, seller } = yield* fair
      yield* theirs
      const validBefore = BigInt(now + 365 * day) / 1000n
      const payload = yield* Effect.promise(() =>
        signTransfer({ to: seller.address, nonce: nonce("valid for a year"), validBefore })
      )
      const payment = ask(payload, requirementsOf(seller.address))
      assert.isTrue((yield* facilitator.settle(payment, undefined)).success)
      yield* TestClock.adjust("30 days")
      assert.deepStrictEqual([yield* facilitator.forgetTold, yield* told], [0, 1], "somebody may still ask")
      assert.isFalse((yield* facilitator.settle(payment, undefined)).success)
      yield* TestClock.adjust("25 hours")
      assert.deepStrictEqual([yield* facilitator.forgetTold, yield* told], [1, 0])
      assert.strictEqual(
        (yield* facilitator.settle(payment, undefined)).errorReason,
        "invalid_exact_evm_nonce_already_used"
      )
      assert.strictEqual(yield* told, 0, "nor is it kept anew")
    })
  )

  it.effect("takes little at a time, and finds it by its time", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { facilitator } = yield* fair
      yield* sql`INSERT INTO facilitated SELECT gen_random_uuid(), now() FROM generate_series(1, 20000)`
      yield* sql`INSERT INTO facilitated SELECT gen_random_uuid(), 'epoch' FROM generate_series(1, 1500)`
      yield* sql`ANALYZE facilitated`
      yield* TestClock.setTime(now)
      const plan =
        (yield* sql`EXPLAIN SELECT id FROM facilitated WHERE told_at < '1980-01-01' ORDER BY told_at LIMIT 1000`)
          .map((row) => String(row["QUERY PLAN"]))
          .join("\n")
      assert.include(plan, "facilitated_told")
      assert.deepStrictEqual(
        [yield* facilitator.forgetTold, yield* facilitator.forgetTold, yield* facilitator.forgetTold],
        [1000, 500, 0]
      )
    })
  )
})
