import { Clock, Effect } from "effect"
import type { TokenKey } from "#domain/PaymentToken.ts"
import type { IdempotencyKeyReused } from "#domain/PostingRefused.ts"
import { accept, claimedPayer, type Ground } from "#domain/protocol/Accept.ts"
import type { Presented } from "#domain/protocol/X402Payload.ts"
import { type Grant, Payments, type UseRefused } from "../Payments.ts"
import { SignatureRecovery } from "../SignatureRecovery.ts"
import type { Call } from "./Call.ts"
import type * as Payers from "./Payers.ts"
import type * as Settlers from "./Settlers.ts"

/** Takes what a caller signed, of whatever protocol, as payment for its call. */
export const make = Effect.fnUntraced(function* (
  key: TokenKey,
  settlers: Effect.Success<typeof Settlers.make>,
  payers: Effect.Success<typeof Payers.make>
) {
  const payments = yield* Payments
  const { recover } = yield* SignatureRecovery
  const clock = yield* Clock.Clock

  /** Version 1 echoes no quote: it may pay the list price, or the price that its payer is asked for by now. */
  const pricesFor = Effect.fnUntraced(function* ({ snapshot }: Call, presented: Presented) {
    const { base, tiers } = snapshot.price
    const payer = presented._tag === "X402V1" && tiers.length > 0 ? claimedPayer(presented) : undefined
    const own = payer === undefined ? base : yield* payers.priceAt(snapshot, payer)
    return own === base ? [base] : [base, own]
  })

  const groundFor = ({ method, snapshot: { endpoint } }: Call, prices: ReadonlyArray<bigint>): Ground => ({
    endpoint,
    method,
    prices,
    settlers: settlers(endpoint.network),
    key,
    now: clock.currentTimeMillisUnsafe(),
    recover
  })

  const take = Effect.fnUntraced(function* (
    call: Call,
    presented: Presented,
    fingerprint: string,
    uploads: boolean
  ): Effect.fn.Return<Grant, UseRefused | IdempotencyKeyReused> {
    const { method, snapshot } = call
    const acceptance = accept(presented, groundFor(call, yield* pricesFor(call, presented)))
    if (acceptance._tag === "Accepted") {
      return yield* payments.present({
        authorization: acceptance.authorization,
        snapshot,
        method,
        fingerprint,
        uploads
      })
    }
    const { outdated, reason } = acceptance
    // Time passes and prices change: what was taken under them before is not asked for again.
    const before =
      outdated === undefined
        ? undefined
        : yield* payments.again({ authorization: outdated, snapshot, method, fingerprint, uploads })
    return before ?? { _tag: "Refused", reason }
  })

  const recall = Effect.fnUntraced(function* (
    call: Call,
    presented: Presented,
    fingerprint: string,
    uploads: boolean
  ): Effect.fn.Return<Grant, UseRefused> {
    const { method, snapshot } = call
    const acceptance = accept(presented, groundFor(call, [snapshot.price.base]))
    const authorization = acceptance._tag === "Accepted" ? acceptance.authorization : acceptance.outdated
    return authorization === undefined
      ? { _tag: "Refused", reason: "proof_unknown" }
      : yield* payments.recall({ authorization, snapshot, method, fingerprint, uploads })
  })

  return { take, recall }
})
