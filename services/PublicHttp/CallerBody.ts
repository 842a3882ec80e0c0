import type { IncomingMessage, ServerResponse } from "node:http"
import { Readable } from "node:stream"

/** Is told whom a body waits for, and when it is whole. */
export interface Progress {
  ofCaller(): void
  ofOrigin(): void
  uploaded(): void
}

/**
 * A caller's request body on its way to the origin, with back-pressure. undici destroys the stream it was given when the origin
 * answers early; destroying the request itself would close the caller's connection before the answer is on it.
 */
export class CallerBody extends Readable {
  readonly #source: IncomingMessage
  readonly #progress: Progress
  readonly #beforeFirstRead: (() => void) | undefined
  #started = false

  /** `continueOn`: whose caller still waits for `100 Continue`; it is sent when the origin is ready for the body. */
  constructor(source: IncomingMessage, progress: Progress, continueOn: ServerResponse | undefined) {
    super()
    this.#source = source
    this.#progress = progress
    this.#beforeFirstRead = continueOn && (() => continueOn.writeContinue())
  }

  override _read() {
    if (!this.#started) {
      this.#started = true
      this.#beforeFirstRead?.()
      this.#source.on("data", this.#onData).on("end", this.#onEnd)
    }
    this.#progress.ofCaller()
    this.#source.resume()
  }

  override _destroy(_error: Error | null, callback: () => void) {
    this.#source.off("data", this.#onData).off("end", this.#onEnd).pause()
    // No error is passed on: whoever destroyed this body already knows, and nobody is left to listen.
    callback()
  }

  readonly #onData = (chunk: Buffer) => {
    this.#progress.ofCaller()
    if (this.push(chunk)) return
    this.#source.pause()
    this.#progress.ofOrigin()
  }

  readonly #onEnd = () => {
    this.#progress.uploaded()
    this.push(null)
  }
}

/** Largest body, in bytes, that is sent in one piece with the headers: streaming costs more than such a body does. */
const wholeBytes = 16_384

/** How a request's body is to be sent, from what its headers announce. */
export const bodyKind = ({ headers }: IncomingMessage): "none" | "whole" | "streamed" => {
  if (headers["transfer-encoding"] !== undefined) return "streamed"
  const length = Number(headers["content-length"] ?? 0)
  return length === 0 ? "none" : length <= wholeBytes ? "whole" : "streamed"
}

/** Calls back with the whole body; never, if the caller leaves before. */
export const readWhole = (source: IncomingMessage, progress: Progress, done: (body: Buffer) => void): void => {
  const chunks: Array<Buffer> = []
  progress.ofCaller()
  source.on("data", (chunk: Buffer) => {
    progress.ofCaller()
    chunks.push(chunk)
  })
  source.once("end", () => {
    progress.uploaded()
    done(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks))
  })
}

/** How long a caller may be silent, and send in all, whose answer is there. */
const linger = { silentMillis: 2000, millis: 15_000 }

/**
 * Reads and drops what the caller still sends after its answer, while it goes on and for a quarter of a minute at most: closing at once
 * would reset the connection and could take the answer with it.
 */
export const dropRest = (source: IncomingMessage): void => {
  if (source.complete || source.destroyed) return
  const give = () => source.destroy()
  // @effect-diagnostics-next-line globalTimers:off
  const silent = setTimeout(give, linger.silentMillis).unref()
  // @effect-diagnostics-next-line globalTimers:off
  const all = setTimeout(give, linger.millis).unref()
  const over = () => {
    clearTimeout(silent)
    clearTimeout(all)
  }
  source
    .once("end", over)
    .once("close", over)
    .on("data", () => silent.refresh())
    .resume()
}
