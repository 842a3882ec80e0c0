import { Effect, Option } from "effect"
import type { Network } from "#domain/Network.ts"
import { sandboxFacilitator } from "#domain/protocol/Facilitation.ts"
import type { Settlers } from "#domain/protocol/X402Offers.ts"
import { Deployment } from "../Deployment.ts"
import { type Kind, Rail } from "../Rail.ts"
import { SandboxChain } from "../SandboxChain.ts"
import { upkeep } from "../Upkeep.ts"

/** Who settles on each network, at hand without waiting: in the sandbox we do, otherwise what the rail said last. */
export const make = Effect.gen(function* () {
  const { environment } = yield* Deployment
  const { feePayer } = yield* SandboxChain
  const rail = yield* Effect.serviceOption(Rail)
  const sandbox: Settlers = { facilitator: sandboxFacilitator, feePayer, signers: [] }
  if (environment === "sandbox") return () => sandbox

  let known: ReadonlyMap<Network, Settlers> = new Map()
  if (Option.isSome(rail)) {
    const learn = rail.value.kinds.pipe(
      Effect.tap((kinds) =>
        Effect.sync(() => {
          known = byNetwork(kinds)
        })
      ),
      Effect.catchTag("RAIL_UNAVAILABLE", ({ reason }) =>
        Effect.logWarning("The settlement rail does not say what it settles", { reason })
      )
    )
    // A bug of the rail says as little as a lost connection, and is asked again like one.
    yield* upkeep("The settlement rail failed", learn, "1 minute")
  }
  return (network: Network) => known.get(network) ?? nobody
})

const nobody: Settlers = { facilitator: undefined, feePayer: undefined, signers: [] }

const byNetwork = (kinds: ReadonlyArray<Kind>): ReadonlyMap<Network, Settlers> => {
  const networks = new Map<Network, Settlers>()
  for (const { extra, network, signers = [] } of kinds) {
    const before = networks.get(network) ?? nobody
    networks.set(network, {
      facilitator: textIn(extra, "facilitatorAddress") ?? before.facilitator,
      feePayer: textIn(extra, "feePayer") ?? before.feePayer,
      signers: [...new Set([...before.signers, ...signers])]
    })
  }
  return networks
}

const textIn = (extra: Kind["extra"], name: string): string | undefined => {
  const value = extra[name]
  return typeof value === "string" ? value : undefined
}
