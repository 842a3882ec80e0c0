import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { PrometheusMetrics } from "effect/observability"
import * as Nats from "#layers/Nats.ts"
import * as Telemetry from "#layers/Telemetry.ts"
import * as Harness from "../http/PlatformHarness.ts"

/** Nobody listens there. */
const away = { names: ["127.0.0.1:1"], options: { servers: ["127.0.0.1:1"] } }

const server = Layer.merge(Harness.layer(), Layer.effectDiscard(Nats.make(away))).pipe(Layer.provide(Telemetry.layer))

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("what grows when something is wrong", (it) => {
  it.effect("is there at 0 from the start, so that its first step is seen", () =>
    Effect.gen(function* () {
      const lines = (yield* PrometheusMetrics.format()).split("\n")
      for (const name of [
        "turnpike_ledger_misremembered_total",
        "turnpike_ledger_refused_seconds",
        "turnpike_webhook_unusable_total",
        "turnpike_log_lines_lost_total",
        "turnpike_channel_events_total",
        "turnpike_nats_connected",
        "turnpike_nats_reconnects_total"
      ]) {
        assert.include(lines, `${name} 0`)
      }
    })
  )
})
