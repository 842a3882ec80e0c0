import { DateTime, Duration, Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { kept, replay } from "#domain/Channel.ts"

/** How many rows are looked at in a step. */
const batch = 2_000
/** How many steps a pass makes at most. */
const steps = 50

const Step = Schema.Struct({
  agent_id: Schema.NullOr(Schema.String),
  seq: Schema.NullOr(Schema.BigInt),
  looked: Schema.BigInt,
  dropped: Schema.BigInt
})

/** Forgets what cannot be told again, agent by agent. The latest event of each stays: who had it last has missed nothing. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  let place = { agent_id: "00000000-0000-0000-0000-000000000000", seq: 0n }

  // Of use is what is followed by no more than a hundred, or by what is young, and by nothing that is too old itself.
  const step = SqlSchema.findOne({
    Request: Schema.Struct({ agent_id: Schema.String, seq: Schema.BigInt, before: Schema.Date, young: Schema.Date }),
    Result: Step,
    execute: ({ agent_id, before, seq, young }) =>
      sql`WITH page AS MATERIALIZED (
          SELECT agent_id, seq FROM agent_events WHERE (agent_id, seq) > (${agent_id}::uuid, ${seq}::bigint)
          ORDER BY agent_id, seq LIMIT ${sql.literal(String(batch))}
        ), useless AS MATERIALIZED (
          SELECT p.agent_id, p.seq FROM page p CROSS JOIN LATERAL (
            SELECT created_at FROM agent_events n WHERE n.agent_id = p.agent_id AND n.seq > p.seq ORDER BY n.seq LIMIT 1
          ) next
          WHERE next.created_at < ${before}
            OR next.created_at < ${young} AND EXISTS (
              SELECT 1 FROM agent_events n WHERE n.agent_id = p.agent_id AND n.seq > p.seq
              OFFSET ${sql.literal(String(replay.events))} LIMIT 1
            )
        ), dropped AS (
          DELETE FROM agent_events e USING useless u WHERE e.agent_id = u.agent_id AND e.seq = u.seq RETURNING 1
        )
        SELECT last.agent_id, last.seq, (SELECT count(*) FROM page) AS looked, (SELECT count(*) FROM dropped) AS dropped
        FROM (SELECT 1) one LEFT JOIN (SELECT agent_id, seq FROM page ORDER BY agent_id DESC, seq DESC LIMIT 1) last ON true`
  })

  /** Goes on where it ended the last time, as long as there is much to forget. How many rows were forgotten. */
  return Effect.gen(function* () {
    let dropped = 0
    for (let count = 0; count < steps; count++) {
      const now = yield* DateTime.now
      const ago = (millis: number) => DateTime.toDate(DateTime.subtractDuration(now, Duration.millis(millis)))
      const found = yield* step({ ...place, before: ago(replay.millis), young: ago(kept) })
      dropped += Number(found.dropped)
      const isEnd = found.agent_id === null || found.seq === null || Number(found.looked) < batch
      place = isEnd
        ? { agent_id: "00000000-0000-0000-0000-000000000000", seq: 0n }
        : { agent_id: found.agent_id ?? "", seq: found.seq ?? 0n }
      if (isEnd || Number(found.dropped) < batch / 4) break
    }
    return dropped
  }).pipe(Effect.orDie)
})
