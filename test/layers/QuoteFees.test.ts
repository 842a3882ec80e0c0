import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import * as Fees from "#layers/Fees.ts"
import { PaymentPolicy } from "#services/Payments/Policy.ts"
import { QuotePolicy } from "#services/Quotes/Policy.ts"

const policies = Effect.all([QuotePolicy, PaymentPolicy])
const under = (env: Record<string, string>) =>
  Effect.provide(policies, Fees.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(env)))))

describe("what converting money costs", () => {
  it.effect("is what the operator says, and usually 0.25 % and a spread of 0.5 %", () =>
    Effect.gen(function* () {
      const [usual] = yield* under({ TURNPIKE_FEE_BASIS_POINTS: "70" })
      assert.deepInclude(usual, { feeBasisPoints: 25, spreadBasisPoints: 50 })
      const [quotes, payments] = yield* under({
        TURNPIKE_QUOTE_FEE_BASIS_POINTS: "100",
        TURNPIKE_QUOTE_SPREAD_BASIS_POINTS: "0"
      })
      assert.deepInclude(quotes, { feeBasisPoints: 100, spreadBasisPoints: 0 })
      assert.strictEqual(payments.feeBasisPoints, 0)
    })
  )

  for (const name of ["TURNPIKE_QUOTE_FEE_BASIS_POINTS", "TURNPIKE_QUOTE_SPREAD_BASIS_POINTS"]) {
    for (const value of ["-1", "5001", "2.5", "a quarter"]) {
      it.effect(`is not ${name}=${value}`, () =>
        Effect.gen(function* () {
          assert.include(JSON.stringify(yield* Effect.flip(under({ [name]: value }))), name)
        })
      )
    }
  }
})
