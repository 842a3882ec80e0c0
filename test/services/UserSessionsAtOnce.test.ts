import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
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
})
