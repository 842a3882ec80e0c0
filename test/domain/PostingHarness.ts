import type { Command, IdempotencyRecord, Step } from "#domain/Command.ts"
import type { Hold, LedgerAccount, Movement, Tally } from "#domain/LedgerAccount.ts"
import { decide } from "#domain/Posting.ts"
import { flat } from "#domain/Price.ts"

export const at = new Date("2026-01-01T00:00:00Z")
export const later = new Date("2026-01-02T00:00:00Z")

export const account = (index: number, over: Partial<LedgerAccount> = {}): LedgerAccount => ({
  key: BigInt(index + 1),
  id: `account ${index}`,
  currency: "USDC",
  posted: 100n,
  held: 0n,
  may_overdraw: false,
  frozen: false,
  is_wallet: true,
  ...over
})

export const run = (
  accounts: ReadonlyArray<LedgerAccount>,
  commands: ReadonlyArray<Command>,
  known: {
    readonly holds?: ReadonlyArray<Hold>
    readonly keys?: ReadonlyArray<IdempotencyRecord>
    readonly tallies?: ReadonlyArray<Tally>
    readonly posted?: ReadonlyArray<Movement>
    readonly custody?: "self"
  } = {}
) =>
  decide(
    {
      accounts,
      holds: [],
      keys: [],
      tallies: [],
      posted: [],
      seq: 0n,
      at,
      keysExpireAt: later,
      custody: "operator",
      ...known
    },
    commands
  )

export const between = (debit: number, credit: number) => ({
  debit: `account ${debit}`,
  credit: `account ${credit}`,
  currency: "USDC",
  code: "test"
})
export const transfer = (debit: number, credit: number, amount: bigint): Step => ({
  kind: "transfer",
  ...between(debit, credit),
  amount
})
export const reserve = (hold: string, debit: number, credit: number, amount: bigint): Step => ({
  kind: "hold",
  ...between(debit, credit),
  hold,
  price: flat(amount),
  expires_at: later
})
