import { Duration, Effect, Semaphore } from "effect"
import { ServiceUnavailable } from "#domain/Refusal.ts"
import { passed } from "./RealTime.ts"
import { LanePolicy } from "./Ledger/LanePolicy.ts"

const stripes = 256

/**
 * One at a time for each thing, as far as this process goes: at once all but one of them would be superseded and decide again. What is
 * true does not depend on it. Whoever has waited for as long as the ledger lets anybody wait is sent away when his turn comes, with
 * nothing done: where each before him waited for a ledger that is away, the last would wait for all of them.
 */
export const make = Effect.gen(function* () {
  const patience = Duration.toMillis((yield* LanePolicy).commandTimeout)
  const turns = yield* Effect.all(Array.from({ length: stripes }, () => Semaphore.make(1)))
  const stripeOf = (name: string): number => {
    let sum = 0
    for (let index = 0; index < name.length; index++) sum = (sum * 31 + name.charCodeAt(index)) % stripes
    return sum
  }
  return (name: string) =>
    <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.suspend(() => {
        const latest = passed() + patience
        const inTime = Effect.suspend(() => (passed() > latest ? tooLate : effect))
        return turns[stripeOf(name)]?.withPermit(inTime) ?? effect
      })
})

const tooLate = Effect.die(ServiceUnavailable.because("those before it took too long"))
