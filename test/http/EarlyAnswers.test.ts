import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { connect } from "node:net"
import * as Harness from "./PlatformHarness.ts"

/** Sends a request whose body goes on after its answer, and what comes back; the error if the connection did not take all of it. */
const upload = (port: number, head: string, length: number) =>
  Effect.callback<string>((resume) => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
    const piece = "x".repeat(length / 10)
    let told = ""
    const goOn = (left: number) => {
      if (left > 0) socket.write(piece, () => goOn(left - 1))
      else socket.end()
    }
    socket.write(`${head}Host: a\r\nContent-Length: ${length}\r\n\r\n${piece}`)
    socket.on("data", (data) => {
      if (told === "") goOn(9)
      told += data
    })
    socket.on("error", (error) => {
      told = error.message
    })
    socket.on("close", () => resume(Effect.succeed(told.slice(0, 12))))
  })

layer(Harness.layer(), { excludeTestServices: true, timeout: "60 seconds" })(
  "an answer before the body's end",
  (it) => {
    const type = "Content-Type: application/json\r\n"
    for (const [what, status, length, head] of [
      ["a long body of nobody who is known", 401, 5_000_000, `POST /v1/transfers/batch HTTP/1.1\r\n${type}`],
      ["a long body for nothing", 404, 5_000_000, `POST /nope HTTP/1.1\r\n${type}`],
      ["a long body in no JSON", 415, 5_000_000, "POST /v1/wallets HTTP/1.1\r\nContent-Type: text/plain\r\n"],
      ["a body that is too long", 413, 5_000_000, `POST /v1/wallets HTTP/1.1\r\n${type}`],
      ["a short body of a busy operation", 401, 10_000, `POST /v1/transfers HTTP/1.1\r\n${type}`],
      ["a short body", 401, 10_000, `POST /v1/wallets HTTP/1.1\r\n${type}`]
    ] as const) {
      it.effect(`arrives with whoever goes on sending ${what}: ${status}`, () =>
        Effect.gen(function* () {
          const { key, port } = yield* Harness.entrance
          const known = status === 401 ? "" : `Authorization: Bearer ${key}\r\n`
          assert.strictEqual(yield* upload(port, head + known, length), `HTTP/1.1 ${status}`)
        })
      )
    }
  }
)
