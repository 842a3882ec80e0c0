import { Clock, Context, Duration, Effect, Layer } from "effect"
import { ServiceUnavailable } from "#domain/Refusal.ts"
import { monotonic } from "#services/RealTime.ts"
import { atBeats } from "#services/Upkeep.ts"

/** How long an operation may take, to the second: longer than any statement may on the database, and shorter than callers wait. */
const patience = Duration.seconds(12)

/** What is told when that is over. What was asked for may have been done: that is what idempotency keys are for. */
export const late = ServiceUnavailable.because("it took too long")

/**
 * An operation that is watched. One that is over lets go of all that was made for its request: a busy set makes itself anew all the
 * time, and V8 keeps what stood in its earlier tables, which point to the later ones, until it collects all of memory.
 */
interface Watch {
  /** Not a time of day: the database's is followed, which may be set back while its answers are waited for. */
  readonly since: number
  giveUp: (() => void) | undefined
}

/**
 * Gives operations up that what we stand on leaves without an answer: a database that stands still breaks no connection, and what
 * waits for one cannot always be interrupted.
 */
export class Patience extends Context.Service<
  Patience,
  {
    /** Calls `giveUp` when the time of an operation that begins now is over, unless the function it returns was called before. */
    watch(giveUp: () => void): () => void
    /** The same operation, in time: it dies with `late` when it is not done then, and is interrupted without being waited for. */
    limited<A, E, R>(operation: Effect.Effect<A, E, R>): Effect.Effect<A, E, R>
  }
>()("turnpike/http/Patience") {
  static readonly layer = Layer.effect(
    Patience,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      // In the order of their beginning, so that who is late stands first. Looking once a second costs less than a timer for each.
      const begun = new Set<Watch>()
      const end = (watch: Watch) => {
        begun.delete(watch)
        watch.giveUp = undefined
      }
      const takeLate = Effect.sync(() => {
        const latest = monotonic(clock) - Duration.toMillis(patience)
        const taken: Array<() => void> = []
        for (const watch of begun) {
          if (watch.since > latest) break
          if (watch.giveUp !== undefined) taken.push(watch.giveUp)
          end(watch)
        }
        return taken
      })
      // One that throws must not be the end of everybody's patience.
      const giveUpOne = (giveUp: () => void) =>
        Effect.catchCause(Effect.sync(giveUp), (cause) =>
          Effect.logError("An operation that is late could not be given up", cause)
        )
      yield* takeLate.pipe(
        Effect.flatMap((taken) => Effect.forEach(taken, giveUpOne, { discard: true })),
        (turn) => atBeats(turn, "1 second"),
        Effect.forkScoped
      )

      const watch = (giveUp: () => void) => {
        const watch: Watch = { since: monotonic(clock), giveUp }
        begun.add(watch)
        return () => end(watch)
      }
      const limited = <A, E, R>(operation: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        Effect.contextWith((context: Context.Context<R>) =>
          Effect.callback<A, E>((resume) => {
            const done = watch(() => {
              resume(Effect.die(late))
              stop()
            })
            const stop = Effect.runCallbackWith(context)(operation, {
              onExit: (exit) => {
                done()
                resume(exit)
              }
            })
            return Effect.sync(() => {
              done()
              stop()
            })
          })
        )
      return Patience.of({ watch, limited })
    })
  )
}
