import { isUtf8 } from "node:buffer"
import type { IncomingMessage } from "node:http"
import { Duration, Effect, Fiber } from "effect"
import type { HttpServerError, HttpServerRequest } from "effect/http"
import { BodyTooLarge, RequestTimeout, UnsupportedMediaType } from "#api/Refusals.ts"
import { InvalidRequest } from "#domain/Refusal.ts"

/** What a JSON body may be. */
export const limits = { bytes: 1_048_576, depth: 64, values: 20_000, arrival: Duration.seconds(15) }

export const json = /^application\/json *(?:; *charset *= *"?utf-8"? *)?$/i
/** An escape for NUL, which Postgres does not store, or for half a surrogate pair, which no UTF-8 text can carry. */
const suspicious = /\\u(?:0000|d[89a-f])/i

type Unreadable = BodyTooLarge | UnsupportedMediaType | RequestTimeout | InvalidRequest

const refuse = (message: string, path = "") => new InvalidRequest({ errors: [{ path, message }] })

export const hasBody = (headers: IncomingMessage["headers"]): boolean =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0"

/** Why a JSON body cannot be what anybody means, whatever the operation; undefined when nothing speaks against it. */
export const fault = (text: string): InvalidRequest | undefined => {
  let depth = 0
  let values = 1
  let quoted = false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 0x22) quoted = !quoted
    else if (quoted) {
      if (code === 0x5c) index++
    } else if (code === 0x7b || code === 0x5b) {
      if (++depth > limits.depth) return refuse(`is nested deeper than ${limits.depth} levels`)
    } else if (code === 0x7d || code === 0x5d) depth--
    else if (code === 0x2c && ++values > limits.values) return refuse(`has more than ${limits.values} values`)
  }
  if (!suspicious.test(text)) return undefined
  const path = unstorable(text)
  return path === undefined
    ? undefined
    : refuse("has a character that cannot be stored (NUL or half a surrogate)", path)
}

/** The path of the first text that has a NUL or half a surrogate pair. */
const unstorable = (text: string): string | undefined => {
  const bad = (part: string) => part.includes("\0") || !part.isWellFormed()
  const walk = (value: unknown, path: string): string | undefined => {
    if (typeof value === "string") return bad(value) ? path : undefined
    if (typeof value !== "object" || value === null) return undefined
    for (const [name, member] of Object.entries(value)) {
      if (bad(name)) return path
      const found = walk(member, path === "" ? name : `${path}.${name}`)
      if (found !== undefined) return found
    }
    return undefined
  }
  try {
    return walk(JSON.parse(text), "")
  } catch {
    // Whoever decodes the body says that it is not JSON.
    return undefined
  }
}

/**
 * Reads the body, if there is one, and refuses what no operation takes. What was read is kept for the decoder. Where a body is
 * `expected`, its type is looked at even if nothing follows.
 */
export const check = (
  request: HttpServerRequest.HttpServerRequest,
  source: IncomingMessage,
  expected: boolean
): Effect.Effect<void, Unreadable> => {
  const { headers } = source
  if (!hasBody(headers)) {
    return expected && headers["content-type"] !== undefined && !json.test(headers["content-type"])
      ? Effect.fail(new UnsupportedMediaType({ header: "content-type", accepted: "application/json" }))
      : Effect.void
  }
  const encoding = headers["content-encoding"]
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    return Effect.fail(new UnsupportedMediaType({ header: "content-encoding", accepted: "identity" }))
  }
  if (!json.test(headers["content-type"] ?? "")) {
    return Effect.fail(new UnsupportedMediaType({ header: "content-type", accepted: "application/json" }))
  }
  if (Number(headers["content-length"] ?? 0) > limits.bytes) {
    return Effect.fail(new BodyTooLarge({ limit_bytes: limits.bytes }))
  }
  return arriving(request).pipe(
    Effect.andThen((bytes) => {
      if (!isUtf8(new Uint8Array(bytes))) return Effect.fail(refuse("is not UTF-8"))
      return Effect.flatMap(Effect.orDie(request.text), (text) => {
        const found = fault(text)
        return found === undefined ? Effect.void : Effect.fail(found)
      })
    })
  )
}

/** Read in a fiber of its own: who stops waiting still answers on the connection, which ends with the reader. */
const arriving = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<ArrayBuffer, Unreadable> =>
  Effect.forkChild(Effect.mapError(request.arrayBuffer, whyUnread), { startImmediately: true }).pipe(
    Effect.flatMap((reader) =>
      Effect.timeoutOrElse(Fiber.join(reader), {
        duration: limits.arrival,
        orElse: () => Effect.fail(new RequestTimeout())
      })
    )
  )

const whyUnread = ({ reason }: HttpServerError.HttpServerError): Unreadable =>
  reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"
    ? new BodyTooLarge({ limit_bytes: limits.bytes })
    : refuse("did not arrive whole")
