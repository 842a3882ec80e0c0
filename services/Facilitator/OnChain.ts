import { Clock, Duration, Effect, Option } from "effect"
import { moves, type Outcome, outcomeOf } from "#domain/ChainSettlement.ts"
import { stepId } from "#domain/PaymentToken.ts"
import { type Authorization, reservationOf } from "#domain/protocol/Authorization.ts"
import { type Asked, type Declined, declined, usedBefore } from "#domain/protocol/Facilitation.ts"
import { ChainSettlements } from "../ChainSettlements.ts"
import { Rail } from "../Rail.ts"
import { monotonic } from "../RealTime.ts"
import type { Parties, Settling, Taken, Unsettled } from "./Parties.ts"
import type { Told } from "./Told.ts"

const stillPending = declined(
  "settlement_pending",
  "nobody knows yet whether the money moved: ask again with the same payment"
)
const noRail = "this server has no rail for its networks"
/** How often one word is taken to the chain. */
const mostAttempts = 20
/** What a chain has at least to say something, however long all before that took (milliseconds). */
const leastWait = 250

/** Settles on the chain, by the rail of this server, if it has one. An outcome may stay unknown for a while, and is then said to be. */
export const make = Effect.fnUntraced(function* ({ wasTold }: Pick<Told, "wasTold">) {
  const rail = Option.getOrUndefined(yield* Effect.serviceOption(Rail))
  const chain = Option.getOrUndefined(yield* Effect.serviceOption(ChainSettlements))
  const clock = yield* Clock.Clock

  // A rail that does not answer settles nothing, for the moment.
  const kinds =
    rail === undefined || chain === undefined
      ? Effect.succeed([])
      : Effect.catchTag(rail.kinds, "RAIL_UNAVAILABLE", () => Effect.succeed([]))

  // Ids of its own: the same word brought to a gateway endpoint is another settlement, and only one of the two can be.
  const idOf = (authorization: Authorization, attempt: number) =>
    stepId(reservationOf(authorization), attempt, "facilitator")
  /** The first settlement of this word that was not refused, if there is one yet, and why the one before it was. */
  const unrefused = Effect.fnUntraced(function* ({ get }: ChainSettlements["Service"], authorization: Authorization) {
    let refusedFor: string | undefined
    for (let attempt = 1; ; attempt++) {
      const id = idOf(authorization, attempt)
      const known = Option.getOrUndefined(yield* get(id))
      const outcome = known && outcomeOf(known)
      if (outcome?._tag !== "Refused" || attempt === mostAttempts) return { id, known, refusedFor }
      refusedFor = outcome.reason
    }
  })

  /**
   * Why a price is refused, if it still is when it was asked for before. Taken later than its seller waited, he has served nobody for it,
   * and asked again he is told; until that is known, who is told that it was used would pay twice. Of a maximum he might take another
   * part the second time, which would be refused after he has served.
   */
  const unlessAwaited = Effect.fnUntraced(function* (
    { amount }: Asked,
    authorization: Authorization,
    refusal: Declined
  ): Effect.fn.Return<Declined | undefined> {
    if (chain === undefined || authorization.scheme !== "exact") return refusal
    const { known } = yield* unrefused(chain, authorization)
    if (known === undefined || !moves(known, { amount, authorization })) return refusal
    const outcome = outcomeOf(known)
    if (outcome._tag === "Pending") return stillPending
    if (outcome._tag === "Refused") return refusal
    return (yield* wasTold(reservationOf(authorization), known.created_at)) ? refusal : undefined
  })

  const isBegun = Effect.fnUntraced(function* (authorization: Authorization) {
    return chain !== undefined && (yield* unrefused(chain, authorization)).known !== undefined
  })

  const refusal = Effect.fnUntraced(function* (
    asked: Asked,
    authorization: Authorization
  ): Effect.fn.Return<Declined | undefined> {
    if (rail === undefined) return declined("unexpected_verify_error", noRail)
    return yield* rail.verify(authorization).pipe(
      Effect.as(undefined),
      Effect.catchTags({
        AUTHORIZATION_REFUSED: ({ reason }) => unlessAwaited(asked, authorization, declined(reason)),
        RAIL_UNAVAILABLE: ({ reason }) => Effect.succeed(declined("unexpected_verify_error", reason))
      })
    )
  })

  const wouldGo = (authorization: Authorization) =>
    rail === undefined ? Effect.succeed(false) : Effect.isSuccess(rail.verify(authorization))

  /**
   * Takes it by the first settlement that was not refused. A refused one moved nothing and never will, so when the same word would go
   * through by now it is taken under the next id; of the ids of one word one can be more than refused.
   */
  const take = Effect.fnUntraced(function* (
    asked: Asked,
    authorization: Authorization,
    _: Parties,
    until: number
  ): Effect.fn.Return<Taken | Unsettled> {
    if (chain === undefined) return declined("unexpected_settle_error", noRail)
    const { id, known, refusedFor } = yield* unrefused(chain, authorization)
    if (known === undefined && refusedFor !== undefined && !(yield* wouldGo(authorization))) return declined(refusedFor)
    const soFar = Effect.map(
      chain.get(id),
      (row): Outcome =>
        Option.match(row, { onNone: () => ({ _tag: "Pending", transaction: undefined }), onSome: outcomeOf })
    )
    const left = Duration.millis(Math.max(leastWait, until - monotonic(clock)))
    // Who asks again waits on for what the first question has been waiting for.
    const outcome = yield* chain.settle({ id, payment_id: undefined, authorization, amount: asked.amount }, left).pipe(
      Effect.timeoutOrElse({ duration: left, orElse: () => soFar }),
      Effect.catchTag("SettlesAnother", () => Effect.succeed(usedBefore(authorization)))
    )
    switch (outcome._tag) {
      case "Declined":
        return outcome
      case "Refused":
        return declined(outcome.reason)
      case "Pending":
        return { ...stillPending, transaction: outcome.transaction }
      case "Settled": {
        const { created_at: since } = Option.getOrThrow(yield* chain.get(id))
        return { transaction: outcome.transaction, since }
      }
    }
  })

  return { kinds, refusal, take, isBegun, unlessAwaited } satisfies Settling
})
