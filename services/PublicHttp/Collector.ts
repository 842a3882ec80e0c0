import { Effect } from "effect"
import type { Dispatcher } from "undici"
import type { RawHeaders } from "#domain/HttpHeaders.ts"
import { OutboundFailed, type OutboundReason, outsideUndici, reasonOf } from "./Failure.ts"
import { keep } from "./Pieces.ts"

/** One whole answer. */
export interface Collected {
  readonly status: number
  readonly headers: RawHeaders
  readonly body: Uint8Array
}

/** Header fields of undici as text: bytes are latin-1, as in every HTTP/1 header. */
export const headerText = (raw: Dispatcher.DispatchController["rawHeaders"]): Array<string> => {
  if (!Array.isArray(raw)) return []
  return raw.map((item) => (typeof item === "string" ? item : item.toString("latin1")))
}

type Resume = (outcome: Effect.Effect<Collected, OutboundFailed>) => void

/** Gathers one answer for one resumption; what exceeds the limit ends the call. */
export class Collector implements Dispatcher.DispatchHandler {
  readonly #limit: number
  readonly #resume: Resume
  #controller: Dispatcher.DispatchController | undefined
  #aborted = false
  #status = 0
  #headers: Array<string> = []
  #chunks: Array<Buffer> = []
  #size = 0

  constructor(limit: number, resume: Resume) {
    this.#limit = limit
    this.#resume = resume
  }

  abort() {
    this.#aborted = true
    this.#controller?.abort(new Error("Interrupted"))
  }

  onRequestStart(controller: Dispatcher.DispatchController) {
    // Thrown, not aborted: undici then drops the request and keeps the idle connection it was about to use.
    if (this.#aborted) throw new Error("Interrupted while waiting for a connection")
    this.#controller = controller
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number) {
    if (status < 200) return
    this.#status = status
    this.#headers = headerText(controller.rawHeaders)
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer) {
    this.#size += chunk.length
    if (this.#size > this.#limit) return this.#fail("TooLarge")
    keep(this.#chunks, chunk)
  }

  onResponseEnd() {
    this.#resume(Effect.succeed({ status: this.#status, headers: this.#headers, body: Buffer.concat(this.#chunks) }))
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, cause: Error) {
    outsideUndici(() => this.#resume(Effect.fail(new OutboundFailed({ reason: reasonOf(cause), cause }))))
  }

  #fail(reason: OutboundReason) {
    this.#resume(Effect.fail(new OutboundFailed({ reason, cause: undefined })))
    this.abort()
  }
}
