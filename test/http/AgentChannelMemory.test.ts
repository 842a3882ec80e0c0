import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Socket } from "node:net"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { HttpListener } from "#services/HttpListener.ts"
import { scene } from "./ChannelHarness.ts"
import { layer as server } from "./PlatformHarness.ts"

setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("a channel that is closed", (it) => {
  it.effect("leaves nothing of its connection behind", () =>
    Effect.gen(function* () {
      const { server } = yield* HttpListener
      const { connect } = yield* scene
      const opened: Array<WeakRef<Socket>> = []
      const note = (socket: Socket) => void opened.push(new WeakRef(socket))
      server.on("connection", note)
      for (let time = 0; time < 3; time++) {
        const { socket } = yield* connect()
        socket.destroy()
      }
      server.off("connection", note)
      assert.lengthOf(opened, 3)
      const left = Effect.sync(() => {
        collect()
        return opened.filter((socket) => socket.deref() !== undefined).length
      })
      const turn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))
      assert.strictEqual(
        yield* Effect.repeat(Effect.andThen(turn, left), { until: (left) => left === 0, times: 50 }),
        0
      )
    })
  )
})
