import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { connect } from "node:net"
import { Deployment } from "#services/Deployment.ts"
import { PaymentPolicy } from "#services/Payments/Policy.ts"
import { balance, buyer, pay, seller, server } from "./GatewayHarness.ts"

const funds = 1_000_000n

/** A server that waits for no request longer than a second. */
const hasty = server.pipe(
  Layer.provide(
    Layer.effect(
      PaymentPolicy,
      Effect.map(PaymentPolicy, (usual) => ({ ...usual, uploadLife: Duration.seconds(1) }))
    )
  )
)

/** Somebody who has paid for a call of this shop, and where to send it by hand. */
const paidFor = Effect.fnUntraced(function* ({ endpoint }: Effect.Success<ReturnType<typeof seller>>) {
  const agent = yield* buyer(funds)
  const { json } = yield* pay(agent.key, { url: endpoint.gatewayUrl, from_wallet_id: agent.purse })
  return { agent, proof: String(json.proof), port: Number(new URL((yield* Deployment).publicUrl).port) }
})

layer(hasty, { timeout: "60 seconds", excludeTestServices: true })("a paid request", (it) => {
  it.effect("that does not arrive in time is refused as such, and its money comes back", () =>
    Effect.gen(function* () {
      const shop = yield* seller((request, response) => request.resume().on("end", () => response.end()), {
        method: "POST"
      })
      const { agent, port, proof } = yield* paidFor(shop)
      const answer = yield* Effect.callback<string>((resume) => {
        const socket = connect(port, "127.0.0.1")
        const head = `POST ${shop.path} HTTP/1.1\r\nHost: x\r\nX-Payment-Proof: ${proof}\r\nTransfer-Encoding: chunked\r\n\r\n`
        socket.write(head)
        const drip = setInterval(() => socket.write("1\r\nx\r\n"), 100)
        let received = ""
        socket.setEncoding("latin1").on("data", (part) => {
          received += String(part)
        })
        socket.on("error", () => {})
        socket.on("close", () => {
          clearInterval(drip)
          resume(Effect.succeed(received))
        })
        return Effect.sync(() => socket.destroy())
      })
      assert.match(answer, /^HTTP\/1\.1 408 /)
      assert.include(answer, '"code":"REQUEST_TIMEOUT"')
      assert.deepStrictEqual(yield* balance(agent.purse), { posted: funds, held: 0n })
    })
  )

  it.effect("that turns out to be no HTTP cuts an answer that has begun, and is answered by nothing within it", () =>
    Effect.gen(function* () {
      const shop = yield* seller(
        (_, response) => {
          response.writeHead(200, { "Content-Length": "200000" })
          response.write("e".repeat(100_000))
        },
        { method: "POST" }
      )
      const { port, proof } = yield* paidFor(shop)
      const answer = yield* Effect.callback<string>((resume) => {
        const socket = connect(port, "127.0.0.1")
        socket.write(
          `POST ${shop.path} HTTP/1.1\r\nHost: x\r\nX-Payment-Proof: ${proof}\r\nTransfer-Encoding: chunked\r\n\r\n`
        )
        socket.write("2\r\nab\r\n")
        let received = ""
        socket.setEncoding("latin1").on("data", (part) => {
          if (received === "") socket.write("no size\r\n")
          received += String(part)
        })
        socket.on("error", () => {})
        socket.on("close", () => resume(Effect.succeed(received)))
        return Effect.sync(() => socket.destroy())
      })
      assert.match(answer, /^HTTP\/1\.1 200 /)
      assert.match(answer, /\r\n\r\ne*$/, "nothing but the origin's bytes")
    })
  )

  it.effect("of HTTP/1.0, which knows no 100 Continue, is answered at once", () =>
    Effect.gen(function* () {
      const shop = yield* seller((request, response) => request.resume().on("end", () => response.end("served")), {
        method: "POST"
      })
      const { port, proof } = yield* paidFor(shop)
      const answer = yield* Effect.callback<string>((resume) => {
        const socket = connect(port, "127.0.0.1")
        const head = `POST ${shop.path} HTTP/1.0\r\nX-Payment-Proof: ${proof}\r\nExpect: 100-continue\r\n`
        socket.write(`${head}Content-Length: 4\r\n\r\nbody`)
        let received = ""
        socket.setEncoding("latin1").on("data", (part) => {
          received += String(part)
        })
        socket.on("error", () => {})
        socket.on("close", () => resume(Effect.succeed(received)))
        return Effect.sync(() => socket.destroy())
      })
      assert.match(answer, /^HTTP\/1\.1 200 /)
    })
  )
})
