import { Context, Effect, Layer } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Refusal } from "#api/Problems.ts"

/** What a raw route knows of a request before it looks at it. */
export interface RawExchange {
  readonly requestId: string
  /** `X-Request-Id` and what is about our host, as name, value, name, value: every answer carries them. */
  readonly headers: ReadonlyArray<string>
  /** Writes the refusal as problem+json with the headers of every answer, and `added` (name, value, …). */
  refuse(refusal: Refusal, added?: ReadonlyArray<string>): void
  /** The refusal for something that broke: 503 when it may succeed in a moment, 500 otherwise. Logged as such. */
  fail(fault: unknown, added?: ReadonlyArray<string>): void
}

/** A part of the path space whose bytes do not pass through the framework. */
export interface RawRoute {
  /** Ends in a slash, such as `/x402/`; or the whole of a path. */
  readonly prefix: string
  /** Whether this route takes the request; every request below its prefix when left out. What it does not take goes on to the framework. */
  readonly takes?: (request: IncomingMessage) => boolean
  handle(request: IncomingMessage, response: ServerResponse, exchange: RawExchange): void
}

/** Where raw routes are announced while the layers are built. */
export class RawRoutes extends Context.Service<
  RawRoutes,
  {
    readonly add: (route: RawRoute) => Effect.Effect<void>
    readonly find: (request: IncomingMessage) => RawRoute | undefined
  }
>()("turnpike/http/RawRoutes") {
  static readonly layer = Layer.sync(RawRoutes, () => {
    const routes: Array<RawRoute> = []
    return RawRoutes.of({
      add: (route) => Effect.sync(() => routes.push(route)),
      find: (request) => {
        const { url = "" } = request
        for (const route of routes) {
          if (url.startsWith(route.prefix)) return route.takes?.(request) === false ? undefined : route
        }
        return undefined
      }
    })
  })
}

/** A layer that announces the route this effect makes. */
export const layer = <E, R>(route: Effect.Effect<RawRoute, E, R>) =>
  Layer.effectDiscard(Effect.flatMap(RawRoutes, ({ add }) => Effect.flatMap(route, add)))
