import { discard } from "./Body.ts"
import { isObject } from "./Encoding.ts"

type Input = Parameters<typeof fetch>[0]

/** A header, as a line with name and value, that shows a payment: a proof, that of x402, or that of MPP, which may stand in `Authorization`. */
const shown = /^(x-payment(-proof)?,|payment-signature|(payment-)?authorization,payment )/im

/** One call of `fetch`, that can be made again with other headers. */
export interface Attempts {
  readonly method: string
  /** The absolute address. */
  readonly url: string
  readonly signal: AbortSignal | undefined
  /** The caller shows a payment of its own. */
  readonly isPaidAlready: boolean
  /** The body is there only once. */
  readonly isOnce: boolean
  readonly send: () => Promise<Response>
  /** Sends it with these headers to the address that asked for the money, and follows no redirect with them. */
  readonly sendPaid: (url: string, headers: { readonly [name: string]: string }) => Promise<Response>
  /** Nothing is sent any more. */
  readonly end: () => void
}

const isRequest = (input: Input | RequestInit): input is Request => isObject(input) && "clone" in input

/** Strings, bytes, blobs and forms can be read again; a stream or a generator cannot. */
const isStream = (body: unknown): boolean =>
  body instanceof ReadableStream || (isObject(body) && Symbol.asyncIterator in body)

/** A copy of what callers may fill anew, for their next call, before this one is paid. */
const unshared = (body: RequestInit["body"]) => {
  if (!(body instanceof FormData || body instanceof URLSearchParams)) return body
  const copy = Reflect.construct(body.constructor, [])
  for (const [name, value] of body) copy.append(name, value)
  return copy
}

export const attempts = (fetch: typeof globalThis.fetch, input: Input, given: RequestInit): Attempts => {
  // What it has is not its own: copied as options are, it would be a GET of nothing.
  if (isRequest(given)) return attempts(fetch, new Request(input, given), { signal: given.signal })
  const original = isRequest(input) ? input : undefined
  const headers = new Headers(given.headers ?? original?.headers)
  // Null leaves that of the request, undefined says nothing.
  const { signal = original?.signal } = given
  const init = {
    // Where a request comes from `fetch` forgets over any option.
    ...(original && { referrer: original.referrer, referrerPolicy: original.referrerPolicy }),
    ...given,
    // Some can be read only once, such as the entries of a map.
    headers,
    // Also that of the request: Node does not abort a copy that nobody holds.
    ...(signal && { signal })
  }
  init.body &&= unshared(init.body)
  // The request whose body is sent: by this call alone, as by any `fetch`, or another would let go of it between payment and proof.
  const source = init.body == null && original ? new Request(original) : undefined
  // A `URL` may be that of the caller's next call by the time this one is paid.
  const address = original ?? String(input)
  // Every attempt reads a copy: of a request, the first to be read would be the last.
  const copy = () => source?.clone() ?? address
  const plain = new Request(original?.url ?? address, { method: init.method ?? original?.method ?? "GET" })
  return {
    method: plain.method,
    url: plain.url,
    signal: signal ?? undefined,
    isPaidAlready: shown.test([...headers].join("\n")),
    isOnce: isStream(init.body),
    send: () => fetch(copy(), init),
    sendPaid: (url, added) => {
      const all = new Headers([...headers, ...Object.entries(added)])
      const next: RequestInit = { ...init, headers: all, redirect: "manual" }
      // Where a redirect led, by a request that is otherwise the caller's.
      return fetch(url === plain.url ? copy() : original ? new Request(url, original) : url, next)
    },
    end: () => discard(source?.body)
  }
}
