import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as Turns from "#services/Turns.ts"

const forked = <A>(effect: Effect.Effect<A>) => Effect.forkChild(effect, { startImmediately: true })

it.effect("whoever comes for another thing waits for nobody's turn, however many things there are", () =>
  Effect.gen(function* () {
    const inTurn = yield* Turns.make
    const begun: Array<number> = []
    const things = Array.from({ length: 1_000 }, (_, place) => place)
    for (const thing of things) {
      const begin = Effect.sync(() => void begun.push(thing))
      yield* forked(inTurn(`thing ${thing}`)(Effect.andThen(begin, Effect.never)))
    }
    assert.deepStrictEqual(begun, things)
  })
)

it.effect("those who come for one thing have it one after the other, also where one of them leaves meanwhile", () =>
  Effect.gen(function* () {
    const turn = (yield* Turns.make)("one")
    const done: Array<string> = []
    const does = (what: string) => turn(Effect.sync(() => void done.push(what)))
    const over = yield* Deferred.make<void>()
    const first = yield* forked(turn(Deferred.await(over)))
    const [second, third] = [yield* forked(does("second")), yield* forked(does("third"))]
    yield* Fiber.interrupt(second)
    assert.deepStrictEqual(done, [])
    yield* Deferred.succeed(over, undefined)
    yield* Fiber.joinAll([first, third])
    yield* does("fourth")
    assert.deepStrictEqual(done, ["third", "fourth"])
  })
)
