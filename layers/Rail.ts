import { Config, Effect, Layer, Option, Redacted, Schema } from "effect"
import { ChainSettlements } from "#services/ChainSettlements.ts"
import { Deployment } from "#services/Deployment.ts"
import { httpTo, unaskable } from "./NamedServer.ts"
import * as RailEvm from "./RailEvm.ts"
import { readingConfig } from "./RailEvm/Options.ts"
import * as Witness from "./RailEvm/Witness.ts"
import * as RailFacilitator from "./RailFacilitator.ts"

/** The surroundings name no rail that can be used. `message` is a sentence for the operator. */
export class RailUnusable extends Schema.TaggedError<RailUnusable>()("RailUnusable", { message: Schema.String }) {}

const given = (name: string) => Config.map(Config.option(Config.Redacted(name)), Option.isSome)

/** Its address may carry a key, and is not shown. */
const webAddress = Effect.fnUntraced(function* (name: string, address: string) {
  const url = URL.parse(address)
  const message = unaskable(name, url)
  if (message !== undefined) return yield* new RailUnusable({ message })
  return new URL(address)
})
const nodeUrl = (rpcUrl: Redacted.Redacted) => webAddress("TURNPIKE_RPC_URL", Redacted.value(rpcUrl))

const facilitator = Layer.unwrap(
  Effect.gen(function* () {
    const options = yield* RailFacilitator.config
    const url = yield* webAddress("TURNPIKE_FACILITATOR_URL", options.url.href)
    return RailFacilitator.layer(options).pipe(Layer.provide(httpTo(url)))
  })
)
const witness = Layer.unwrap(
  Effect.gen(function* () {
    const options = yield* readingConfig
    return Witness.layer(options).pipe(Layer.provide(httpTo(yield* nodeUrl(options.rpcUrl))))
  })
)
const relayer = Layer.unwrap(
  Effect.gen(function* () {
    const options = yield* RailEvm.config
    return RailEvm.layer(options).pipe(Layer.provide(httpTo(yield* nodeUrl(options.rpcUrl))))
  })
)

/**
 * The rail the environment names: a facilitator by its URL, or our own relayer over an RPC URL and a key. A facilitator beside an RPC
 * URL is checked on the chain where its word is not clear.
 */
export const chosen = Layer.unwrap(
  Effect.gen(function* () {
    const [byUrl, byRpc, byKey] = yield* Effect.all([
      given("TURNPIKE_FACILITATOR_URL"),
      given("TURNPIKE_RPC_URL"),
      given("TURNPIKE_RELAYER_KEY")
    ])
    if (byUrl && byKey) {
      return yield* new RailUnusable({
        message: "TURNPIKE_FACILITATOR_URL and TURNPIKE_RELAYER_KEY name two rails; keep one."
      })
    }
    if (byUrl) return byRpc ? facilitator.pipe(Layer.provide(witness)) : facilitator
    if (byRpc && byKey) return relayer
    return yield* new RailUnusable({
      message:
        "A live server settles payments on a chain: set TURNPIKE_FACILITATOR_URL, or TURNPIKE_RPC_URL and TURNPIKE_RELAYER_KEY."
    })
  })
)

const none: Layer.Layer<never> = Layer.empty
const live = ChainSettlements.layer.pipe(Layer.provideMerge(chosen))

/** `Rail` and `ChainSettlements` of a live server, which does not start without; a sandbox has neither: its chain is our ledger. */
export const layer = Layer.unwrap(
  Effect.map(
    Deployment,
    ({ environment }): Layer.Layer<never, Layer.Error<typeof live>, Layer.Services<typeof live>> =>
      environment === "sandbox" ? none : live
  )
)
