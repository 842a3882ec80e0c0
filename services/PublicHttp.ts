import { Context, Duration, Effect, Layer } from "effect"
import { Agent } from "undici"
import type { RawHeaders } from "#domain/HttpHeaders.ts"
import { type Collected, Collector } from "./PublicHttp/Collector.ts"
import { OutboundFailed } from "./PublicHttp/Failure.ts"
import { type Exchange, forward, type ForwardHooks, type ForwardInput } from "./PublicHttp/Forward.ts"
import { guardedConnector } from "./PublicHttp/GuardedConnector.ts"
import { PublicHttpPolicy } from "./PublicHttp/Policy.ts"
import { type Post, post, type PostOutcome } from "./PublicHttp/Posting.ts"
import { wayOf } from "./PublicHttp/Way.ts"

/** A whole request with its body in memory. `timeout` covers everything from lookup to the last byte. */
export interface OutboundRequest {
  readonly method: string
  readonly url: URL
  readonly headers: RawHeaders
  readonly body: Uint8Array | null
  readonly timeout: Duration.Duration
}

/** What came back, redirects included: they are never followed. The body is as sent, not decompressed. */
export interface OutboundResponse extends Collected {
  readonly duration: Duration.Duration
}

/** A message has a time for all of it, and connecting may take as much of that as it needs. */
const postConnectTimeout = Duration.seconds(15)

/** Calls the world outside, at public addresses only. Every connection passes the guard, however the address is spelled. */
export class PublicHttp extends Context.Service<
  PublicHttp,
  {
    /** One call with its answer in memory. Interruption closes the connection. */
    request(request: OutboundRequest): Effect.Effect<OutboundResponse, OutboundFailed>
    /** Streams one caller's request to an origin and its answer back. Runs outside Effect, for speed; see the hooks. */
    forward(input: ForwardInput, hooks: ForwardHooks): Exchange
    /**
     * Posts a message and calls back once with the outcome. Runs outside Effect, for speed. The number of connections is up to the
     * caller: one that hangs must not keep another's message waiting.
     */
    post(message: Post, done: (outcome: PostOutcome) => void): void
  }
>()("turnpike/services/PublicHttp") {
  static readonly layer = Layer.effect(
    PublicHttp,
    Effect.gen(function* () {
      const policy = yield* PublicHttpPolicy
      const make = (connections: number | null, connectTimeout: Duration.Duration, pipelining = 1) =>
        Effect.acquireRelease(
          Effect.sync(
            () =>
              new Agent({
                connect: guardedConnector({ ...policy, connectTimeout }),
                connections,
                maxHeaderSize: policy.headerBytes,
                pipelining,
                allowH2: false
              })
          ),
          (agent) => Effect.promise(() => agent.destroy())
        )
      const agent = yield* make(policy.connectionsPerOrigin, policy.connectTimeout)
      // Callers' requests are apart from ours: an origin may be the very host that we ask something.
      const fresh = yield* make(null, policy.connectTimeout, 0)
      const way = wayOf(yield* make(null, policy.connectTimeout), policy, fresh)
      const poster = yield* make(null, postConnectTimeout)

      const exchange = (request: OutboundRequest) =>
        Effect.callback<Collected, OutboundFailed>((resume) => {
          const collector = new Collector(policy.bodyBytes, resume)
          const { body, headers, method, url } = request
          agent.dispatch(
            {
              origin: url.origin,
              path: url.pathname + url.search,
              method,
              headers: [...headers],
              body,
              headersTimeout: 0,
              bodyTimeout: 0
            },
            collector
          )
          return Effect.sync(() => collector.abort())
        })

      const request = Effect.fn("PublicHttp.request")(function* (request: OutboundRequest) {
        const [duration, response] = yield* exchange(request).pipe(
          Effect.timeoutOrElse({
            duration: request.timeout,
            orElse: () => Effect.fail(new OutboundFailed({ reason: "Timeout", cause: undefined }))
          }),
          Effect.timed
        )
        return { ...response, duration }
      })

      return PublicHttp.of({
        request,
        forward: (input, hooks) => forward(way, input, hooks),
        post: (message, done) => post(poster, message, done)
      })
    })
  )
}
