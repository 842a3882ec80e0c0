import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { ConfigProvider, Context, Deferred, Effect, Layer } from "effect"
import type { Environment } from "#domain/Principal.ts"
import * as RateSources from "#layers/RateSource.ts"
import { Deployment } from "#services/Deployment.ts"
import { RateSource } from "#services/RateSource.ts"

export interface Answer {
  readonly status?: number
  readonly headers?: Record<string, string>
  /** An object is written as JSON, a text as it is; `hang` never comes; `cut` ends the connection. */
  readonly body: object | string
}

/** A server of rates: answers from a list, one after the other, the last one again and again. `answers` may be changed. */
export const ratesServer = Effect.fnUntraced(function* (...answers: ReadonlyArray<Answer>) {
  const state = { answers, questions: [] as { path: string; headers: IncomingHttpHeaders }[] }
  const asked = yield* Deferred.make<void>()
  const server = createServer((request, response) => {
    state.questions.push({ path: `${request.method} ${request.url}`, headers: request.headers })
    Deferred.doneUnsafe(asked, Effect.void)
    const answer = state.answers[Math.min(state.questions.length, state.answers.length) - 1]
    if (answer === undefined || answer.body === "hang") return
    if (answer.body === "cut") return response.destroy()
    response.writeHead(answer.status ?? 200, { "content-type": "application/json", ...answer.headers })
    response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body))
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { state, host, url: `http://${host}/v1/latest?key=secret`, asked: Deferred.await(asked) }
})

/** The source of rates of a server with this environment; why it does not start when it does not. */
export const sourceOf = Effect.fnUntraced(function* (environment: Environment, env: Record<string, string>) {
  const deployment = { environment, publicUrl: "http://turnpike.test", scannerUrl: "http://turnpike.test" }
  const layer = RateSources.layer.pipe(
    Layer.provide([ConfigProvider.layer(ConfigProvider.fromUnknown(env)), Layer.succeed(Deployment, deployment)])
  )
  return Context.get(yield* Layer.build(Layer.fresh(layer)), RateSource)
})
