import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { boundedQueue } from "#client/BoundedQueue.ts"

it.effect("a queue is full with so many items, however light they are", () =>
  Effect.promise(async () => {
    const { put, take } = boundedQueue<string>(2, 100)
    await put("first", 1)
    let isPut = false
    const second = put("second", 1).then(() => (isPut = true))
    await new Promise<void>((resolve) => setImmediate(resolve))
    assert.isFalse(isPut)
    assert.strictEqual((await take()).value, "first")
    await second
    assert.strictEqual((await take()).value, "second")
  })
)
