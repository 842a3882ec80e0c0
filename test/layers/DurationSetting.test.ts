import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect } from "effect"
import * as DurationSetting from "#layers/DurationSetting.ts"
import * as RailEvmOptions from "#layers/RailEvm/Options.ts"
import * as RateSourceHttp from "#layers/RateSourceHttp.ts"
import * as Delay from "#layers/TransferRail/Delay.ts"

const read = (text: string) =>
  DurationSetting.duration("PATIENCE")
    .parse(ConfigProvider.fromUnknown({ PATIENCE: text }))
    .pipe(Effect.map(Duration.toMillis))

describe("a setting that is a duration", () => {
  for (const [text, millis] of Object.entries({
    "0": 0,
    "0 seconds": 0,
    "3 s": 3000,
    "3s": 3000,
    " 3 seconds ": 3000,
    "1 Second": 1000,
    "500 ms": 500,
    "500 millis": 500,
    "0.5s": 500,
    "5 minutes": 300_000,
    "5m": 300_000,
    "2 hours": 7_200_000,
    "1 day": 86_400_000
  })) {
    it.effect(`is read from "${text}"`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* read(text), millis)
      })
    )
  }

  for (const text of ["3", "soon", "-1 s", "2-5 s", "3 s 4 s", "1e3 s", "NaN s", "Infinity", "s"]) {
    it.effect(`is not read from "${text}", and the refusal names the setting`, () =>
      Effect.gen(function* () {
        const { message } = yield* Effect.flip(read(text))
        assert.include(message, "PATIENCE")
        assert.include(message, 'must be a duration, such as "3 seconds"')
      })
    )
  }

  it.effect("is written in the same ways wherever there is one", () =>
    Effect.gen(function* () {
      const env = ConfigProvider.fromUnknown({
        TURNPIKE_RATES_URL: "https://rates.example",
        TURNPIKE_RATES_MAX_AGE: "90s",
        TURNPIKE_RPC_URL: "https://node.example",
        TURNPIKE_RELAYER_KEY: "1".repeat(64),
        TURNPIKE_STUCK_AFTER: "90s",
        TURNPIKE_SETTLEMENT_DELAY: "90s"
      })
      const all = [
        (yield* RateSourceHttp.config.parse(env)).maxAge,
        (yield* RailEvmOptions.config.parse(env)).stuckAfter,
        (yield* Delay.config.parse(env)).longest
      ]
      assert.deepStrictEqual(all.map(Duration.toMillis), [90_000, 90_000, 90_000])
    })
  )
})
