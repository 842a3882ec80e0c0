import { assert, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Batch from "#services/Payments/Batch.ts"

it.effect("what is gathered for a while waits for nothing where there is enough of it for a batch", () =>
  Effect.gen(function* () {
    const sizes: Array<number> = []
    const run = (items: ReadonlyArray<number>) =>
      Effect.sync(() => {
        sizes.push(items.length)
        return items.map(() => null)
      })
    const { tell } = yield* Batch.make(run, Duration.millis(200))
    const { size } = Batch.batchPolicy
    for (let item = 0; item < 3 * size + 1; item++) tell(item)
    yield* Effect.repeat(Effect.yieldNow, { until: () => sizes.length === 3, times: 1000 })
    assert.deepStrictEqual(sizes, [size, size, size])
    tell(0)
    yield* TestClock.adjust("199 millis")
    assert.strictEqual(sizes.length, 3)
    yield* TestClock.adjust("1 millis")
    assert.deepStrictEqual(sizes, [size, size, size, 2])
  }).pipe(Effect.scoped)
)
