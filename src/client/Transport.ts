import { discard } from "./Body.ts"
import { binary, isObject, type Json, randomHex, utf8 } from "./Encoding.ts"
import { backoff, pause, timed } from "./Time.ts"
import { failure, refusalIn, TurnpikeError } from "./TurnpikeError.ts"

/** How calls are made. */
export interface Calling {
  readonly fetch: typeof fetch
  readonly timeoutMs: number
  readonly retries: number
  readonly maxRetryDelayMs: number
}

/** Where the API is and how it is called. */
export interface Transport extends Calling {
  /** Without a slash at the end. */
  readonly baseUrl: string
  readonly apiKey: string | undefined
}

export interface CallingOptions {
  /** The `fetch` to use instead of the global one. */
  readonly fetch?: typeof fetch | undefined
  /** How long one call of the API may take, and the reading of a 402; 30 seconds when left out. */
  readonly timeoutMs?: number | undefined
  /** How often a call is repeated that may be repeated; 3 times when left out. */
  readonly retries?: number | undefined
  /** The longest wait between attempts; who asks for more is not asked again. 10 seconds when left out. */
  readonly maxRetryDelayMs?: number | undefined
}

export interface TransportOptions extends CallingOptions {
  /** Where the API is, such as `https://api.example.com`. */
  readonly baseUrl: string
  readonly apiKey?: string | undefined
}

/** The longest wait of a timer, some 24 days: asked for a longer one it would not wait at all. */
const longest = 2 ** 31 - 1

/** The number as it was given, such as `Infinity` for no end, or as much of it as a timer can wait; throws when it is none. */
export const bounded = (name: string, value: number): number => {
  if (value >= 0) return Math.min(value, longest)
  throw new TypeError(`${name} must be a number from 0 on, not ${value}`)
}

export const calling = (options: CallingOptions): Calling => {
  // Now, for a `fetch` that pays may take the place of the global one.
  const call = options.fetch ?? fetch
  return {
    // By itself: that of browsers is no method of anything else.
    fetch: (input, init) => call(input, init),
    timeoutMs: bounded("timeoutMs", options.timeoutMs ?? 30_000),
    retries: bounded("retries", options.retries ?? 3),
    maxRetryDelayMs: bounded("maxRetryDelayMs", options.maxRetryDelayMs ?? 10_000)
  }
}

/** The options with their defaults; throws when `baseUrl` is no plain address. */
export const transport = (options: TransportOptions): Transport => {
  const url = new URL(options.baseUrl)
  if (!/^https?:$/.test(url.protocol) || url.username + url.search + url.hash !== "") {
    throw new TypeError(`baseUrl must be a plain http or https address, not ${options.baseUrl}`)
  }
  return {
    ...calling(options),
    baseUrl: url.href.replace(/\/+$/, ""),
    apiKey: options.apiKey
  }
}

/** Method, path, and whether the operation takes an idempotency key, so that repeating it is safe, or answers text and no JSON. */
export type Route = readonly [method: string, path: string, kind?: string | undefined]

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** How long one attempt may take. */
  readonly timeoutMs?: number | undefined
  /** Names the call, so that whoever repeats it under the same key does it once; made up when left out. */
  readonly idempotencyKey?: string | undefined
}

/** The parts of a request, as the contract names them. */
export interface Parts {
  readonly params?: object | undefined
  readonly query?: object | undefined
  readonly headers?: object | undefined
  readonly payload?: unknown
}

/** A function that makes the call, repeats it where that is safe, and gives the parsed answer or throws `TurnpikeError`. */
export const operation =
  (transport: Transport, [method, path, kind]: Route) =>
  async (parts: Parts = {}, options: CallOptions = {}): Promise<unknown> => {
    const url = address(transport.baseUrl, path, parts)
    const isKeyed = kind === "key"
    const isText = kind === "text"
    const { body, headers } = content(transport, parts, isKeyed ? (options.idempotencyKey ?? "") : undefined)
    headers.set("accept", isText ? "*/*" : "application/json")
    const init: RequestInit = { method, redirect: "manual", headers, body }
    const repeatable = method === "GET" || isKeyed
    for (let attempt = 1; ; attempt++) {
      const outcome = await once(transport, url, init, options, isText)
      if (!(outcome instanceof TurnpikeError)) return outcome.answer
      const again = outcome.status === 429 || (repeatable && isPassing(outcome))
      const asked = outcome.retryAfter && outcome.retryAfter * 1000
      if (!again || attempt > transport.retries || (asked ?? 0) > transport.maxRetryDelayMs) throw outcome
      await pause(backoff(attempt, asked, transport.maxRetryDelayMs), options.signal)
    }
  }

const isPassing = ({ status }: TurnpikeError) => status === 0 || (status >= 502 && status <= 504)

const address = (baseUrl: string, path: string, { params = {}, query = {} }: Parts): string => {
  const values: Json = { ...params }
  const filled = path.replace(/:(\w+)/g, (_, name: string) => {
    const value = String(values[name] ?? "")
    // Of an address `fetch` folds these away: it would be that of another operation.
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`${name} must be an id, not "${value}"`)
    return encodeURIComponent(value)
  })
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) search.append(name, String(one))
  }
  const asked = String(search)
  return `${baseUrl}${filled}${asked && `?${asked}`}`
}

/** Headers and body. `key` is the idempotency key, empty when one is to be made up; undefined when there is none to send. */
const content = (transport: Transport, parts: Parts, key: string | undefined) => {
  const headers = new Headers()
  for (const [name, value] of Object.entries(parts.headers ?? {}))
    if (value !== undefined) headers.set(name, binary(utf8(String(value))))
  if (transport.apiKey !== undefined) headers.set("authorization", `Bearer ${transport.apiKey}`)
  const { payload } = parts
  const named = headers.has("x-idempotency-key") || (isObject(payload) && payload["idempotency_key"] !== undefined)
  if (key !== undefined && !named && !headers.has("idempotency-key")) {
    headers.set("idempotency-key", key === "" ? randomHex(16) : binary(utf8(key)))
  }
  if (payload === undefined) return { headers, body: null }
  headers.set("content-type", "application/json")
  return { headers, body: JSON.stringify(payload) }
}

/** One attempt: the answer, or why there is none. Throws only when the caller aborted it. */
const once = async (
  transport: Transport,
  url: string,
  init: RequestInit,
  options: CallOptions,
  isText: boolean
): Promise<{ readonly answer: unknown } | TurnpikeError> => {
  const { signal } = options
  signal?.throwIfAborted()
  const millis = bounded("timeoutMs", options.timeoutMs ?? transport.timeoutMs)
  try {
    return await timed(millis, signal, async (until) => {
      const response = await transport.fetch(url, { ...init, signal: until })
      if (!response.ok) {
        const refusal = await refusalIn(response, until, millis)
        discard(response.body)
        return refusal
      }
      const text = await response.text()
      if (isText) return { answer: text }
      return text === "" ? { answer: undefined } : parsed(text, response)
    })
  } catch (cause) {
    signal?.throwIfAborted()
    return Object(cause).name === "TimeoutError"
      ? failure("TIMEOUT", "The server did not answer in time", cause)
      : failure("NETWORK_ERROR", "The server could not be reached", cause)
  }
}

const parsed = (text: string, { headers, status }: Response) => {
  try {
    return { answer: JSON.parse(text) as unknown }
  } catch (cause) {
    const requestId = headers.get("x-request-id") ?? undefined
    const message = "The answer is no JSON"
    return new TurnpikeError({ code: "INVALID_ANSWER", message, status, requestId, cause })
  }
}
