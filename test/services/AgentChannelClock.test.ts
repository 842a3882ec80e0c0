import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { another, connect, resident, Test } from "./AgentChannelHarness.ts"
import { setClock } from "./SetClock.ts"

layer(Test, { timeout: "60 seconds" })("an open connection", (it) => {
  it.effect("hears its heartbeats, and lasts, also when the time is set back or forward", () =>
    Effect.gen(function* () {
      const { clock, set } = yield* setClock
      const channel = yield* Effect.provideService(another, Clock.Clock, clock)
      const { client } = yield* connect(channel, yield* resident)
      const heartbeats = () => client.names.filter((name) => name === "heartbeat").length
      set.by = -3_600_000
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual(heartbeats(), 2)
      set.by = 25 * 3_600_000
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual([client.state, heartbeats()], ["open", 3])
    })
  )
})
