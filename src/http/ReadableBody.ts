import { isUtf8 } from "node:buffer"
import type { IncomingMessage } from "node:http"
import { Deferred, Duration, Effect, Fiber, Result } from "effect"
import type { HttpServerError, HttpServerRequest } from "effect/http"
import { toServerResponse } from "@effect/platform-node/NodeHttpServerRequest"
import { BodyTooLarge, InvalidAmount, RequestTimeout, UnsupportedMediaType } from "#api/Refusals.ts"
import { noPrice } from "#domain/EndpointPrice.ts"
import { amountNames, amountRefusals, isExactNumber } from "#domain/Money.ts"
import { InvalidRequest, ServiceUnavailable } from "#domain/Refusal.ts"
import { BodyRoom, free, leaveWith } from "./BodyRoom.ts"
import { CurrentExchange } from "./Exchange.ts"

/** What a JSON body may be. */
export const limits = { bytes: 1_048_576, depth: 64, values: 20_000, arrival: Duration.seconds(15) }

/** Whether the media type is JSON in UTF-8, as RFC 9110 lets it be written: with blanks, and with parameters that are empty. */
export const isJson = (type: string): boolean => {
  if (type === "application/json") return true
  const [media = "", ...parameters] = type.toLowerCase().split(";")
  return (
    media.trim() === "application/json" && parameters.every((one) => /^\s*(?:charset\s*=\s*"?utf-?8"?\s*)?$/.test(one))
  )
}
/** An escape for NUL, which Postgres does not store, or for half a surrogate pair, which no UTF-8 text can carry. */
const suspicious = /\\u(?:0000|d[89a-f])/i

/** More digits than every JSON number keeps, or so near to 0 that it may be read as 0. */
const mayBeRounded = /[\d.]{16}|e-\d{3}/i

type Unreadable = BodyTooLarge | UnsupportedMediaType | RequestTimeout | InvalidRequest | InvalidAmount

const refuse = (message: string, path = "") => new InvalidRequest({ errors: [{ path, message }] })

export const hasBody = (headers: IncomingMessage["headers"]): boolean =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0"

/** What is not there has no type: clients with nothing to send name one, as `axios.post(url)`, `curl -d ''` and `fetch` with `""` do. */
export const forgetTypeOfNothing = (headers: IncomingMessage["headers"]): void => {
  if (!hasBody(headers)) delete headers["content-type"]
}

/** What is said of a body that is no JSON. */
const notJson = refuse("Expected a valid JSON body")

const tooMany = refuse(`has more than ${limits.values} values`)

/** A JSON body, unless it is one that nobody can mean, whatever the operation. */
export const parse = (text: string): Result.Result<unknown, InvalidRequest | InvalidAmount> => {
  let depth = 0
  let values = 0
  let opened = -1
  let members = 0
  let quoted = false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 0x22) quoted = !quoted
    else if (quoted) {
      if (code === 0x5c) index++
    } else if (code === 0x7b || code === 0x5b) {
      if (++depth > limits.depth) return Result.fail(refuse(`is nested deeper than ${limits.depth} levels`))
      // The first of its values has no comma before it; what is empty has none.
      if (++values > limits.values) return Result.fail(tooMany)
      opened = index
    } else if (code === 0x7d || code === 0x5d) {
      depth--
      if (opened === index - 1) values--
    } else if (code === 0x3a) members++
    else if (code === 0x2c && ++values > limits.values) return Result.fail(tooMany)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return Result.fail(notJson)
  }
  // Of two members of one name each reader takes the one it likes: what stands before us may have judged the other.
  if (membersOf(value) !== members) return Result.fail(refuse("must be given once", repeated(text)))
  const rounded = mayBeRounded.test(text) ? roundedNumber(text) : undefined
  if (rounded !== undefined) return Result.fail(rounded)
  const path = suspicious.test(text) ? unstorable(value) : undefined
  return path === undefined
    ? Result.succeed(value)
    : Result.fail(refuse("has a character that cannot be stored (NUL or half a surrogate)", path))
}

const membersOf = (value: unknown): number => {
  if (typeof value !== "object" || value === null) return 0
  let count = Array.isArray(value) ? 0 : Object.keys(value).length
  for (const member of Object.values(value)) count += membersOf(member)
  return count
}

/** Strings, numbers, and what stands between values. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},:]|-?\d[\d.eE+-]*/g

/** What is remarkable in JSON: each member that has the name of one before, and each number. */
function* walked(text: string): Generator<{ readonly path: ReadonlyArray<string>; readonly number?: string }> {
  const open: Array<{ readonly names: Set<string> | undefined; name: string }> = []
  const path = () => open.map(({ name }) => name)
  let last = ""
  for (const [token] of text.matchAll(tokens)) {
    const around = open.at(-1)
    if (token === "{") open.push({ names: new Set(), name: "" })
    else if (token === "[") open.push({ names: undefined, name: "0" })
    else if (token === "}" || token === "]") open.pop()
    else if (token === "," && around?.names === undefined && around !== undefined) {
      around.name = String(Number(around.name) + 1)
    } else if (token === ":" && around?.names !== undefined) {
      around.name = JSON.parse(last)
      if (around.names.has(around.name)) yield { path: path() }
      around.names.add(around.name)
    } else if (/^[-\d]/.test(token)) yield { path: path(), number: token }
    else last = token
  }
}

/** The path of the first member of JSON that has the name of one before. */
const repeated = (text: string): string => {
  for (const { number, path } of walked(text)) if (number === undefined) return path.join(".")
  return ""
}

/**
 * Where amounts are: in the body itself, or in an item of a batch. What callers keep here of their own may have the same names. A name
 * may be as long as the body, so the whole path is put together for none but these.
 */
const isAmount = (path: ReadonlyArray<string>): boolean =>
  (path.length === 1 || (path.length === 3 && path[0] === "transfers")) && amountNames.has(path.at(-1) ?? "")

/** As a number with more decimals than amounts have is refused there. */
const refuseAmount = (param: string) =>
  param === "basePrice"
    ? refuse(noPrice.message, param)
    : new InvalidAmount({ param, message: amountRefusals.INVALID_AMOUNT })

/** What a caller keeps here comes back as it was: ids of 64 bits are whole numbers. Fractions are approximations to begin with. */
const isKeptWhole = (path: ReadonlyArray<string>, number: string): boolean =>
  path[0] === "metadata" && /^-?\d+$/.test(number)

/** The first number with digits that a JSON number does not keep, where it would be taken or kept as another one. */
const roundedNumber = (text: string): InvalidRequest | InvalidAmount | undefined => {
  for (const { number, path } of walked(text)) {
    if (number === undefined || !(isAmount(path) || isKeptWhole(path, number)) || isExactNumber(number)) continue
    return isAmount(path)
      ? refuseAmount(path.join("."))
      : refuse("is a whole number that readers of JSON round: send it as text", path.join("."))
  }
  return undefined
}

/** The path of the first text that has a NUL or half a surrogate pair. */
const unstorable = (body: unknown): string | undefined => {
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
  return walk(body, "")
}

/** Reads the body, if there is one, and refuses what no operation takes. What was read is kept for the decoder. */
export const check = (
  request: HttpServerRequest.HttpServerRequest,
  source: IncomingMessage
): Effect.Effect<void, Unreadable> => {
  const { headers } = source
  if (!hasBody(headers)) return Effect.void
  const encoding = headers["content-encoding"]
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    return Effect.fail(new UnsupportedMediaType({ header: "content-encoding", accepted: "identity" }))
  }
  if (!isJson(headers["content-type"] ?? "")) {
    return Effect.fail(new UnsupportedMediaType({ header: "content-type", accepted: "application/json" }))
  }
  if (Number(headers["content-length"] ?? 0) > limits.bytes) {
    return Effect.fail(new BodyTooLarge({ limit_bytes: limits.bytes }))
  }
  return arriving(request, source).pipe(
    Effect.andThen((bytes) => {
      if (!isUtf8(new Uint8Array(bytes))) return Effect.fail(refuse("is not UTF-8"))
      return Effect.flatMap(Effect.orDie(request.text), (text) => {
        const parsed = parse(text)
        // Whoever decodes the body says that it is not JSON.
        return Result.isSuccess(parsed) || parsed.failure === notJson ? Effect.void : Effect.fail(parsed.failure)
      })
    })
  )
}

/** Read in a fiber of its own: who stops waiting still answers on the connection, which ends with the reader. */
const arriving = (
  request: HttpServerRequest.HttpServerRequest,
  source: IncomingMessage
): Effect.Effect<ArrayBuffer, Unreadable> =>
  Effect.gen(function* () {
    // Before it is read, since it is read by whoever listens.
    const full = isSmall(source.headers) ? undefined : yield* counted(request, source)
    const reader = yield* Effect.forkChild(Effect.mapError(request.arrayBuffer, whyUnread), { startImmediately: true })
    const whole = full === undefined ? Fiber.join(reader) : Effect.raceFirst(Fiber.join(reader), Deferred.await(full))
    return yield* Effect.timeoutOrElse(whole, {
      duration: limits.arrival,
      orElse: () => Effect.fail(new RequestTimeout())
    })
  })

const isSmall = (headers: IncomingMessage["headers"]): boolean =>
  headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) <= free

/** Takes room for a body as it arrives, until its request is answered, and tells when there is none. All strangers are one owner. */
const counted = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, source: IncomingMessage) {
  const enter = yield* BodyRoom
  const place = enter((yield* CurrentExchange)?.principal?.tenant_id ?? "")
  const full = Deferred.makeUnsafe<never>()
  source.on("data", ({ length }: Uint8Array) => {
    if (!place.take(length)) Deferred.doneUnsafe(full, noRoom)
  })
  leaveWith(toServerResponse(request), place)
  return full
})
const noRoom = Effect.die(ServiceUnavailable.because("too many bodies are being read"))

const whyUnread = ({ reason }: HttpServerError.HttpServerError): Unreadable =>
  reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"
    ? new BodyTooLarge({ limit_bytes: limits.bytes })
    : refuse("did not arrive whole")
