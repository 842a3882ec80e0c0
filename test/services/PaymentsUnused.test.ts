import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Test from "#layers/Test.ts"
import * as Paid from "./PaymentsHarness.ts"

// What fails on purpose need not be reported.
const quiet = Layer.succeed(References.MinimumLogLevel, "None")

layer(Layer.merge(Test.layer, quiet), { timeout: "60 seconds" })("payments that were never used", (it) => {
  it.effect("are given back as soon as the ledger can, also those that ended while it could not", () =>
    Effect.gen(function* () {
      const { money, payments, purse, reserve } = yield* Paid.market()
      const sql = yield* SqlClient.SqlClient
      for (const _ of [1, 2, 3]) yield* reserve
      assert.strictEqual((yield* money(purse)).held, 30_000n)
      yield* TestClock.adjust("61 seconds")
      yield* sql`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
        ${sql.literal("$$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '53100'; END $$")}`
      yield* sql`CREATE TRIGGER failing BEFORE INSERT ON movements EXECUTE FUNCTION fail()`
      assert.isTrue(Exit.isFailure(yield* Effect.exit(payments.resolveDue)))
      yield* sql`DROP TRIGGER failing ON movements`
      assert.strictEqual(yield* payments.resolveDue, 3)
      assert.deepStrictEqual(yield* money(purse), { held: 0n, posted: Paid.funds })
      assert.strictEqual(yield* payments.resolveDue, 0)
    })
  )

  it.effect("end also while the ledger cannot give back what was reserved for one of them", () =>
    Effect.gen(function* () {
      const { money, payments, purse, reserve } = yield* Paid.market()
      const sql = yield* SqlClient.SqlClient
      for (const _ of [1, 2]) yield* reserve
      yield* sql`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        ${sql.literal("$$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '23514'; END $$")}`
      const [hold] = yield* sql`SELECT hold_id FROM payments WHERE state = 'authorized' LIMIT 1`
      yield* sql`CREATE TRIGGER refusing BEFORE INSERT ON movements FOR EACH ROW
        WHEN (NEW.hold_id = ${sql.literal(`'${String(hold?.["hold_id"])}'`)}) EXECUTE FUNCTION refuse()`
      yield* TestClock.adjust("61 seconds")
      assert.isTrue(Exit.isFailure(yield* Effect.exit(payments.resolveDue)))
      assert.strictEqual((yield* money(purse)).held, 10_000n)
      yield* reserve
      yield* TestClock.adjust("61 seconds")
      assert.isTrue(Exit.isFailure(yield* Effect.exit(payments.resolveDue)))
      assert.strictEqual((yield* money(purse)).held, 10_000n)
      yield* sql`DROP TRIGGER refusing ON movements`
      assert.strictEqual(yield* payments.resolveDue, 1)
      assert.deepStrictEqual(yield* money(purse), { held: 0n, posted: Paid.funds })
    })
  )

  it.effect("have not ended when a call that came in time takes them again meanwhile", () =>
    Effect.gen(function* () {
      const { call, granted, money, payments, purse, reserve } = yield* Paid.market()
      const sql = yield* SqlClient.SqlClient
      const paid = yield* reserve
      yield* payments.release(yield* granted(paid.proof), "origin_unreachable")
      yield* TestClock.adjust("59 seconds")
      const ended = Effect.andThen(TestClock.adjust("2 seconds"), payments.resolveDue)
      const late = yield* Paid.another(ended)
      const grant = yield* late.claim(call(paid.proof))
      if (grant._tag !== "Granted") return yield* Effect.die(grant)
      const { id } = grant.payment
      const row = sql`SELECT state, completed_at FROM payments WHERE id = ${id}`
      assert.deepStrictEqual(yield* row, [{ state: "in_flight", completed_at: null }])
      assert.strictEqual((yield* money(purse)).held, 10_000n)
      yield* payments.release(grant.payment, "origin_unreachable")
      assert.deepStrictEqual(yield* row, [{ state: "released", completed_at: null }])
      assert.deepStrictEqual(yield* money(purse), { held: 0n, posted: Paid.funds })
    })
  )

  it.effect("reserve their money anew when it was freed while their call went back without having used it", () =>
    Effect.gen(function* () {
      const { granted, money, payments, purse, reserve, till } = yield* Paid.market()
      const { proof } = yield* reserve
      const payment = yield* granted(proof)
      yield* TestClock.adjust("45 seconds")
      const late = yield* Paid.another(payments.unclaim(payment))
      yield* late.resolveDue
      assert.deepStrictEqual(yield* money(purse), { held: 0n, posted: Paid.funds })
      const again = yield* granted(proof)
      assert.strictEqual((yield* money(purse)).held, 10_000n)
      assert.strictEqual((yield* payments.capture(again, Paid.answered(200))).charged, 10_000n)
      assert.deepStrictEqual(yield* money(till), { held: 0n, posted: 10_000n })
    })
  )
})
