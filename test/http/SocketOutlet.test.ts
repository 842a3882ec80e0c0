import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import { connect } from "node:net"
import { SocketOutlet } from "#http/SocketOutlet.ts"

it.live("who does not read is let go with all that waits for it, also in the system", () =>
  Effect.promise(async () => {
    const server = createServer().listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    if (typeof address !== "object" || address === null) return assert.fail("no address")
    const client = connect(address.port, "127.0.0.1", () => client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")).pause()
    const [, response]: [unknown, ServerResponse] = await new Promise((resolve) =>
      server.once("request", (request, response) => resolve([request, response]))
    )
    const { socket } = response
    if (socket === null) return assert.fail("no socket")
    const outlet = new SocketOutlet(response, socket, [], () => {})
    outlet.begin()
    outlet.write(Buffer.alloc(8_000_000))
    outlet.destroy()
    await once(socket, "close")
    const ended = new Promise((resolve) =>
      client.on("error", ({ message }) => resolve(message)).on("end", () => resolve("all of it arrived"))
    )
    client.resume()
    assert.strictEqual(await ended, "read ECONNRESET")
    server.close()
  })
)
