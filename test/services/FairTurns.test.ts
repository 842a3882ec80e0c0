import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as FairTurns from "#services/FairTurns.ts"

/** Things that wait for their turn; each ends when the test says so. */
const begin = (atOnce: number) => {
  const turns = FairTurns.make(atOnce)
  const begun: Array<string> = []
  const start = Effect.fnUntraced(function* (owner: string, name: string) {
    const end = yield* Deferred.make<void>()
    const work = Effect.andThen(
      Effect.sync(() => begun.push(name)),
      Deferred.await(end)
    )
    const inTurn = Effect.scoped(Effect.andThen(turns(owner), work))
    const fiber = yield* Effect.forkChild(inTurn, { startImmediately: true })
    return { end: Effect.andThen(Deferred.succeed(end, undefined), Fiber.join(fiber)), leave: Fiber.interrupt(fiber) }
  })
  return { begun, start }
}

describe("turns", () => {
  it.effect("go by owner: who has much to do holds another up by one thing", () =>
    Effect.gen(function* () {
      const { begun, start } = begin(1)
      const first = [yield* start("a", "a1"), yield* start("a", "a2"), yield* start("a", "a3")]
      const other = yield* start("b", "b1")
      for (const { end } of [...first.slice(0, 2), other, ...first.slice(2)]) yield* end
      assert.deepStrictEqual(begun, ["a1", "a2", "b1", "a3"])
    })
  )

  it.effect("are as many at once as there may be", () =>
    Effect.gen(function* () {
      const { begun, start } = begin(2)
      const [one] = [yield* start("a", "a1"), yield* start("a", "a2"), yield* start("b", "b1")]
      assert.deepStrictEqual(begun, ["a1", "a2"])
      yield* one.end
      yield* Effect.yieldNow
      assert.deepStrictEqual(begun, ["a1", "a2", "b1"])
    })
  )

  it.effect("are given back by who is interrupted, and not waited for by who has left", () =>
    Effect.gen(function* () {
      const { begun, start } = begin(1)
      const first = yield* start("a", "a1")
      const [left, next] = [yield* start("b", "b1"), yield* start("c", "c1")]
      yield* left.leave
      yield* first.leave
      yield* next.end
      yield* Effect.flatMap(start("d", "d1"), ({ end }) => end)
      assert.deepStrictEqual(begun, ["a1", "c1", "d1"])
    })
  )

  it.effect("are no more because somebody leaves who waits behind another", () =>
    Effect.gen(function* () {
      const { begun, start } = begin(1)
      const first = yield* start("a", "a1")
      const [next, last] = [yield* start("b", "b1"), yield* start("c", "c1")]
      yield* last.leave
      yield* Effect.yieldNow
      assert.deepStrictEqual(begun, ["a1"])
      yield* first.end
      yield* next.end
      assert.deepStrictEqual(begun, ["a1", "b1"])
    })
  )
})
