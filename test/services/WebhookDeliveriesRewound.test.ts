import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll } from "vitest"
import { closeAll } from "./PublicHttpHarness.ts"
import { happen, receiver, settle, subscribe, testLayer } from "./WebhookDeliveriesHarness.ts"

afterAll(closeAll)

/** The log ends where it ended before its last fact, and so does what was made of it. */
const rewound = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE events DISABLE TRIGGER append_only`
  const [row] = yield* sql`UPDATE ledger_head SET event_seq = event_seq - 1 WHERE log = 1 RETURNING event_seq`
  const head = String(row?.["event_seq"])
  yield* sql`DELETE FROM webhook_deliveries WHERE event_seq > ${head}::bigint`
  yield* sql`DELETE FROM events WHERE log = 1 AND seq > ${head}::bigint`
  yield* sql`UPDATE followers SET seq = least(seq, ${head}::bigint)`
  yield* sql`ALTER TABLE events ENABLE TRIGGER append_only`
})

layer(testLayer(), { timeout: "60 seconds" })("a database that is back at an earlier state", (it) => {
  it.effect("has nobody sent what another was sent of a fact that is gone", () =>
    Effect.gen(function* () {
      const [first, second] = [yield* receiver(), yield* receiver()]
      const one = yield* subscribe(first.url)
      const other = yield* subscribe(second.url)
      yield* happen(one.caller)
      yield* settle
      yield* rewound
      yield* happen(other.caller)
      yield* settle
      const [sent] = second.received
      const { id, tenant_id } = JSON.parse(sent?.body ?? "{}")
      assert.strictEqual(id, sent?.headers["webhook-id"])
      assert.notStrictEqual(tenant_id, JSON.parse(first.received[0]?.body ?? "{}").tenant_id)
    })
  )
})
