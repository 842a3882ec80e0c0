import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { Schedules } from "#services/Schedules.ts"
import { whileHeadIsHeld } from "./LockHarness.ts"
import { ahead, isSound, pair, platform } from "./SchedulesHarness.ts"

layer(platform, { timeout: "60 seconds" })("a schedule whose resumption is late", (it) => {
  it.effect("makes up for nothing that fell into the pause until then", () =>
    Effect.gen(function* () {
      const { caller, received, schedule } = yield* pair(100n)
      const { change, executeDue } = yield* Schedules
      const second = yield* ahead({ days: 2 })
      const { id } = yield* schedule({ frequency: "daily" })
      yield* change(caller, id, "pause")
      yield* TestClock.adjust("23 hours")
      const { made } = yield* whileHeadIsHeld(change(caller, id, "resume"), TestClock.adjust("2 hours"))
      assert.deepStrictEqual(made.schedule.next_execution_at, second)
      assert.deepStrictEqual(made.schedule.updated_at, yield* DateTime.nowAsDate)
      assert.strictEqual(yield* executeDue, 0)
      assert.strictEqual(yield* received, 0n)
      yield* isSound
    })
  )
})
