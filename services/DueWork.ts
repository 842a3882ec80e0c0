import { Effect, Latch } from "effect"

/**
 * Does what falls due for as long as the scope lives: takes as much as there is room for, goes on while there is more, and
 * otherwise waits until something is due. Any number of processes may.
 */
export const drive = Effect.fnUntraced(function* (options: {
  /** What the log says when looking failed. */
  readonly failed: string
  /** How much one process does at a time, and how much it takes with one look. */
  readonly atOnce: number
  readonly batch: number
  /** At most so much that is due, each taken for this process alone. */
  readonly takeDue: (limit: number) => Effect.Effect<ReadonlyArray<Effect.Effect<void>>>
  readonly untilDue: Effect.Effect<void>
}) {
  const { atOnce, batch, failed, takeDue, untilDue } = options
  const scope = yield* Effect.scope
  const room = Latch.makeUnsafe(true)
  let doing = 0
  const left = Effect.sync(() => {
    doing -= 1
    room.openUnsafe()
  })
  const turn = Effect.gen(function* () {
    yield* room.await
    const limit = Math.min(batch, atOnce - doing)
    const works = yield* takeDue(limit)
    doing += works.length
    if (doing >= atOnce) room.closeUnsafe()
    for (const work of works) yield* Effect.forkIn(Effect.ensuring(work, left), scope)
    if (works.length < limit) yield* untilDue
  }).pipe(Effect.catchCause((cause) => Effect.andThen(Effect.logError(failed, cause), Effect.sleep("1 second"))))
  yield* Effect.forkScoped(Effect.forever(turn))
})
