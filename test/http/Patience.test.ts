import { assert, layer } from "@effect/vitest"
import { Cause, Clock, Context, Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { late, Patience } from "#http/Patience.ts"
import { setClock } from "../services/SetClock.ts"

layer(Patience.layer)("patience", (it) => {
  it.effect("ends for all that is late, also when one of them cannot be given up", () =>
    Effect.gen(function* () {
      const { watch } = yield* Patience
      const given: Array<string> = []
      watch(() => {
        throw new Error("simulated")
      })
      watch(() => given.push("with it"))
      yield* TestClock.adjust("13 seconds")
      assert.deepStrictEqual(given, ["with it"])
      watch(() => given.push("after it"))
      yield* TestClock.adjust("13 seconds")
      assert.deepStrictEqual(given, ["with it", "after it"])
    })
  )

  it.effect("ends as soon when the time is set back or forward meanwhile", () =>
    Effect.gen(function* () {
      const { clock, set } = yield* setClock
      const built = yield* Effect.provideService(Layer.build(Layer.fresh(Patience.layer)), Clock.Clock, clock)
      const { watch } = Context.get(built, Patience)
      const given: Array<string> = []
      watch(() => given.push("before it was set back"))
      set.by = -3_600_000
      watch(() => given.push("after it was set back"))
      yield* TestClock.adjust("13 seconds")
      assert.deepStrictEqual(given, ["before it was set back", "after it was set back"])
      watch(() => given.push("too early"))
      set.by = 3_600_000
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(given.length, 2)
    })
  )

  it.effect("stops an operation that is late, and does not wait until it has stopped", () =>
    Effect.gen(function* () {
      const { limited } = yield* Patience
      const happened: Array<string> = []
      const stopping = Effect.andThen(
        Effect.sync(() => happened.push("stopping")),
        Effect.never
      )
      const answer = yield* Effect.forkChild(limited(Effect.onInterrupt(Effect.never, () => stopping)))
      const quick = yield* Effect.forkChild(limited(Effect.never))
      yield* TestClock.adjust("11 seconds")
      assert.deepStrictEqual(happened, [])
      yield* TestClock.adjust("2 seconds")
      for (const exit of yield* Fiber.awaitAll([answer, quick])) {
        assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) === late)
      }
      assert.deepStrictEqual(happened, ["stopping"])
    })
  )

  it.effect("stops an operation whose caller has left", () =>
    Effect.gen(function* () {
      const { limited } = yield* Patience
      const happened: Array<string> = []
      const operation = Effect.onInterrupt(Effect.never, () => Effect.sync(() => happened.push("stopped")))
      const caller = yield* Effect.forkChild(limited(operation), { startImmediately: true })
      yield* Fiber.interrupt(caller)
      assert.deepStrictEqual(happened, ["stopped"])
    })
  )
})
