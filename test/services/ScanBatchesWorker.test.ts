import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Layer, Ref } from "effect"
import { ScanBatches } from "#services/ScanBatches.ts"
import { batchOf, created, platform, scannerDoes, shops, untilAsked } from "./ScanBatchesHarness.ts"
import { sound, tenantWith } from "./ScannerCreditsHarness.ts"

layer(platform, { timeout: "60 seconds" })("the worker of batches", (it) => {
  it.effect("scans ten at a time, and a slow site holds up no other", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const running = yield* Ref.make(0)
      const most = yield* Ref.make(0)
      const scan = (domain: string) =>
        Effect.gen(function* () {
          const now = yield* Ref.updateAndGet(running, (before) => before + 1)
          yield* Ref.update(most, (before) => Math.max(before, now))
          if (domain === "shop0.com") yield* Deferred.await(gate)
          yield* Effect.yieldNow
          yield* Ref.update(running, (before) => before - 1)
          return {}
        })
      yield* scannerDoes(scan)
      yield* Layer.build(ScanBatches.layerWorker)
      const tenant_id = yield* tenantWith(100)
      const { record } = yield* created(tenant_id, shops(60))
      const completed = Effect.map(batchOf(tenant_id, record.id), (batch) => batch.completed)
      yield* untilAsked(60)
      yield* Effect.repeat(completed, { until: (done) => done === 59 })
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.repeat(completed, { until: (done) => done === 60 })
      assert.isAtMost(yield* Ref.get(most), 10)
      assert.isAbove(yield* Ref.get(most), 1)
      yield* sound
    })
  )
})
