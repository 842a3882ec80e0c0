import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
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

interface Asked {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly take: () => void
}

/** How often a connection is looked at for callers who take nothing, after this became of its only request. */
const looks = (became: (asked: Asked) => Promise<unknown>) =>
  Effect.promise(async () => {
    const { cutStalled, take } = Lines.make((_, __, response) => {
      response.end()
      return false
    })
    let looked = 0
    const done = Promise.withResolvers<unknown>()
    const server = createServer((request, response) => {
      done.resolve(became({ request, response, take: () => void take("request", request, response) }))
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    server.once("connection", (socket) => {
      Object.defineProperty(socket, "writableLength", { get: () => ++looked })
    })
    const caller = connect((server.address() as AddressInfo).port).resume()
    caller.write(request)
    await done.promise
    looked = 0
    cutStalled(0)
    caller.destroy()
    server.close()
    return looked
  })

it.live("a connection is looked at while something is to be answered on it, and forgotten with its close", () =>
  Effect.gen(function* () {
    assert.strictEqual(yield* looks(async ({ take }) => take()), 1)
    const closes = async ({ request, response, take }: Asked) => {
      take()
      await once(response, "close")
      // Were it remembered, it would be looked at for what is asked next.
      await once(request.socket.destroy(), "close")
      take()
    }
    assert.strictEqual(yield* looks(closes), 0)
    const isClosed = async ({ request, take }: Asked) => {
      await once(request.socket.destroy(), "close")
      take()
    }
    assert.strictEqual(yield* looks(isClosed), 0)
  })
)
