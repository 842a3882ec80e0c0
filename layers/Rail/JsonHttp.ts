import { Duration, Effect, Option, Schema } from "effect"
import type { RawHeaders } from "#domain/HttpHeaders.ts"
import type { PublicHttp } from "#services/PublicHttp.ts"
import { RailUnavailable } from "#services/Rail.ts"

export interface JsonQuestion {
  readonly method: "GET" | "POST"
  readonly url: URL
  readonly headers?: RawHeaders
  readonly body?: unknown
  readonly timeout: Duration.Duration
}

/** What came back; `body` is undefined when it is not JSON. */
export interface JsonAnswer {
  readonly status: number
  readonly body: unknown
  /** Whether it was asked for patience before: by whoever answered then, who may not be the one who acts. */
  readonly repeated: boolean
}

/** There was an answer, and more of it than is read. */
export class AnswerTooLarge extends RailUnavailable {}

/**
 * One question in JSON to a server the operator named. A server that asks for patience (429) gets it, three times. Whatever else is no
 * answer is `RailUnavailable`, whose reason never shows the address: it may carry a key.
 */
export const make = (http: PublicHttp["Service"]) =>
  Effect.fnUntraced(function* (question: JsonQuestion) {
    const { method, timeout, url } = question
    const body = question.body === undefined ? null : new TextEncoder().encode(toJson(question.body))
    const headers = ["accept", "application/json", ...(body === null ? [] : ["content-type", "application/json"])]
    const ask = http.request({ method, url, body, timeout, headers: [...headers, ...(question.headers ?? [])] }).pipe(
      Effect.mapError(({ reason }) => {
        const said = { reason: `no answer: ${reason}` }
        return reason === "TooLarge" ? new AnswerTooLarge(said) : new RailUnavailable(said)
      })
    )
    let answer = yield* ask
    const repeated = answer.status === 429
    for (let patience = 0; patience < 3 && answer.status === 429; patience++) {
      yield* Effect.sleep(pauseOf(answer.headers))
      answer = yield* ask
    }
    if (answer.status === 429) return yield* new RailUnavailable({ reason: "too many requests" })
    const parsed = parse(new TextDecoder().decode(answer.body))
    return { status: answer.status, body: Option.getOrUndefined(parsed), repeated } satisfies JsonAnswer
  })

const toJson = Schema.encodeSync(Schema.fromJsonString(Schema.Unknown))
const parse = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/** What `Retry-After` asks for in seconds, up to ten; a second when it does not say. */
const pauseOf = (headers: RawHeaders): Duration.Duration => {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === "retry-after")
  const seconds = Number(at === -1 ? "1" : headers[at + 1])
  return Duration.seconds(Number.isFinite(seconds) ? Math.min(10, Math.max(0, seconds)) : 1)
}
