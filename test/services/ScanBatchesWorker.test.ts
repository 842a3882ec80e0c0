import { assert, layer } from "@effect/vitest"
import { Clock, Deferred, Effect, Layer, Ref } from "effect"
import { TestClock } from "effect/testing"
import { ScanBatches } from "#services/ScanBatches.ts"
import { batchOf, busy, created, platform, scannerDoes, shops, untilAsked } from "./ScanBatchesHarness.ts"
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

  it.effect("begins again what could not be done, when its time has come", () =>
    Effect.gen(function* () {
      const began: Array<number> = []
      yield* scannerDoes(() =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => (began.push(now) < 3 ? busy : Effect.succeed({})))
      )
      yield* Layer.build(ScanBatches.layerWorker)
      const tenant_id = yield* tenantWith(1)
      const { record } = yield* created(tenant_id, shops(1))
      const later = Effect.andThen(TestClock.adjust("100 millis"), batchOf(tenant_id, record.id))
      yield* Effect.repeat(later, { until: ({ status }) => status === "completed" })
      const [first = 0, second = 0, third = 0] = began
      assert.isAtLeast(second - first, 2000)
      assert.isAtLeast(third - second, 2000)
      yield* sound
    })
  )
})
