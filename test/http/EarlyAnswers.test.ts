import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { connect } from "node:net"
import * as Harness from "./PlatformHarness.ts"

/** What comes back for a request of which the head and a part of the body are there; `goOn` sends the rest then. */
const upload = (port: number, head: string, length: number, goOn: boolean) =>
  Effect.callback<string>((resume) => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
    const half = "x".repeat(Math.min(length, 16_384) / 2)
    let told = ""
    socket.write(`${head}Host: a\r\nContent-Length: ${length}\r\n\r\n${half}`)
    socket.on("data", (data) => {
      if (told === "" && goOn) socket.write(half, () => socket.end())
      told += data
      if (!goOn && told.includes("\r\n\r\n")) socket.destroy()
    })
    socket.on("error", (error) => {
      told = error.message
    })
    socket.on("close", () => resume(Effect.succeed(told)))
  })

layer(Harness.layer(), { excludeTestServices: true, timeout: "60 seconds" })(
  "an answer before the body's end",
  (it) => {
    const type = "Content-Type: application/json\r\n"
    for (const [what, status, head] of [
      ["of nobody who is known", 401, `POST /v1/wallets HTTP/1.1\r\n${type}`],
      ["of a busy operation", 401, `POST /v1/transfers HTTP/1.1\r\n${type}`],
      ["for nothing", 404, `POST /nope HTTP/1.1\r\n${type}`],
      ["in no JSON", 415, "POST /v1/wallets HTTP/1.1\r\nContent-Type: text/plain\r\n"]
    ] as const) {
      it.effect(`leaves the connection to whoever goes on sending a short one ${what}: ${status}`, () =>
        Effect.gen(function* () {
          const { key, port } = yield* Harness.entrance
          const known = status === 401 ? "" : `Authorization: Bearer ${key}\r\n`
          const told = yield* upload(port, head + known, 10_000, true)
          assert.match(told, new RegExp(`^HTTP/1.1 ${status} `))
          assert.notMatch(told, /^connection: close\r$/im)
        })
      )
      it.effect(`says that the connection ends to whoever goes on sending a long one ${what}: ${status}`, () =>
        Effect.gen(function* () {
          const { key, port } = yield* Harness.entrance
          const known = status === 401 ? "" : `Authorization: Bearer ${key}\r\n`
          const told = yield* upload(port, head + known, 100_000, false)
          assert.match(told, new RegExp(`^HTTP/1.1 ${status} `))
          assert.match(told, /^connection: close\r$/im)
        })
      )
    }
  }
)
