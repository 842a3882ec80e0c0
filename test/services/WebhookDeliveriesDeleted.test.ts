import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { afterAll } from "vitest"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { closeAll } from "./PublicHttpHarness.ts"
import { broken, expandAll, happen, receiver, subscribe, testLayer } from "./WebhookDeliveriesHarness.ts"

afterAll(closeAll)

layer(testLayer(), { timeout: "60 seconds" })("subscriptions that are deleted", (it) => {
  it.effect("many at once, with much that is pending: nothing of any of them is left", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { deliverDue, tidy } = yield* WebhookDeliveries
      const { url } = yield* receiver()
      for (let count = 0; count < 3; count++) {
        const { caller } = yield* subscribe(url)
        yield* happen(
          caller,
          Array.from({ length: 400 }, () => "transfer.completed")
        )
        yield* expandAll
      }
      const [before] = yield* sql`SELECT count(*)::int AS pending FROM webhook_deliveries WHERE status = 'pending'`
      assert.deepStrictEqual(before, { pending: 1200 })
      yield* sql`DELETE FROM webhooks`
      yield* TestClock.adjust("1 hour")
      yield* tidy
      yield* deliverDue
      assert.deepStrictEqual(yield* sql`SELECT DISTINCT webhook_id FROM webhook_deliveries`, [])
      assert.deepStrictEqual(yield* sql`SELECT webhook_id FROM webhook_lanes`, [])
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("leave lanes: a look takes a thousand of them, the next goes on from there, and the last begins anew", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { tidy } = yield* WebhookDeliveries
      const shut = Effect.andThen(
        tidy,
        Effect.map(sql`SELECT FROM webhook_lanes WHERE NOT blocked`, ({ length }) => length)
      )
      yield* sql`INSERT INTO webhook_lanes (webhook_id, again, blocked)
        SELECT gen_random_uuid(), again, true FROM generate_series(1, 1250), unnest(ARRAY[false, true]) AS again`
      assert.deepStrictEqual([yield* shut, yield* shut, yield* shut], [1000, 2000, 2500])
      yield* sql`INSERT INTO webhook_lanes (webhook_id, again, blocked)
        VALUES ('00000000-0000-0000-0000-000000000001', false, true)`
      assert.strictEqual(yield* shut, 2501)
    })
  )
})
