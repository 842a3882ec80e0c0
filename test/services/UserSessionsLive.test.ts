import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { UserSessions } from "#services/UserSessions.ts"
import { liveProcess, loggedIn, password, tag, Test } from "./UsersHarness.ts"

layer(Test, { timeout: "60 seconds" })("a live server on a sandbox's database", (it) => {
  it.effect("knows no user of the sandbox, whatever it is shown", () =>
    Effect.gen(function* () {
      const here = yield* UserSessions
      const live = (yield* liveProcess).sessions
      const { email, refresh_token, token } = yield* loggedIn()
      assert.strictEqual(yield* tag(live.authenticate(token)), "INVALID_JWT")
      assert.strictEqual(yield* tag(live.refresh(refresh_token)), "INVALID_SESSION_TOKEN")
      assert.strictEqual(yield* tag(live.open({ email, password }, null)), "INVALID_CREDENTIALS")
      // They were good, where they belong.
      assert.strictEqual(yield* tag(here.authenticate(token)), "accepted")
      assert.strictEqual(yield* tag(here.refresh(refresh_token)), "accepted")
    })
  )
})
