import { assert, layer } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { chain } from "./ChainSettlementsHarness.ts"
import { live, market } from "./SignedPaymentsHarness.ts"

layer(live({}), { timeout: "60 seconds" })("a payment that the rail says nothing about", (it) => {
  it.effect("is not taken, and whoever runs the server can read why", () =>
    Effect.gen(function* () {
      const { bring, signs } = yield* market("live")
      yield* chain.does("unavailable")
      const lines: Array<string> = []
      const logger = Logger.map(Logger.formatJson, (line) => void lines.push(line))
      const failure = yield* Effect.flip(bring(signs()).pipe(Effect.provide(Logger.layer([logger]))))
      assert.strictEqual(failure._tag, "RAIL_UNAVAILABLE")
      assert.match(lines.join("\n"), /The settlement rail gave no answer.*simulated/)
    })
  )
})
