import { Duration, Effect, Semaphore } from "effect"
import { ServiceUnavailable } from "#domain/Refusal.ts"
import { passed } from "./RealTime.ts"
import { LanePolicy } from "./Ledger/LanePolicy.ts"

/** The turn of one thing, for as long as somebody has it or waits for it. */
interface Turn {
  readonly semaphore: Semaphore.Semaphore
  callers: number
}

/**
 * One at a time for each thing, as far as this process goes: at once all but one of them would be superseded and decide again. What is
 * true does not depend on it. Nobody waits for another thing's turn, which may be another tenant's. Whoever has waited for as long as
 * the ledger lets anybody wait is sent away when his turn comes, with nothing done: where each before him waited for a ledger that is
 * away, the last would wait for all of them.
 */
export const make = Effect.gen(function* () {
  const patience = Duration.toMillis((yield* LanePolicy).commandTimeout)
  const turns = new Map<string, Turn>()
  const come = (name: string): Turn => {
    const turn = turns.get(name) ?? { semaphore: Semaphore.makeUnsafe(1), callers: 0 }
    turns.set(name, turn)
    turn.callers++
    return turn
  }
  const leave = (name: string, turn: Turn) => {
    turn.callers--
    if (turn.callers === 0) turns.delete(name)
  }
  return (name: string) =>
    <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.suspend(() => {
        const latest = passed() + patience
        const inTime = Effect.suspend(() => (passed() > latest ? tooLate : effect))
        return Effect.acquireUseRelease(
          Effect.sync(() => come(name)),
          ({ semaphore }) => semaphore.withPermit(inTime),
          (turn) => Effect.sync(() => leave(name, turn))
        )
      })
})

const tooLate = Effect.die(ServiceUnavailable.because("those before it took too long"))
