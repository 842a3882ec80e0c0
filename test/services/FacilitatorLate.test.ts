import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ChainSettlements } from "#services/ChainSettlements.ts"
import { chained, does, later, live, patient, sale, setBack, speechless } from "./FacilitatorLiveHarness.ts"

type Sale = Effect.Success<typeof sale>
const ended = "invalid_exact_evm_payload_authorization_valid_before"

/** How far the settlement of a sale is. */
const stateOf = Effect.fnUntraced(function* ({ wallet }: Sale) {
  const [row] = yield* (yield* SqlClient.SqlClient)`SELECT c.state FROM chain_settlements c
    JOIN wallets w ON w.address = c."authorization" ->> 'payTo' WHERE w.id = ${wallet.id}`
  return String(row?.["state"])
})

layer(chained(patient), { timeout: "60 seconds" })("who asks a live facilitator to settle", (it) => {
  /** What is told to somebody within so many seconds. */
  const toldWithin = Effect.fnUntraced(function* (sold: Sale, seconds: number) {
    const asking = yield* Effect.forkChild(sold.facilitator.settle(sold.payment, sold.caller))
    yield* Effect.repeat(stateOf(sold), { until: (state) => state === "pending" })
    const second = Effect.andThen(
      TestClock.adjust("1 second"),
      // The database has a time of its own.
      Effect.repeat(stateOf(sold), { until: () => asking.pollUnsafe() !== undefined, times: 20 })
    )
    yield* Effect.repeat(second, { times: seconds - 1 })
    const told = asking.pollUnsafe()
    yield* Fiber.interrupt(asking)
    return told === undefined || Exit.isFailure(told) ? undefined : told.value
  })

  it.effect("is told that it is pending while he is still there: the API gives its operations 12 seconds", () =>
    Effect.gen(function* () {
      yield* does("pending")
      const told = yield* toldWithin(yield* sale, 11)
      assert.strictEqual(told?.errorReason, "settlement_pending")
      assert.match(told?.transaction ?? "", /^0x[0-9a-f]{64}$/)
    })
  )

  it.effect("is told in time also when the time of day is set back meanwhile", () =>
    Effect.gen(function* () {
      yield* does("pending")
      const sold = yield* sale
      yield* setBack
      assert.strictEqual((yield* toldWithin(sold, 11))?.errorReason, "settlement_pending")
    })
  )

  it.effect("and asks again waits as long, also when those who asked before do not wait any more", () =>
    Effect.gen(function* () {
      yield* does("pending")
      const sold = yield* sale
      yield* toldWithin(sold, 11)
      assert.isUndefined(yield* toldWithin(sold, 6))
    })
  )
})

layer(chained(live), { timeout: "60 seconds", excludeTestServices: true })("a payment that was begun", (it) => {
  const pending = Effect.gen(function* () {
    yield* does("pending")
    const sold = yield* sale
    const told = yield* Effect.repeat(sold.facilitator.settle(sold.payment, sold.caller), {
      until: ({ transaction }) => transaction !== ""
    })
    assert.strictEqual(told.errorReason, "settlement_pending")
    return { ...sold, transaction: told.transaction }
  })
  const settled = ({ caller, facilitator, payment }: Sale) =>
    Effect.repeat(facilitator.settle(payment, caller), {
      until: ({ errorReason }) => errorReason !== "settlement_pending",
      schedule: Schedule.spaced("10 millis")
    })

  it.effect("is told about after its time, and nothing that was not begun is taken then", () =>
    Effect.gen(function* () {
      const [sold, never] = [yield* pending, yield* sale]
      yield* later(600_000)
      yield* does("settle")
      const { success, transaction } = yield* settled(sold)
      assert.deepStrictEqual([success, transaction], [true, sold.transaction])
      const again = yield* settled(sold)
      assert.deepStrictEqual(
        [again.errorReason, again.transaction],
        ["invalid_exact_evm_nonce_already_used", sold.transaction]
      )
      assert.strictEqual((yield* settled(never)).errorReason, ended)
      assert.strictEqual(yield* stateOf(never), "undefined")
    })
  )

  it.effect("is told about while the rail does not say what it settles", () =>
    Effect.gen(function* () {
      const [sold, never] = [yield* pending, yield* sale]
      yield* later(120_000)
      yield* does("settle")
      yield* speechless
      const { success, transaction } = yield* settled(sold)
      assert.deepStrictEqual([success, transaction], [true, sold.transaction])
      assert.strictEqual((yield* settled(never)).errorReason, "unsupported_scheme")
    })
  )

  it.effect("is not said to be used, nor too late, before it is known what became of it", () =>
    Effect.gen(function* () {
      const { caller, facilitator, payment } = yield* pending
      const reason = Effect.map(facilitator.verify(payment, caller), ({ invalidReason }) => invalidReason)
      yield* does("refuse")
      assert.strictEqual(yield* reason, "settlement_pending")
      yield* later(600_000)
      assert.strictEqual(yield* reason, "settlement_pending")
      assert.notStrictEqual((yield* facilitator.verify(payment, undefined)).invalidReason, "settlement_pending")
    })
  )

  it.effect("is served once when it was taken after its seller had gone, also after its time", () =>
    Effect.gen(function* () {
      const [sold, never] = [yield* pending, yield* sale]
      const { caller, facilitator, payment } = sold
      yield* later(600_000)
      yield* does("settle")
      const { reconcileDue } = yield* ChainSettlements
      yield* Effect.repeat(Effect.andThen(reconcileDue, stateOf(sold)), { until: (state) => state === "confirmed" })
      for (const answer of ["refuse", "unavailable"] as const) {
        yield* does(answer)
        assert.isTrue((yield* facilitator.verify(payment, caller)).isValid, answer)
      }
      assert.isFalse((yield* facilitator.verify(payment, undefined)).isValid, "another tenant")
      assert.strictEqual((yield* facilitator.verify(never.payment, never.caller)).invalidReason, ended)
      assert.isTrue((yield* settled(sold)).success)
      assert.strictEqual((yield* facilitator.verify(payment, caller)).invalidReason, ended)
    })
  )
})
