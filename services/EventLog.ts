import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { type EventDraft, RecordedEvent } from "#domain/Event.ts"
import { newUuid } from "./NewId.ts"

const Recorded = Schema.toType(RecordedEvent)

/** Writes facts after sequence `last`. The caller holds the log head's lock and moves it by `events.length`. */
export const insertEvents = (sql: SqlClient.SqlClient, last: bigint, at: Date, events: ReadonlyArray<EventDraft>) =>
  sql`INSERT INTO events (seq, id, tenant_id, type, data, created_at)
    SELECT ${last}::bigint + place, id, tenant_id, type, data, ${at}::timestamptz
    FROM unnest(
      ${events.map(() => newUuid())}::uuid[], ${events.map((event) => event.tenant_id)}::uuid[],
      ${events.map((event) => event.type)}::text[], ${events.map((event) => JSON.stringify(event.data))}::jsonb[]
    ) WITH ORDINALITY AS fact (id, tenant_id, type, data, place)`

/** The durable record of what happened, in one order for everybody. */
export class EventLog extends Context.Service<
  EventLog,
  {
    /** Joins the caller's transaction, so a fact and its cause commit together. Call it last: it serialises writers until the commit. */
    append(events: ReadonlyArray<EventDraft>): Effect.Effect<void>
    /** The facts after `seq`, oldest first, at most `limit`. */
    after(seq: bigint, limit: number): Effect.Effect<ReadonlyArray<RecordedEvent>>
  }
>()("turnpike/services/EventLog") {
  static readonly layer = Layer.effect(
    EventLog,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const moveHead = SqlSchema.findOne({
        Request: Schema.Int,
        Result: Schema.Struct({ event_seq: Schema.BigInt }),
        execute: (count) =>
          sql`UPDATE ledger_head SET event_seq = event_seq + ${count} WHERE log = 1 RETURNING event_seq`
      })
      const append = Effect.fn("EventLog.append")(
        function* (events: ReadonlyArray<EventDraft>) {
          if (events.length === 0) return
          const at = yield* DateTime.nowAsDate
          const head = yield* moveHead(events.length)
          yield* insertEvents(sql, head.event_seq - BigInt(events.length), at, events)
        },
        sql.withTransaction,
        Effect.orDie
      )

      const listAfter = SqlSchema.findAll({
        Request: Schema.Struct({ seq: Schema.BigInt, limit: Schema.Int }),
        Result: Recorded,
        execute: ({ seq, limit }) =>
          sql`SELECT seq, id, tenant_id, type, data, created_at FROM events
            WHERE log = 1 AND seq > ${seq} ORDER BY seq LIMIT ${limit}`
      })
      const after = Effect.fn("EventLog.after")((seq: bigint, limit: number) => listAfter({ seq, limit }), Effect.orDie)

      return EventLog.of({ append, after })
    })
  )
}
