import { Effect } from "effect"
import type { CurrencyMismatch, SameWallet } from "#domain/PostingRefused.ts"
import type { Principal } from "#domain/Principal.ts"
import type { NotFound } from "#domain/Refusal.ts"
import { type NetworkMismatch, type PlainTransfer, whyApart } from "#domain/Transfer.ts"
import type { Wallets } from "../Wallets.ts"

/** Why money does not move between two wallets at once. */
export type Apart = NotFound | SameWallet | CurrencyMismatch | NetworkMismatch

/** Both ends of money that moves at once: the first is the caller's to pay from, and they fit each other. */
export const endsOf = Effect.fnUntraced(function* (
  wallets: Wallets["Service"],
  caller: Principal,
  order: Pick<PlainTransfer, "from_wallet_id" | "to_wallet_id" | "currency">
) {
  const from = yield* wallets.own(caller, order.from_wallet_id)
  const to = yield* wallets.known(caller, order.to_wallet_id)
  const apart = whyApart(from, to, order.currency)
  return apart === undefined ? { from, to } : yield* apart
})
