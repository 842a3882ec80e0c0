import { Clock, Context, DateTime, Duration, Effect, Layer, Option, PubSub } from "effect"
import { SqlClient } from "effect/sql"
import { type ExpiredJwt, InvalidJwt, InvalidSessionToken, SessionExpired } from "#domain/Credential.ts"
import { SessionId, type TenantId, toTypeId, type UserId } from "#domain/Ids.ts"
import { Principal, roleScopes } from "#domain/Principal.ts"
import { type RefreshToken, readRefreshToken, refreshKey, writeRefreshToken } from "#domain/RefreshToken.ts"
import { NotFound } from "#domain/Refusal.ts"
import type { User } from "#domain/User.ts"
import {
  type Access,
  InvalidCredentials,
  type Login,
  presented,
  sessionLife,
  type UserSession
} from "#domain/UserSession.ts"
import { Deployment } from "./Deployment.ts"
import { EventBus } from "./EventBus.ts"
import { keepForgetting } from "./Forgetting.ts"
import { newId } from "./NewId.ts"
import { verifyPassword } from "./Passwords.ts"
import * as RecentAnswers from "./RecentAnswers.ts"
import { Secrets } from "./Secrets.ts"
import * as AccessTokens from "./UserSessions/AccessTokens.ts"
import * as Records from "./UserSessions/Records.ts"

/** How many sessions are remembered, and how old what is remembered of one may get. */
const sessionMemory = { capacity: 10_000, longest: Duration.seconds(10) }

/** Where it is announced that something about a session changed: its id; empty when some may have been missed. */
export const changedSubject = "sessions.changed"

/** A session that somebody may go on with. */
export interface Opened {
  readonly access: Access
  readonly refresh_token: string
  readonly expires_at: Date
}

/** The logins of users: a short access token for each call, and a refresh token that is followed by the next whenever it is used. */
export class UserSessions extends Context.Service<
  UserSessions,
  {
    /** Whose access token this is. Asks the database at most once in ten seconds, and at once after a change anywhere. */
    authenticate(token: string): Effect.Effect<Principal, InvalidJwt | ExpiredJwt>
    /** Costs the same whether there is such a user or not. */
    open(login: Login, userAgent: string | null): Effect.Effect<Opened, InvalidCredentials>
    /** Whoever shows a token that was followed by another before the last ten seconds ends the session, for the thief too. */
    refresh(token: string): Effect.Effect<Opened, InvalidSessionToken | SessionExpired>
    /** A page of the caller's own sessions, newest first, and how many there are. */
    list(
      caller: Principal,
      page: { readonly page: number; readonly limit: number }
    ): Effect.Effect<{ readonly data: ReadonlyArray<UserSession>; readonly total: number }>
    /** Ends one of the caller's own sessions, everywhere at once. */
    end(caller: Principal, id: SessionId): Effect.Effect<void, NotFound>
    /** Ends the session of this refresh token, if there is one. */
    leave(token: string): Effect.Effect<void>
    /** Ends all sessions of the user. Joins the caller's transaction, which has changed the user before. */
    endAll(user: UserId): Effect.Effect<void>
    /** Nobody remembers anything about the user any more. Joins the caller's transaction, which has changed the user before. */
    reconsider(user: UserId): Effect.Effect<void>
    /** Forgets sessions that are over, at most 1,000; how many. */
    readonly prune: Effect.Effect<number>
  }
>()("turnpike/services/UserSessions") {
  static readonly layer = Layer.effect(
    UserSessions,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const bus = yield* EventBus
      const { environment } = yield* Deployment
      const { secret } = yield* Secrets
      const key = refreshKey(yield* secret("refresh tokens"))
      const { sign, verify } = yield* AccessTokens.make
      const records = yield* Records.make(environment)

      const judge = Effect.fnUntraced(function* (id: string) {
        return Option.map(yield* records.holder(id), ({ account_id, expires_at, role, tenant_id, user_id }) => ({
          ends: expires_at.getTime(),
          principal: new Principal({
            tenant_id,
            environment,
            actor_type: "user",
            actor_id: user_id,
            account_id,
            scopes: roleScopes[role],
            credential: { kind: "jwt", id }
          })
        }))
      }, Effect.orDie)
      const { forget, get } = yield* RecentAnswers.make(judge, sessionMemory)
      const authenticate = Effect.fnUntraced(function* (token: string) {
        const { sid, sub, ten } = yield* verify(token)
        const answer = yield* get(sid)
        if (Option.isNone(answer)) return yield* new InvalidJwt()
        const { ends, principal } = answer.value
        const same = principal.actor_id === sub && principal.tenant_id === ten
        if (!same || ends <= (yield* Clock.currentTimeMillis)) return yield* new InvalidJwt()
        return principal
      })

      const changes = yield* bus.subscribe(changedSubject)
      yield* PubSub.take(changes).pipe(Effect.flatMap(forget), Effect.forever, Effect.forkScoped)
      const announce = (sessions: ReadonlyArray<{ readonly id: string }>) =>
        sql.afterCommit(
          Effect.forEach(sessions, ({ id }) => Effect.andThen(forget(id), bus.publish(changedSubject, id)), {
            discard: true
          })
        )

      /** One transaction, also when nobody else has begun one: a caller who hangs up would leave an end that nobody hears of. */
      const ending = <E>(ended: Effect.Effect<ReadonlyArray<{ readonly id: string }>, E>) =>
        ended.pipe(Effect.tap(announce), sql.withTransaction, Effect.orDie)

      const opened = Effect.fnUntraced(function* (
        user: User & { readonly tenant_id: TenantId },
        { generation, session }: RefreshToken,
        expires_at: Date
      ) {
        const iat = Math.floor((yield* Clock.currentTimeMillis) / 1000)
        const exp = Math.min(iat + sessionLife.access, Math.ceil(expires_at.getTime() / 1000))
        const { created_at, email, id, role, tenant_id } = user
        const sid = SessionId.make(session)
        const access_token = yield* sign({ sub: id, sid, ten: tenant_id, role, env: environment, iat, exp })
        const access: Access = {
          access_token,
          token_type: "Bearer",
          expires_in: exp - iat,
          user: { id, email, role, created_at }
        }
        return { access, expires_at, refresh_token: writeRefreshToken(key, { session, generation }) }
      })

      const begin = Effect.fnUntraced(
        function* (user_id: UserId, password_hash: string, user_agent: string | null) {
          if (Option.isNone(yield* records.stillHas({ id: user_id, password_hash }))) {
            return yield* new InvalidCredentials()
          }
          const at = yield* DateTime.now
          const id = yield* newId(SessionId)
          const expires_at = DateTime.toDate(DateTime.add(at, { seconds: sessionLife.session }))
          yield* records.insert({ id, user_id, user_agent, at: DateTime.toDate(at), expires_at })
          yield* announce(yield* records.endOldest(user_id))
          return { session: id, expires_at }
        },
        sql.withTransaction,
        Effect.catchTags({ SqlError: Effect.die, SchemaError: Effect.die })
      )
      const open = Effect.fn("UserSessions.open")(function* (
        { email, password }: Login,
        userAgent: string | null
      ): Effect.fn.Return<Opened, InvalidCredentials> {
        const found = Option.getOrUndefined(yield* Effect.orDie(records.claimant(email.toLowerCase())))
        // Nobody's password is as much work as somebody's wrong one.
        const right = yield* verifyPassword(password, found?.password_hash ?? "")
        if (found === undefined || !right) return yield* new InvalidCredentials()
        const { expires_at, session } = yield* begin(found.id, found.password_hash, userAgent)
        return yield* opened(found, { session, generation: 0 }, expires_at)
      })

      /** What is refused is a value, because what was ended must be committed. */
      const turn = Effect.fnUntraced(
        function* ({ generation, session }: RefreshToken) {
          const found = Option.getOrUndefined(yield* records.held(session))
          if (found === undefined) return new InvalidSessionToken()
          const at = yield* DateTime.nowAsDate
          switch (presented(found, generation, at)) {
            case "latest":
              yield* records.advance({ id: session, generation: generation + 1, at })
              return { ...found, generation: generation + 1 }
            case "raced":
              return found
            case "expired":
              return new SessionExpired()
            case "unknown":
              return new InvalidSessionToken()
            case "reused":
              yield* announce(yield* records.end(session))
              yield* Effect.logWarning("A refresh token was used again: its session is ended", { session })
              return new InvalidSessionToken()
          }
        },
        sql.withTransaction,
        Effect.orDie
      )
      const refresh = Effect.fn("UserSessions.refresh")(function* (
        text: string
      ): Effect.fn.Return<Opened, InvalidSessionToken | SessionExpired> {
        const token = readRefreshToken(key, text)
        if (token === undefined) return yield* new InvalidSessionToken()
        const found = yield* turn(token)
        if ("_tag" in found) return yield* found
        return yield* opened(found, { session: token.session, generation: found.generation }, found.expires_at)
      })

      const list = Effect.fn("UserSessions.list")(function* (
        { actor_id, credential }: Principal,
        { limit, page }: { readonly page: number; readonly limit: number }
      ) {
        const at = yield* DateTime.nowAsDate
        const found = yield* records.list({ user_id: actor_id, at, limit, offset: (page - 1) * limit })
        const { total } = yield* records.count({ user_id: actor_id, at })
        return { data: found.map((one) => ({ ...one, current: one.id === credential?.id })), total }
      }, Effect.orDie)
      const end = Effect.fn("UserSessions.end")(function* ({ actor_id }: Principal, id: SessionId) {
        const ended = yield* ending(records.endOfUser({ user_id: actor_id, id }))
        if (ended.length === 0) return yield* new NotFound({ resource: "session", id: toTypeId("ses", id) })
      })
      const leave = Effect.fn("UserSessions.leave")(function* (text: string) {
        const token = readRefreshToken(key, text)
        if (token !== undefined) yield* ending(records.end(token.session))
      })
      const endAll = Effect.fn("UserSessions.endAll")(function* (user_id: UserId) {
        yield* ending(records.endOfUser({ user_id, id: null }))
      })
      const reconsider = Effect.fn("UserSessions.reconsider")(function* (user_id: UserId) {
        yield* announce(yield* records.ofUser(user_id))
      }, Effect.orDie)
      const prune = Effect.gen(function* () {
        return (yield* records.prune({ at: yield* DateTime.nowAsDate, limit: 1_000 })).length
      }).pipe(Effect.orDie, Effect.withSpan("UserSessions.prune"))

      return UserSessions.of({ authenticate, open, refresh, list, end, leave, endAll, reconsider, prune })
    })
  )

  /** Forgets what is over, every ten minutes; any number of processes may. */
  static readonly layerWorker = Layer.effectDiscard(
    Effect.flatMap(UserSessions, ({ prune }) => keepForgetting("Sessions that are over", prune, "10 minutes"))
  )
}
