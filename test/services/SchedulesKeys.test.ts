import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { ScheduleId } from "#domain/Ids.ts"
import type { ScheduleTrigger } from "#domain/Schedule.ts"
import { newUuid } from "#services/NewId.ts"
import { Schedules } from "#services/Schedules.ts"
import { ahead, another, isSound, pair, platform } from "./SchedulesHarness.ts"
import { claimOf } from "./WalletsHarness.ts"

const ways: ReadonlyArray<readonly [ScheduleTrigger, string]> = [
  ["pause", "paused"],
  ["resume", "scheduled"],
  ["cancel", "cancelled"]
]

layer(platform, { timeout: "60 seconds" })("changing a schedule under a key", (it) => {
  it.effect("a hundred times at once, in two processes, changes it once and tells everybody the same", () =>
    Effect.gen(function* () {
      const { caller, schedule } = yield* pair(100n)
      const { id } = yield* schedule({ frequency: "daily" })
      const [here, there] = [yield* Schedules, yield* another]
      for (const [trigger, status] of ways) {
        const answers = yield* Effect.forEach(
          Array.from({ length: 100 }, (_, index) => (index % 2 ? here : there)),
          ({ change }) => change(caller, id, trigger, claimOf(caller, trigger)),
          { concurrency: 100 }
        )
        const changed = yield* here.get(caller, id)
        assert.strictEqual(changed.status, status)
        for (const answer of answers) assert.deepStrictEqual(answer.schedule, changed, trigger)
        assert.strictEqual(answers.filter(({ replayed }) => !replayed).length, 1, trigger)
      }
      yield* isSound
    })
  )

  it.effect("is told again for a day and not done again, whatever became of the schedule since", () =>
    Effect.gen(function* () {
      const { caller, schedule } = yield* pair(100n)
      const { change, get } = yield* Schedules
      const { id } = yield* schedule({ frequency: "daily" })
      const paused = yield* change(caller, id, "pause", claimOf(caller, "a pause"))
      const again = { ...paused, replayed: true }
      assert.deepStrictEqual(yield* change(caller, id, "pause", claimOf(caller, "a pause")), again)
      yield* change(caller, id, "resume")
      assert.deepStrictEqual(yield* change(caller, id, "pause", claimOf(caller, "a pause")), again)
      assert.strictEqual((yield* get(caller, id)).status, "scheduled")
      yield* change(caller, id, "cancel")
      yield* TestClock.adjust("23 hours")
      assert.deepStrictEqual(yield* change(caller, id, "pause", claimOf(caller, "a pause")), again)
      yield* TestClock.adjust("61 minutes")
      const late = yield* Effect.flip(change(caller, id, "pause", claimOf(caller, "a pause")))
      assert.strictEqual(late._tag, "STATE_TRANSITION_INVALID")
    })
  )

  it.effect("changes nothing under the key of another change, whether it could be made or not", () =>
    Effect.gen(function* () {
      const { caller, schedule } = yield* pair(100n)
      const { change, get } = yield* Schedules
      const [{ id }, { id: other }] = [yield* schedule({ frequency: "daily" }), yield* schedule({ frequency: "daily" })]
      yield* change(caller, id, "pause", claimOf(caller, "k", id))
      for (const named of [other, ScheduleId.make(newUuid())]) {
        const reused = yield* Effect.flip(change(caller, named, "pause", claimOf(caller, "k", named)))
        assert.strictEqual(reused._tag, "IDEMPOTENCY_KEY_REUSED")
      }
      assert.strictEqual((yield* get(caller, other)).status, "scheduled")
    })
  )

  it.effect("that is refused leaves the key free", () =>
    Effect.gen(function* () {
      const { caller, schedule } = yield* pair(100n)
      const { change } = yield* Schedules
      const { id } = yield* schedule({ frequency: "daily" })
      const refused = yield* Effect.flip(change(caller, id, "resume", claimOf(caller, "k")))
      assert.strictEqual(refused._tag, "STATE_TRANSITION_INVALID")
      yield* change(caller, id, "pause")
      assert.isFalse((yield* change(caller, id, "resume", claimOf(caller, "k"))).replayed)
    })
  )

  it.effect("cancels it for every repetition or executes it and refuses them all, 50 times", () =>
    Effect.gen(function* () {
      const { caller, received, schedule } = yield* pair(1_000n)
      const [here, there] = [yield* Schedules, yield* another]
      let executed = 0n
      for (let round = 0; round < 50; round++) {
        const { id } = yield* schedule({ scheduled_at: yield* ahead({ hours: 1 }) })
        yield* TestClock.adjust("1 hour")
        const cancelling = [here, there, here, there].map(({ change, get }) =>
          Effect.match(
            Effect.andThen(
              Effect.all(Array.from({ length: round % 4 }, () => get(caller, id))),
              change(caller, id, "cancel", claimOf(caller, id))
            ),
            { onFailure: ({ _tag }) => _tag, onSuccess: ({ schedule: { status } }) => status }
          )
        )
        // A round in ten is no race, so that each wins on any machine.
        const executing = Effect.as(here.executeDue, "executed")
        const order = round % 20 === 0 ? [...cancelling, executing] : [executing, ...cancelling]
        const answers = yield* Effect.all(order, { concurrency: round % 10 === 0 ? 1 : 5 })
        const { status } = yield* here.get(caller, id)
        if (status === "executed") executed += 10n
        const told = status === "executed" ? "STATE_TRANSITION_INVALID" : "cancelled"
        assert.deepStrictEqual(answers.toSorted(), [...Array(4).fill(told), "executed"].toSorted())
        assert.strictEqual(yield* received, executed)
        yield* TestClock.adjust("31 seconds")
      }
      assert.isTrue(executed > 0n && executed < 500n, String(executed))
      yield* isSound
    })
  )
})
