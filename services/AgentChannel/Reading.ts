import { Clock, Effect, Result, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { beginning, frameOf, replay, type ResyncReason, resumption } from "#domain/Channel.ts"
import { EventType } from "#domain/Event.ts"
import { EventId } from "#domain/Ids.ts"
import { follower } from "./Copying.ts"
import type { Line } from "./Line.ts"

const Id = Schema.toType(EventId)
const Ids = Schema.Array(Schema.String)

const Told = Schema.Struct({
  agent_id: Schema.String,
  seq: Schema.BigInt,
  wallet_id: Schema.NullOr(Schema.String),
  id: Id,
  type: EventType,
  data: Schema.Record(Schema.String, Schema.Unknown)
})

/** An event that an agent is told, encoded once for all of its connections. */
export interface Telling {
  readonly agent_id: string
  readonly seq: bigint
  readonly id: EventId
  readonly text: string
}

/** How many events are read at a time, and how many for one connection that is behind. */
const batch = 200
const few = 10

const tellingOf = (fact: typeof Told.Type): Telling => ({
  agent_id: fact.agent_id,
  seq: fact.seq,
  id: fact.id,
  text: frameOf(fact)
})

/** A place in the log, and the fact that stands there: none where the log begins. */
export interface Place {
  readonly seq: bigint
  readonly id: EventId | null
}

/** How a connection begins: after which event it goes on, what is told again, and what was missed. */
export interface Beginning {
  readonly line: Line
  /** After this place everything is told live, unless something is told again. */
  readonly cursor: bigint
  readonly after: bigint | undefined
  readonly position: EventId | undefined
  readonly again: ReadonlyArray<Telling>
  readonly missed: ResyncReason | undefined
}

/** Reads what agents are told. */
export const make = Effect.fnUntraced(function* (node: string) {
  const sql = yield* SqlClient.SqlClient

  const places = SqlSchema.findOne({
    Request: Schema.BigInt,
    Result: Schema.Struct({
      copied: Schema.BigInt,
      head: Schema.BigInt,
      last: Schema.NullOr(Id),
      here: Schema.NullOr(Id)
    }),
    execute: (seq) =>
      sql`SELECT f.seq AS copied, h.event_seq AS head,
          (SELECT id FROM events WHERE log = 1 AND seq = f.seq) AS last,
          (SELECT id FROM events WHERE log = 1 AND seq = ${seq}) AS here
        FROM followers f, ledger_head h WHERE f.name = ${follower} AND h.log = 1`
  })
  const facts = sql`a.agent_id, a.seq, a.wallet_id, e.id, e.type, e.data`

  const following = SqlSchema.findAll({
    Request: Schema.Struct({ after: Schema.BigInt, upTo: Schema.BigInt }),
    Result: Told,
    // Facts of several agents stay together.
    execute: ({ after, upTo }) =>
      sql`SELECT ${facts} FROM agent_events a JOIN events e ON e.log = 1 AND e.seq = a.seq
        WHERE a.seq > ${after} AND a.seq <= ${upTo}
          AND EXISTS (SELECT 1 FROM agent_connections c WHERE c.agent_id = a.agent_id AND c.node = ${node})
        ORDER BY a.seq FETCH FIRST ${sql.literal(String(batch))} ROWS WITH TIES`
  })
  /**
   * The next events for agents that are connected here, and up to where that is all of them. None where another fact stands at this
   * place, or no fact: the database was taken back, as by a standby that had not everything, and counts on from there.
   */
  const next = Effect.fnUntraced(function* (after: Place) {
    const { copied, here, last } = yield* places(after.seq)
    if (here !== after.id) return undefined
    if (copied <= after.seq) return { upTo: after, tellings: [], isAll: true }
    const found = yield* following({ after: after.seq, upTo: copied })
    const latest = found.at(-1)
    const isAll = latest === undefined || found.length < batch
    const upTo: Place = isAll ? { seq: copied, id: last } : { seq: latest.seq, id: latest.id }
    return { upTo, tellings: found.map(tellingOf), isAll }
  })

  const latest = SqlSchema.findAll({
    Request: Schema.Struct({ agents: Ids, depths: Schema.Array(Schema.Int), upTo: Schema.BigInt }),
    Result: Schema.Struct({
      place: Schema.BigInt,
      seq: Schema.BigInt,
      event_id: Id,
      created_at: Schema.Date
    }),
    execute: ({ agents, depths, upTo }) =>
      sql`SELECT r.place, a.seq, a.event_id, a.created_at
        FROM unnest(${agents}::uuid[], ${depths}::int[]) WITH ORDINALITY AS r (agent_id, depth, place)
        CROSS JOIN LATERAL (
          SELECT seq, event_id, created_at FROM agent_events e
          WHERE e.agent_id = r.agent_id AND e.seq <= ${upTo} ORDER BY seq DESC LIMIT r.depth
        ) a ORDER BY r.place, a.seq DESC`
  })
  const again = SqlSchema.findAll({
    Request: Schema.Struct({ agents: Ids, afters: Ids, upTo: Schema.BigInt, limit: Schema.Int }),
    Result: Schema.Struct({ place: Schema.BigInt, unbroken: Schema.Boolean, ...Told.fields }),
    // What is forgotten is the oldest: where something from before is there, all that follows is.
    execute: ({ afters, agents, limit, upTo }) =>
      sql`SELECT r.place, ${facts},
          EXISTS (SELECT FROM agent_events o WHERE o.agent_id = r.agent_id AND o.seq <= r.after) AS unbroken
        FROM unnest(${agents}::uuid[], ${afters}::int8[]) WITH ORDINALITY AS r (agent_id, after, place)
        CROSS JOIN LATERAL (
          SELECT * FROM agent_events o WHERE o.agent_id = r.agent_id AND o.seq > r.after AND o.seq <= ${upTo}
          ORDER BY o.seq LIMIT ${limit}
        ) a
        JOIN events e ON e.log = 1 AND e.seq = a.seq ORDER BY r.place, a.seq`
  })

  /** How these connections begin, each at one point of the log: what comes before it is told again, what comes after it is next. */
  const beginnings = Effect.fnUntraced(function* (lines: ReadonlyArray<Line>) {
    const { copied, head, last } = yield* places(0n)
    const now = yield* Clock.currentTimeMillis
    const isFresh = ({ wanted }: Line) =>
      wanted !== undefined && Result.isSuccess(wanted) && wanted.success === undefined
    const known = yield* latest({
      agents: lines.map(({ agent_id }) => agent_id),
      depths: lines.map((line) => (isFresh(line) ? 1 : replay.events + 1)),
      upTo: copied
    })
    const windows = Map.groupBy(known, ({ place }) => Number(place) - 1)
    const plans = lines.map((line, index) => {
      const remembered = windows.get(index) ?? []
      const newest = remembered[0]?.event_id
      if (isFresh(line)) return { line, position: newest, after: undefined, missed: undefined }
      const wanted = line.wanted === undefined || Result.isFailure(line.wanted) ? undefined : line.wanted.success
      if (wanted === undefined) return { line, position: newest, after: undefined, missed: "malformed" as const }
      const found = resumption(remembered, wanted, now)
      return Result.isFailure(found)
        ? { line, position: newest, after: undefined, missed: found.failure }
        : { line, position: wanted === beginning ? undefined : wanted, after: found.success, missed: undefined }
    })
    const resumed = plans.filter(({ after }) => after !== undefined)
    const rows =
      resumed.length === 0
        ? []
        : yield* again({
            agents: resumed.map(({ line }) => line.agent_id),
            afters: resumed.map(({ after }) => String(after)),
            upTo: copied,
            limit: replay.events
          })
    const told = Map.groupBy(rows, ({ place }) => resumed[Number(place) - 1]?.line)
    const place: Place = { seq: copied, id: last }
    return {
      copied: place,
      beginnings: plans.map(
        ({ after, line, missed, position }): Beginning => ({
          line,
          // A client that came without a place is told nothing of what was there before it.
          cursor: after === undefined && missed === undefined ? head : copied,
          after,
          position,
          again: (told.get(line) ?? []).map(tellingOf),
          missed
        })
      )
    }
  })

  /** What these connections have not been told up to this place, a few events each; of some it is lost. */
  const untold = Effect.fnUntraced(function* (lines: ReadonlyArray<Line>, upTo: bigint) {
    const now = yield* Clock.currentTimeMillis
    const agents = lines.map(({ agent_id }) => agent_id)
    const known = yield* latest({ agents, depths: lines.map(() => replay.events + 1), upTo })
    const windows = Map.groupBy(known, ({ place }) => Number(place) - 1)
    const afters = lines.map(({ cursor }) => String(cursor))
    const rows = Map.groupBy(yield* again({ agents, afters, upTo, limit: few }), ({ place }) => Number(place) - 1)
    return lines.map((line, index) => {
      const waiting = (windows.get(index) ?? []).filter(({ seq }) => seq > line.cursor)
      const oldest = waiting.at(-1)
      const found = rows.get(index) ?? []
      const first = found[0]
      const isLost =
        oldest !== undefined &&
        (waiting.length > replay.events
          ? first?.unbroken !== true
          : first?.seq !== oldest.seq || now - oldest.created_at.getTime() > replay.millis)
      const tellings = found.map(tellingOf)
      return {
        line,
        isLost,
        tellings,
        upTo: tellings.length < waiting.length ? (tellings.at(-1)?.seq ?? line.cursor) : upTo,
        isAll: tellings.length >= waiting.length
      }
    })
  })

  const head = Effect.map(places(0n), (found) => found.head)
  return { next, beginnings, untold, head }
})
