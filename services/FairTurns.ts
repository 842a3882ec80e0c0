import { Context, Deferred, Effect, type Scope } from "effect"

/** For whom it is that something is done, where turns of it go by owner. */
export const Owner = Context.Reference<string>("turnpike/services/FairTurns/Owner", { defaultValue: () => "" })

interface Turn {
  readonly come: Deferred.Deferred<void>
  isTaken: boolean
}

/**
 * Lets so many run at once. Whoever waits is served in turn by owner: one who asks for a hundred things holds another up by one of them,
 * however long the hundred take.
 */
export const make = (atOnce: number) => {
  let free = atOnce
  /** By owner, in the order in which they are served next. None is empty. */
  const waiting = new Map<string, Set<Turn>>()

  const take = (turn: Turn) => {
    turn.isTaken = true
    Deferred.doneUnsafe(turn.come, Effect.void)
  }
  const giveBack = () => {
    for (const [owner, turns] of waiting) {
      waiting.delete(owner)
      for (const turn of turns) {
        turns.delete(turn)
        if (turns.size > 0) waiting.set(owner, turns)
        return take(turn)
      }
    }
    free++
  }
  const ask = (owner: string): Turn => {
    const turn: Turn = { come: Deferred.makeUnsafe(), isTaken: false }
    if (free > 0) {
      free--
      take(turn)
    } else waiting.set(owner, (waiting.get(owner) ?? new Set()).add(turn))
    return turn
  }
  const leave = (owner: string, turn: Turn) => {
    if (turn.isTaken) return giveBack()
    const turns = waiting.get(owner)
    turns?.delete(turn)
    if (turns?.size === 0) waiting.delete(owner)
  }

  /** Has come when this ends, and lasts as long as the scope. */
  return (owner: string): Effect.Effect<void, never, Scope.Scope> =>
    Effect.acquireRelease(
      Effect.sync(() => ask(owner)),
      (turn) => Effect.sync(() => leave(owner, turn))
    ).pipe(Effect.flatMap(({ come }) => Deferred.await(come)))
}
