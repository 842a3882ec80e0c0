import { ConfigProvider, Context, Effect, Layer } from "effect"
import type { Environment } from "#domain/Principal.ts"
import * as RateSources from "#layers/RateSource.ts"
import { Deployment } from "#services/Deployment.ts"
import { RateSource } from "#services/RateSource.ts"
import { type Answer, answering } from "./Answering.ts"

/** A server of rates, which answers these. */
export const ratesServer = Effect.fnUntraced(function* (...answers: ReadonlyArray<Answer>) {
  const { asked, host, state } = yield* answering(answers)
  return { state, host, url: `http://${host}/v1/latest?key=secret`, asked }
})

/** The source of rates of a server with this environment; why it does not start when it does not. */
export const sourceOf = Effect.fnUntraced(function* (environment: Environment, env: Record<string, string>) {
  const deployment = { environment, publicUrl: "http://turnpike.test", scannerUrl: "http://turnpike.test" }
  const layer = RateSources.layer.pipe(
    Layer.provide([ConfigProvider.layer(ConfigProvider.fromUnknown(env)), Layer.succeed(Deployment, deployment)])
  )
  return Context.get(yield* Layer.build(Layer.fresh(layer)), RateSource)
})
