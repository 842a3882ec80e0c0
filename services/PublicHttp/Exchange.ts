import type { IncomingMessage, ServerResponse } from "node:http"
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
  /** Until the body of the origin's answer begins or is known to be empty, connecting and sending the request included. */
  readonly timeoutMillis: number
  /** The caller still waits for `100 Continue` (the request came by `checkContinue`). */
  readonly awaitsContinue?: boolean
}

/** Why a forwarded call did not end well. After its headers were sent the caller's connection is cut. */
export type ForwardFailure = OutboundReason | "CallerGone"

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
  /** Lets the answer through, under these headers. Headers of a length-less (streaming) answer leave at once, others with the body. */
  readonly send: (headers: RawHeaders) => void
  /** Permits the last byte and the end. May come before or after `send`. */
  readonly finish: () => void
  /** Drops the origin. No hook is called; what was partly sent is cut, an untouched response stays the caller's of this method. */
  readonly abort: () => void
}
