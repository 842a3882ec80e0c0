import { Config, Effect, Layer, Option, Schema } from "effect"
import { Deployment } from "#services/Deployment.ts"
import { Custody } from "#services/Ledger/Custody.ts"
import { TransferRail } from "#services/TransferRail.ts"
import { httpTo, unaskable } from "./NamedServer.ts"
import * as Delay from "./TransferRail/Delay.ts"
import * as TransferRailHttp from "./TransferRailHttp.ts"
import * as TransferRailSimulated from "./TransferRailSimulated.ts"

/** The surroundings name no settlement provider that can be asked. `message` is a sentence for the operator. */
export class SettlementUnusable extends Schema.TaggedError<SettlementUnusable>()("SettlementUnusable", {
  message: Schema.String
}) {}

const none: Layer.Layer<never> = Layer.empty

const simulated = Layer.unwrap(Effect.map(Delay.config, TransferRailSimulated.layer))

const named = Layer.unwrap(
  Effect.gen(function* () {
    const options = yield* TransferRailHttp.config
    const message = unaskable("TURNPIKE_SETTLEMENT_URL", options.url)
    if (message !== undefined) return yield* new SettlementUnusable({ message })
    return TransferRailHttp.layer(options).pipe(Layer.provide(httpTo(options.url)))
  })
)

/** Whoever names a provider expects it to be asked. */
const tellFrozen = Effect.logWarning(
  "TURNPIKE_SETTLEMENT_URL is set, but live wallets pay nothing out without TURNPIKE_CUSTODY=operator: every cross-border transfer is refused"
)

const live = Layer.unwrap(
  Effect.gen(function* (): Effect.fn.Return<
    Layer.Layer<never, Layer.Error<typeof named>, Layer.Services<typeof named>>,
    Config.ConfigError
  > {
    const url = yield* Config.option(Config.Redacted("TURNPIKE_SETTLEMENT_URL"))
    if (Option.isNone(url)) return none
    if ((yield* Custody) === "self") yield* tellFrozen
    return named
  })
)

/**
 * The rail that cross-border transfers settle over: the one that the composition stands on, if it has one; or else in the sandbox a
 * simulated one that takes `TURNPIKE_SETTLEMENT_DELAY`, and live the provider at `TURNPIKE_SETTLEMENT_URL`. A live server without one
 * makes no such transfers.
 */
export const layer = Layer.unwrap(
  Effect.gen(function* (): Effect.fn.Return<
    Layer.Layer<
      never,
      Layer.Error<typeof live> | Layer.Error<typeof simulated>,
      Layer.Services<typeof live> | Layer.Services<typeof simulated>
    >,
    never,
    Deployment
  > {
    const { environment } = yield* Deployment
    // With a rail goes what was said of how to ask it, if anything was.
    if (Option.isSome(yield* Effect.serviceOption(TransferRail))) return none
    return environment === "sandbox" ? simulated : live
  })
)
