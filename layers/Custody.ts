import { Config, Effect, Layer } from "effect"
import { Deployment } from "#services/Deployment.ts"
import { Custody } from "#services/Ledger/Custody.ts"
import * as Setting from "./Setting.ts"

const custody = Setting.word("TURNPIKE_CUSTODY", ["self", "operator"]).pipe(Config.withDefault("self" as const))

/**
 * `TURNPIKE_CUSTODY`: who holds the keys of live wallets' addresses, `self` (whoever a wallet is for) or the `operator`. The sandbox's
 * money is the ledger's own.
 */
export const layer = Layer.effect(
  Custody,
  Effect.gen(function* () {
    const { environment } = yield* Deployment
    const said = yield* custody
    return environment === "live" ? said : "operator"
  })
)
