import { Data, Effect } from "effect"
import type { Dispatcher } from "undici"
import { headerValue, type RawHeaders } from "#domain/HttpHeaders.ts"
import { headerText } from "../PublicHttp/Collector.ts"
import { outsideUndici } from "../PublicHttp/Failure.ts"
import { type Failure, failureOf } from "./Failure.ts"
import type { Held } from "./Memory.ts"
import { giveBack, Received } from "./Received.ts"

/** One request on the wire, without redirects. */
export interface Wire {
  readonly method: string
  readonly url: URL
  readonly headers: RawHeaders
  readonly body: string | null
  /** How much of the body is taken, by what the answer is; what is longer is cut there, and the connection closed. */
  readonly most: (status: number, headers: RawHeaders) => number
  /** What the body takes until it was read, which is for the caller to release. */
  readonly held: Held
}

/** What came. `isCut` when the body was longer than was taken. */
export interface WireAnswer {
  readonly status: number
  readonly headers: RawHeaders
  readonly body: Uint8Array<ArrayBuffer>
  readonly isCut: boolean
  /** To the first byte. */
  readonly ms: number
}

/** No answer, or not a whole one. */
export class NoExchange extends Data.TaggedError("NoExchange")<Failure> {}

/** Informational answers are dropped; a site that sends more than this many is not going to answer. */
const maxInformational = 16

/** One request and its answer. Interruption closes the connection. */
export const exchange = (dispatcher: Dispatcher, wire: Wire, now: () => number) =>
  Effect.callback<WireAnswer, NoExchange>((resume) => {
    const handler = new Handler(wire, now, resume)
    const { body, headers, method, url } = wire
    try {
      dispatcher.dispatch(
        {
          origin: url.origin,
          path: url.pathname + url.search,
          method,
          headers: [...headers],
          body,
          headersTimeout: 0,
          bodyTimeout: 0
        },
        handler
      )
    } catch (error) {
      handler.onResponseError(null, error instanceof Error ? error : new Error(String(error)))
    }
    return Effect.sync(() => handler.abort())
  })

class Handler implements Dispatcher.DispatchHandler {
  readonly #wire: Wire
  readonly #now: () => number
  readonly #resume: (outcome: Effect.Effect<WireAnswer, NoExchange>) => void
  readonly #startedAt: number
  #controller: Dispatcher.DispatchController | undefined
  #over = false
  #informational = 0
  #status = 0
  #headers: Array<string> = []
  #ms = 0
  #room = 0
  readonly #received = new Received()

  constructor(wire: Wire, now: () => number, resume: (outcome: Effect.Effect<WireAnswer, NoExchange>) => void) {
    this.#wire = wire
    this.#now = now
    this.#resume = resume
    this.#startedAt = now()
  }

  abort() {
    this.#over = true
    this.#received.take(0)
    this.#controller?.abort(new Error("Enough"))
  }

  onRequestStart(controller: Dispatcher.DispatchController) {
    // Thrown, not aborted: undici then drops the request and keeps the idle connection it was about to use.
    if (this.#over) throw new Error("Interrupted while waiting for a connection")
    this.#controller = controller
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number) {
    if (this.#over) return
    if (status < 200) {
      if (++this.#informational > maxInformational) this.#fail("bad_response", "nothing but informational answers")
      return
    }
    this.#status = status
    this.#headers = headerText(controller.rawHeaders)
    this.#ms = this.#now() - this.#startedAt
    this.#room = this.#wire.most(status, this.#headers)
    const said = Number(headerValue(this.#headers, "content-length") ?? 0)
    if (said > 0) this.#received.expect(Math.min(said, this.#room))
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer) {
    if (this.#over) return
    const room = Math.min(this.#room, this.#wire.held.room())
    const kept = chunk.length > room ? chunk.subarray(0, room) : chunk
    this.#room -= kept.length
    this.#wire.held.add(kept.length)
    this.#received.add(kept)
    giveBack(chunk)
    if (kept.length < chunk.length) this.#end(true)
  }

  onResponseEnd() {
    this.#end(false)
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error) {
    if (this.#over) return
    const { detail, reason } = failureOf(error)
    // What breaks after an answer began is the answer's fault, not the way there.
    const isUnanswered = this.#status === 0
    outsideUndici(() =>
      isUnanswered ? this.#fail(reason, detail) : this.#fail("bad_response", `the answer broke off: ${detail}`)
    )
  }

  #end(isCut: boolean) {
    if (this.#over) return
    const answer = {
      status: this.#status,
      headers: this.#headers,
      body: this.#received.take(),
      isCut,
      ms: this.#ms
    }
    this.#resume(Effect.succeed(answer))
    if (isCut) this.abort()
    this.#over = true
  }

  #fail(reason: Failure["reason"], detail: string) {
    this.#resume(Effect.fail(new NoExchange({ reason, detail })))
    this.abort()
  }
}
