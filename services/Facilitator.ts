import { Clock, Context, Effect, Layer } from "effect"
import type { Principal } from "#domain/Principal.ts"
import { type Authorization, reservationOf } from "#domain/protocol/Authorization.ts"
import { partiesOf } from "#domain/protocol/FacilitatedParties.ts"
import {
  type Asked,
  authorize,
  authorizeTaking,
  declined,
  type Facilitation,
  invalid,
  networkOf,
  readFacilitation,
  settlersIn,
  type SettleResponse,
  type Supported,
  supportedOf,
  unsettled,
  usedBefore,
  type VerifyResponse
} from "#domain/protocol/Facilitation.ts"
import { Deployment } from "./Deployment.ts"
import * as InLedger from "./Facilitator/InLedger.ts"
import * as OnChain from "./Facilitator/OnChain.ts"
import * as Parties from "./Facilitator/Parties.ts"
import * as Told from "./Facilitator/Told.ts"
import { keepForgetting } from "./Forgetting.ts"
import { SignatureRecovery } from "./SignatureRecovery.ts"

/** Verifies and settles payments for servers of others, in the words of x402. A refusal is an answer: nothing fails. */
export class Facilitator extends Context.Service<
  Facilitator,
  {
    /** Whether the payment would go through now. Uses nothing up. Live, the receiver must be the caller's. */
    verify(facilitation: Facilitation, caller?: Principal): Effect.Effect<VerifyResponse>
    /**
     * Takes the money, and says so, once: whoever asks again learns that the payment was used, and by which transaction. Live, the
     * receiver must be the caller's.
     */
    settle(facilitation: Facilitation, caller: Principal | undefined): Effect.Effect<SettleResponse>
    readonly supported: Effect.Effect<Supported>
    /** Forgets of whom nobody can be told for the first time any more; how many, at most 1,000 at a time. */
    readonly forgetTold: Effect.Effect<number>
  }
>()("turnpike/services/Facilitator") {
  static readonly layer = Layer.effect(
    Facilitator,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const { environment } = yield* Deployment
      const { recover } = yield* SignatureRecovery
      const told = yield* Told.make
      const { forgetTold, isFirst } = told
      const partiesAt = yield* Parties.make
      const settling: Parties.Settling = yield* environment === "sandbox" ? InLedger.make : OnChain.make(told)

      const read = Effect.fnUntraced(function* (facilitation: Facilitation) {
        const kinds = yield* settling.kinds
        const asked = readFacilitation(facilitation, environment, settlersIn(kinds, "facilitatorAddress"))
        if (asked._tag === "Declined") return asked
        if (!kinds.some(({ network, scheme }) => network === asked.network && scheme === asked.offer.scheme)) {
          return declined("unsupported_scheme", "this is not settled here at the moment")
        }
        const facilitating = { now: clock.currentTimeMillisUnsafe(), recover, feePayers: settlersIn(kinds, "feePayer") }
        return { asked, facilitating }
      })

      const meet = Effect.fnUntraced(function* (asked: Asked, { payer }: Authorization, caller: Principal | undefined) {
        return partiesOf(yield* partiesAt(asked, payer), environment, caller)
      })

      const verify = Effect.fn("Facilitator.verify")(function* (
        facilitation: Facilitation,
        caller?: Principal
      ): Effect.fn.Return<VerifyResponse> {
        const found = yield* read(facilitation)
        if ("_tag" in found) return invalid(found)
        const authorization = authorize(found.asked, found.facilitating)
        if ("_tag" in authorization) return invalid(authorization)
        const { payer } = authorization
        const parties = yield* meet(found.asked, authorization, caller)
        if ("_tag" in parties) return invalid(parties, payer)
        const refusal = yield* settling.refusal(found.asked, authorization, parties)
        return refusal === undefined ? { isValid: true, payer } : invalid(refusal, payer)
      })

      const settle = Effect.fn("Facilitator.settle")(function* (
        facilitation: Facilitation,
        caller: Principal | undefined
      ): Effect.fn.Return<SettleResponse> {
        const network = networkOf(facilitation)
        const found = yield* read(facilitation)
        if ("_tag" in found) return unsettled(found, network)
        const { asked, facilitating } = found
        const authorization = authorizeTaking(asked, facilitating)
        if ("_tag" in authorization) return unsettled(authorization, network)
        const { payer } = authorization
        const amount = String(asked.amount)
        // Nothing to take is nothing to do.
        if (asked.amount === 0n) return { success: true, payer, transaction: "", network, amount }
        const parties = yield* meet(asked, authorization, caller)
        if ("_tag" in parties) return unsettled(parties, network, payer)
        const taken = yield* settling.take(asked, authorization, parties)
        if ("_tag" in taken) return unsettled(taken, network, payer)
        const { since, transaction } = taken
        return (yield* isFirst(reservationOf(authorization), since))
          ? { success: true, payer, transaction, network, amount }
          : unsettled({ ...usedBefore(authorization), transaction }, network, payer)
      })

      return Facilitator.of({ verify, settle, supported: Effect.map(settling.kinds, supportedOf), forgetTold })
    })
  )

  /** Forgets every minute who was told long ago. Any number of processes may. */
  static readonly layerWorker = Layer.effectDiscard(
    Effect.flatMap(Facilitator, ({ forgetTold }) =>
      keepForgetting("Settlements that were told", forgetTold, "1 minute")
    )
  )
}
