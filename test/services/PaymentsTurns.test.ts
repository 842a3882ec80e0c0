import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Latch } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Test from "#layers/Test.ts"
import { chain } from "./ChainSettlementsHarness.ts"
import { awaited } from "./LockHarness.ts"
import { free, live, market } from "./SignedPaymentsHarness.ts"

/** Whether the row of a payment is free while this waits for the head of the log, which the ledger has when it comes to such rows. */
const leavesFree = Effect.fnUntraced(function* <A, E, R>(id: string, ending: Effect.Effect<A, E, R>) {
  const sql = yield* SqlClient.SqlClient
  const taken = Latch.makeUnsafe()
  const ended = yield* Effect.forkChild(Effect.andThen(taken.await, ending))
  const rows = yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SELECT 1 FROM ledger_head WHERE log = 1 FOR UPDATE`
      yield* taken.open
      yield* awaited
      return yield* sql`SELECT 1 FROM payments WHERE id = ${id} FOR UPDATE SKIP LOCKED`
    })
  )
  yield* Fiber.join(ended)
  return rows.length === 1
})

layer(Test.layer, { timeout: "60 seconds" })("a call that is given back without the ledger", (it) => {
  it.effect("waits for its turn with the log before it takes its payment, as the ledger does", () =>
    Effect.gen(function* () {
      const { granted, payments, signs } = yield* market("sandbox")
      const payment = yield* granted(signs(free))
      assert.isTrue(yield* leavesFree(payment.id, payments.release(payment, "origin_status")))
    })
  )
})

layer(live({}), { timeout: "60 seconds" })(
  "a payment on a chain that is given back because nobody asked for the money",
  (it) => {
    it.effect("waits for its turn with the log, too", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* chain.does("settle")
        const { granted, payments, signs } = yield* market("live")
        const { id } = yield* granted(signs())
        yield* sql`UPDATE payments SET state = 'settling' WHERE id = ${id}`
        yield* TestClock.adjust("5 minutes")
        assert.isTrue(yield* leavesFree(id, payments.resolveDue))
        const [row] = yield* sql`SELECT state FROM payments WHERE id = ${id}`
        assert.strictEqual(row?.["state"], "released")
      })
    )
  }
)
