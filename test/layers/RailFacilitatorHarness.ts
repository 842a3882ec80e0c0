import { Clock, Context, Duration, Effect, Layer, Option, Queue, Redacted } from "effect"
import { TestClock } from "effect/testing"
import type { Settlement } from "#domain/ChainSettlement.ts"
import type { Witness } from "#layers/RailEvm/Witness.ts"
import * as RailFacilitator from "#layers/RailFacilitator.ts"
import { newUuid } from "#services/NewId.ts"
import { PublicHttp } from "#services/PublicHttp.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { Rail } from "#services/Rail.ts"
import { authorization } from "../services/ChainSettlementsHarness.ts"
import { type Answer, answering } from "./Answering.ts"

/** A server that plays a facilitator with these answers. */
export const facilitator = Effect.fnUntraced(function* (
  answers: ReadonlyArray<Answer>,
  witness: Layer.Layer<never> | Layer.Layer<Witness> = Layer.empty
) {
  const { asked, host, state } = yield* answering(answers)
  const policy = Effect.map(PublicHttpPolicy, (usual) => ({ ...usual, allowHosts: [host], bodyBytes: 10_000 }))
  const layer = RailFacilitator.layer({
    url: new URL(`http://${host}/x402/`),
    authorization: Option.some(Redacted.make("Bearer of-nobody"))
  }).pipe(
    Layer.provide(witness),
    Layer.provide(PublicHttp.layer),
    Layer.provide(Layer.effect(PublicHttpPolicy, policy))
  )
  const rail = Context.get(yield* Layer.build(Layer.fresh(layer)), Rail)
  const heard = Effect.sync(() => state.questions.length)
  /** Resumes when so many questions are there. */
  const saw = (count: number) => Effect.repeat(Effect.andThen(Effect.yieldNow, heard), { until: (now) => now >= count })
  return { rail, questions: state.questions, asked, saw }
})

/** Moves virtual time on when somebody has begun to sleep for so long, and not while he waits for anything else. */
export const skipping = (pause: Duration.Input) =>
  Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
    const length = Duration.fromInputUnsafe(pause)
    const clock = yield* Clock.Clock
    const asleep = yield* Queue.unbounded<void>()
    const watched: Clock.Clock = Object.assign(Object.create(clock), {
      sleep: (duration: Duration.Duration) =>
        Duration.equals(duration, length)
          ? Effect.andThen(Queue.offer(asleep, undefined), clock.sleep(duration))
          : clock.sleep(duration)
    })
    const skip = Effect.forever(Effect.andThen(Queue.take(asleep), TestClock.adjust(length)))
    return yield* Effect.raceFirst(Effect.provideService(effect, Clock.Clock, watched), skip)
  })

export const settlement = (changed: Partial<Settlement> = {}): Settlement => ({
  id: newUuid(),
  authorization: authorization(),
  amount: 10_000n,
  transaction: undefined,
  askedBefore: false,
  since: new Date(0),
  ...changed
})

/** A permit instead of a signed transfer, with this nonce, and for this facilitator if one is said. */
export const permitted = (
  changed: Partial<Settlement> = {},
  { nonce = "7", ...witness }: { readonly nonce?: string; readonly facilitator?: string } = {}
): Settlement => {
  const one = authorization()
  const permit2Authorization = {
    from: one.payer,
    permitted: { token: one.asset, amount: "10000" },
    spender: "0x402085c248eea27d92e8b30b2c58ed07f9e20001",
    nonce,
    deadline: "300",
    witness: { to: one.payTo, validAfter: "0", ...witness }
  }
  const payload = { x402Version: 2, payload: { signature: `0x${"11".repeat(65)}`, permit2Authorization } }
  return settlement({ authorization: { ...one, method: "permit2", nonce, payload }, ...changed })
}
