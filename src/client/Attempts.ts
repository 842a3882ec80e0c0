import { discard } from "./Body.ts"
import { isObject } from "./Encoding.ts"

type Input = Parameters<typeof fetch>[0]

/** A header, as name and value, that shows a payment: a proof, that of x402, or that of MPP, which may stand in `Authorization`. */
const shown = /^(x-payment(-proof)?,|payment-signature|(payment-)?authorization,payment )/i

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

const isRequest = (input: Input): input is Request => isObject(input) && "clone" in input

/** Strings, bytes, blobs and forms can be read again; a stream or a generator cannot. */
const isStream = (body: unknown): boolean =>
  body instanceof ReadableStream || (isObject(body) && Symbol.asyncIterator in body)

/** Where a request comes from, which `fetch` forgets over any option, and what ends it: Node does not abort a copy that nobody holds. */
const kept = ({ referrer, referrerPolicy, signal }: Request): RequestInit => ({ referrer, referrerPolicy, signal })

export const attempts = (fetch: typeof globalThis.fetch, input: Input, given: RequestInit): Attempts => {
  const original = isRequest(input) ? input : undefined
  const headers = new Headers(given.headers ?? original?.headers)
  // Of the caller's headers some can be read only once, such as the entries of a map.
  const init = { ...(original && kept(original)), ...given, ...(given.headers && { headers }) }
  // The request whose body is sent.
  const source = init.body == null ? original : undefined
  // Every attempt reads a copy: of a request, the first to be read would be the last.
  const copy = () => source?.clone() ?? input
  // Null leaves that of the request.
  const { signal = original?.signal } = init
  const plain = new Request(original?.url ?? input, { method: init.method ?? original?.method ?? "GET" })
  return {
    method: plain.method,
    url: plain.url,
    signal: signal ?? undefined,
    isPaidAlready: [...headers].some((header) => shown.test(String(header))),
    isOnce: isStream(init.body),
    send: () => fetch(copy(), init),
    sendPaid: (url, added) => {
      const all = new Headers(headers)
      for (const [name, value] of Object.entries(added)) all.set(name, value)
      const next: RequestInit = { ...init, headers: all, redirect: "manual" }
      // Where a redirect led, by a request that is otherwise the caller's.
      return fetch(url === plain.url ? copy() : original ? new Request(url, original) : url, next)
    },
    end: () => {
      if (source?.bodyUsed === false) discard(source.body)
    }
  }
}
