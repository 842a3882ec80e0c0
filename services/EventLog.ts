import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { type EventDraft, jsonOf, RecordedEvent } from "#domain/Event.ts"
import * as Pipeline from "./Database/Pipeline.ts"
import { OID } from "./Database/Pipeline.ts"
import { Appended } from "./EventLog/Appended.ts"
import { notForLong } from "./EventLog/Head.ts"
import { newUuid } from "./NewId.ts"

const Recorded = Schema.toType(RecordedEvent)

const insertEvents = Pipeline.overLists(
  "r",
  [
    ["behind", OID.int8Array],
    ["id", OID.uuidArray],
    ["tenant_id", OID.uuidArray],
    ["type", OID.textArray],
    ["data", OID.textArray]
  ],
  (rows) => `INSERT INTO events (seq, id, tenant_id, type, data, created_at)
    SELECT (SELECT event_seq FROM ledger_head WHERE log = 1) - behind, id, tenant_id, type, data::json, $1
    FROM ${rows}`,
  { before: [OID.timestamptz] }
)

/** Writes facts as the last ones of the log. Its head was moved by `events.length` in the same transaction before. */
export const insertion = (at: Date, events: ReadonlyArray<EventDraft>): Pipeline.Step => ({
  statement: insertEvents,
  values: [
    at,
    events.map((_, place) => BigInt(events.length - 1 - place)),
    events.map(() => newUuid()),
    events.map(({ tenant_id }) => tenant_id),
    events.map(({ type }) => type),
    events.map(jsonOf)
  ]
})

const moveHead = Pipeline.statement(
  [OID.int8],
  `UPDATE ledger_head SET event_seq = event_seq + $1 FROM ${notForLong} WHERE log = 1`
)

/** Makes room for facts at the end of the log, and writes them there. Until the commit nobody else can. */
export const appending = (at: Date, events: ReadonlyArray<EventDraft>): ReadonlyArray<Pipeline.Step> => [
  { statement: moveHead, values: [BigInt(events.length)] },
  insertion(at, events)
]

/** The durable record of what happened, in one order for everybody. */
export class EventLog extends Context.Service<
  EventLog,
  {
    /** Joins the caller's transaction, so a fact and its cause commit together. Call it last: it serialises writers until the commit. */
    append(events: ReadonlyArray<EventDraft>): Effect.Effect<void>
    /**
     * Waits for its turn with the log before the caller's transaction locks rows that ledger commands change as well: those come to
     * rows with the head in their hands, and two who wait for each other stop all money for a second.
     */
    readonly enter: Effect.Effect<void>
    /** The facts after `seq`, oldest first, at most `limit`. */
    after(seq: bigint, limit: number): Effect.Effect<ReadonlyArray<RecordedEvent>>
  }
>()("turnpike/services/EventLog") {
  static readonly layer = Layer.effect(
    EventLog,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { announce } = yield* Appended

      const append = Effect.fn("EventLog.append")(
        function* (events: ReadonlyArray<EventDraft>) {
          if (events.length === 0) return
          for (const { statement, values } of appending(yield* DateTime.nowAsDate, events)) {
            yield* sql.unsafe(
              statement.text,
              values.map((value, index) => Pipeline.parameter(statement, value, index))
            )
          }
          yield* sql.afterCommit(Effect.sync(announce))
        },
        sql.withTransaction,
        Effect.orDie
      )

      const enter = sql`SELECT ${sql.literal(notForLong)} FROM ledger_head WHERE log = 1 FOR NO KEY UPDATE`.pipe(
        Effect.orDie,
        Effect.asVoid
      )

      const listAfter = SqlSchema.findAll({
        Request: Schema.Struct({ seq: Schema.BigInt, limit: Schema.Int }),
        Result: Recorded,
        execute: ({ seq, limit }) =>
          sql`SELECT seq, id, tenant_id, type, data, created_at FROM events
            WHERE log = 1 AND seq > ${seq} ORDER BY seq LIMIT ${limit}`
      })
      const after = Effect.fn("EventLog.after")((seq: bigint, limit: number) => listAfter({ seq, limit }), Effect.orDie)

      return EventLog.of({ append, enter, after })
    })
  )
}
