import { Context } from "effect"
import type { Book } from "#domain/Command.ts"

/**
 * Who holds the keys of the addresses that wallets' money is at: the `operator`, also where there are none because that money is the
 * ledger's own, or `self`, whoever a wallet is for. Then money is spent by these keys, and the ledger must not spend it once more.
 */
export const Custody = Context.Reference<Book["custody"]>("turnpike/services/Ledger/Custody", {
  defaultValue: () => "operator"
})
