import { createHash } from "node:crypto"
import { Clock, Duration, Effect, Layer } from "effect"
import { dateOf } from "#domain/Instant.ts"
import { unit } from "#domain/Money.ts"
import type { Outcome, SettlementOrder } from "#domain/Settlement.ts"
import type { FailureReason } from "#domain/Transfer.ts"
import { RailUnavailable } from "#services/Rail.ts"
import { SettlementPolicy } from "#services/Settlements/Policy.ts"
import { TransferRail } from "#services/TransferRail.ts"
import type { Delay } from "./TransferRail/Delay.ts"

/** What a memo with `simulate:<word>` asks for; a rejection is asked for by the word of its reason. */
const rejections = ["insufficient_funds", "rail_error", "compliance_block", "rejected_by_recipient"] as const
type Wish = (typeof rejections)[number] | "unknown" | "slow" | "stay_pending"
const wishes: ReadonlyArray<string> = [...rejections, "unknown", "slow", "stay_pending"] satisfies ReadonlyArray<Wish>

const isWish = (word: string | undefined): word is Wish => word !== undefined && wishes.includes(word)

const wishIn = (memo: string | null): Wish | undefined => {
  for (const [, word] of (memo ?? "").matchAll(/\bsimulate:([a-z_]+)/g)) if (isWish(word)) return word
  return undefined
}

/** Amounts sent that end like this are rejected, for who cannot write memos. */
const magicAmounts = new Map<bigint, FailureReason>(rejections.map((reason, index) => [BigInt(index + 1), reason]))

const rejectionOf = ({ memo, send_amount }: SettlementOrder): FailureReason | undefined =>
  rejections.find((reason) => reason === wishIn(memo)) ?? magicAmounts.get(send_amount % unit)

const unhurried = Duration.seconds(60)

/** How long after its creation this order is settled: the same whoever asks, and however often. */
export const settlingTime = ({ shortest, longest }: Delay, { memo, reference }: SettlementOrder): Duration.Duration => {
  if (wishIn(memo) === "slow") return unhurried
  const share = createHash("sha256").update(reference).digest().readUInt32BE(0) / 2 ** 32
  const usual = Duration.toMillis(shortest) + share * (Duration.toMillis(longest) - Duration.toMillis(shortest))
  return Duration.millis(Math.round(usual))
}

/**
 * The sandbox's rail. It keeps nothing: what it answers follows from the order and the time alone, so it is the same in every
 * process and after every restart.
 */
export const make = (delay: Delay) => {
  const answer = Effect.fnUntraced(function* (order: SettlementOrder): Effect.fn.Return<Outcome, RailUnavailable> {
    const due = order.created_at.getTime() + Duration.toMillis(settlingTime(delay, order))
    const early = (yield* Clock.currentTimeMillis) < due
    if (early && wishIn(order.memo) === "unknown") return yield* new RailUnavailable({ reason: "simulated" })
    if (early) return { _tag: "Pending", again_at: dateOf(due) }
    const reason = rejectionOf(order)
    return reason === undefined
      ? { _tag: "Completed", rail_reference: `sim_${order.reference}` }
      : { _tag: "Rejected", reason }
  })
  return TransferRail.of({ submit: answer, status: answer })
}

/** Half of the shortest way, and a second at most, is left to cancel; with `simulate:stay_pending` a minute. */
export const policy = ({ shortest }: Delay): SettlementPolicy => ({
  ...SettlementPolicy.defaultValue(),
  submitAfter: (memo) =>
    wishIn(memo) === "stay_pending"
      ? unhurried
      : Duration.min(Duration.seconds(1), Duration.millis(Duration.toMillis(shortest) / 2)),
  // It answers at once, so what a process leaves behind need not wait for long.
  callTimeout: Duration.seconds(3),
  lease: Duration.seconds(10),
  longestRetry: Duration.minutes(1)
})

export const layer = (delay: Delay) =>
  Layer.merge(Layer.succeed(TransferRail, make(delay)), Layer.succeed(SettlementPolicy, policy(delay)))
