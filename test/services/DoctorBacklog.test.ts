import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { afterAll } from "vitest"
import { closeAll } from "./PublicHttpHarness.ts"
import { broken, expandAll, happen, receiver, subscribe, testLayer } from "./WebhookDeliveriesHarness.ts"

afterAll(closeAll)

layer(testLayer(), { timeout: "60 seconds" })("deliveries that are overdue", (it) => {
  it.effect("are in order while they are looked at next, and not where that is put off", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { url } = yield* receiver()
      const { caller } = yield* subscribe(url)
      yield* happen(caller, ["transfer.created", "transfer.created"])
      yield* expandAll
      yield* TestClock.adjust("10 seconds")
      // As a call that ended leaves it, behind which more wait.
      yield* sql`UPDATE webhook_lanes SET ready_at = '1970-01-01T00:00:10Z', blocked = false`
      assert.deepStrictEqual(yield* broken, [])
      yield* sql`UPDATE webhook_lanes SET ready_at = '1970-01-01T00:01:00Z'`
      assert.strictEqual((yield* broken).length, 1)
    })
  )
})
