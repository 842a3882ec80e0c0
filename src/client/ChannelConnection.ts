import { discard } from "./Body.ts"
import { eventFrames, type Frame } from "./EventFrames.ts"
import { now, orAborted } from "./Time.ts"
import type { Transport } from "./Transport.ts"
import { failure, refusalIn, TurnpikeError } from "./TurnpikeError.ts"

/** One open connection of an agent's event channel. */
export interface Connection {
  /** The events of what arrived next; undefined when the server ended it. Rejects when it broke or fell silent. */
  readonly read: () => Promise<ReadonlyArray<Frame> | undefined>
  /** The pause before the next connection that the server asked for. */
  readonly retry: () => number | undefined
  /** For how many milliseconds it has been open. */
  readonly age: () => number
  readonly close: () => void
}

export interface Connecting {
  readonly transport: Transport
  readonly agentId: string
  readonly token: string
  readonly lastEventId: string | undefined
  /** How long the server may say nothing at all. */
  readonly silenceMs: number
  /** Closes the connection. */
  readonly signal: AbortSignal
}

const broken = (cause: unknown) =>
  cause instanceof TurnpikeError ? cause : failure("NETWORK_ERROR", "The connection broke", cause)

/** Opens the channel, and resumes it after `lastEventId`. Throws `TurnpikeError` when that cannot be done. */
export const connect = async (about: Connecting): Promise<Connection> => {
  const { signal, silenceMs, token, transport } = about
  const controller = new AbortController()
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  const abort = (reason?: unknown) => {
    // First, because Deno may go on with a body whose request was aborted.
    discard(reader)
    controller.abort(reason)
  }
  const stop = () => abort(signal.reason)
  signal.addEventListener("abort", stop)
  if (signal.aborted) stop()
  const close = () => {
    signal.removeEventListener("abort", stop)
    abort()
  }
  /** As long as the work does not take too long. Whatever goes wrong closes the connection. */
  const within = async <A>(millis: number, work: Promise<A>): Promise<A> => {
    // @effect-diagnostics-next-line globalTimers:off
    const timer = setTimeout(() => abort(late()), millis)
    try {
      return await orAborted(work, controller.signal)
    } catch (cause) {
      close()
      signal.throwIfAborted()
      throw broken(cause)
    } finally {
      clearTimeout(timer)
    }
  }

  const url = `${transport.baseUrl}/v1/agents/${encodeURIComponent(about.agentId)}/connect`
  const headers = new Headers({ accept: "text/event-stream", authorization: `Bearer ${token}` })
  if (about.lastEventId !== undefined) headers.set("last-event-id", about.lastEventId)
  const init: RequestInit = { headers, redirect: "manual", signal: controller.signal }
  const response = await within(transport.timeoutMs, transport.fetch(url, init))
  const isStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "")
  if (!response.ok || !isStream || !response.body) {
    const wrong = response.ok
      ? failure("INVALID_ANSWER", "The answer is no stream of events", undefined, response.status)
      : await refusalIn(response, controller.signal, transport.timeoutMs)
    close()
    discard(response.body)
    throw wrong
  }

  const opened = now()
  const body = response.body.getReader()
  reader = body
  const frames = eventFrames()
  const read = async () => {
    const { done, value } = await within(silenceMs, body.read())
    if (done) return undefined
    try {
      return frames.push(value)
    } catch (cause) {
      throw failure("INVALID_ANSWER", "An event is too large", cause, 200)
    }
  }
  return { read, retry: frames.retry, age: () => now() - opened, close }
}

const late = () => failure("TIMEOUT", "The server said nothing for too long")
