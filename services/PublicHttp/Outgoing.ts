import type { Dispatcher } from "undici"
import { headersForOrigin } from "#domain/HttpHeaders.ts"
import { bodyKind, CallerBody, readWhole } from "./CallerBody.ts"
import type { ForwardFailure, ForwardInput } from "./Exchange.ts"
import type { Entrant } from "./Places.ts"
import { outsideUndici } from "./Failure.ts"
import { Turn } from "./Turn.ts"
import type { Way } from "./Way.ts"

/** Methods that ask for nothing to be done, so that twice is as good as once (RFC 9110, 9.2.2). */
const repeatable = new Set(["GET", "HEAD", "OPTIONS"])

/** One caller's request on its way to the origin: it stands in line where it must, and holds a place until it is answered. */
export class Outgoing implements Entrant {
  readonly endpoint: string
  readonly payer: string
  readonly #way: Way
  readonly #input: ForwardInput
  readonly #handler: Dispatcher.DispatchHandler
  readonly #fail: (failure: ForwardFailure) => void
  readonly #turn: Turn
  #body: CallerBody | Buffer | null = null
  #placed = false
  #over = false
  #again = false

  constructor(
    way: Way,
    input: ForwardInput,
    handler: Dispatcher.DispatchHandler,
    fail: (failure: ForwardFailure) => void
  ) {
    this.endpoint = input.endpoint
    this.payer = input.payer
    this.#way = way
    this.#input = input
    this.#handler = handler
    this.#fail = fail
    this.#turn = new Turn(way, input, bodyKind(input.request) !== "none", fail)
  }

  start() {
    const { awaitsContinue = false, request, response } = this.#input
    const kind = bodyKind(request)
    if (kind === "none") this.#ask(null)
    else if (kind === "whole" && !awaitsContinue) readWhole(request, this.#turn, (body) => this.#ask(body))
    else this.#ask(new CallerBody(request, this.#turn, awaitsContinue ? response : undefined))
  }

  stand() {
    this.#placed = true
    this.#turn.inLine()
  }

  turnAway(reason: "Crowded" | "PayerCrowded") {
    this.#fail(reason)
  }

  enter() {
    if (this.#over) return
    this.#placed = true
    this.#turn.ofOrigin()
    this.#dispatch(this.#way.dispatcher)
  }

  /** Asks once more, on a connection of its own and in what is left of the same time. False where it may not: it was not done. */
  again(): boolean {
    const { fresh } = this.#way
    const { method = "" } = this.#input.request
    if (fresh === undefined || this.#again || this.#body !== null || !repeatable.has(method)) return false
    this.#again = true
    outsideUndici(() => {
      if (!this.#over) this.#dispatch(fresh)
    })
    return true
  }

  #dispatch(dispatcher: Dispatcher) {
    const { added, origin, path, request, timeoutMillis } = this.#input
    const headers = headersForOrigin(request.rawHeaders, added)
    const length = request.headers["content-length"]
    if (length !== undefined) headers.push("content-length", length)
    const method = request.method ?? "GET"
    // Who may take long to answer may be silent as long within the answer.
    const bodyTimeout = Math.max(this.#way.idleMillis, timeoutMillis)
    const body = this.#body
    dispatcher.dispatch({ origin, path, method, headers, body, headersTimeout: 0, bodyTimeout }, this.#handler)
  }

  /** The body of the answer began: nobody is waited for any more. */
  answered() {
    this.#turn.stop()
  }

  /** The origin has said everything, and its connection is free. */
  leave() {
    if (!this.#placed) return
    this.#placed = false
    this.#way.places.leave(this)
  }

  stop() {
    this.#over = true
    this.#turn.stop()
    if (this.#body instanceof CallerBody) this.#body.destroy()
    this.leave()
  }

  #ask(body: CallerBody | Buffer | null) {
    if (this.#over) return
    this.#body = body
    this.#way.places.take(this)
  }
}
