import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Disputes } from "#services/Disputes.ts"
import { Refunds } from "#services/Refunds.ts"
import { Transfers } from "#services/Transfers.ts"
import { interrupted } from "./LockHarness.ts"
import { available, dispute, empty, hundred, paid, platform, refund, services, sound } from "./RefundsHarness.ts"

const reading = { transfer: "t.refunds_version", refund: "FROM refunds r WHERE r.id = " } as const

/** A transfer of which 40.00 are owed to its payer, whose refund is due: there was nothing to pay it from. */
const owed = Effect.gen(function* () {
  const { resolveDue } = yield* Disputes
  const { caller, id, payer, receiver } = yield* paid
  yield* dispute(caller, id, { amount_disputed: 40_000_000n })
  const giveBack = yield* empty(caller, receiver)
  yield* TestClock.adjust("30 days")
  yield* resolveDue
  yield* giveBack(hundred)
  yield* TestClock.adjust("1 hour")
  return { caller, id, payer }
})

layer(platform, { timeout: "60 seconds" })("a refund that is made while somebody looks at its transfer", (it) => {
  it.effect("leaves a dispute that is opened all that was not refunded, which it awards", () =>
    Effect.gen(function* () {
      const { resolve } = yield* Disputes
      const { caller, id, payer } = yield* paid
      const made = yield* interrupted(dispute(caller, id), reading.transfer, refund(caller, id, 40_000_000n))
      assert.strictEqual(made.amount_disputed, 60_000_000n)
      yield* resolve(caller, made.id, { resolution: "full_refund", refund_amount: undefined, notes: null })
      assert.strictEqual(yield* available(caller, payer), hundred)
      yield* sound
    })
  )

  for (const thing of ["transfer", "refund"] as const) {
    it.effect(`is not made again by a process that slept through its lease before it read the ${thing}`, () =>
      Effect.gen(function* () {
        const { caller, id, payer } = yield* owed
        const { retryDue } = yield* Refunds
        const elsewhere = yield* Layer.build(Layer.fresh(services))
        const byAnother = Effect.gen(function* () {
          yield* TestClock.adjust("2 minutes")
          assert.strictEqual(
            yield* Effect.provide(
              Effect.flatMap(Refunds, ({ retryDue }) => retryDue),
              elsewhere
            ),
            1
          )
        })
        yield* interrupted(retryDue, reading[thing], byAnother)
        assert.strictEqual(yield* available(caller, payer), 40_000_000n)
        assert.strictEqual((yield* (yield* Transfers).get(caller, id)).refunded_amount, 40_000_000n)
        yield* sound
      })
    )
  }

  it.effect("that was owed is paid at once all the same, beside another refund of that transfer", () =>
    Effect.gen(function* () {
      const { caller, id, payer } = yield* owed
      const { retryDue } = yield* Refunds
      yield* interrupted(retryDue, reading.refund, refund(caller, id, 30_000_000n))
      assert.strictEqual(yield* available(caller, payer), 70_000_000n)
      yield* sound
    })
  )
})
