import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as EventLog from "#services/Doctor/EventLog.ts"
import { promises } from "#services/Doctor/Webhooks.ts"
import { broken, expandAll, happen, multiply, subscribe, testLayer, times } from "./WebhookDeliveriesHarness.ts"

const url = "https://example.com/hooks"
const coming =
  "every fact after a subscription's beginning that it asks for is on its way to it or was sent, in one chain"
const failing = "a subscription that failed has failures, and one whose last attempts arrived has none"

const sealed = "the key that opens what subscriptions are signed with is there"

const carried = "a delivery carries an event of the log as it is there, of the tenant whose subscription it is"

/** The rows that break a promise. */
const against = (promise: string) =>
  Effect.map(broken, (findings) => findings.find((finding) => finding.promise === promise)?.rows ?? [])

/** How many rows, and pairs of rows, a step of the question what breaks a promise looks at, at most. */
const looksOf = Effect.fnUntraced(function* (promise: string) {
  const sql = yield* SqlClient.SqlClient
  const { query } = promises(sql, yield* DateTime.nowAsDate).find((one) => one.promise === promise) ?? {}
  if (query === undefined) return yield* Effect.die(`nobody promises that ${promise}`)
  const plan = (yield* sql`EXPLAIN (ANALYZE, TIMING OFF) ${query}`).map((row) => String(row["QUERY PLAN"])).join("\n")
  const steps = plan.split(/\n *-> /).map((step) => {
    const [, rows = 0, loops = 0] = /actual rows=([\d.]+) loops=(\d+)/.exec(step) ?? []
    const removed = [...step.matchAll(/Rows Removed by (?:Join )?Filter: (\d+)/g)].map(([, many]) => Number(many))
    return Number(loops) * Math.max(Number(rows), ...removed)
  })
  return Math.max(...steps)
})

layer(testLayer(), { timeout: "60 seconds" })("doctor of webhooks", (it) => {
  for (const asked of ["*", "transfer.*", "transfer.completed"]) {
    it.effect(`sees a fact that is not on its way to a subscription to ${asked}`, () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { caller, id } = yield* subscribe(url, { events: ["dispute.*", asked] })
        yield* TestClock.adjust("1 second")
        yield* happen(caller, ["transfer.completed", "refund.created", "dispute.opened"])
        yield* expandAll
        assert.deepStrictEqual(yield* against(coming), [])
        const [lost] = yield* sql`DELETE FROM webhook_deliveries
          WHERE webhook_id = ${id} AND event_type = 'transfer.completed' RETURNING webhook_id AS webhook, event_seq AS seq`
        assert.deepStrictEqual(yield* against(coming), [{ ...lost, chains: 0n }])
        yield* sql`DELETE FROM webhooks WHERE id = ${id}`
      })
    )
  }

  it.effect("sees a fact that is on its way to a subscription twice", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { caller, id } = yield* subscribe(url, { events: ["dispute.opened"] })
      yield* TestClock.adjust("1 second")
      yield* happen(caller, ["dispute.opened"])
      yield* expandAll
      const [twice] = yield* sql`INSERT INTO webhook_deliveries
        SELECT (jsonb_populate_record(d, jsonb_build_object('id', other, 'chain_id', other))).*
        FROM webhook_deliveries d, new_uuid() AS other WHERE d.webhook_id = ${id} RETURNING webhook_id AS webhook, event_seq AS seq`
      assert.deepStrictEqual(yield* against(coming), [{ ...twice, chains: 2n }])
      yield* sql`DELETE FROM webhook_deliveries WHERE webhook_id = ${id}`
      yield* sql`DELETE FROM webhooks WHERE id = ${id}`
    })
  )

  for (const column of ["event_id", "tenant_id", "event_type"] as const) {
    it.effect(`sees a delivery with another ${column} than its event`, () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { caller, id } = yield* subscribe(url, { events: ["dispute.opened"] })
        yield* TestClock.adjust("1 second")
        yield* happen(caller, ["dispute.opened"])
        yield* expandAll
        assert.deepStrictEqual(yield* against(carried), [])
        const other = column === "event_type" ? "dispute.resolved" : id
        yield* sql`UPDATE webhook_deliveries SET ${sql(column)} = ${other} WHERE webhook_id = ${id}`
        assert.lengthOf(yield* against(carried), 1)
        yield* sql`DELETE FROM webhook_deliveries WHERE webhook_id = ${id}`
        yield* sql`DELETE FROM webhooks WHERE id = ${id}`
      })
    )
  }

  it.effect("sees that who sends facts has lost its place among them", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { caller, id } = yield* subscribe(url, { events: ["dispute.opened"] })
      yield* TestClock.adjust("1 second")
      yield* happen(caller, ["dispute.opened"])
      yield* expandAll
      const lost = Effect.gen(function* () {
        const found = Effect.forEach(EventLog.promises(sql), ({ query }) => query)
        assert.deepStrictEqual(yield* found, [[], [], []])
        yield* sql`DELETE FROM followers WHERE name = 'webhooks'`
        assert.deepStrictEqual(yield* found, [[{ kind: "webhooks" }], [], []])
        return yield* Effect.fail("undone" as const)
      })
      assert.strictEqual(yield* Effect.flip(sql.withTransaction(lost)), "undone")
      yield* sql`DELETE FROM webhooks WHERE id = ${id}`
    })
  )

  it.effect("sees a subscription that begins behind the end of the log, and would hear nothing", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* subscribe(url, { events: ["dispute.opened"] })
      yield* sql`UPDATE webhooks SET since = since + 1 WHERE id = ${id}`
      const found = yield* Effect.forEach(EventLog.promises(sql), ({ query }) => query)
      assert.deepInclude(found.flat()[0] ?? {}, { kind: "subscription", name: id })
      yield* sql`DELETE FROM webhooks WHERE id = ${id}`
    })
  )

  it.effect("sees a failing subscription of which nobody was told", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { caller, id } = yield* subscribe(url, { events: ["batch.completed"] })
      yield* sql`UPDATE webhooks SET failures = 10, failing_since = now() - interval '1 minute' WHERE id = ${id}`
      assert.deepStrictEqual(
        (yield* against(failing)).map((row) => Object(row).id),
        [id]
      )
      yield* sql`WITH head AS (UPDATE ledger_head SET event_seq = event_seq + 1 RETURNING event_seq)
        INSERT INTO events (seq, id, tenant_id, type, data, created_at) SELECT event_seq, gen_random_uuid(), ${caller.tenant_id},
          'webhook.failing', json_build_object('webhook', json_build_object('id', type_id('wh', ${id}::uuid))), now() FROM head`
      assert.deepStrictEqual(yield* against(failing), [])
      yield* sql`DELETE FROM webhooks WHERE id = ${id}`
    })
  )

  it.effect("sees subscriptions whose secrets came back without the key that opens them", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* subscribe(url, { events: ["batch.completed"] })
      assert.deepStrictEqual(yield* against(sealed), [])
      yield* sql`UPDATE secrets SET name = 'lost' WHERE name = 'webhooks'`
      assert.deepStrictEqual(yield* against(sealed), [{ id, url }])
      yield* sql`UPDATE secrets SET name = 'webhooks' WHERE name = 'lost'`
      yield* sql`DELETE FROM webhooks WHERE id = ${id}`
    })
  )

  it.effect("does not look at every fact for every one of many subscriptions, failing ones or not", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { caller, id } = yield* subscribe(url, { events: ["batch.completed"] })
      yield* multiply(id, 200)
      yield* sql`UPDATE webhooks SET failures = 10, failing_since = now() - interval '1 minute' WHERE tenant_id = ${caller.tenant_id}`
      yield* TestClock.adjust("1 second")
      yield* happen(caller, times(3000))
      yield* expandAll
      yield* sql`ANALYZE`
      for (const promise of [coming, failing]) assert.isBelow(yield* looksOf(promise), 5000)
    })
  )
})
