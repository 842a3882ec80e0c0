import { Config, Layer } from "effect"
import { Custody } from "#services/Wallets/Custody.ts"
import * as Setting from "./Setting.ts"

/** `TURNPIKE_CUSTODY`: who holds the keys of live wallets' addresses, `self` (whoever a wallet is for) or the `operator`. */
export const layer = Layer.effect(
  Custody,
  Setting.word("TURNPIKE_CUSTODY", ["self", "operator"]).pipe(Config.withDefault("self" as const))
)
