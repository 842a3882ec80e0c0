import type { IncomingMessage, ServerResponse } from "node:http"
import type { Dispatcher } from "undici"
import { headersForCaller, headerValue, isTransformed, type RawHeaders, withoutField } from "#domain/HttpHeaders.ts"
import { dropRest } from "./CallerBody.ts"
import { headerText } from "./Collector.ts"
import { Copy } from "./Copy.ts"
import type { Exchange, ForwardFailure, ForwardHooks, ForwardInput } from "./Exchange.ts"
import { BadAnswer, brokeOff, endedInReuse, reasonOf } from "./Failure.ts"
import { Outgoing } from "./Outgoing.ts"
import { joined, keep } from "./Pieces.ts"
import type { Way } from "./Way.ts"

export type { Exchange, ForwardFailure, ForwardHooks, ForwardInput } from "./Exchange.ts"

/** Informational answers are dropped; an origin that sends more than this many is not going to answer. */
const maxInformational = 16

const nothing = Buffer.alloc(0)

/**
 * Bytes go from undici's parser to the response without a stream, an Effect or a closure between them: measured three to six times
 * as fast as the alternatives. Timers are Node's own for the same reason.
 */
export const forward = (way: Way, input: ForwardInput, hooks: ForwardHooks): Exchange => {
  const exchange = new Forwarding(way, input, hooks)
  exchange.start()
  return exchange
}

class Forwarding implements Exchange, Dispatcher.DispatchHandler {
  status = 0
  headers: Array<string> = []
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #hooks: ForwardHooks
  readonly #cookiePlace: ForwardInput["cookiePlace"]
  readonly #idleMillis: number
  readonly #outgoing: Outgoing
  #controller: Dispatcher.DispatchController | undefined
  #timer: NodeJS.Timeout | undefined
  /** Whether a byte of an answer is here. */
  #answering = false
  #informational = 0
  length = -1
  #begun = false
  #received = 0
  /** What arrived before `send`: at most one socket buffer, because the origin is paused meanwhile. */
  #early: Array<Buffer> = []
  /** What could be the end of the answer and must wait for `finish`, or for more to come. */
  #last: Array<Buffer> = []
  #readsOn = false
  #copy: Copy | undefined
  #outlivesMillis = 0
  /** The caller left, and what is read is for the copy only. */
  #isAlone = false
  #headersOut: RawHeaders | undefined
  #written = false
  #ended = false
  #permitted = false
  #over = false
  #draining = false
  #flushing = false

  constructor(way: Way, input: ForwardInput, hooks: ForwardHooks) {
    this.#request = input.request
    this.#response = input.response
    this.#hooks = hooks
    this.#cookiePlace = input.cookiePlace
    this.#idleMillis = way.idleMillis
    this.#outgoing = new Outgoing(way, input, this, (failure) => this.#fail(failure, undefined))
    input.response.once("close", () => this.callerGone())
  }

  start() {
    if (this.#response.destroyed) this.callerGone()
    else this.#outgoing.start()
  }

  whole(most: number, then: (body: Buffer | undefined) => void) {
    this.#readsOn = true
    this.copy(most, (body) => {
      this.#readsOn = false
      then(body)
    })
  }

  copy(most: number, then: (body: Buffer | undefined) => void) {
    this.#copy = new Copy(most, (body) => {
      then(body)
      if (body === undefined && this.#isAlone) this.#fail("CallerGone", undefined)
    })
  }

  outlive(millis: number) {
    this.#outlivesMillis = millis
  }

  send(headers: RawHeaders) {
    if (this.#over || this.#headersOut !== undefined) return
    this.#headersOut = headers
    for (const chunk of this.#early.splice(0)) this.#deliver(chunk)
    if (this.length < 0) this.#flushSoon()
    if (!this.#draining) this.#controller?.resume()
    this.#endIfPermitted()
  }

  finish() {
    this.#permitted = true
    this.#endIfPermitted()
  }

  abort() {
    if (this.#over) return
    this.#settle()
    this.#controller?.abort(new Error("Aborted by the gateway"))
    if (this.#written) this.#cut()
  }

  onRequestStart(controller: Dispatcher.DispatchController) {
    // Thrown, not aborted: undici then drops the request and keeps the idle connection it was about to use.
    if (this.#over) throw new Error("The call ended while it was waiting for a connection")
    this.#controller = controller
  }

  onResponseStarted() {
    this.#answering = true
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number) {
    if (this.#over) return
    if (status < 100) return this.#bad("malformed_response")
    if (status < 200) {
      if (++this.#informational > maxInformational) this.#bad("unexpected_informational")
      return
    }
    // Asked of us by a proxy before the origin; a caller would take it for a word of its own proxy.
    if (status === 407) return this.#bad("proxy_authentication_required")
    const raw = headerText(controller.rawHeaders)
    this.status = status
    this.headers = headersForCaller(raw, this.#cookiePlace)
    const announced = headerValue(raw, "content-length")
    if (status === 204 || status === 304 || this.#request.method === "HEAD") this.length = 0
    else if (announced !== undefined) this.length = Number(announced)
    // What it calls itself is for this hop only, so nobody behind us would know how to read it.
    else if (isTransformed(raw)) return this.#bad("unsupported_transfer_coding")
    if (status === 204 && announced !== undefined) this.headers = withoutField(this.headers, "content-length")
    this.#hooks.onHeaders(this)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer) {
    this.#begin()
    if (this.#over) return
    this.#copy?.add(chunk)
    if (this.#headersOut !== undefined) return this.#deliver(chunk)
    keep(this.#early, chunk)
    if (!this.#readsOn) controller.pause()
  }

  onResponseEnd() {
    // The connection is free, however long the caller takes for what is left.
    this.#outgoing.leave()
    this.#begin()
    if (this.#over) return
    this.#ended = true
    this.#copy?.end()
    this.#endIfPermitted()
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error) {
    if (!this.#over && !this.#answering && endedInReuse(error) && this.#outgoing.again()) return
    this.#fail(this.status !== 0 && brokeOff(error) ? "Unreachable" : reasonOf(error), error)
  }

  /** The response closed: after its last byte was flushed, or before. */
  callerGone() {
    if (this.#over) return
    if (this.#response.writableFinished) {
      this.#settle()
      this.#hooks.onComplete()
    } else if (this.#outlivesMillis > 0 && this.#copy?.isOpen) this.#goOnAlone(this.#outlivesMillis)
    else this.#fail("CallerGone", undefined)
  }

  #goOnAlone(millis: number) {
    this.#isAlone = true
    clearTimeout(this.#timer)
    // @effect-diagnostics-next-line globalTimers:off
    this.#timer = setTimeout(() => this.#fail("CallerGone", undefined), millis)
    this.#draining = false
    this.#controller?.resume()
    this.#endIfPermitted()
  }

  timedOut() {
    this.#fail("Timeout", undefined)
  }

  resume() {
    clearTimeout(this.#timer)
    this.#draining = false
    if (!this.#over) this.#controller?.resume()
  }

  /** What was held back leaves as soon as it is known not to be the last of what is here: after the parser's turn. */
  flush() {
    this.#flushing = false
    if (this.#ended || !this.#writeHead()) return
    const held = joined(this.#last)
    this.#last = []
    // Not `flushHeaders`, which writes them as UTF-8 where they are latin-1.
    this.#write(held ?? nothing)
  }

  /** The origin has the whole of its time until here; what it may be silent later is a limit of its own. */
  #begin() {
    if (this.#begun || this.#over) return
    this.#begun = true
    this.#outgoing.answered()
    this.#hooks.onBody(this)
  }

  #deliver(chunk: Buffer) {
    this.#received += chunk.length
    if (this.length >= 0) {
      if (this.#received < this.length) this.#write(chunk)
      else this.#last = [chunk]
      return
    }
    keep(this.#last, chunk)
    this.#flushSoon()
  }

  #flushSoon() {
    if (this.#flushing) return
    this.#flushing = true
    queueMicrotask(() => this.flush())
  }

  #write(chunk: Buffer) {
    if (!this.#writeHead() || this.#response.write(chunk) || this.#draining) return
    this.#draining = true
    this.#controller?.pause()
    // @effect-diagnostics-next-line globalTimers:off
    this.#timer = setTimeout(() => this.timedOut(), this.#idleMillis)
    this.#response.once("drain", () => this.resume())
  }

  #endIfPermitted() {
    if (!this.#ended || !this.#permitted || this.#headersOut === undefined || this.#over) return
    if (this.#isAlone) return this.#fail("CallerGone", undefined)
    if (!this.#writeHead()) return
    this.#response.end(joined(this.#last))
    // There is no `drain` after the end: what is left has one more period to leave.
    if (this.#draining) this.#timer?.refresh()
    this.#last = []
  }

  /** Only with the first byte of the body, so that an abort before it leaves the caller a real answer. */
  #writeHead(): boolean {
    // A write to a destroyed response would emit an error nobody listens to; its `close` is on the way.
    if (this.#over || this.#response.destroyed) return false
    if (this.#written) return true
    try {
      // The types want a mutable array; Node only reads it.
      this.#response.writeHead(this.status, this.#headersOut as Array<string>)
      this.#written = true
    } catch (error) {
      this.#fail("BadResponse", error instanceof Error ? error : undefined)
    }
    return this.#written
  }

  #bad(reason: BadAnswer["reason"]) {
    this.#fail("BadResponse", new BadAnswer({ reason }))
  }

  #fail(failure: ForwardFailure, cause: Error | undefined) {
    if (this.#over) return
    this.#settle()
    this.#controller?.abort(cause ?? new Error(failure))
    if (this.#written) this.#cut()
    this.#hooks.onError(failure, cause)
  }

  #settle() {
    this.#over = true
    this.#outgoing.stop()
    clearTimeout(this.#timer)
    this.#early = []
    this.#last = []
    dropRest(this.#request)
  }

  /** A body delimited only by the end of the connection would look complete after a normal close. */
  #cut() {
    if (this.length < 0 && this.#request.httpVersionMinor === 0) this.#response.socket?.resetAndDestroy()
    else this.#response.destroy()
  }
}
