import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ScanBatches } from "#services/ScanBatches.ts"
import { whileOthersHave } from "./LockHarness.ts"
import {
  another,
  asked,
  batchOf,
  created,
  notFound,
  platform,
  scannerDoes,
  shops,
  untilAsked
} from "./ScanBatchesHarness.ts"
import { sound, tenantWith } from "./ScannerCreditsHarness.ts"

layer(platform, { timeout: "60 seconds" })("a target of a batch", (it) => {
  it.effect("is what its lease brings: who had it before has nothing to say while another scans it", () =>
    Effect.gen(function* () {
      const { takeDue } = yield* ScanBatches
      const there = yield* another
      const tenant_id = yield* tenantWith(10)
      const { record } = yield* created(tenant_id, shops(1))
      const late = yield* takeDue(1)
      yield* TestClock.adjust("121 seconds")
      const gate = yield* Deferred.make<void>()
      yield* asked
      yield* scannerDoes(() => Effect.as(Deferred.await(gate), { readiness_score: 72 }))
      const scanning = yield* Effect.forkChild(there.scanDue)
      yield* untilAsked(1)
      yield* scannerDoes(notFound)
      yield* Effect.all(late)
      assert.deepInclude(yield* batchOf(tenant_id, record.id), { status: "processing", failed: 0 })
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(scanning)
      assert.deepInclude(yield* batchOf(tenant_id, record.id), { status: "completed", completed: 1 })
      yield* sound
    })
  )

  it.effect("is taken with no more than were asked for, also while the planner knows of one alone", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { takeDue } = yield* ScanBatches
      const tenant_id = yield* tenantWith(10)
      yield* sql`TRUNCATE scan_batches, scan_batch_targets`
      yield* created(tenant_id, shops(1))
      yield* sql`ANALYZE scan_batch_targets`
      yield* created(tenant_id, shops(12))
      assert.strictEqual((yield* takeDue(3)).length, 3)
      assert.strictEqual((yield* takeDue(3)).length, 3)
    })
  )

  it.effect("that another process has in hand is left to it, and keeps nobody waiting", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { takeDue } = yield* ScanBatches
      yield* created(yield* tenantWith(1), shops(1))
      assert.deepStrictEqual(yield* whileOthersHave(sql`SELECT 1 FROM scan_batch_targets FOR UPDATE`, takeDue(1)), [])
      assert.strictEqual((yield* takeDue(1)).length, 1)
    })
  )

  it.effect("that is due first is found at once among many", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO scan_batch_targets (batch_id, position, tenant_id, domain, skip_if_fresh, status, turn_at, due_at)
        SELECT gen_random_uuid(), 0, gen_random_uuid(), 'shop.com', false, 'pending', now(), now() + i * interval '1 second'
        FROM generate_series(1, 20000) i`
      yield* sql`ANALYZE scan_batch_targets`
      const query = sql`SELECT min(due_at) AS due_at FROM scan_batch_targets WHERE status IN ('pending', 'scanning')`
      const plan = (yield* sql`EXPLAIN ${query}`).map((row) => String(row["QUERY PLAN"])).join("\n")
      assert.include(plan, "scan_batch_targets_due")
      assert.include(plan, "Limit")
    })
  )
})
