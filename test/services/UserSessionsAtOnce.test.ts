import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { UserSessions } from "#services/UserSessions.ts"
import { behind } from "./LockHarness.ts"
import { loggedIn, tag, Test } from "./UsersHarness.ts"

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
