import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import { type AddressInfo, connect } from "node:net"
import * as Lines from "#layers/Node/Lines.ts"

const request = "POST /transfer HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n"

it.live("what arrives behind an answer that ends its connection, before that is closed, is not carried out", () =>
  Effect.promise(async () => {
    let carriedOut = 0
    const { take } = Lines.make((_, __, response) => {
      carriedOut++
      response.shouldKeepAlive = false
      response.end()
      return false
    })
    let heard = 0
    const heardBoth = Promise.withResolvers<void>()
    const server = createServer((request, response) => {
      take("request", request, response)
      if (++heard === 2) heardBoth.resolve()
    }).listen(0, "127.0.0.1")
    // The moment between the end of an answer and the close of its connection, for as long as the test needs it.
    server.on("connection", (socket) => {
      socket.destroySoon = () => socket.end()
    })
    await once(server, "listening")
    const caller = connect({ port: (server.address() as AddressInfo).port, allowHalfOpen: true })
    caller.write(request)
    caller.once("end", () => caller.write(request)).resume()
    await heardBoth.promise
    caller.destroy()
    server.close()
    assert.strictEqual(carriedOut, 1)
  })
)
