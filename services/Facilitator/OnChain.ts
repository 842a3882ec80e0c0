import { Effect, Option } from "effect"
import { stepId } from "#domain/PaymentToken.ts"
import type { Principal } from "#domain/Principal.ts"
import { type Authorization, reservationOf } from "#domain/protocol/Authorization.ts"
import { type Asked, type Declined, declined, usedBefore } from "#domain/protocol/Facilitation.ts"
import { ChainSettlements } from "../ChainSettlements.ts"
import { Rail } from "../Rail.ts"
import * as Parties from "./Parties.ts"

const noRail = "this server has no rail for its networks"

/** Settles on the chain, by the rail of this server, if it has one. An outcome may stay unknown for a while, and is then said to be. */
export const make = Effect.gen(function* () {
  const rail = Option.getOrUndefined(yield* Effect.serviceOption(Rail))
  const chain = Option.getOrUndefined(yield* Effect.serviceOption(ChainSettlements))
  const parties = yield* Parties.make

  // A rail that does not answer settles nothing, for the moment.
  const kinds =
    rail === undefined || chain === undefined
      ? Effect.succeed([])
      : Effect.catchTag(rail.kinds, "RAIL_UNAVAILABLE", () => Effect.succeed([]))

  const refusal = (_: Asked, authorization: Authorization): Effect.Effect<Declined | undefined> =>
    rail === undefined
      ? Effect.succeed(declined("unexpected_verify_error", noRail))
      : rail.verify(authorization).pipe(
          Effect.as(undefined),
          Effect.catchTags({
            AUTHORIZATION_REFUSED: ({ reason }) => Effect.succeed(declined(reason)),
            RAIL_UNAVAILABLE: ({ reason }) => Effect.succeed(declined("unexpected_verify_error", reason))
          })
        )

  const take = Effect.fnUntraced(function* (
    asked: Asked,
    authorization: Authorization,
    caller: Principal | undefined
  ): Effect.fn.Return<string | Parties.Unsettled> {
    if (chain === undefined) return declined("unexpected_settle_error", noRail)
    const { payee } = yield* parties(asked, authorization.payer)
    if (payee === undefined || payee.tenant_id !== caller?.tenant_id) return Parties.noReceiver
    // An id of its own: the same word brought to a gateway endpoint is another settlement, and only one of the two can be.
    const id = stepId(reservationOf(authorization), 1, "facilitator")
    const outcome = yield* chain.settle({ id, payment_id: undefined, authorization, amount: asked.amount })
    if (outcome._tag === "Refused") return declined(outcome.reason)
    const kept = yield* chain.get(id)
    if (Option.isSome(kept) && kept.value.amount !== asked.amount) return usedBefore(authorization)
    return outcome._tag === "Settled"
      ? outcome.transaction
      : { ...declined("settlement_pending"), transaction: outcome.transaction }
  })

  return { kinds, refusal, take } satisfies Parties.Settling
})
