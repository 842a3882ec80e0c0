import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { audience } from "#domain/Channel.ts"
import * as Following from "../EventLog/Following.ts"

/** Under which name the log is followed. */
export const follower = "agent_channel"

/** How many facts are passed at a time. */
const batch = 2_000

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
const concerns = audience
  .map(
    ({ holder, path, type, unless = "" }, place) =>
      `(${quoted(type)}, ${quoted(holder)}, ${quoted(`{${path.join(",")}}`)}, ${quoted(unless)}, ${place})`
  )
  .join(", ")
const types = [...new Set(audience.map(({ type }) => type))]

/**
 * Notes which facts of a stretch concern which agents. They are looked up one by one, by the index of what the facts call them, and only
 * then asked whose they are: by how few it seems that a tenant has, all that a large one has would be read for each fact. Without agents no
 * fact is looked at.
 */
export const noting = (sql: SqlClient.SqlClient, { after, upTo }: Following.Stretch) =>
  sql`INSERT INTO agent_events (agent_id, seq, event_id, wallet_id, created_at)
    SELECT DISTINCT ON (h.agent_id, e.seq) h.agent_id, e.seq, e.id, h.wallet_id, e.created_at
    FROM events e
    JOIN (VALUES ${sql.literal(concerns)}) AS c (type, holder, path, unless, place) ON c.type = e.type
      AND e.data #>> '{transfer,type}' IS DISTINCT FROM c.unless
    CROSS JOIN LATERAL (
      SELECT named.agent_id, named.wallet_id FROM (
        (SELECT w.owner_id AS agent_id, w.id AS wallet_id, w.tenant_id FROM wallets w
          WHERE c.holder = 'wallet' AND w.owner_type = 'agent' AND type_id('wal', w.id) = e.data #>> c.path::text[] OFFSET 0)
        UNION ALL
        (SELECT g.id, NULL, g.tenant_id FROM agents g
          WHERE c.holder = 'agent' AND type_id('agt', g.id) = e.data #>> c.path::text[] OFFSET 0)
      ) named WHERE named.tenant_id = e.tenant_id LIMIT 1
    ) h
    WHERE e.log = 1 AND e.seq > ${after} AND e.seq <= ${upTo} AND e.type = ANY(${types}::text[])
      AND EXISTS (SELECT 1 FROM agents)
    ORDER BY h.agent_id, e.seq, c.place
    RETURNING seq`

/** Passes facts, in the order of the log. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { pass } = yield* Following.make(follower)

  /** Passes the next facts, once for all processes. Whether there are more, and how many concerned somebody. */
  return Effect.gen(function* () {
    let noted = 0
    const { isMore } = yield* pass(Effect.succeed(batch), (stretch) =>
      // What a crash of the database takes back is passed again.
      Effect.andThen(sql`SET LOCAL synchronous_commit = off`, noting(sql, stretch)).pipe(
        Effect.tap((rows) =>
          Effect.sync(() => {
            noted = rows.length
          })
        )
      )
    )
    return { isMore, noted }
  })
})
