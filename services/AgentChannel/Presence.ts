import { DateTime, Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Agent } from "#domain/Agent.ts"
import type { EventDraft } from "#domain/Event.ts"
import { type EventId, TenantId } from "#domain/Ids.ts"
import { EventLog } from "../EventLog.ts"

/** Longer than two renewals: whoever stops renewing is gone after this. */
const lease = "45 seconds"

/** How many agents are taken away at a time. */
export const mostExpired = 500

/** A connection as the database knows it. */
export interface Holding {
  readonly session_id: string
  readonly agent_id: string
  readonly tenant_id: string
  readonly fence: bigint
  readonly lastEventId: EventId | undefined
}

const Registered = Schema.Struct({ session_id: Schema.String, fence: Schema.BigInt, replaced: Schema.Boolean })
const Standing = Schema.Struct({ session_id: Schema.String, fence: Schema.BigInt, ended: Schema.Boolean })
const Session = Schema.Struct({ session_id: Schema.String })
const AgentRef = Schema.Struct({ agent_id: Schema.String })
const AgentRow = Schema.toType(Schema.Struct({ tenant_id: TenantId, ...Agent.fields }))
const Ids = Schema.Array(Schema.String)
const onWire = Schema.encodeSync(Agent)

/** Who is connected, for all processes. Every change locks its agents first, in order. */
export const make = Effect.fnUntraced(function* (node: string) {
  const sql = yield* SqlClient.SqlClient
  const events = yield* EventLog

  const lock = (agents: ReadonlyArray<string>) =>
    sql`SELECT agent_id FROM agent_presence WHERE agent_id = ANY(${agents}::uuid[]) ORDER BY agent_id FOR NO KEY UPDATE`

  const findAgents = SqlSchema.findAll({
    Request: Schema.Struct({ ids: Ids, connected: Schema.Boolean }),
    Result: AgentRow,
    execute: ({ connected, ids }) =>
      sql`SELECT g.tenant_id, g.id, g.account_id AS parent_account_id, g.account_id AS "accountId", g.name, g.description,
          CASE g.status WHEN 'active' THEN 'active' ELSE 'suspended' END AS status, g.suspended_reason, g.skills, g.metadata,
          encode(k.public_key, 'base64') AS public_key, g.wallet_id, ${connected}::boolean AS connected, g.created_at, g.updated_at
        FROM agents g LEFT JOIN agent_auth_keys k ON k.agent_id = g.id AND k.status = 'active'
        WHERE g.id = ANY(${ids}::uuid[]) ORDER BY g.id`
  })
  /** Takes the lock of the log: last. */
  const tell = Effect.fnUntraced(function* (
    type: "agent.connected" | "agent.disconnected",
    changed: ReadonlyArray<{ readonly agent_id: string }>
  ) {
    if (changed.length === 0) return
    const ids = changed.map(({ agent_id }) => agent_id)
    const found = yield* findAgents({ ids, connected: type === "agent.connected" })
    yield* events.append(
      found.map(({ tenant_id, ...agent }): EventDraft => ({ tenant_id, type, data: { agent: onWire(agent) } }))
    )
  })

  // The fence of a row that is there is counted once its lock is had: the later connection has the higher one.
  const insert = SqlSchema.findAll({
    Request: Schema.Struct({ sessions: Ids, now: Schema.Date, until: Schema.Date }),
    Result: Registered,
    execute: ({ now, sessions, until }) =>
      sql`INSERT INTO agent_connections (session_id, agent_id, tenant_id, auth_key_id, fence, node, connected_at, last_seen_at,
          expires_at)
        SELECT s.id, g.id, g.tenant_id, k.id, nextval('agent_connection_fences'), ${node}::uuid, ${now}::timestamptz,
          ${now}::timestamptz, ${until}::timestamptz
        FROM credentials s JOIN agents g ON g.id = s.agent_id JOIN agent_auth_keys k ON k.id = s.auth_key_id
        WHERE s.id = ANY(${sessions}::uuid[]) AND s.kind = 'session_token' AND s.revoked_at IS NULL
          AND g.status = 'active' AND k.status = 'active'
        ORDER BY s.id
        ON CONFLICT (session_id) DO UPDATE SET fence = nextval('agent_connection_fences'), node = excluded.node,
          connected_at = excluded.connected_at, last_seen_at = excluded.last_seen_at, expires_at = excluded.expires_at
        RETURNING session_id, fence, (xmax <> 0) AS replaced`
  })
  const arrive = SqlSchema.findAll({
    Request: Schema.Struct({ agents: Ids, now: Schema.Date }),
    Result: AgentRef,
    execute: ({ agents, now }) =>
      sql`UPDATE agent_presence p SET connected_since = ${now}, last_seen_at = ${now}
        WHERE agent_id = ANY(${agents}::uuid[]) AND connected_since IS NULL
          AND EXISTS (SELECT 1 FROM agent_connections c WHERE c.agent_id = p.agent_id AND c.node = ${node}) RETURNING agent_id`
  })
  /** Registers connections of different sessions. A session that is none any more is not among the answers. */
  const register = Effect.fnUntraced(function* (opening: ReadonlyArray<Omit<Holding, "fence" | "lastEventId">>) {
    const now = yield* DateTime.now
    const [at, until] = [DateTime.toDate(now), DateTime.toDate(DateTime.addDuration(now, lease))]
    const agents = opening.map(({ agent_id }) => agent_id)
    yield* sql`INSERT INTO agent_presence (agent_id, tenant_id, last_seen_at)
      SELECT DISTINCT r.agent_id, r.tenant_id, ${at}::timestamptz
      FROM unnest(${agents}::uuid[], ${opening.map(({ tenant_id }) => tenant_id)}::uuid[]) AS r (agent_id, tenant_id)
      ORDER BY 1 ON CONFLICT DO NOTHING`
    yield* lock(agents)
    const registered = yield* insert({ sessions: opening.map(({ session_id }) => session_id), now: at, until })
    yield* tell("agent.connected", yield* arrive({ agents, now: at }))
    return registered
  }, sql.withTransaction)

  const leave = SqlSchema.findAll({
    Request: Ids,
    Result: AgentRef,
    execute: (agents) =>
      sql`UPDATE agent_presence p SET connected_since = NULL
        WHERE agent_id = ANY(${agents}::uuid[]) AND connected_since IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM agent_connections c WHERE c.agent_id = p.agent_id) RETURNING agent_id`
  })
  /** Takes connections away. What superseded them stays, and then nobody has disconnected. */
  const release = Effect.fnUntraced(function* (closed: ReadonlyArray<Holding>) {
    const now = yield* DateTime.nowAsDate
    const agents = closed.map(({ agent_id }) => agent_id)
    const lasts = closed.map(({ lastEventId }) => lastEventId ?? "")
    yield* lock(agents)
    yield* sql`DELETE FROM agent_connections c
      USING unnest(${closed.map(({ session_id }) => session_id)}::uuid[], ${closed.map(({ fence }) => String(fence))}::int8[])
        AS r (session_id, fence)
      WHERE c.session_id = r.session_id AND c.fence = r.fence`
    yield* sql`UPDATE agent_presence p SET last_seen_at = ${now}, last_event_id = coalesce(nullif(r.last, '')::uuid, p.last_event_id)
      FROM unnest(${agents}::uuid[], ${lasts}::text[]) AS r (agent_id, last) WHERE p.agent_id = r.agent_id`
    yield* tell("agent.disconnected", yield* leave(agents))
  }, sql.withTransaction)

  const expired = SqlSchema.findAll({
    Request: Schema.Date,
    Result: AgentRef,
    execute: (now) =>
      sql`SELECT DISTINCT agent_id FROM agent_connections WHERE expires_at <= ${now} LIMIT ${sql.literal(String(mostExpired))}`
  })
  /** Takes away what a process that is gone left, at most 500 agents at a time; how many. Exactly one process tells of each. */
  const expire = Effect.gen(function* () {
    const now = yield* DateTime.nowAsDate
    const agents = (yield* expired(now)).map(({ agent_id }) => agent_id)
    if (agents.length === 0) return 0
    yield* lock(agents)
    yield* sql`WITH gone AS (
        DELETE FROM agent_connections WHERE agent_id = ANY(${agents}::uuid[]) AND expires_at <= ${now}
        RETURNING agent_id, last_seen_at, last_event_id
      )
      UPDATE agent_presence p SET last_seen_at = greatest(p.last_seen_at, g.last_seen_at),
        last_event_id = coalesce(g.last_event_id, p.last_event_id)
      FROM gone g WHERE p.agent_id = g.agent_id`
    yield* tell("agent.disconnected", yield* leave(agents))
    return agents.length
  }).pipe(sql.withTransaction)

  const renewed = SqlSchema.findAll({
    Request: Schema.Struct({
      sessions: Ids,
      fences: Ids,
      lasts: Ids,
      now: Schema.Date,
      until: Schema.Date
    }),
    Result: Session,
    execute: ({ fences, lasts, now, sessions, until }) =>
      sql`UPDATE agent_connections c SET last_seen_at = ${now}, expires_at = ${until},
          last_event_id = coalesce(nullif(r.last, '')::uuid, c.last_event_id)
        FROM unnest(${sessions}::uuid[], ${fences}::int8[], ${lasts}::text[]) AS r (session_id, fence, last)
        WHERE c.session_id = r.session_id AND c.fence = r.fence RETURNING c.session_id`
  })
  /** Says that these are still there. The sessions that are; the others belong to somebody else by now, or were given up. */
  const renew = Effect.fnUntraced(function* (held: ReadonlyArray<Holding>) {
    const now = yield* DateTime.now
    yield* lock(held.map(({ agent_id }) => agent_id))
    const rows = yield* renewed({
      sessions: held.map(({ session_id }) => session_id),
      fences: held.map(({ fence }) => String(fence)),
      lasts: held.map(({ lastEventId }) => lastEventId ?? ""),
      now: DateTime.toDate(now),
      until: DateTime.toDate(DateTime.addDuration(now, lease))
    })
    return new Set(rows.map(({ session_id }) => session_id))
  }, sql.withTransaction)

  const hasEnded = sql`(s.revoked_at IS NOT NULL OR g.status <> 'active' OR k.status <> 'active') IS NOT FALSE`
  const connections = sql`FROM agent_connections c LEFT JOIN credentials s ON s.id = c.session_id
    LEFT JOIN agents g ON g.id = c.agent_id LEFT JOIN agent_auth_keys k ON k.id = c.auth_key_id`
  const ended = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Session,
    execute: () => sql`SELECT c.session_id ${connections} WHERE c.node = ${node} AND ${hasEnded}`
  })
  const standing = SqlSchema.findAll({
    Request: Ids,
    Result: Standing,
    execute: (sessions) =>
      sql`SELECT c.session_id, c.fence, ${hasEnded} AS ended ${connections} WHERE c.session_id = ANY(${sessions}::uuid[])`
  })

  return {
    register,
    release,
    expire,
    /** Whether anybody is overdue can be asked. */
    look: Effect.flatMap(DateTime.nowAsDate, expired),
    renew,
    /** The connections to this process whose session has ended. */
    ended: Effect.map(ended(undefined), (rows) => rows.map(({ session_id }) => session_id)),
    /**
     * What is true of the connections of these sessions. A session has ended when it was revoked, or its agent or key is none any
     * more; that its hour is over does not end it here.
     */
    standing: Effect.fnUntraced(function* (sessions: ReadonlyArray<string>) {
      return new Map((yield* standing(sessions)).map((row) => [row.session_id, row]))
    })
  }
})
