import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { SessionId } from "#domain/Ids.ts"
import { Principal, roleScopes } from "#domain/Principal.ts"
import { sessionsPerUser } from "#domain/UserSession.ts"
import { EventBus } from "#services/EventBus.ts"
import { PasswordCost } from "#services/Passwords.ts"
import { Tenants } from "#services/Tenants.ts"
import { changedSubject, UserSessions } from "#services/UserSessions.ts"
import { Users } from "#services/Users.ts"
import { cpuTime } from "../domain/CpuTime.ts"
import { eventually, slowBus } from "./CredentialsHarness.ts"
import { loggedIn, otherProcess, password, person, tag, Test } from "./UsersHarness.ts"

layer(Test, { timeout: "60 seconds" })("UserSessions", (it) => {
  it.effect("an access token is its user, with the scopes of the role", () =>
    Effect.gen(function* () {
      const { by, tenant_id, user } = yield* loggedIn("member")
      const { account_id } = yield* (yield* Tenants).get(tenant_id)
      assert.deepStrictEqual(
        by,
        new Principal({
          tenant_id,
          environment: "sandbox",
          actor_type: "user",
          actor_id: user.id,
          account_id,
          scopes: roleScopes.member,
          credential: by.credential!
        })
      )
      assert.strictEqual(by.credential?.kind, "jwt")
    })
  )

  it.effect("an address is the same in whatever case; a password is not", () =>
    Effect.gen(function* () {
      const { open } = yield* UserSessions
      const { email } = yield* person()
      assert.strictEqual(yield* tag(open({ email: email.toUpperCase(), password }, null)), "accepted")
      const wrong = [
        { email, password: password.toUpperCase() },
        { email, password: "" },
        { email: `x${email}`, password },
        { email: "", password: "" }
      ]
      for (const login of wrong) assert.strictEqual(yield* tag(open(login, null)), "INVALID_CREDENTIALS")
    })
  )

  it.effect("nobody's password is as much work as somebody's", () =>
    Effect.gen(function* () {
      const { open } = yield* UserSessions
      const dear = { ln: 13, r: 8, p: 1 }
      const { email } = yield* person().pipe(Effect.provideService(PasswordCost, dear))
      const took = (email: string) =>
        Effect.gen(function* () {
          const before = cpuTime()
          yield* tag(open({ email, password: "wrong" }, null))
          return cpuTime() - before
        }).pipe(
          Effect.replicateEffect(5),
          Effect.map((times) => Math.min(...times)),
          Effect.provideService(PasswordCost, dear)
        )
      assert.isAbove(yield* took("nobody@acme.example"), (yield* took(email)) / 2)
    })
  )

  it.effect("an access token lasts 15 minutes and not a moment longer, and the next one goes on", () =>
    Effect.gen(function* () {
      const { authenticate, refresh } = yield* UserSessions
      const { refresh_token, token } = yield* loggedIn()
      yield* TestClock.adjust("899999 millis")
      assert.strictEqual(yield* tag(authenticate(token)), "accepted")
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* tag(authenticate(token)), "EXPIRED_JWT")
      const { access } = yield* refresh(refresh_token)
      assert.strictEqual(access.expires_in, 900)
      assert.strictEqual(yield* tag(authenticate(access.access_token)), "accepted")
    })
  )

  it.effect("a session is over 30 days after the login, however often it was refreshed", () =>
    Effect.gen(function* () {
      const { authenticate, refresh } = yield* UserSessions
      const { refresh_token } = yield* loggedIn()
      yield* TestClock.adjust("29 days")
      const later = yield* refresh(refresh_token)
      yield* TestClock.adjust("23 hours")
      yield* TestClock.adjust("55 minutes")
      const last = yield* refresh(later.refresh_token)
      assert.strictEqual(last.access.expires_in, 300)
      yield* TestClock.adjust("299 seconds")
      assert.strictEqual(yield* tag(authenticate(last.access.access_token)), "accepted")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* tag(authenticate(last.access.access_token)), "EXPIRED_JWT")
      assert.strictEqual(yield* tag(refresh(last.refresh_token)), "SESSION_EXPIRED")
    })
  )

  it.effect("refreshes at once, on two processes, are one: everybody goes on with the same next token", () =>
    Effect.gen(function* () {
      const here = yield* UserSessions
      const there = (yield* otherProcess).sessions
      const { refresh_token } = yield* loggedIn()
      const opened = yield* Effect.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? here : there).refresh(refresh_token)),
        { concurrency: 20 }
      )
      const next = new Set(opened.map((one) => one.refresh_token))
      assert.strictEqual(next.size, 1)
      assert.isFalse(next.has(refresh_token))
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* tag(there.refresh([...next][0]!)), "accepted")
    })
  )

  it.effect("a token that was followed by another is good for ten seconds more, then it ends the whole session", () =>
    Effect.gen(function* () {
      const { authenticate, refresh } = yield* UserSessions
      const first = yield* loggedIn()
      const bystander = yield* first.log
      const second = yield* refresh(first.refresh_token)
      yield* TestClock.adjust("10 seconds")
      const raced = yield* refresh(first.refresh_token)
      assert.strictEqual(raced.refresh_token, second.refresh_token)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* tag(authenticate(second.access.access_token)), "accepted")
      assert.strictEqual(yield* tag(refresh(first.refresh_token)), "INVALID_SESSION_TOKEN")
      for (const { access_token } of [second.access, raced.access]) {
        assert.strictEqual(yield* tag(authenticate(access_token)), "INVALID_JWT")
      }
      assert.strictEqual(yield* tag(authenticate(first.token)), "INVALID_JWT")
      assert.strictEqual(yield* tag(refresh(second.refresh_token)), "INVALID_SESSION_TOKEN")
      assert.strictEqual(yield* tag(authenticate(bystander.access.access_token)), "accepted", "another session")
    })
  )

  it.effect("a token two refreshes old ends the session at once", () =>
    Effect.gen(function* () {
      const { refresh } = yield* UserSessions
      const first = yield* loggedIn()
      const second = yield* refresh(first.refresh_token)
      const third = yield* refresh(second.refresh_token)
      assert.strictEqual(yield* tag(refresh(first.refresh_token)), "INVALID_SESSION_TOKEN")
      assert.strictEqual(yield* tag(refresh(third.refresh_token)), "INVALID_SESSION_TOKEN")
    })
  )

  it.effect("a refresh token that was not written by us ends nothing", () =>
    Effect.gen(function* () {
      const { leave, refresh } = yield* UserSessions
      const { refresh_token } = yield* loggedIn()
      const bytes = Buffer.from(refresh_token.slice(8), "base64url")
      const forged = [...bytes.keys()].map((at) => {
        const other = Buffer.from(bytes)
        other[at] = (other[at] ?? 0) ^ 1
        return `refresh_${other.toString("base64url")}`
      })
      for (const token of [
        ...forged,
        "",
        "refresh_",
        `${refresh_token}A`,
        refresh_token.slice(0, -1),
        "x".repeat(9_000)
      ]) {
        assert.strictEqual(yield* tag(refresh(token)), "INVALID_SESSION_TOKEN")
        yield* leave(token)
      }
      assert.strictEqual(yield* tag(refresh(refresh_token)), "accepted")
    })
  )

  it.effect("a session that is ended is over here before it is answered, and on another process without waiting", () =>
    Effect.gen(function* () {
      const here = yield* UserSessions
      const there = (yield* otherProcess).sessions
      const { by, log, refresh_token, token } = yield* loggedIn()
      const other = yield* log
      assert.strictEqual(yield* tag(there.authenticate(token)), "accepted")
      yield* here.leave(refresh_token)
      assert.strictEqual(yield* tag(here.authenticate(token)), "INVALID_JWT")
      yield* eventually(tag(there.authenticate(token)), (answer) => answer === "INVALID_JWT")
      assert.strictEqual(yield* tag(there.authenticate(other.access.access_token)), "accepted")
      const { data, total } = yield* here.list(by, { page: 1, limit: 10 })
      assert.deepStrictEqual([data.length, total, data[0]?.user_agent], [1, 1, "a test"])
      yield* here.end(by, data[0]!.id)
      yield* eventually(tag(there.authenticate(other.access.access_token)), (answer) => answer === "INVALID_JWT")
    })
  )

  it.effect("a role, a password and a removal count at once, on every process", () =>
    Effect.gen(function* () {
      const users = yield* Users
      const there = (yield* otherProcess).sessions
      const { tenant } = yield* person()
      const { log, tenant_id, token, user } = yield* loggedIn("viewer", tenant)
      const other = (yield* log).access.access_token
      const again = yield* loggedIn("viewer", tenant)
      const both = Effect.forEach([token, other], there.authenticate)
      const admins = Effect.map(both, (all) => all.filter(({ scopes }) => scopes.includes("*:*")).length)
      assert.strictEqual(yield* admins, 0)
      assert.strictEqual(yield* tag(there.authenticate(again.token)), "accepted")
      yield* users.update("operator", tenant_id, user.id, { role: "admin" })
      assert.include((yield* (yield* UserSessions).authenticate(token)).scopes, "*:*")
      yield* eventually(admins, (count) => count === 2)
      yield* users.update("operator", tenant_id, user.id, { password: "another password" })
      yield* eventually(tag(there.authenticate(token)), (answer) => answer === "INVALID_JWT")
      assert.strictEqual(yield* tag(there.authenticate(again.token)), "accepted")
      yield* users.remove("operator", tenant_id, again.user.id)
      yield* eventually(tag(there.authenticate(again.token)), (answer) => answer === "INVALID_JWT")
      assert.strictEqual(yield* tag(again.log), "INVALID_CREDENTIALS")
    })
  )

  it.effect("what no bus announced is known ten seconds later, and at once when something may have been missed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { authenticate } = yield* UserSessions
      const [slow, quick] = [yield* loggedIn(), yield* loggedIn()]
      yield* sql`DELETE FROM user_sessions WHERE user_id IN (${slow.user.id}, ${quick.user.id})`
      yield* TestClock.adjust("9999 millis")
      assert.strictEqual(yield* tag(authenticate(slow.token)), "accepted")
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* tag(authenticate(slow.token)), "INVALID_JWT")
      const third = yield* loggedIn()
      yield* sql`DELETE FROM user_sessions WHERE user_id = ${third.user.id}`
      assert.strictEqual(yield* tag(authenticate(third.token)), "accepted")
      yield* (yield* EventBus).publish(changedSubject, "")
      yield* eventually(tag(authenticate(third.token)), (answer) => answer === "INVALID_JWT")
    })
  )

  it.effect("no login with the old password outlives a change of it, however the two race", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const users = yield* Users
      const there = (yield* otherProcess).sessions
      const { email, log, tenant_id, user } = yield* person()
      for (let round = 0; round < 5; round++) {
        const login = { email, password: round === 0 ? password : `password number ${round}` }
        const change = users.update("operator", tenant_id, user.id, { password: `password number ${round + 1}` })
        const logins = Array.from({ length: 8 }, () => tag(there.open(login, null)))
        yield* Effect.all([...logins, change, ...logins], { concurrency: 17 })
        const left = yield* sql`SELECT id FROM user_sessions WHERE user_id = ${user.id}`
        assert.strictEqual(left.length, 0)
      }
      assert.strictEqual(yield* tag(log), "INVALID_CREDENTIALS")
    })
  )

  it.effect("a user has a hundred sessions: another login ends the oldest", () =>
    Effect.gen(function* () {
      const { authenticate, list } = yield* UserSessions
      const other = yield* loggedIn()
      const { by, log, token } = yield* loggedIn()
      yield* Effect.replicateEffect(log, sessionsPerUser - 1)
      assert.strictEqual(yield* tag(authenticate(token)), "accepted")
      yield* log
      assert.strictEqual(yield* tag(authenticate(token)), "INVALID_JWT")
      assert.strictEqual((yield* list(by, { page: 1, limit: 200 })).total, sessionsPerUser)
      assert.strictEqual(yield* tag(authenticate(other.token)), "accepted")
    })
  )

  it.effect("the end of a session is announced though its caller hangs up", () =>
    Effect.gen(function* () {
      const [leaver, ender] = [yield* loggedIn(), yield* loggedIn()]
      const slow = Effect.gen(function* () {
        const { hangUp, layer: bus } = yield* slowBus
        const built = yield* Layer.build(Layer.fresh(UserSessions.layer.pipe(Layer.provide(bus))))
        return { hangUp, ...(yield* Effect.provideContext(UserSessions, built)) }
      })
      const first = yield* slow
      assert.strictEqual((yield* first.hangUp(first.leave(leaver.refresh_token))).length, 1)
      const second = yield* slow
      const id = SessionId.make(ender.by.credential?.id ?? "")
      assert.strictEqual((yield* second.hangUp(second.end(ender.by, id))).length, 1)
    })
  )

  it.effect("sessions that are over are listed no more and forgotten, and no others", () =>
    Effect.gen(function* () {
      const { list, prune, refresh } = yield* UserSessions
      const early = yield* loggedIn()
      yield* TestClock.adjust("20 days")
      const late = yield* loggedIn()
      yield* TestClock.adjust("10 days")
      assert.deepStrictEqual(yield* list(early.by, { page: 1, limit: 10 }), { data: [], total: 0 })
      assert.isAbove(yield* prune, 0)
      assert.strictEqual(yield* prune, 0)
      assert.strictEqual(yield* tag(refresh(early.refresh_token)), "INVALID_SESSION_TOKEN")
      assert.strictEqual(yield* tag(refresh(late.refresh_token)), "accepted")
    })
  )
})
