import { assert, layer } from "@effect/vitest"
import { Effect, Metric } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { afterAll } from "vitest"
import * as Claiming from "#services/WebhookDeliveries/Claiming.ts"
import * as Upkeep from "#services/WebhookDeliveries/Upkeep.ts"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { closeAll } from "./PublicHttpHarness.ts"
import { expandAll, happen, receiver, subscribe, testLayer } from "./WebhookDeliveriesHarness.ts"

afterAll(closeAll)

layer(testLayer(), { timeout: "60 seconds" })("what is behind", (it) => {
  it.effect("is for how long the oldest first attempt has been due, and nothing when all were made", () =>
    Effect.gen(function* () {
      const { deliverDue, tidy } = yield* WebhookDeliveries
      const { url } = yield* receiver()
      const late = yield* subscribe(url)
      yield* happen(late.caller)
      yield* expandAll
      yield* TestClock.adjust("90 seconds")
      const fresh = yield* subscribe(url)
      yield* happen(fresh.caller)
      yield* expandAll
      yield* tidy
      assert.strictEqual((yield* Metric.value(Upkeep.behind)).value, 90)
      yield* deliverDue
      yield* tidy
      assert.strictEqual((yield* Metric.value(Upkeep.behind)).value, 0)
    })
  )

  it.effect("is not what can never be sent: that is counted each time it is put off", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { deliverDue, tidy } = yield* WebhookDeliveries
      const { received, url } = yield* receiver()
      const forged = yield* subscribe(url)
      const novel = yield* subscribe(url)
      yield* happen(forged.caller)
      yield* happen(novel.caller)
      yield* expandAll
      yield* sql`UPDATE webhooks SET secret = secret || 'x'::bytea WHERE id = ${forged.id}`
      yield* sql`ALTER TABLE webhooks DROP CONSTRAINT webhooks_status_check, DROP CONSTRAINT webhooks_check`
      yield* sql`UPDATE webhooks SET status = 'novel' WHERE id = ${novel.id}`
      const before = (yield* Metric.value(Claiming.unusable)).count
      const measured = Effect.map(Effect.andThen(tidy, Metric.value(Upkeep.behind)), ({ value }) => value)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* measured, 0, "looks due until somebody finds out")
      yield* deliverDue
      assert.strictEqual((yield* Metric.value(Claiming.unusable)).count, before + 2)
      assert.strictEqual(yield* measured, 0)
      const good = yield* subscribe(url)
      yield* happen(good.caller)
      yield* expandAll
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(yield* measured, 30)
      yield* deliverDue
      assert.deepStrictEqual([yield* measured, received.length], [0, 1])
    })
  )
})
