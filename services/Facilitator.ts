import { Clock, Context, Duration, Effect, Layer } from "effect"
import type { Principal } from "#domain/Principal.ts"
import { type Authorization, reservationOf } from "#domain/protocol/Authorization.ts"
import { type Facilitated, facilitatedBefore } from "#domain/protocol/FacilitatedBefore.ts"
import { partiesOf } from "#domain/protocol/FacilitatedParties.ts"
import {
  type Asked,
  authorize,
  authorizeTaking,
  type Declined,
  declined,
  type Facilitating,
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
import { monotonic } from "./RealTime.ts"
import { SignatureRecovery } from "./SignatureRecovery.ts"

/**
 * How long whoever asks to settle waits for what became of it: shorter than any operation may take, or he is told that nobody is there,
 * and clients ask again only for what is pending.
 */
export const SettlingWait = Context.Reference("turnpike/services/Facilitator/SettlingWait", {
  defaultValue: () => Duration.seconds(10)
})

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
      const wait = yield* SettlingWait
      const { recover } = yield* SignatureRecovery
      const told = yield* Told.make
      const { forgetTold, isFirst } = told
      const partiesAt = yield* Parties.make
      const settling: Parties.Settling = yield* environment === "sandbox" ? InLedger.make : OnChain.make(told)

      /** The payment as it would be taken now. */
      const read = Effect.fnUntraced(function* (
        facilitation: Facilitation,
        sign: (asked: Asked, facilitating: Facilitating) => Authorization | Declined
      ): Effect.fn.Return<Facilitated | Declined> {
        const kinds = yield* settling.kinds
        const asked = readFacilitation(facilitation, environment, settlersIn(kinds, "facilitatorAddress"))
        if (asked._tag === "Declined") return asked
        if (!kinds.some(({ network, scheme }) => network === asked.network && scheme === asked.offer.scheme)) {
          return declined("unsupported_scheme", "this is not settled here at the moment")
        }
        const feePayers = settlersIn(kinds, "feePayer")
        const authorization = sign(asked, { now: clock.currentTimeMillisUnsafe(), recover, feePayers })
        return "_tag" in authorization ? authorization : { asked, authorization }
      })

      /** A payment that would not be taken now, if that was begun before: what became of it is told whatever changed since. */
      const before = Effect.fnUntraced(function* (facilitation: Facilitation, refusal: Declined) {
        const found = facilitatedBefore(facilitation, environment, recover)
        return "_tag" in found || !(yield* settling.isBegun(found.authorization)) ? refusal : found
      })

      const meet = Effect.fnUntraced(function* (asked: Asked, { payer }: Authorization, caller: Principal | undefined) {
        return partiesOf(yield* partiesAt(asked, payer), environment, caller)
      })

      const verify = Effect.fn("Facilitator.verify")(function* (
        facilitation: Facilitation,
        caller?: Principal
      ): Effect.fn.Return<VerifyResponse> {
        const now = yield* read(facilitation, authorize)
        const found = "_tag" in now ? yield* before(facilitation, now) : now
        if ("_tag" in found) return invalid(found)
        const { asked, authorization } = found
        const { payer } = authorization
        const parties = yield* meet(asked, authorization, caller)
        if ("_tag" in parties) return invalid(parties, payer)
        const refusal = yield* "_tag" in now
          ? settling.unlessAwaited(asked, authorization, now)
          : settling.refusal(asked, authorization, parties)
        return refusal === undefined ? { isValid: true, payer } : invalid(refusal, payer)
      })

      const settle = Effect.fn("Facilitator.settle")(function* (
        facilitation: Facilitation,
        caller: Principal | undefined
      ): Effect.fn.Return<SettleResponse> {
        const until = monotonic(clock) + Duration.toMillis(wait)
        const network = networkOf(facilitation)
        const now = yield* read(facilitation, authorizeTaking)
        const found = "_tag" in now ? yield* before(facilitation, now) : now
        if ("_tag" in found) return unsettled(found, network)
        const { asked, authorization } = found
        const { payer } = authorization
        const amount = String(asked.amount)
        // Nothing to take is nothing to do.
        if (asked.amount === 0n) return { success: true, payer, transaction: "", network, amount }
        const parties = yield* meet(asked, authorization, caller)
        if ("_tag" in parties) return unsettled(parties, network, payer)
        const taken = yield* settling.take(asked, authorization, parties, until)
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
