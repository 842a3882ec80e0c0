import { assert, it } from "@effect/vitest"
import { Clock, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { atBeats, untilBeat } from "#services/Upkeep.ts"

const waits = (millis: number, every: Duration.Input) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(millis)
    return Duration.toMillis(yield* untilBeat(every))
  })

it.effect("what is repeated waits for whole seconds, so that one wakes for all", () =>
  Effect.gen(function* () {
    assert.strictEqual(yield* waits(10_000, "1 second"), 1000)
    assert.strictEqual(yield* waits(10_300, "1 second"), 700)
    assert.strictEqual(yield* waits(20_300, "10 seconds"), 9700)
    assert.strictEqual(yield* waits(30_600, "1500 millis"), 1400)
  })
)

it.effect("what is repeated waits at least half as long as it was asked to, and never longer", () =>
  Effect.gen(function* () {
    assert.strictEqual(yield* waits(10_900, "1 second"), 500)
    // A timer that came a millisecond early is at its beat.
    assert.strictEqual(yield* waits(11_999, "1 second"), 1000)
    assert.strictEqual(yield* waits(12_900, "250 millis"), 250)
  })
)

it.effect("turns that began apart come together", () =>
  Effect.gen(function* () {
    const turns: Array<number> = []
    const turn = Effect.map(Clock.currentTimeMillis, (now) => void turns.push(now))
    yield* Effect.forkScoped(atBeats(turn, "1 second"))
    yield* TestClock.adjust("300 millis")
    yield* Effect.forkScoped(atBeats(turn, "2 seconds"))
    yield* TestClock.adjust("3700 millis")
    assert.deepStrictEqual(turns, [0, 300, 1000, 2000, 2000, 3000, 4000, 4000])
  })
)
