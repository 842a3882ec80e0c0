import type { AmbiguousPath, EndpointPaused, OriginNotConfigured } from "#domain/GatewayRefusal.ts"
import type { OriginForbiddenAddress } from "#domain/OriginUrl.ts"
import type { NotFound } from "#domain/Refusal.ts"
import type { Snapshot } from "../Endpoints.ts"

/** A request that the gateway would forward once it is paid for: where to, byte for byte. */
export interface Call {
  readonly _tag: "Call"
  readonly snapshot: Snapshot
  readonly method: string
  readonly origin: string
  readonly path: string
  /** The address that was called, where it says more than the endpoint's own. */
  readonly url?: string | undefined
}

/** Why an endpoint serves nothing. */
export type Closure = NotFound | EndpointPaused | OriginNotConfigured | OriginForbiddenAddress

export type Route =
  | Call
  | { readonly _tag: "Refused"; readonly refusal: AmbiguousPath | NotFound }
  /** No call is served, but what was paid for before may be asked for again. */
  | { readonly _tag: "Closed"; readonly call: Call; readonly refusal: Closure }
  | { readonly _tag: "MethodNotAllowed"; readonly allow: string }
  | { readonly _tag: "Preflight"; readonly allow: string }
  /** The endpoint is not in memory: load it and ask again. */
  | { readonly _tag: "Unloaded"; readonly endpoint: string }
