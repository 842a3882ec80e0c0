import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { AccountId, SessionId, TenantId, UserId } from "#domain/Ids.ts"
import { type Environment, Role } from "#domain/Principal.ts"
import { User } from "#domain/User.ts"
import { sessionsPerUser } from "#domain/UserSession.ts"

/** Who holds a session, as it is now. */
const Holder = Schema.toType(
  Schema.Struct({
    user_id: UserId,
    tenant_id: TenantId,
    account_id: AccountId,
    role: Role,
    expires_at: Schema.Date
  })
)

const Claimant = Schema.Struct({ ...User.fields, tenant_id: TenantId, password_hash: Schema.String })
const Session = Schema.Struct({
  ...User.fields,
  tenant_id: TenantId,
  session_id: SessionId,
  generation: Schema.Int,
  refreshed_at: Schema.Date,
  expires_at: Schema.Date
})
export type Session = typeof Session.Type
const Listed = Schema.Struct({
  id: SessionId,
  user_agent: Schema.NullOr(Schema.String),
  created_at: Schema.Date,
  refreshed_at: Schema.Date,
  expires_at: Schema.Date
})
const Ids = Schema.Struct({ id: SessionId })

/** The rows of users' sessions on this server's environment. */
export const make = Effect.fnUntraced(function* (environment: Environment) {
  const sql = yield* SqlClient.SqlClient

  const holder = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: Holder,
    execute: (id) =>
      sql`SELECT u.id AS user_id, u.tenant_id, a.id AS account_id, u.role, s.expires_at
        FROM user_sessions s
        JOIN users u ON u.id = s.user_id
        JOIN tenants t ON t.id = u.tenant_id AND t.environment = ${environment}
        JOIN accounts a ON a.tenant_id = u.tenant_id AND a.is_default
        WHERE s.id = ${id}`
  })

  const claimant = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: Schema.toType(Claimant),
    execute: (email) =>
      sql`SELECT u.id, u.email, u.role, u.created_at, u.tenant_id, u.password_hash
        FROM users u JOIN tenants t ON t.id = u.tenant_id AND t.environment = ${environment}
        WHERE lower(u.email) = ${email}`
  })
  const stillHas = SqlSchema.findOneOption({
    Request: Schema.Struct({ id: Schema.String, password_hash: Schema.String }),
    Result: Schema.Struct({ id: Schema.String }),
    // Whoever changes the password meanwhile waits, and then finds the session that it ends.
    execute: ({ id, password_hash }) =>
      sql`SELECT id FROM users WHERE id = ${id} AND password_hash = ${password_hash} FOR SHARE`
  })
  const insert = SqlSchema.void({
    Request: Schema.Struct({
      id: Schema.String,
      user_id: Schema.String,
      user_agent: Schema.NullOr(Schema.String),
      at: Schema.Date,
      expires_at: Schema.Date
    }),
    execute: ({ at, expires_at, id, user_agent, user_id }) =>
      sql`INSERT INTO user_sessions (id, user_id, generation, user_agent, created_at, refreshed_at, expires_at)
        VALUES (${id}, ${user_id}, 0, ${user_agent}, ${at}, ${at}, ${expires_at})`
  })
  const endOldest = SqlSchema.findAll({
    Request: Schema.String,
    Result: Ids,
    execute: (user_id) =>
      sql`DELETE FROM user_sessions WHERE id IN (
          SELECT id FROM user_sessions WHERE user_id = ${user_id} ORDER BY id DESC OFFSET ${sessionsPerUser}
        ) RETURNING id`
  })

  const held = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: Schema.toType(Session),
    execute: (id) =>
      sql`SELECT s.id AS session_id, s.generation, s.refreshed_at, s.expires_at, u.id, u.email, u.role, u.created_at,
          u.tenant_id
        FROM user_sessions s
        JOIN users u ON u.id = s.user_id
        JOIN tenants t ON t.id = u.tenant_id AND t.environment = ${environment}
        WHERE s.id = ${id} FOR NO KEY UPDATE OF s`
  })
  const advance = SqlSchema.void({
    Request: Schema.Struct({ id: Schema.String, generation: Schema.Int, at: Schema.Date }),
    execute: ({ at, generation, id }) =>
      sql`UPDATE user_sessions SET generation = ${generation}, refreshed_at = ${at} WHERE id = ${id}`
  })

  const list = SqlSchema.findAll({
    Request: Schema.Struct({ user_id: Schema.String, at: Schema.Date, limit: Schema.Int, offset: Schema.Int }),
    Result: Schema.toType(Listed),
    execute: ({ at, limit, offset, user_id }) =>
      sql`SELECT id, user_agent, created_at, refreshed_at, expires_at FROM user_sessions
        WHERE user_id = ${user_id} AND expires_at > ${at} ORDER BY id DESC LIMIT ${limit} OFFSET ${offset}`
  })
  const count = SqlSchema.findOne({
    Request: Schema.Struct({ user_id: Schema.String, at: Schema.Date }),
    Result: Schema.Struct({ total: Schema.Int }),
    execute: ({ at, user_id }) =>
      sql`SELECT count(*)::int AS total FROM user_sessions WHERE user_id = ${user_id} AND expires_at > ${at}`
  })

  const ofUser = SqlSchema.findAll({
    Request: Schema.String,
    Result: Ids,
    execute: (user_id) => sql`SELECT id FROM user_sessions WHERE user_id = ${user_id}`
  })
  const endOfUser = SqlSchema.findAll({
    Request: Schema.Struct({ user_id: Schema.String, id: Schema.NullOr(Schema.String) }),
    Result: Ids,
    execute: ({ id, user_id }) =>
      sql`DELETE FROM user_sessions WHERE user_id = ${user_id} AND (${id}::uuid IS NULL OR id = ${id}) RETURNING id`
  })
  const end = SqlSchema.findAll({
    Request: Schema.String,
    Result: Ids,
    execute: (id) => sql`DELETE FROM user_sessions WHERE id = ${id} RETURNING id`
  })
  const prune = SqlSchema.findAll({
    Request: Schema.Struct({ at: Schema.Date, limit: Schema.Int }),
    Result: Ids,
    execute: ({ at, limit }) =>
      sql`DELETE FROM user_sessions WHERE id = ANY(ARRAY(
          SELECT id FROM user_sessions WHERE expires_at <= ${at} ORDER BY expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
        )) RETURNING id`
  })

  return {
    holder,
    claimant,
    stillHas,
    insert,
    endOldest,
    held,
    advance,
    list,
    count,
    ofUser,
    endOfUser,
    end,
    prune
  }
})
