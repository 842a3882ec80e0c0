import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Exit, Layer } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as Node from "#layers/Node.ts"

/** The sentence an operator reads when there can be no server with this environment. */
const refusal = (environment: Record<string, string>) => {
  const settings = ConfigProvider.layer(ConfigProvider.fromUnknown(environment))
  const listening = Layer.build(Layer.fresh(Node.layer).pipe(Layer.provide(settings)))
  return Effect.map(Effect.exit(Effect.scoped(listening)), (exit) =>
    Exit.isFailure(exit) ? Node.reasonOf(exit.cause) : "none"
  )
}

/** A port that somebody else has. */
const takenPort = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer().listen(0, "127.0.0.1")
    await once(server, "listening")
    return server
  }),
  (server) => Effect.sync(() => server.close())
).pipe(Effect.map((server) => (server.address() as AddressInfo).port))

describe("a listener that cannot be", () => {
  it.live("says in a sentence that its port is taken, and what to set", () =>
    Effect.gen(function* () {
      const port = yield* takenPort
      assert.strictEqual(
        yield* refusal({ PORT: String(port) }),
        `127.0.0.1:${port} is taken by another program; set PORT.`
      )
    })
  )

  it.live("says in a sentence that its address is not of this machine", () =>
    Effect.gen(function* () {
      const said = yield* refusal({ PORT: "0", HOST: "192.0.2.1" })
      assert.strictEqual(said, "192.0.2.1:0 is no address of this machine; set HOST.")
    })
  )

  it.live("names a delay that it cannot read, and takes 0 as it is documented", () =>
    Effect.gen(function* () {
      assert.include(yield* refusal({ PORT: "0", TURNPIKE_DRAIN_DELAY: "a while" }), "TURNPIKE_DRAIN_DELAY")
      assert.strictEqual(yield* refusal({ PORT: "0", TURNPIKE_DRAIN_DELAY: "0" }), "none")
    })
  )
})
