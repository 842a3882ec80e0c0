import { type AgentProof, logIn, signer } from "./AgentSession.ts"
import { boundedQueue } from "./BoundedQueue.ts"
import { type ChannelEvent, resumable } from "./ChannelEvent.ts"
import { connect } from "./ChannelConnection.ts"
import { listen, type Retry } from "./Listening.ts"
import { bounded, type CallingOptions, transport } from "./Transport.ts"

export type AgentChannelOptions = AgentProof & {
  /** Where the API is, such as `https://api.example.com`. */
  readonly baseUrl: string
  readonly agentId: string
  /** The id of the last event that was handled before: the channel goes on after it. */
  readonly lastEventId?: string | undefined
  /** Ends the channel. */
  readonly signal?: AbortSignal | undefined
  /** The `fetch` to use instead of the global one. */
  readonly fetch?: CallingOptions["fetch"]
  /** How long a login and the opening of a connection may take; 30 seconds when left out. */
  readonly timeoutMs?: number | undefined
  /** How long the server may say nothing before the connection counts as dead; 95 seconds, three heartbeats, when left out. */
  readonly heartbeatTimeoutMs?: number | undefined
  /** How often in a row connecting is tried again before the channel ends with the error; without end when left out. */
  readonly retries?: number | undefined
  /** The longest pause between attempts that the server did not ask for; 30 seconds when left out. */
  readonly maxRetryDelayMs?: number | undefined
  /** Told whenever a connection is open: what happens from then on arrives. */
  readonly onConnect?: (() => void) | undefined
  /** Told before every pause. */
  readonly onRetry?: ((retry: Retry) => void) | undefined
}

/** The events of an agent, in order, each once, over as many connections as it takes. `return` closes it. */
export interface AgentChannel extends AsyncIterableIterator<ChannelEvent, undefined> {
  readonly return: () => Promise<IteratorResult<ChannelEvent, undefined>>
}

/** What waits for a slow caller; what is more waits at the server. */
const mostEvents = 100
const mostCharacters = 1024 * 1024

/**
 * Opens the event channel of an agent when the first event is asked for, and keeps it open: logs in, resumes where it was cut,
 * moves to another connection when the server asks for it. Aborting the signal ends the iteration. What cannot be helped, such as a
 * suspended agent, a revoked key or another connection of the same session, ends it with a `TurnpikeError`.
 */
export const agentChannel = (options: AgentChannelOptions): AgentChannel => {
  const { agentId, heartbeatTimeoutMs = 95_000, lastEventId, signal } = options
  const { maxRetryDelayMs = 30_000, retries = Number.POSITIVE_INFINITY } = options
  const silenceMs = bounded("heartbeatTimeoutMs", heartbeatTimeoutMs)
  // An agent proves itself by its key alone, whatever else a caller has among his options.
  const calls = { ...transport({ ...options, apiKey: undefined, maxRetryDelayMs, retries }), retries: 0 }
  const sign = signer(options)
  if (lastEventId !== undefined && resumable(lastEventId) === undefined) {
    throw new TypeError("lastEventId must be the id of an event")
  }
  const stopping = new AbortController()
  const until = stopping.signal
  const queue = boundedQueue<ChannelEvent>(mostEvents, mostCharacters)
  const stop = () => {
    signal?.removeEventListener("abort", stop)
    stopping.abort()
    queue.drop()
  }
  signal?.addEventListener("abort", stop)
  if (signal?.aborted) stop()

  const run = async () => {
    try {
      await listen({
        logIn: () => logIn(calls, agentId, sign, until),
        connect: (token, last) =>
          connect({ transport: calls, agentId, token, lastEventId: last, silenceMs, signal: until }),
        put: queue.put,
        lastEventId,
        retries,
        maxRetryDelayMs: calls.maxRetryDelayMs,
        onConnect: options.onConnect,
        onRetry: options.onRetry,
        signal: until
      })
    } catch (error) {
      queue.fail(error)
    } finally {
      signal?.removeEventListener("abort", stop)
      stopping.abort()
    }
  }
  let isRunning = until.aborted
  return {
    next: () => {
      if (!isRunning) void run()
      isRunning = true
      return queue.take()
    },
    return: () => {
      stop()
      return Promise.resolve({ done: true, value: undefined })
    },
    [Symbol.asyncIterator]() {
      return this
    }
  }
}
