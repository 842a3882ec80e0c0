import type { Dispatcher } from "undici"
import type { RawHeaders } from "#domain/HttpHeaders.ts"
import { reading } from "../RealTime.ts"
import { headerText } from "./Collector.ts"
import { isOfName, isOfTls, isUnasked, outsideUndici, reasonOf } from "./Failure.ts"
import { keep } from "./Pieces.ts"

/** One message. `timeoutMillis` covers everything from lookup to the last byte. */
export interface Post {
  /** Scheme, host and port, as `URL.origin` spells them. */
  readonly origin: string
  readonly path: string
  readonly headers: RawHeaders
  readonly body: Uint8Array
  readonly timeoutMillis: number
  /** How many bytes of the answer's body are read; with more the answer counts, and the connection is closed. */
  readonly kept: number
}

export type PostFailure =
  | "timeout"
  | "dns"
  | "refused"
  | "unreachable"
  | "reset"
  | "tls"
  | "forbidden_address"
  | "bad_response"

/** What came back, redirects included, and why it is not a whole answer. */
export interface PostOutcome {
  /** What was answered, as far as it came; undefined when no answer began. */
  readonly answer:
    | {
        readonly status: number
        readonly headers: RawHeaders
        readonly body: Uint8Array
        readonly truncated: boolean
      }
    | undefined
  readonly failure: PostFailure | undefined
}

/** Informational answers are dropped; a receiver that sends more than this many is not going to answer. */
const maxInformational = 16

/** Calls back once, outside Effect: nothing but undici's parser stands between the socket and the outcome. */
export const post = (dispatcher: Dispatcher, message: Post, done: (outcome: PostOutcome) => void): void => {
  const { body, headers, origin, path } = message
  const posting = new Posting(message, done)
  dispatcher.dispatch(
    { origin, path, method: "POST", headers: [...headers], body, headersTimeout: 0, bodyTimeout: 0 },
    posting
  )
}

class Posting implements Dispatcher.DispatchHandler {
  readonly #kept: number
  readonly #done: (outcome: PostOutcome) => void
  #timer: NodeJS.Timeout
  #controller: Dispatcher.DispatchController | undefined
  #over = false
  #informational = 0
  #status = 0
  #headers: Array<string> = []
  #chunks: Array<Buffer> = []
  #size = 0

  constructor({ kept, timeoutMillis }: Post, done: (outcome: PostOutcome) => void) {
    this.#kept = kept
    this.#done = done
    // @effect-diagnostics-next-line globalTimers:off
    this.#timer = setTimeout(() => this.#late(), timeoutMillis)
  }

  onRequestStart(controller: Dispatcher.DispatchController) {
    // Thrown, not aborted: undici then drops the request and keeps the idle connection it was about to use.
    if (this.#over) throw new Error("The call ended while it was waiting for a connection")
    this.#controller = controller
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number) {
    if (status < 200) {
      if (++this.#informational > maxInformational) this.#cut("bad_response")
      return
    }
    this.#status = status
    this.#headers = headerText(controller.rawHeaders)
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer) {
    if (this.#over) return
    const room = this.#kept - this.#size
    this.#size += chunk.length
    keep(this.#chunks, chunk.length > room ? chunk.subarray(0, room) : chunk)
    if (chunk.length > room) this.#cut(undefined)
  }

  onResponseEnd() {
    this.#end(undefined)
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error) {
    outsideUndici(() => this.#end(failureOf(error)))
  }

  /** An answer that came while this process stood still is not late. */
  #late() {
    // @effect-diagnostics-next-line globalTimers:off
    this.#timer = setTimeout(() => this.#cut("timeout"), reading)
  }

  #cut(failure: PostFailure | undefined) {
    this.#end(failure)
    this.#controller?.abort(new Error("Enough"))
  }

  #end(failure: PostFailure | undefined) {
    if (this.#over) return
    this.#over = true
    clearTimeout(this.#timer)
    // A copy: what is kept of a chunk would keep the whole chunk in memory.
    const body = Buffer.concat(this.#chunks)
    const answer =
      this.#status === 0
        ? undefined
        : { status: this.#status, headers: this.#headers, body, truncated: this.#size > this.#kept }
    this.#chunks = []
    this.#done({ answer, failure })
  }
}

const failures: ReadonlyMap<string, PostFailure> = new Map([
  ["ECONNREFUSED", "refused"],
  ["ECONNRESET", "reset"],
  ["ORIGIN_RESET", "reset"],
  ["EPIPE", "reset"],
  ["UND_ERR_SOCKET", "reset"],
  ["UND_ERR_CONNECT_TIMEOUT", "timeout"],
  ["ETIMEDOUT", "timeout"]
])

const failureOf = (error: Error): PostFailure => {
  // Several addresses were tried; the first tells what is wrong.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error
  const code = first instanceof Error && "code" in first && typeof first.code === "string" ? first.code : ""
  if (isUnasked(error)) return "bad_response"
  if (isOfName(first)) return "dns"
  const known = failures.get(code)
  if (known !== undefined) return known
  if (isOfTls(code)) return "tls"
  const reason = reasonOf(error)
  if (reason === "ForbiddenAddress") return "forbidden_address"
  return reason === "BadResponse" ? "bad_response" : reason === "Timeout" ? "timeout" : "unreachable"
}
