import { Context } from "effect"
import type { Environment } from "#domain/Principal.ts"

/**
 * Who holds the keys of the addresses of live wallets: `self`, whoever a wallet is for, or the `operator`. Money that a chain brought to
 * an address is spent by its key; where that is not the operator's, the ledger must not spend the same money once more.
 */
export const Custody = Context.Reference<"self" | "operator">("turnpike/services/Wallets/Custody", {
  defaultValue: () => "self"
})

/** What is said of a wallet whose money the ledger does not spend. */
const heldByOwner = "Its money is at its address, and whoever has the key of the address spends it there"

/** Why a new wallet is frozen from the beginning; null where it is not. The sandbox's money is the ledger's own. */
export const frozenFromBirth = (environment: Environment, custody: typeof Custody.Service): string | null =>
  environment === "live" && custody === "self" ? heldByOwner : null
