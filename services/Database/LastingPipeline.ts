import type * as PgClient from "@effect/sql-pg/PgClient"
import { type Duration, Effect, Exit, Scope } from "effect"
import { within } from "../RealTime.ts"
import * as Pipeline from "./Pipeline.ts"

export interface LastingPipeline extends Pipeline.Pipeline {
  /** Closes the connection; the next flight makes another. Not while a flight is on its way or a transaction is open. */
  readonly drop: Effect.Effect<void>
}

/**
 * A pipeline for an owner who can say that the outcome is unknown: a lost connection is replaced when the next flight needs one, and
 * a server that does not answer in time counts as lost.
 */
export const make = Effect.fnUntraced(function* (
  config: PgClient.PgClientConfig,
  patience: Duration.Duration
): Effect.fn.Return<LastingPipeline, never, Scope.Scope> {
  const scope = yield* Effect.scope
  let current: { readonly pipeline: Pipeline.Pipeline; readonly scope: Scope.Closeable } | undefined
  const open = Effect.gen(function* () {
    const own = yield* Scope.fork(scope)
    const pipeline = yield* Effect.onError(Scope.provide(Pipeline.make(config), own), (cause) =>
      Scope.close(own, Exit.failCause(cause))
    )
    current = { pipeline, scope: own }
    return pipeline
  })
  const drop = Effect.suspend(() => {
    const lost = current
    current = undefined
    return lost === undefined ? Effect.void : Scope.close(lost.scope, Exit.void)
  })
  const late = Effect.fail(
    new Pipeline.ConnectionLost({ message: "The database did not answer in time", cause: undefined })
  )
  return {
    drop,
    isLost: () => current === undefined || current.pipeline.isLost(),
    fly: (steps, meanwhile) =>
      Effect.suspend(() =>
        current === undefined || current.pipeline.isLost()
          ? Effect.flatMap(Effect.andThen(drop, open), (pipeline) => pipeline.fly(steps, meanwhile))
          : current.pipeline.fly(steps, meanwhile)
      ).pipe(
        (answer) => within(answer, { duration: patience, orElse: () => late }),
        Effect.tapError((failure) => (Pipeline.endsConnection(failure) ? drop : Effect.void))
      )
  }
})
