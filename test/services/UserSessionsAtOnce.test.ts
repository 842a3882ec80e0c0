import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { EventBus } from "#services/EventBus.ts"
import { newUuid } from "#services/NewId.ts"
import { UserSessions } from "#services/UserSessions.ts"
import { Users } from "#services/Users.ts"
import { behind, interrupted } from "./LockHarness.ts"
import { loggedIn, person, tag, Test } from "./UsersHarness.ts"

layer(Test, { timeout: "60 seconds" })("a refresh token", (it) => {
  it.effect("is judged by what another process has made of its session meanwhile", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { refresh } = yield* UserSessions
      const { by, refresh_token } = yield* loggedIn()
      const twiceRefreshed = sql`UPDATE user_sessions SET generation = 2 WHERE id = ${by.credential?.id ?? ""}`
      assert.deepStrictEqual(yield* behind(twiceRefreshed, tag(refresh(refresh_token))), {
        waited: true,
        made: "INVALID_SESSION_TOKEN"
      })
    })
  )
})

layer(Test, { timeout: "60 seconds" })("a login", (it) => {
  it.effect("is refused whose password was changed after it was found right", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { log, tenant_id, user } = yield* person()
      const changed = (yield* Users).update("operator", tenant_id, user.id, { password: "another battery altogether" })
      assert.strictEqual(yield* interrupted(tag(log), "FOR SHARE", changed), "INVALID_CREDENTIALS")
      assert.deepStrictEqual(yield* sql`SELECT id FROM user_sessions WHERE user_id = ${user.id}`, [])
    })
  )

  it.effect("has its user in hand until its session is written, so that whoever changes the user then finds it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { log, user } = yield* person()
      const free: Array<unknown> = []
      const look = Effect.map(sql`SELECT id FROM users WHERE id = ${user.id} FOR UPDATE SKIP LOCKED`, (rows) =>
        free.push(...rows)
      )
      assert.strictEqual(yield* interrupted(tag(log), "INSERT INTO user_sessions", look), "accepted")
      assert.deepStrictEqual(free, [])
    })
  )

  it.effect("that is under way while its user is removed is ended for everybody, too", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const told: Array<string> = []
      const bus = Layer.effect(
        EventBus,
        Effect.map(EventBus, (bus) => {
          const publish = (_: string, message: string) => Effect.sync(() => void told.push(message))
          return EventBus.of({ ...bus, publish })
        })
      )
      const slow = Layer.fresh(Users.layer.pipe(Layer.provide(UserSessions.layer), Layer.provide(bus)))
      const users = Context.get(yield* Layer.build(slow), Users)
      const { tenant, tenant_id } = yield* person()
      const { user } = yield* person("member", tenant)
      const session = newUuid()
      const login = sql`INSERT INTO user_sessions (id, user_id, generation, created_at, refreshed_at, expires_at)
        VALUES (${session}, ${user.id}, 0, now(), now(), now() + interval '1 day')`
      const removed = yield* behind(login, tag(users.remove("operator", tenant_id, user.id)))
      assert.deepStrictEqual(removed, { waited: true, made: "accepted" })
      assert.deepStrictEqual(told, [session])
    })
  )
})
