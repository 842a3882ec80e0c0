import type { Endpoint } from "#domain/Endpoint.ts"
import type { PaymentRow } from "#domain/Payment.ts"
import { type Authorization, timeToAnswer } from "#domain/protocol/Authorization.ts"
import type { ForwardInput } from "#services/PublicHttp/Forward.ts"

/** What is left of a lease for the charge (milliseconds). */
const chargingMillis = 5000

/** How long a call may go on before it is charged while it owns its money. */
export const timeToCharge = (leaseUntil: Date | null, now: number): number =>
  Math.max(0, (leaseUntil?.getTime() ?? 0) - chargingMillis - now)

/**
 * How long a call may take that has this payment: never longer than it owns its money. Undefined when so little of that is left that
 * its origin would be blamed for ours. `now` in milliseconds.
 */
export const timesOf = (
  payment: PaymentRow,
  { timeoutMs }: Pick<Endpoint, "timeoutMs">,
  signed: Authorization | undefined,
  uploadMillis: number,
  now: number
): Pick<ForwardInput, "timeoutMillis" | "uploadMillis" | "totalMillis"> | undefined => {
  const { lease_until, rail } = payment
  const totalMillis =
    rail === "chain" && signed !== undefined ? timeToAnswer(signed, lease_until, now) : timeToCharge(lease_until, now)
  if (totalMillis < Math.min(timeoutMs, 1000) / 2) return undefined
  return { timeoutMillis: timeoutMs, uploadMillis, totalMillis }
}
