import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { afterAll } from "vitest"
import type { EventType } from "#domain/Event.ts"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { closeAll } from "./PublicHttpHarness.ts"
import {
  answering,
  attempts,
  broken,
  happen,
  receiver,
  settle,
  subscribe,
  testLayer
} from "./WebhookDeliveriesHarness.ts"

afterAll(closeAll)

const times = (count: number) => Array.from({ length: count }, (): EventType => "transfer.created")

layer(testLayer(), { timeout: "60 seconds" })("who forgets old attempts", (it) => {
  it.effect("counts a repetition among the last that are over from when it was sent, not from when it was queued", () =>
    Effect.gen(function* () {
      const { state, url } = yield* receiver(answering(500))
      const { caller, id } = yield* subscribe(url)
      yield* happen(caller, ["transfer.failed"])
      yield* settle
      state.answer = answering(200)
      yield* happen(caller, times(150))
      yield* settle
      yield* TestClock.adjust("1 minute")
      const { deliverDue, tidy } = yield* WebhookDeliveries
      assert.strictEqual(yield* deliverDue, 1)
      yield* tidy
      const all = yield* attempts(caller, id)
      assert.strictEqual(all.length, 100)
      assert.strictEqual(all.filter(({ attempt, status }) => attempt === 2 && status === "delivered").length, 1)
      assert.deepStrictEqual(yield* broken, [])
    })
  )
})
