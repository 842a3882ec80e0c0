import { DateTime, Duration, Effect, Schema } from "effect"
import type { EventDraft } from "#domain/Event.ts"
import { failuresToTell, nextAttempt, retryAfterOf, type Streak, streakAfter } from "#domain/DeliverySchedule.ts"
import { TenantId } from "#domain/Ids.ts"
import { dateOf } from "#domain/Instant.ts"
import { Webhook, webhookOnWire } from "#domain/Webhook.ts"
import * as Pipeline from "../Database/Pipeline.ts"
import { OID } from "../Database/Pipeline.ts"
import { appending } from "../EventLog.ts"
import { Appended } from "../EventLog/Appended.ts"
import { newUuid } from "../NewId.ts"
import { begin, commit, type Connection, unhurried } from "./Connection.ts"
import type { Ended } from "./Sending.ts"

const columns = Object.keys(Webhook.fields)
// Subscriptions before lanes, each in the order of ids: whoever else takes both does the same. Lanes are taken last, so that what is
// due in them can be claimed meanwhile.
const lockWebhooks = Pipeline.statement(
  [OID.uuidArray],
  `SELECT tenant_id, failed_at, ${columns.join(", ")} FROM webhooks WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE`
)
const finish = Pipeline.statement(
  [
    OID.uuidArray,
    OID.uuidArray,
    OID.textArray,
    OID.int4Array,
    OID.int4Array,
    OID.jsonbArray,
    OID.byteaArray,
    OID.boolArray,
    OID.timestamptzArray
  ],
  `UPDATE webhook_deliveries d SET status = CASE WHEN r.failure IS NULL THEN 'delivered' ELSE 'failed' END, lease_until = NULL,
    failure = r.failure, duration_ms = r.duration_ms, response_status = r.status, response_headers = r.headers,
    response_body = r.body, response_truncated = r.truncated, next_retry_at = r.next_retry_at
  FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9)
    AS r (webhook_id, id, failure, duration_ms, status, headers, body, truncated, next_retry_at)
  WHERE d.webhook_id = r.webhook_id AND d.id = r.id AND d.status = 'sending'`
)
// What arrived is not sent again to who asks for what never did, also when this attempt is forgotten before the earlier failure.
const arrive = Pipeline.statement(
  [OID.uuidArray, OID.int8Array],
  `UPDATE webhook_deliveries d SET arrived = true FROM unnest($1, $2) AS r (webhook_id, event_seq)
  WHERE d.webhook_id = r.webhook_id AND d.event_seq = r.event_seq AND d.status = 'failed' AND d.next_retry_at IS NULL
    AND NOT d.arrived`
)
/** Whether another chain with the same event may have ended before. */
const mayBeLate = ({ attempt: { attempt, cause, event_seq } }: Ended): boolean =>
  event_seq !== null && (cause === "replay" || attempt > 1)
/** Follows attempts by their next ones; what is looked at is that this attempt's end is the one that was written. */
const follow = Pipeline.statement(
  [OID.uuidArray, OID.uuidArray, OID.uuidArray, OID.timestamptzArray, OID.timestamptz],
  `INSERT INTO webhook_deliveries (webhook_id, id, chain_id, tenant_id, cause, event_id, event_type, event_seq, event_data,
    event_at, attempt, again, first_at, due_at, status, created_at)
  SELECT d.webhook_id, r.next, d.chain_id, d.tenant_id, d.cause, d.event_id, d.event_type, d.event_seq, d.event_data,
    d.event_at, d.attempt + 1, true, d.first_at, r.due_at, 'pending', $5
  FROM unnest($1, $2, $3, $4) AS r (webhook_id, id, next, due_at)
  JOIN webhook_deliveries d ON d.webhook_id = r.webhook_id AND d.id = r.id
  WHERE d.status = 'failed' AND d.next_retry_at = r.due_at`
)
const openLanes = Pipeline.statement(
  [OID.uuidArray, OID.boolArray, OID.timestamptzArray, OID.int4Array, OID.timestamptz],
  `INSERT INTO webhook_lanes AS l (webhook_id, again, ready_at, finished)
  SELECT webhook_id, again, ready_at, finished FROM unnest($1, $2, $3, $4) AS r (webhook_id, again, ready_at, finished)
  ORDER BY webhook_id, again
  ON CONFLICT (webhook_id, again) DO UPDATE SET finished = l.finished + excluded.finished,
    blocked = l.blocked AND excluded.finished = 0,
    ready_at = CASE WHEN NOT l.blocked THEN least(l.ready_at, excluded.ready_at)
      WHEN excluded.finished > 0 THEN $5 ELSE l.ready_at END`
)
const writeStreaks = Pipeline.statement(
  [
    OID.uuidArray,
    OID.int4Array,
    OID.timestamptzArray,
    OID.timestamptzArray,
    OID.textArray,
    OID.textArray,
    OID.timestamptzArray
  ],
  `UPDATE webhooks w SET failures = r.failures, failing_since = r.failing_since, failed_at = r.failed_at, status = r.status,
    status_reason = r.status_reason, updated_at = r.updated_at
  FROM unnest($1, $2, $3, $4, $5, $6, $7)
    AS r (id, failures, failing_since, failed_at, status, status_reason, updated_at) WHERE w.id = r.id`
)
const dateOrNull = (millis: number | null): Date | null => (millis === null ? null : dateOf(millis))

const Holding = Schema.Struct({
  ...Webhook.fields,
  tenant_id: TenantId.to,
  failed_at: Schema.NullOr(Schema.DateFromString)
})
const decode = Schema.decodeUnknownEffect(Schema.toType(Holding))
const named = (row: Pipeline.Row) => {
  const record: { [column: string]: unknown } = { tenant_id: row[0], failed_at: row[1] }
  for (const [index, name] of columns.entries()) record[name] = row[index + 2]
  return record
}

/** A subscription after attempts, and what is to be told. */
const judge = (before: typeof Holding.Type, all: ReadonlyArray<Ended>, at: Date) => {
  const { failed_at, tenant_id, ...webhook } = before
  // What another address said while it was the one is no word of this receiver's.
  const ended = all.filter(({ attempt }) => attempt.receiver.url === webhook.url)
  const start: Streak = {
    failures: webhook.failures,
    failingSince: webhook.failing_since?.getTime() ?? null,
    failedAt: failed_at?.getTime() ?? null
  }
  const streak = streakAfter(
    start,
    // A test is what is not in the log, also when it is sent again.
    ended.map(({ at, attempt, failure }) => ({ delivered: failure === null, isTest: attempt.event_seq === null, at }))
  )
  // It has said so, whether the body of that ever ends.
  const isGone = ended.some(({ status }) => status === 410)
  const isFailing = webhook.status === "active" && streak.tooLong
  const after: Webhook = {
    ...webhook,
    failures: streak.failures,
    failing_since: dateOrNull(streak.failingSince),
    ...(isGone && webhook.status !== "disabled"
      ? { status: "disabled", status_reason: "gone", updated_at: at }
      : isFailing
        ? { status: "paused", status_reason: "failing", updated_at: at }
        : {})
  }
  const events: Array<EventDraft> = []
  for (let count = 0; count < streak.told; count++) {
    const data = { webhook: webhookOnWire({ ...after, failures: Math.max(after.failures, failuresToTell) }) }
    events.push({ tenant_id, type: "webhook.failing", data })
  }
  const isShut = after.status !== webhook.status
  if (isShut) {
    const type = after.status === "disabled" ? "webhook.disabled" : "webhook.paused"
    events.push({ tenant_id, type, data: { webhook: webhookOnWire(after) } })
  }
  const isChanged = isShut || streak.failures !== start.failures || streak.failingSince !== start.failingSince
  return { after, failed_at: dateOrNull(streak.failedAt), events, isChanged, isShut }
}

const nextOf = (one: Ended, webhook: Webhook): Date | null => {
  const { attempt, failure, retry_after } = one
  const isOpen = webhook.status === "active" || (webhook.status === "paused" && attempt.cause !== "event")
  if (failure === null || !isOpen) return null
  const next = nextAttempt({
    attempt: attempt.attempt,
    firstAt: attempt.first_at.getTime(),
    now: one.at,
    notBefore: retryAfterOf(retry_after, one.at),
    chance: Number.parseInt(attempt.chain_id.slice(-8), 16) / 2 ** 32
  })
  return next === undefined ? null : dateOf(Math.ceil(next))
}

/** Both lanes of each, in the order in which everybody takes several: shutting one after the others would be out of turn. */
const lockLanes = Pipeline.statement(
  [OID.uuidArray],
  "SELECT 1 FROM webhook_lanes WHERE webhook_id = ANY($1) ORDER BY webhook_id, again FOR NO KEY UPDATE"
)
/** Lanes of what was shut: what is pending in them is looked at now, and ends. */
const shutLanes = Pipeline.statement(
  [OID.uuidArray, OID.timestamptz],
  "UPDATE webhook_lanes SET ready_at = $2, blocked = false WHERE webhook_id = ANY($1)"
)
/** What others are told must not be taken back, whatever happens to the database server. */
const hurried: Pipeline.Step = {
  statement: Pipeline.statement([], "SET LOCAL synchronous_commit TO DEFAULT"),
  values: []
}

/** What attempts of one lane did to it, and when the next of them is due. */
const lanesOf = (ended: ReadonlyArray<{ readonly one: Ended; readonly next: Date | null }>) => {
  const lanes = new Map<string, { webhook_id: string; again: boolean; ready_at: Date | null; finished: number }>()
  const lane = (webhook_id: string, again: boolean) => {
    const key = `${webhook_id} ${again}`
    const known = lanes.get(key) ?? { webhook_id, again, ready_at: null, finished: 0 }
    lanes.set(key, known)
    return known
  }
  for (const { next, one } of ended) {
    lane(one.attempt.webhook_id, one.attempt.again).finished++
    if (next === null) continue
    const other = lane(one.attempt.webhook_id, true)
    if (other.ready_at === null || next < other.ready_at) other.ready_at = next
  }
  return [...lanes.values()]
}

/** Later than this before the end of a lease, whoever cleans up after the lost may be at it. */
const margin = Duration.seconds(2)

/** Writes what came of attempts, and what follows from it, in one transaction; all or none. */
export const make = Effect.fnUntraced(function* ({ fly, transaction }: Connection) {
  const { announce } = yield* Appended

  const append = Effect.fnUntraced(function* (events: ReadonlyArray<EventDraft>, at: Date) {
    yield* fly([...appending(at, events), hurried, commit])
    announce()
  })

  const record = Effect.fnUntraced(function* (given: ReadonlyArray<Ended>) {
    const now = yield* DateTime.now
    const at = DateTime.toDate(now)
    const inTime = given.filter(({ attempt }) =>
      DateTime.isLessThan(now, DateTime.subtractDuration(DateTime.makeUnsafe(attempt.lease_until), margin))
    )
    if (inTime.length === 0) return
    const byWebhook = Map.groupBy(inTime, ({ attempt }) => attempt.webhook_id)
    const ids = [...byWebhook.keys()]
    const [, , rows = []] = yield* fly([begin, unhurried, { statement: lockWebhooks, values: [ids] }])
    const judged: Array<ReturnType<typeof judge>> = []
    for (const row of rows) {
      const webhook = yield* Effect.orDie(decode(named(row)))
      judged.push(judge(webhook, byWebhook.get(webhook.id) ?? [], at))
    }
    const written = judged.flatMap(({ after }) =>
      (byWebhook.get(after.id) ?? []).map((one) => ({ one, next: nextOf(one, after) }))
    )
    const retries = written.flatMap(({ next, one }) => (next === null ? [] : [{ one, next }]))
    const lanes = lanesOf(written)
    const changed = judged.flatMap(({ after, failed_at, isChanged }) => (isChanged ? [{ ...after, failed_at }] : []))
    const steps: Array<Pipeline.Step> = [
      {
        statement: finish,
        values: [
          written.map(({ one }) => one.attempt.webhook_id),
          written.map(({ one }) => one.attempt.id),
          written.map(({ one }) => one.failure),
          written.map(({ one }) => one.duration_ms),
          written.map(({ one }) => one.status),
          written.map(({ one }) => one.headers),
          written.map(({ one }) => one.body),
          written.map(({ one }) => one.truncated),
          written.map(({ next }) => next)
        ]
      }
    ]
    const late = written.flatMap(({ one }) => (one.failure === null && mayBeLate(one) ? [one.attempt] : []))
    if (late.length > 0) {
      const values = [late.map(({ webhook_id }) => webhook_id), late.map(({ event_seq }) => event_seq)]
      steps.push({ statement: arrive, values })
    }
    if (retries.length > 0) {
      const values = [
        retries.map(({ one }) => one.attempt.webhook_id),
        retries.map(({ one }) => one.attempt.id),
        retries.map(() => newUuid()),
        retries.map(({ next }) => next),
        at
      ]
      steps.push({ statement: follow, values })
    }
    const shut = judged.filter(({ isShut }) => isShut).map(({ after }) => after.id)
    if (shut.length > 0) steps.push({ statement: lockLanes, values: [ids] })
    steps.push({
      statement: openLanes,
      values: [
        lanes.map(({ webhook_id }) => webhook_id),
        lanes.map(({ again }) => again),
        lanes.map(({ ready_at }) => ready_at),
        lanes.map(({ finished }) => finished),
        at
      ]
    })
    if (changed.length > 0) {
      const values = [
        changed.map(({ id }) => id),
        changed.map(({ failures }) => failures),
        changed.map(({ failing_since }) => failing_since),
        changed.map(({ failed_at }) => failed_at),
        changed.map(({ status }) => status),
        changed.map(({ status_reason }) => status_reason),
        changed.map(({ updated_at }) => updated_at)
      ]
      steps.push({ statement: writeStreaks, values })
    }
    if (shut.length > 0) steps.push({ statement: shutLanes, values: [shut, at] })
    const events = judged.flatMap(({ events }) => events)
    yield* fly(events.length > 0 ? steps : [...steps, commit])
    if (events.length > 0) yield* append(events, at)
  })
  return (ended: ReadonlyArray<Ended>) => transaction(record(ended))
})
