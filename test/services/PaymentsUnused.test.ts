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
})
