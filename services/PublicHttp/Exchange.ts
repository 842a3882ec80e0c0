import type { IncomingMessage, ServerResponse } from "node:http"
import type { CookiePlace } from "#domain/Cookies.ts"
import type { RawHeaders } from "#domain/HttpHeaders.ts"
import type { OutboundReason } from "./Failure.ts"

/** One caller's request, and where it goes. The method is the request's own. */
export interface ForwardInput {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Scheme, host and port, as `URL.origin` spells them. */
  readonly origin: string
  /** Path and query, sent byte for byte. */
  readonly path: string
  /** Fields for the origin; they replace the caller's of the same names. */
  readonly added: RawHeaders
  /** Whose calls it is one of, and who pays for it: both may have so many with origins at once. */
  readonly endpoint: string
  readonly payer: string
  /**
   * How long the origin is waited for: until it is connected, and from the end of the request until the body of its answer begins or
   * is known to be empty. While the request is on its way, also for it to take more of that.
   */
  readonly timeoutMillis: number
  /** How long the caller may take for its request. */
  readonly uploadMillis: number
  /** How long both together may take. */
  readonly totalMillis: number
  /** Where the origin's cookies belong; as they are when left out. */
  readonly cookiePlace?: CookiePlace
  /** The caller still waits for `100 Continue` (the request came by `checkContinue`). */
  readonly awaitsContinue?: boolean
}

/**
 * Why a forwarded call did not end well. After its headers were sent the caller's connection is cut. `CallerSlow`: its request did not
 * arrive in time. `Crowded`, `PayerCrowded`: the endpoint, or the payer there, has as many calls under way as it may; the origin was
 * not called.
 */
export type ForwardFailure = OutboundReason | "CallerGone" | "CallerSlow" | "Crowded" | "PayerCrowded"

/**
 * Called from the byte path, even before `forward` returns: `onHeaders` and then `onBody` at most once, and exactly one of the others,
 * unless the exchange was aborted.
 */
export interface ForwardHooks {
  /** The origin decided. Nothing of its answer reaches the caller before `exchange.send`. */
  readonly onHeaders: (exchange: Exchange) => void
  /** The first byte of the body is here, or the end of an empty one. What is asked of the exchange now counts for that byte, too. */
  readonly onBody: (exchange: Exchange) => void
  /** The whole answer is on its way, after `send` and `finish`. */
  readonly onComplete: () => void
  /** The origin is let go. If `response.headersSent` is still false, the caller's answer is up to this hook. */
  readonly onError: (failure: ForwardFailure, cause: Error | undefined) => void
}

/** A forwarded call in flight. The caller never sees the end of the answer before `finish`. */
export interface Exchange {
  readonly status: number
  /** The origin's header fields without those that are not for the caller. */
  readonly headers: Array<string>
  /** Announced bytes of the answer's body; -1 if unknown. */
  readonly length: number
  /** Reads on before `send`, and gives the whole body when the origin has sent it; nothing as soon as it is larger than `most`. */
  readonly whole: (most: number, then: (body: Buffer | undefined) => void) => void
  /** Gives the whole body when the origin has sent it, though most of it has left by then; nothing when it is larger than `most`. */
  readonly copy: (most: number, then: (body: Buffer | undefined) => void) => void
  /** Has the origin read on for `whole` or `copy`, until `finish` or for so long (milliseconds), should the caller leave before. */
  readonly outlive: (millis: number) => void
  /** Lets the answer through, under these headers. Headers of a length-less (streaming) answer leave at once, others with the body. */
  readonly send: (headers: RawHeaders) => void
  /** Permits the last byte and the end. May come before or after `send`. */
  readonly finish: () => void
  /** Drops the origin. No hook is called; what was partly sent is cut, an untouched response stays the caller's of this method. */
  readonly abort: () => void
}
