import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as Presence from "#services/Ledger/Presence.ts"
import * as Turns from "#services/Turns.ts"

/** The time of day of this process is an hour ahead from now on, until the scope closes. */
const anHourAhead = Effect.acquireRelease(
  Effect.sync(() => {
    const { now } = Date
    Date.now = () => now() + 3_600_000
    return now
  }),
  (now) =>
    Effect.sync(() => {
      Date.now = now
    })
)

it.effect("when the time is set forward, who waits for a turn has it", () =>
  Effect.gen(function* () {
    const turn = (yield* Turns.make)("one")
    const held = yield* Deferred.make<void>()
    const first = yield* Effect.forkChild(turn(Deferred.await(held)), { startImmediately: true })
    const second = yield* Effect.forkChild(turn(Effect.succeed("done")), { startImmediately: true })
    yield* anHourAhead
    yield* Deferred.succeed(held, undefined)
    yield* Fiber.join(first)
    assert.strictEqual(yield* Fiber.join(second), "done")
  })
)

it.effect("when the time is set forward, a connection that was lost just now is no reason to be unready yet", () =>
  Effect.gen(function* () {
    const presence = Presence.make(Effect.void)
    yield* presence.came
    yield* presence.went
    yield* anHourAhead
    assert.isTrue(presence.isServing())
  })
)
