import { assert, it, layer } from "@effect/vitest"
import { Effect, Layer, Logger, Redacted, Result } from "effect"
import * as BusNats from "#layers/BusNats.ts"
import * as EventRelay from "#layers/EventRelay.ts"
import * as Nats from "#layers/Nats.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Deployment } from "#services/Deployment.ts"
import { EventBus } from "#services/EventBus.ts"
import { EventLog } from "#services/EventLog.ts"
import { Secrets } from "#services/Secrets.ts"
import * as NatsServer from "./NatsServer.ts"

if (NatsServer.binary === undefined) {
  it("was not tried: no nats-server is installed", () => assert.isUndefined(NatsServer.binary))
} else {
  const allowing = (...allowed: ReadonlyArray<string>) =>
    Effect.acquireRelease(
      Effect.promise(async () => {
        const server = await NatsServer.make({ user: "turnpike", allowed })
        await server.start()
        return server
      }),
      (server) => Effect.promise(() => server.end())
    )
  const here = Layer.succeed(Deployment, { environment: "sandbox", publicUrl: "http://a", scannerUrl: "http://a" })
  const platform = Layer.merge(EventLog.layer, here).pipe(Layer.provideMerge(Postgres.layerTest))

  layer(platform, { timeout: "60 seconds", excludeTestServices: true })("a NATS account with too few rights", (it) => {
    it.effect("that may not hear the others is no bus that is up", () =>
      Effect.gen(function* () {
        const { url } = yield* allowing("events.>", "_INBOX.>")
        const bus = BusNats.layer.pipe(Layer.provide(Secrets.layer), Layer.provide(Nats.layer(Redacted.make(url))))
        const { reachable } = yield* Effect.provideContext(EventBus, yield* Layer.build(Layer.fresh(bus)))
        assert.isFalse(yield* reachable)
      })
    )

    it.effect("that may hear no answers is complained about once", () =>
      Effect.gen(function* () {
        const { url } = yield* allowing("events.>", "turnpike.>", "$JS.API.>")
        const nats = yield* Nats.make(Result.getOrThrow(Nats.parse(url)))
        const { turn } = yield* Effect.provideService(EventRelay.make, Nats.Nats, nats)
        const lines: Array<string> = []
        const logger = Logger.map(Logger.formatJson, (line) => void lines.push(line))
        yield* Effect.provide(Effect.repeat(turn, { times: 3 }), Logger.layer([logger]))
        assert.strictEqual(lines.length, 1, lines.join("\n"))
        assert.match(lines[0] ?? "", /Permissions Violation.*_INBOX/)
      })
    )
  })
}
