import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { afterAll } from "vitest"
import { EventLog } from "#services/EventLog.ts"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { closeAll } from "./PublicHttpHarness.ts"
import { attempts, happen, receiver, settle, subscribe, testLayer } from "./WebhookDeliveriesHarness.ts"

afterAll(closeAll)

layer(testLayer(), { timeout: "60 seconds" })("a body that is remembered", (it) => {
  it.effect("is sent also where what goes beside it takes all the room that there is for remembering", () =>
    Effect.gen(function* () {
      const { received, url } = yield* receiver()
      const { caller, id } = yield* subscribe(url)
      yield* happen(caller)
      yield* settle
      const [sent] = yield* attempts(caller, id)
      const { replay } = yield* WebhookDeliveries
      if (sent !== undefined) yield* replay(caller, id, sent.id)
      const { tenant_id } = caller
      const data = { transfer: { memo: "x".repeat(4_000_000) } }
      yield* (yield* EventLog).append(
        Array.from({ length: 6 }, () => ({ tenant_id, type: "transfer.created" as const, data }))
      )
      yield* settle
      assert.deepStrictEqual(
        (yield* attempts(caller, id)).map(({ failure }) => failure),
        Array.from({ length: 8 }, () => null)
      )
      assert.strictEqual(received[0]?.body, received.find(({ body }, place) => place > 0 && body.length < 1_000)?.body)
    })
  )
})
