import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { ServerResponse } from "node:http"
import { afterAll } from "vitest"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { closeAll } from "./PublicHttpHarness.ts"
import { tenant } from "./WebhooksHarness.ts"
import {
  answering,
  expandAll,
  happen,
  multiply,
  receiver,
  subscribe,
  testLayer,
  times,
  until
} from "./WebhookDeliveriesHarness.ts"

afterAll(closeAll)

layer(testLayer({ inFlight: 12 }), { timeout: "60 seconds" })("a tenant with very many receivers that hang", (it) => {
  it.effect("has half of the places, and those of another get theirs meanwhile", () =>
    Effect.gen(function* () {
      const waiting: Array<ServerResponse> = []
      const hanging = yield* receiver((_, response) => void waiting.push(response))
      const many = yield* subscribe(hanging.url)
      yield* multiply(many.id, 39)
      yield* happen(many.caller)
      yield* expandAll
      const { deliver, drain, wake } = yield* WebhookDeliveries
      yield* Effect.forkScoped(deliver)
      yield* until(() => waiting.length >= 6)
      const { received, url } = yield* receiver()
      const other = yield* subscribe(url)
      yield* multiply(other.id, 2)
      yield* happen(other.caller)
      yield* expandAll
      yield* wake
      yield* until(() => received.length === 3)
      assert.deepStrictEqual([received.length, waiting.length], [3, 6])
      hanging.state.answer = answering(200)
      for (const response of waiting) response.end()
      yield* drain
    })
  )
})

layer(testLayer({ inFlight: 48 }), { timeout: "60 seconds" })("a tenant with receivers that hang", (it) => {
  it.effect("finds a place for another of its own, however many calls each of them would get", () =>
    Effect.gen(function* () {
      const waiting: Array<ServerResponse> = []
      const hanging = yield* receiver((_, response) => void waiting.push(response))
      const caller = yield* tenant
      const { deliver, drain, wake } = yield* WebhookDeliveries
      yield* Effect.forkScoped(deliver)
      for (let wave = 0; wave < 3; wave++) {
        const before = waiting.length
        for (const _ of ["one", "another"]) yield* subscribe(hanging.url, { by: caller })
        yield* happen(caller, times(6))
        yield* expandAll
        yield* wake
        yield* until(() => waiting.length >= before + 2)
        assert.isAtLeast(waiting.length, before + 2)
      }
      const { received, url } = yield* receiver()
      yield* subscribe(url, { by: caller })
      yield* happen(caller)
      yield* expandAll
      yield* wake
      yield* until(() => received.length === 1)
      assert.lengthOf(received, 1)
      hanging.state.answer = answering(200)
      for (const response of waiting) response.end()
      yield* drain
    })
  )
})
