import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { EventType } from "#domain/Event.ts"
import { eventPatterns, patternsOf } from "#domain/Webhook.ts"
import { EventLog } from "#services/EventLog.ts"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { Webhooks } from "#services/Webhooks.ts"
import { platform, tenant, wanted } from "./WebhooksHarness.ts"

/** The types that are on their way to each subscription. */
const queued = Effect.fnUntraced(function* (cause: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* SqlSchema.findAll({
    Request: Schema.String,
    Result: Schema.Struct({ webhook_id: Schema.String, types: Schema.Array(EventType) }),
    execute: (cause) =>
      sql`SELECT webhook_id, array_agg(event_type) AS types FROM webhook_deliveries WHERE cause = ${cause} GROUP BY webhook_id`
  })(cause)
  return new Map(rows.map(({ types, webhook_id }) => [webhook_id, [...types].sort()]))
})
const typesOf = (pattern: string) => EventType.literals.filter((type) => patternsOf(type).includes(pattern)).sort()
const patterns = [...eventPatterns]

layer(platform, { timeout: "60 seconds" })("what a webhook names", (it) => {
  it.effect("is what it is sent, and what is replayed to it, once each and nothing else", () =>
    Effect.gen(function* () {
      const { create } = yield* Webhooks
      const { expand, replayAll } = yield* WebhookDeliveries
      const [caller, stranger] = [yield* tenant, yield* tenant]
      const since = yield* DateTime.nowAsDate
      const made = yield* Effect.forEach(patterns, (pattern) => create(caller, { ...wanted, events: [pattern] }))
      const foreign = yield* create(stranger, { ...wanted, events: ["*"] })
      const all = yield* create(caller, { ...wanted, events: ["*", "transfer.*", "transfer.created"] })
      yield* (yield* EventLog).append(
        EventType.literals.map((type) => ({ tenant_id: caller.tenant_id, type, data: {} }))
      )
      yield* Effect.repeat(expand, { while: (isMore) => isMore })
      const sent = yield* queued("event")
      for (const [index, { id }] of made.entries()) {
        assert.deepStrictEqual(sent.get(id), typesOf(patterns[index] ?? ""), patterns[index])
      }
      assert.deepStrictEqual([sent.get(all.id), sent.get(foreign.id)], [typesOf("*"), undefined])

      for (const pattern of ["x402.*", "x402.payment.*", "transfer.created"]) {
        const { id } = yield* create(caller, { ...wanted, events: ["*"] })
        assert.strictEqual((yield* replayAll(caller, id, { since, types: [pattern] })).queued, typesOf(pattern).length)
        assert.deepStrictEqual((yield* queued("replay")).get(id), typesOf(pattern), pattern)
      }
      const narrow = yield* create(caller, { ...wanted, events: ["x402.payment.*"] })
      assert.strictEqual((yield* replayAll(caller, narrow.id, { since })).queued, typesOf("x402.payment.*").length)
    })
  )
})
