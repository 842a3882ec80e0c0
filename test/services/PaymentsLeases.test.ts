import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Test from "#layers/Test.ts"
import { ChainSettlements } from "#services/ChainSettlements.ts"
import { Payments } from "#services/Payments.ts"
import { chain } from "./ChainSettlementsHarness.ts"
import * as Paid from "./PaymentsHarness.ts"
import * as Signed from "./SignedPaymentsHarness.ts"

const stateOf = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`SELECT state FROM payments WHERE id = ${id}`
  return row?.["state"]
})

layer(Test.layer, { timeout: "60 seconds" })("a call that costs nothing", (it) => {
  it.effect("is over when that is announced, and not before", () =>
    Effect.gen(function* () {
      const { granted, payments, reserve } = yield* Paid.market({
        volumeDiscounts: [{ threshold: 1, priceMultiplier: 0 }]
      })
      yield* payments.capture(yield* granted((yield* reserve).proof), Paid.answered(200))
      const sql = yield* SqlClient.SqlClient
      const payment = yield* granted((yield* reserve).proof)
      yield* sql`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
        ${sql.literal("$$ BEGIN RAISE EXCEPTION 'no'; END $$")}`
      yield* sql`CREATE TRIGGER failing BEFORE INSERT ON events EXECUTE FUNCTION fail()`
      yield* Effect.exit(payments.release(payment, "origin_status", Paid.answered(500)))
      assert.strictEqual(yield* stateOf(payment.id), "in_flight")
      yield* sql`DROP TRIGGER failing ON events`
      yield* payments.release(payment, "origin_status", Paid.answered(500))
      assert.strictEqual(yield* stateOf(payment.id), "released")
    })
  )
})

layer(Test.layer, { timeout: "60 seconds" })("a payment that was given back unused and taken again", (it) => {
  it.effect("keeps its money for the call that has it, also while the one before is found to be over", () =>
    Effect.gen(function* () {
      const { claim, granted, money, payments, purse, reserve } = yield* Paid.market({ timeoutMs: 5000 })
      const { proof } = yield* reserve
      const slept = yield* granted(proof)
      yield* TestClock.adjust("16 seconds")
      // Its process is awake again by the time another has seen that its lease is over.
      const taken = Effect.andThen(payments.unclaim(slept), Effect.result(claim(proof)))
      const given: Array<Effect.Success<typeof taken>> = []
      const late = yield* Paid.another(Effect.map(taken, (grant) => given.push(grant)))
      yield* late.resolveDue
      const [meanwhile] = given
      const grant = meanwhile?._tag === "Success" ? meanwhile.success : yield* claim(proof)
      if (grant._tag !== "Granted") return yield* Effect.die(grant)
      assert.strictEqual((yield* payments.capture(grant.payment, Paid.answered(200))).charged, 10_000n)
      assert.deepStrictEqual(yield* money(purse), { held: 0n, posted: Paid.funds - 10_000n })
    })
  )

  it.effect("stays with the call that has it when one goes back whose claim was lost with the database", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { granted, payments, reserve } = yield* Paid.market()
      const { proof } = yield* reserve
      const lost = yield* granted(proof)
      yield* sql`UPDATE payments SET state = 'authorized', lease_until = NULL WHERE id = ${lost.id}`
      yield* TestClock.adjust("1 second")
      const next = yield* granted(proof)
      yield* payments.unclaim(lost)
      assert.strictEqual(yield* stateOf(next.id), "in_flight")
      yield* payments.unclaim(next)
      assert.strictEqual(yield* stateOf(next.id), "authorized")
    })
  )
})

layer(Test.layer, { timeout: "60 seconds" })("a call that costs nothing", (it) => {
  it.effect("keeps its payment when one ends whose lease was over before it", () =>
    Effect.gen(function* () {
      const { granted, payments, signs } = yield* Signed.market("sandbox", { timeoutMs: 5000 })
      const signed = signs(Signed.free)
      const slow = yield* granted(signed)
      yield* TestClock.adjust("16 seconds")
      yield* payments.resolveDue
      const next = yield* granted(signed)
      yield* payments.release(slow, "origin_timeout")
      assert.strictEqual(yield* stateOf(next.id), "in_flight")
      yield* payments.release(next, "origin_timeout")
      assert.strictEqual(yield* stateOf(next.id), "released")
      assert.strictEqual(yield* Signed.failures(next), 2)
    })
  )
})

layer(Signed.live({}), { timeout: "60 seconds" })("a call that costs nothing where money is on a chain", (it) => {
  it.effect("is answered although one takes its payment whose lease was over before it", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { granted, payments, signs } = yield* Signed.market("live", { timeoutMs: 5000 })
      const signed = signs(Signed.free)
      const slow = yield* granted(signed)
      yield* TestClock.adjust("16 seconds")
      yield* payments.resolveDue
      const next = yield* granted(signed)
      const late = yield* Effect.flip(payments.capture(slow, Signed.kept("late"), signed))
      assert.strictEqual(late._tag, "HOLD_NOT_OPEN")
      assert.strictEqual((yield* payments.capture(next, Signed.kept("in time"), signed)).charged, 0n)
    })
  )
})

layer(Signed.live({}), { timeout: "60 seconds" })(
  "a call whose process sleeps before it asks a chain for the money",
  (it) => {
    it.effect("is the one that is paid for: nobody else is let in meanwhile", () =>
      Effect.gen(function* () {
        yield* chain.does("settle")
        const { bring, granted, payments, record, signs } = yield* Signed.market("live", { timeoutMs: 5000 })
        const signed = signs()
        const told: Array<string> = []
        const sleeps = Effect.gen(function* () {
          yield* TestClock.adjust("2 minutes")
          yield* payments.resolveDue
          const grant = yield* Effect.result(bring(signed))
          told.push(grant._tag === "Success" ? grant.success._tag : grant.failure._tag)
        })
        const asleep = Layer.effect(
          ChainSettlements,
          Effect.map(ChainSettlements, (settlements) =>
            ChainSettlements.of({
              ...settlements,
              settle: (order, longer) => Effect.andThen(sleeps, settlements.settle(order, longer)),
              place: (order) =>
                Effect.map(settlements.place(order), (settle) => (longer) => Effect.andThen(sleeps, settle(longer)))
            })
          )
        )
        const slow = Context.get(yield* Layer.build(Layer.fresh(Payments.layer).pipe(Layer.provide(asleep))), Payments)
        const payment = yield* granted(signed)
        assert.strictEqual((yield* slow.capture(payment, Signed.kept("the answer"), signed)).charged, 10_000n)
        assert.deepStrictEqual(told, ["SETTLEMENT_PENDING"])
        assert.strictEqual((yield* bring(signed))._tag, "Answered")
        assert.strictEqual((yield* record)?.status, "captured")
        assert.strictEqual(yield* Signed.failures(payment), 0)
      })
    )

    it.effect("has its payment as before where it could not ask", () =>
      Effect.gen(function* () {
        yield* chain.does("settle")
        const { granted, payments, signs } = yield* Signed.market("live", { timeoutMs: 5000 })
        const signed = signs()
        const away = Layer.effect(
          ChainSettlements,
          Effect.map(ChainSettlements, (settlements) =>
            ChainSettlements.of({ ...settlements, place: () => Effect.die("The database went away") })
          )
        )
        const cut = Context.get(yield* Layer.build(Layer.fresh(Payments.layer).pipe(Layer.provide(away))), Payments)
        const payment = yield* granted(signed)
        yield* Effect.exit(cut.capture(payment, Signed.kept("the answer"), signed))
        assert.strictEqual(yield* stateOf(payment.id), "in_flight")
        assert.strictEqual((yield* payments.capture(payment, Signed.kept("the answer"), signed)).charged, 10_000n)
      })
    )
  }
)
