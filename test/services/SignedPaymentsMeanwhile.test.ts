import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { transactionOf } from "#layers/RailSimulated.ts"
import { chain } from "./ChainSettlementsHarness.ts"
import { kept, live, market } from "./SignedPaymentsHarness.ts"

layer(live({}), { timeout: "60 seconds" })("a signed payment whose money is on a chain", (it) => {
  it.effect("is settled as one that somebody else may have brought since it came, however long its origin took", () =>
    Effect.gen(function* () {
      const { granted, payments, signs } = yield* market("live")
      const signed = signs()
      let since: Date | undefined
      yield* chain.does((settlement) => {
        since = settlement.since
        return Effect.succeed({ _tag: "Settled", transaction: transactionOf(settlement.id) })
      })
      const came = yield* DateTime.nowAsDate
      const grant = yield* granted(signed)
      yield* TestClock.adjust("20 seconds")
      yield* payments.capture(grant, kept("slow"), signed)
      assert.deepStrictEqual(since, came)
    })
  )
})
