import { assert, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as Telemetry from "#layers/Telemetry.ts"

/** A collector that keeps what it was sent, by path. */
const collector = Effect.acquireRelease(
  Effect.promise(async () => {
    const received = new Map<string, string>()
    const server = createServer(async (request, response) => {
      let body = ""
      for await (const chunk of request) body += chunk
      received.set(request.url ?? "", (received.get(request.url ?? "") ?? "") + body)
      response.end("{}")
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    return { received, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  }),
  ({ server }) => Effect.sync(() => server.close())
)

it.live("what goes to a collector carries no credential", () =>
  Effect.gen(function* () {
    const { received, url } = yield* collector
    const key = `pk_test_${"a".repeat(32)}`
    const config = ConfigProvider.layer(
      ConfigProvider.fromUnknown({ OTEL_EXPORTER_OTLP_ENDPOINT: url, TURNPIKE_LOG_LEVEL: "Error" })
    )
    // What is waiting is sent when the layer ends.
    yield* Effect.logError(`refused ${key}`).pipe(
      Effect.withSpan("a call", { attributes: { authorization: `Bearer ${key}` } }),
      Effect.provide(Telemetry.layer.pipe(Layer.provide(config)))
    )
    assert.include(received.get("/v1/logs"), "refused pk_[redacted]")
    assert.include(received.get("/v1/traces"), "a call")
    assert.notInclude([...received.values()].join(""), key)
  })
)
