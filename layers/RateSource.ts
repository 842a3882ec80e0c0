import { Config, Effect, Layer, Option, Schema } from "effect"
import { RatesNotConfigured } from "#domain/Rate.ts"
import { Deployment } from "#services/Deployment.ts"
import { RateSource } from "#services/RateSource.ts"
import { httpTo, unaskable } from "./NamedServer.ts"
import * as RateSourceHttp from "./RateSourceHttp.ts"
import * as RateTable from "./RateTable.ts"

/** The surroundings name no source of rates that can be asked. `message` is a sentence for the operator. */
export class RatesUnusable extends Schema.TaggedError<RatesUnusable>()("RatesUnusable", { message: Schema.String }) {}

/** Refuses to convert, and says that it is for want of a source. */
export const none = Layer.succeed(RateSource, { mid: () => Effect.fail(new RatesNotConfigured()) })

const named = Layer.unwrap(
  Effect.gen(function* () {
    const options = yield* RateSourceHttp.config
    const message = unaskable("TURNPIKE_RATES_URL", options.url)
    if (message !== undefined) return yield* new RatesUnusable({ message })
    return RateSourceHttp.layer(options).pipe(Layer.provide(httpTo(options.url)))
  })
)

const live = Layer.unwrap(
  Effect.map(Config.option(Config.Redacted("TURNPIKE_RATES_URL")), (url) => (Option.isSome(url) ? named : none))
)

/**
 * Where rates come from: the source that the composition stands on, if it has one; or else a fixed table in the sandbox, and live the
 * server that `TURNPIKE_RATES_URL` names, or nowhere without one.
 */
export const layer = Layer.unwrap(
  Effect.gen(function* (): Effect.fn.Return<
    Layer.Layer<RateSource, Layer.Error<typeof live>, Layer.Services<typeof live>>,
    never,
    Deployment
  > {
    const { environment } = yield* Deployment
    const given = yield* Effect.serviceOption(RateSource)
    if (Option.isSome(given)) return Layer.succeed(RateSource, given.value)
    return environment === "sandbox" ? RateTable.layer : live
  })
)
