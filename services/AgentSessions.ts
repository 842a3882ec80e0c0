import { Clock, Context, DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import {
  AgentSession,
  type Authenticate,
  type AuthKey,
  type AuthKeyUsed,
  type Challenge,
  InvalidSignature,
  type KeySource,
  type OpenedSession
} from "#domain/Agent.ts"
import {
  challengeLife,
  maxSessions,
  readChallenge,
  rotationTexts,
  sealChallenge,
  sessionLife
} from "#domain/AgentProof.ts"
import { AgentSuspended } from "#domain/Credential.ts"
import { isSigned, publicKeyOf, type Signature } from "#domain/Ed25519.ts"
import { type AgentId, type AuthKeyId, SessionId, type TenantId, toTypeId } from "#domain/Ids.ts"
import { dateOf } from "#domain/Instant.ts"
import { tokenKey } from "#domain/PaymentToken.ts"
import type { Principal } from "#domain/Principal.ts"
import { NotFound } from "#domain/Refusal.ts"
import { Agents } from "./Agents.ts"
import * as Keys from "./Agents/Keys.ts"
import { Credentials } from "./Credentials.ts"
import { EventLog } from "./EventLog.ts"
import { keepForgetting } from "./Forgetting.ts"
import { Secrets } from "./Secrets.ts"

/** What agents prove with their keys, and the sessions that they get for it. */
export class AgentSessions extends Context.Service<
  AgentSessions,
  {
    /** Something to sign, for anybody and also for an agent that does not exist: nothing is looked up, nothing is stored. */
    challenge(agent: AgentId): Effect.Effect<Challenge>
    /** A session for whoever signed a challenge with the agent's active key: once for each challenge, whatever the number of processes. */
    authenticate(agent: AgentId, answer: Authenticate): Effect.Effect<OpenedSession, InvalidSignature | AgentSuspended>
    /** Another key for whoever holds the active one. Its sessions die; what was signed with it is worth nothing any more. */
    rotateKey(
      agent: AgentId,
      proof: Signature,
      source: KeySource
    ): Effect.Effect<AuthKey, InvalidSignature | AgentSuspended | AuthKeyUsed>
    /** The sessions of an agent that last, newest first: at most a hundred, and those that are over and still connected. */
    list(
      caller: Principal,
      agent: AgentId,
      range: { readonly limit: number; readonly offset: number }
    ): Effect.Effect<{ readonly sessions: ReadonlyArray<AgentSession>; readonly total: number }, NotFound>
    /** Takes effect everywhere at once. A session that was revoked already is not found. */
    revoke(caller: Principal, agent: AgentId, session: SessionId): Effect.Effect<void, NotFound>
    /** Forgets answered challenges that ended a day ago, at most 1,000; how many. */
    readonly forgetAnswered: Effect.Effect<number>
  }
>()("turnpike/services/AgentSessions") {
  static readonly layer = Layer.effect(
    AgentSessions,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const agents = yield* Agents
      const credentials = yield* Credentials
      const events = yield* EventLog
      const keys = yield* Keys.make
      const secrets = yield* Secrets
      const seal = Effect.map(secrets.secret("agent challenges"), tokenKey)
      // What is verified against where there is no key: it takes as long, and nobody has the private half.
      const nobody = publicKeyOf(SecureRandom.randomBytesUnsafe(32))

      const challenge = Effect.fn("AgentSessions.challenge")(function* (agent: AgentId) {
        const expiresAt = (yield* Clock.currentTimeMillis) + challengeLife * 1_000
        const text = sealChallenge(yield* seal, agent, SecureRandom.randomBytesUnsafe(16), expiresAt)
        return { challenge: text, expiresIn: challengeLife }
      })

      /** What is done for the holder of the key that signed one of the texts, while nobody else changes the agent or its key. */
      const proven = Effect.fnUntraced(function* <A, E>(
        agent: AgentId,
        texts: ReadonlyArray<string>,
        signature: Signature,
        use: (proof: { readonly tenant_id: TenantId; readonly key: AuthKeyId }) => Effect.Effect<A, E>
      ) {
        const found = yield* keys.active(agent)
        const publicKey = Option.isSome(found) ? found.value.public_key : nobody
        const signed = texts.filter((text) => isSigned(publicKey, text, signature))
        if (Option.isNone(found) || signed.length === 0) return yield* new InvalidSignature()
        const key = found.value.id
        const meanwhile = Effect.gen(function* () {
          const held = yield* keys.hold(agent)
          // What was found before may have been replaced since.
          const now = yield* keys.active(agent)
          if (Option.isNone(held) || Option.isNone(now) || now.value.id !== key) return yield* new InvalidSignature()
          if (held.value.status === "suspended") return yield* new AgentSuspended()
          return yield* use({ tenant_id: held.value.tenant_id, key })
        })
        return yield* Effect.catchTag(sql.withTransaction(meanwhile), "SqlError", Effect.die)
      })

      const useUp = SqlSchema.findOneOption({
        Request: Schema.Struct({ nonce: Schema.String, expires_at: Schema.Date }),
        Result: Schema.Struct({ nonce: Schema.String }),
        execute: (row) => sql`INSERT INTO agent_challenges ${sql.insert(row)} ON CONFLICT DO NOTHING RETURNING nonce`
      })
      const surplus = SqlSchema.findAll({
        Request: Live,
        Result: Schema.Struct({ id: Schema.String }),
        execute: (request) => sql`SELECT c.id ${live(request)} ORDER BY c.id DESC OFFSET ${maxSessions}`
      })
      const authenticate = Effect.fn("AgentSessions.authenticate")(function* (
        agent: AgentId,
        { challenge, signature }: Authenticate
      ) {
        const read = readChallenge(yield* seal, agent, challenge)
        const now = yield* DateTime.now
        if (read === undefined || read.expiresAt <= DateTime.toEpochMillis(now)) return yield* new InvalidSignature()
        const { nonce } = read
        const expires_at = dateOf(read.expiresAt)
        return yield* proven(agent, [challenge], signature, ({ key, tenant_id }) =>
          Effect.gen(function* () {
            const isFirst = Option.isSome(yield* Effect.orDie(useUp({ nonce, expires_at })))
            if (!isFirst) return yield* new InvalidSignature()
            const issued = yield* credentials.issue({
              tenant_id,
              kind: "session_token",
              name: "session",
              scopes: [],
              agent_id: agent,
              auth_key_id: key,
              expires_at: DateTime.toDate(DateTime.addDuration(now, Duration.seconds(sessionLife)))
            })
            for (const { id } of yield* Effect.orDie(
              surplus({ tenant_id, agent_id: agent, now: DateTime.toDate(now) })
            )) {
              yield* credentials.revokeAll({ tenant_id, id })
            }
            return { sessionToken: issued.key, expiresIn: sessionLife, sessionId: SessionId.make(issued.id) }
          })
        )
      })

      const rotateKey = Effect.fn("AgentSessions.rotateKey")((agent: AgentId, proof: Signature, source: KeySource) =>
        proven(agent, rotationTexts(agent), proof, ({ tenant_id }) =>
          Effect.gen(function* () {
            yield* keys.end(tenant_id, agent, "rotated")
            const key = yield* keys.register(agent, source)
            const data = {
              agent_id: toTypeId("agt", agent),
              key_id: toTypeId("auth", key.keyId),
              new_public_key: key.publicKey
            }
            yield* events.append([{ tenant_id, type: "agent.key_rotated", data }])
            return key
          })
        )
      )

      // By their agent first: of times after now the database knows nothing, and read all sessions that a tenant had in a day.
      const unrevoked = ({ agent_id, tenant_id }: typeof Live.Type) =>
        sql`FROM (
            SELECT * FROM credentials WHERE agent_id = ${agent_id} AND kind = 'session_token' AND revoked_at IS NULL OFFSET 0
          ) c WHERE c.tenant_id = ${tenant_id}`
      const live = (request: typeof Live.Type) => sql`${unrevoked(request)} AND c.expires_at > ${request.now}`
      const connected = (now: Date) =>
        sql`EXISTS (SELECT FROM agent_connections o WHERE o.session_id = c.id AND o.expires_at > ${now})`
      /** The channel of a session outlives its hour, and whoever wants to end it must find it. */
      const listed = (request: typeof Live.Type) =>
        sql`${unrevoked(request)} AND (c.expires_at > ${request.now} OR ${connected(request.now)})`
      const page = SqlSchema.findAll({
        Request: Schema.Struct({ ...Live.fields, limit: Schema.Int, offset: Schema.Int }),
        Result: Schema.toType(AgentSession),
        execute: ({ limit, offset, ...request }) =>
          sql`SELECT c.id, c.agent_id, c.auth_key_id AS key_id, c.last_four, ${connected(request.now)} AS connected,
              c.created_at, c.expires_at ${listed(request)}
            ORDER BY c.id DESC LIMIT ${limit} OFFSET ${offset}`
      })
      const count = SqlSchema.findOne({
        Request: Live,
        Result: Schema.Struct({ total: Schema.Int }),
        execute: (request) => sql`SELECT count(*)::int AS total ${listed(request)}`
      })
      const list = Effect.fn("AgentSessions.list")(function* (
        caller: Principal,
        agent: AgentId,
        range: { readonly limit: number; readonly offset: number }
      ) {
        yield* agents.get(caller, agent)
        const of = { tenant_id: caller.tenant_id, agent_id: agent, now: yield* DateTime.nowAsDate }
        const sessions = yield* Effect.orDie(page({ ...of, ...range }))
        return { sessions, total: (yield* Effect.orDie(count(of))).total }
      })

      const revoke = Effect.fn("AgentSessions.revoke")(function* (
        caller: Principal,
        agent: AgentId,
        session: SessionId
      ) {
        const { id } = yield* agents.get(caller, agent)
        const which = { tenant_id: caller.tenant_id, agent_id: id, kind: "session_token", id: session } as const
        const revoked = yield* credentials.revokeAll(which)
        if (revoked === 0) return yield* new NotFound({ resource: "session", id: toTypeId("ses", session) })
      })

      const dropChallenges = SqlSchema.findAll({
        Request: Schema.Date,
        Result: Schema.Struct({ nonce: Schema.String }),
        execute: (before) =>
          sql`DELETE FROM agent_challenges WHERE nonce = ANY(ARRAY(
              SELECT nonce FROM agent_challenges WHERE expires_at < ${before}
              ORDER BY expires_at LIMIT 1000 FOR UPDATE SKIP LOCKED
            )) RETURNING nonce`
      })
      const forgetAnswered = Effect.gen(function* () {
        const before = DateTime.toDate(DateTime.subtractDuration(yield* DateTime.now, kept))
        return (yield* dropChallenges(before)).length
      }).pipe(Effect.orDie, Effect.withSpan("AgentSessions.forgetAnswered"))

      return AgentSessions.of({ challenge, authenticate, rotateKey, list, revoke, forgetAnswered })
    })
  )

  /** Forgets every minute what was answered long ago. Any number of processes may. */
  static readonly layerWorker = Layer.effectDiscard(
    Effect.flatMap(AgentSessions, ({ forgetAnswered }) =>
      keepForgetting("Answered challenges", forgetAnswered, "1 minute")
    )
  )
}

/** For how long an answered challenge is known, whatever the clocks of the processes say. */
const kept = Duration.days(1)

/** The sessions of an agent that last at a moment. */
const Live = Schema.Struct({ agent_id: Schema.String, tenant_id: Schema.String, now: Schema.Date })
