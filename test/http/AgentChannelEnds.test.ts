import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { scene, until, Wire } from "./ChannelHarness.ts"
import { layer as server } from "./PlatformHarness.ts"

layer(server(), { timeout: "60 seconds", excludeTestServices: true })("the end of an agent's channel", (it) => {
  it.effect("is said, so that a connection that breaks is none", () =>
    Effect.gen(function* () {
      const { connect, over } = yield* scene
      const [first, second] = [yield* connect(), yield* connect()]
      assert.match(first.head, /^transfer-encoding: chunked$/im)
      yield* over(first)
      assert.deepStrictEqual([first.names, first.isWhole], [["connected", "superseded"], true])
      assert.isFalse(second.isWhole)
    })
  )

  it.effect("is that of its connection for a client of HTTP/1.0, which knows no other", () =>
    Effect.gen(function* () {
      const { port, request } = yield* scene
      const wire = new Wire(port, request(undefined, {}, "GET", "1.0"))
      yield* Effect.addFinalizer(() => Effect.sync(() => wire.socket.destroy()))
      yield* until(
        () => wire.text,
        () => wire.text.includes("event: connected")
      )
      assert.match(wire.text, /\r\n\r\nretry: \d+\nevent: connected\n/)
    })
  )
})
