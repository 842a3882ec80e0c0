import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { createServer, createConnection, type Socket } from "node:net"
import { once } from "node:events"
import { within } from "#services/RealTime.ts"

const connected = async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const near = createConnection({ host: "127.0.0.1", port: typeof address === "object" ? (address?.port ?? 0) : 0 })
  const [far] = await once(server, "connection")
  server.close()
  return { near, far: far as Socket }
}

const heard = (socket: Socket) =>
  Effect.callback<string>((resume) => void socket.once("data", (data) => resume(Effect.succeed(String(data)))))

const standStill = (millis: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, millis)

it.effect("a process that stood still takes what arrived meanwhile for in time", () =>
  Effect.gen(function* () {
    const { far, near } = yield* Effect.promise(connected)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        near.destroy()
        far.destroy()
      })
    )
    const answer = yield* Effect.forkChild(
      within(heard(near), { duration: "100 millis", orElse: () => Effect.succeed("too late") }),
      { startImmediately: true }
    )
    yield* Effect.callback<void>((resume) => {
      setImmediate(() => {
        far.write("an answer")
        standStill(300)
        resume(Effect.void)
      })
    })
    assert.strictEqual(yield* Fiber.join(answer), "an answer")
  })
)
