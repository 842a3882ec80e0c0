import { Clock, Duration, Effect } from "effect"
import { type DeliveryFailure, keptResponseBytes } from "#domain/Delivery.ts"
import { headerValue, type RawHeaders } from "#domain/HttpHeaders.ts"
import type { Environment } from "#domain/Principal.ts"
import { serviceSignature, standardSignature } from "#domain/WebhookSignature.ts"
import { toTypeId } from "#domain/Ids.ts"
import * as Pipeline from "../Database/Pipeline.ts"
import { OID } from "../Database/Pipeline.ts"
import { PublicHttp } from "../PublicHttp.ts"
import type { PostOutcome } from "../PublicHttp/Posting.ts"
import { monotonic } from "../RealTime.ts"
import { Bodies } from "./Bodies.ts"
import type { Attempt } from "./Claiming.ts"
import type { Connection } from "./Connection.ts"
import { bodyOf, headersOf } from "./Message.ts"
import type { DeliveryPolicy } from "./Policy.ts"

/** An attempt that was made, and what came of it. */
export interface Ended {
  readonly attempt: Attempt
  /** When its end was known, in milliseconds since 1970. */
  readonly at: number
  readonly duration_ms: number
  readonly failure: DeliveryFailure | null
  readonly status: number | null
  readonly headers: { readonly [name: string]: string } | null
  readonly body: Uint8Array | null
  readonly truncated: boolean | null
  readonly retry_after: string | undefined
}

const readEvents = Pipeline.statement(
  [OID.int8Array],
  "SELECT id, tenant_id, type, data::text, created_at FROM events WHERE log = 1 AND seq = ANY($1)"
)

/** How many bytes of bodies are remembered: an event for many subscriptions is read and put into words once. */
const remembered = 16_777_216

const nothing = { answer: undefined, failure: "unreachable" } as const

/** How much of an answer's headers is kept. */
const mostHeaders = 64
const longestHeader = 1024

const keptHeaders = (raw: RawHeaders): { readonly [name: string]: string } => {
  const kept: { [name: string]: string } = Object.create(null)
  for (let index = 0; index + 1 < raw.length && index < 2 * mostHeaders; index += 2) {
    const name = (raw[index] ?? "").toLowerCase().slice(0, longestHeader)
    const value = (raw[index + 1] ?? "").replaceAll("\0", "").slice(0, longestHeader)
    kept[name] = kept[name] === undefined ? value : `${kept[name]}, ${value}`.slice(0, longestHeader)
  }
  return kept
}

/** Makes attempts: from the claim to the outcome, nothing is asked of the database but events that are not remembered. */
export const make = Effect.fnUntraced(function* (
  { fly }: Connection,
  environment: Environment,
  policy: DeliveryPolicy,
  onEnd: (ended: Ended) => void,
  onSkip: (attempt: Attempt) => void
) {
  const http = yield* PublicHttp
  const clock = yield* Clock.Clock
  const timeoutMillis = Duration.toMillis(policy.timeout)
  const leaseMillis = Duration.toMillis(policy.lease)
  const bodies = new Bodies(remembered)

  const read = Effect.fnUntraced(function* (seqs: ReadonlyArray<bigint>, found: Map<string, Buffer>) {
    const [rows = []] = yield* fly([{ statement: readEvents, values: [seqs] }])
    for (const row of rows) {
      const event = {
        id: Pipeline.text(row[0]),
        tenant_id: Pipeline.text(row[1]),
        type: Pipeline.text(row[2]),
        data: Pipeline.text(row[3]),
        at: Pipeline.date(row[4])
      }
      found.set(event.id, bodies.remember(event.id, bodyOf(event, environment)))
    }
  })

  const bodyOfAttempt = (attempt: Attempt, found: ReadonlyMap<string, Buffer>): Buffer | undefined => {
    const { event_at, event_data, event_id, event_seq, event_type, tenant_id } = attempt
    if (event_seq !== null) return found.get(event_id)
    if (event_data === null || event_at === null) return undefined
    const event = { id: event_id, type: event_type, at: event_at, data: event_data, tenant_id }
    return Buffer.from(bodyOf(event, environment))
  }

  const ended = (attempt: Attempt, since: number, { answer, failure }: PostOutcome): Ended => {
    const at = clock.currentTimeMillisUnsafe()
    const isAccepted = answer !== undefined && answer.status >= 200 && answer.status < 300
    return {
      attempt,
      at,
      duration_ms: Math.round(monotonic(clock) - since),
      failure: failure ?? (isAccepted ? null : "status"),
      status: answer?.status ?? null,
      headers: answer === undefined ? null : keptHeaders(answer.headers),
      body: answer?.body ?? null,
      truncated: answer?.truncated ?? null,
      retry_after: answer === undefined ? undefined : headerValue(answer.headers, "retry-after")
    }
  }

  const send = (attempt: Attempt, body: Buffer) => {
    const { path, origin, secrets } = attempt.receiver
    const timestamp = Math.floor(attempt.sent_at.getTime() / 1000)
    const signed = { event: toTypeId("evt", attempt.event_id), timestamp, body }
    const numbers = { event: attempt.event_id, delivery: attempt.id, webhook: attempt.webhook_id, timestamp }
    const headers = headersOf(numbers, {
      service: serviceSignature(secrets, signed),
      standard: standardSignature(secrets, signed)
    })
    const since = monotonic(clock)
    http.post({ origin, path, headers, body, timeoutMillis, kept: keptResponseBytes }, (outcome) =>
      onEnd(ended(attempt, since, outcome))
    )
  }

  /** Begins all of these calls; each end is told, and each that is not begun. */
  return Effect.fnUntraced(function* (attempts: ReadonlyArray<Attempt>) {
    const missing = new Set<bigint>()
    // What is remembered now may be forgotten for the sake of what is read.
    const found = new Map<string, Buffer>()
    for (const { event_id, event_seq } of attempts) {
      const known = bodies.get(event_id)
      if (known !== undefined) found.set(event_id, known)
      else if (event_seq !== null) missing.add(event_seq)
    }
    if (missing.size > 0) yield* read([...missing], found)
    for (const attempt of attempts) {
      const body = bodyOfAttempt(attempt, found)
      // This process was asleep: whoever cleans up after it may be at it. Nobody is called; the attempt is made again.
      if (2 * (clock.currentTimeMillisUnsafe() - attempt.sent_at.getTime()) > leaseMillis) {
        onSkip(attempt)
        continue
      }
      // The log keeps everything, so this cannot be, unless the database is back at an earlier state: nobody was called.
      if (body === undefined) onEnd(ended(attempt, monotonic(clock), nothing))
      else send(attempt, body)
    }
  })
})
