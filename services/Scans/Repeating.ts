import { Data, Duration, Effect, Option, type PubSub, type Scope, Semaphore } from "effect"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { TenantId } from "#domain/Ids.ts"
import type { IdempotencyKeyReused } from "#domain/PostingRefused.ts"
import { ScannerUnavailable } from "#domain/ScannerRefusal.ts"
import { IdempotencyKeys } from "../IdempotencyKeys.ts"
import { monotonicMillis } from "../RealTime.ts"
import { ScannerCredits } from "../ScannerCredits.ts"
import type { Billed, BilledOnce } from "./Buyer.ts"
import type { Kind } from "./Claims.ts"
import * as Ends from "./Ends.ts"
import { ScanPolicy, type WorkLimits } from "./Policy.ts"

interface Work<A> {
  readonly kind: Kind
  readonly limits: WorkLimits
  readonly find: (id: string) => Effect.Effect<Option.Option<A>>
}

/** Somebody else's order stands under the key since it was looked at. */
export class KeyTaken extends Data.TaggedError("KeyTaken") {}

const busy = new ScannerUnavailable({ reason: "Busy", retry_after: 5 })

/**
 * Makes an order once in 24 hours under a key. A repetition waits for the first and answers with its record, for nothing; what came to
 * nothing and was given back leaves the key free, so that a repetition is the first one then.
 */
export const make = Effect.fnUntraced(function* <A>(work: Work<A>) {
  const credits = yield* ScannerCredits
  const { patience } = yield* ScanPolicy
  const ends = yield* Ends.make(work.kind)
  const keys = yield* IdempotencyKeys
  const places = yield* Semaphore.make(work.limits.callers)

  const repeated = Effect.fnUntraced(function* ({ tenant_id }: IdempotencyClaim, id: string) {
    const record = yield* Effect.orDie(Effect.fromOption(yield* work.find(id)))
    const { balance } = yield* credits.balance(TenantId.make(tenant_id))
    return { record, charged: 0, remaining: balance, replayed: true } satisfies BilledOnce<A>
  })
  const waitFor = Effect.fnUntraced(function* (ended: PubSub.Subscription<string>, domain: string) {
    const waited = yield* places.withPermitsIfAvailable(1)(ends.waitFor(ended, domain))
    if (Option.isNone(waited)) return yield* busy
  })
  const underKey = Effect.fnUntraced(function* <E>(
    claim: IdempotencyClaim,
    domain: string,
    attempt: Effect.Effect<Billed<A>, E | KeyTaken>
  ): Effect.fn.Return<BilledOnce<A>, E | IdempotencyKeyReused | ScannerUnavailable, Scope.Scope> {
    // Before looking: an end that nobody listens for is heard a second late.
    const ended = yield* ends.listen
    const wasReturned = (id: string) => credits.isReturned({ id, tenant_id: TenantId.make(claim.tenant_id) })
    const since = yield* monotonicMillis
    let mayBegin = true
    while ((yield* monotonicMillis) - since < Duration.toMillis(patience)) {
      const known = yield* keys.recordOf(claim, wasReturned)
      if (Option.isNone(known) && mayBegin) {
        const made = yield* Effect.asSome(attempt).pipe(Effect.catchTag("KeyTaken", () => Effect.succeedNone))
        if (Option.isSome(made)) return { ...made.value, replayed: false }
        mayBegin = false
        continue
      }
      mayBegin = true
      if (Option.isSome(known) && known.value !== null) return yield* repeated(claim, known.value)
      yield* waitFor(ended, domain)
    }
    return yield* busy
  })

  return <E>(
    claim: IdempotencyClaim | undefined,
    domain: string,
    attempt: Effect.Effect<Billed<A>, E | KeyTaken>
  ): Effect.Effect<BilledOnce<A>, E | IdempotencyKeyReused | ScannerUnavailable> =>
    claim === undefined
      ? attempt.pipe(
          Effect.catchTag("KeyTaken", Effect.die),
          Effect.map((made) => ({ ...made, replayed: false }))
        )
      : Effect.scoped(underKey(claim, domain, attempt))
})
