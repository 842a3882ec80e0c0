import { Schema, Struct } from "effect"
import { Currency, maxMicros } from "./Money.ts"

/** Ledger currencies: the wallets' own, and scanner credits, which obey the same rules. */
export const LedgerCurrency = Schema.Literals([...Currency.literals, "CREDIT"])
export type LedgerCurrency = typeof LedgerCurrency.Type

/** One side of the books. `posted` is what it owns, `held` what it has promised; only issuance may go below zero. */
export interface LedgerAccount {
  readonly key: bigint
  readonly id: string
  readonly currency: string
  readonly posted: bigint
  readonly held: bigint
  readonly may_overdraw: boolean
  readonly frozen: boolean
  readonly is_wallet: boolean
}
export const LedgerAccount = Schema.Struct({
  key: Schema.BigInt,
  id: Schema.String,
  currency: Schema.String,
  posted: Schema.BigInt,
  held: Schema.BigInt,
  may_overdraw: Schema.Boolean,
  frozen: Schema.Boolean,
  is_wallet: Schema.Boolean
})

/** What may still be spent. */
export const available = (account: LedgerAccount): bigint => account.posted - account.held

/** Whether it only receives: it was frozen, or it is a wallet whose money is spent by the key of its address, which we do not hold. */
export const isFrozen = (
  { frozen, is_wallet }: Pick<LedgerAccount, "frozen" | "is_wallet">,
  custody: "operator" | "self"
): boolean => frozen || (is_wallet && custody === "self")

/** Whether the account can pay this out now. */
export const covers = (account: LedgerAccount, amount: bigint): boolean =>
  account.may_overdraw ? account.posted - amount >= -maxMicros : available(account) >= amount

const purposeDigits = { issuance: "1", fees: "2", fx: "3" } as const
const currencyDigits = { USDC: "1", EURC: "2", CREDIT: "9" } as const satisfies Record<LedgerCurrency, string>

/** What the platform has an account of its own for, in each currency. */
export const purposes = Struct.keys(purposeDigits)

/** Those accounts are made by migrations, under fixed ids, so that no lookup is needed to name them. */
export const systemAccount = (purpose: (typeof purposes)[number], currency: LedgerCurrency): string =>
  `00000000-0000-8000-8000-0000000${purposeDigits[purpose]}${currencyDigits[currency]}000`

/** Money reserved on `debit` for `credit` until it is captured, released, or expires. */
export interface Hold {
  readonly id: string
  readonly debit: bigint
  readonly credit: bigint
  readonly amount: bigint
  readonly captured: bigint
  readonly state: "open" | "captured" | "released" | "expired"
  readonly expires_at: Date
}
export const Hold = Schema.Struct({
  id: Schema.String,
  debit: Schema.BigInt,
  credit: Schema.BigInt,
  amount: Schema.BigInt,
  captured: Schema.BigInt,
  state: Schema.Literals(["open", "captured", "released", "expired"]),
  expires_at: Schema.Date
})

/** An exact count and sum; `subject` is the payer, or the nil uuid for all of them. */
export interface Tally {
  readonly scope: string
  readonly subject: string
  readonly count: bigint
  readonly amount: bigint
}
export const Tally = Schema.Struct({
  scope: Schema.String,
  subject: Schema.String,
  count: Schema.BigInt,
  amount: Schema.BigInt
})
/** What a tally is known by. */
export const tallyName = ({ scope, subject }: Pick<Tally, "scope" | "subject">): string => `${scope} ${subject}`
/** By how much each was raised, counted from nothing where it is not known from where. */
export const raisesOf = (after: ReadonlyMap<string, Tally>, before: ReadonlyArray<Tally>): ReadonlyArray<Tally> => {
  const known = new Map(before.map((tally) => [tallyName(tally), tally]))
  return [...after].map(([name, { amount, count, ...ref }]) => {
    const was = known.get(name) ?? { count: 0n, amount: 0n }
    return { ...ref, count: count - was.count, amount: amount - was.amount }
  })
}

export const everyone = "00000000-0000-0000-0000-000000000000"
/** The subject under which the version of a fenced thing is counted. */
export const version = "00000000-0000-8000-8000-00000000fe0c"

export const MovementKind = Schema.Literals(["transfer", "hold", "capture", "release", "count", "refuse"])
export type MovementKind = typeof MovementKind.Type

/** One line of the log. It debits one account and credits another, and carries the balances after it. */
export interface Movement {
  readonly seq: bigint
  readonly command_id: string
  readonly step: number
  readonly kind: MovementKind
  readonly debit: bigint
  readonly credit: bigint
  readonly amount: bigint
  readonly debit_posted: bigint
  readonly debit_held: bigint
  readonly credit_posted: bigint
  readonly hold_id: string | null
  readonly code: string
  readonly created_at: Date
}
export const Movement = Schema.Struct({
  seq: Schema.BigInt,
  command_id: Schema.String,
  step: Schema.Int,
  kind: MovementKind,
  debit: Schema.BigInt,
  credit: Schema.BigInt,
  amount: Schema.BigInt,
  debit_posted: Schema.BigInt,
  debit_held: Schema.BigInt,
  credit_posted: Schema.BigInt,
  hold_id: Schema.NullOr(Schema.String),
  code: Schema.String,
  created_at: Schema.Date
})
