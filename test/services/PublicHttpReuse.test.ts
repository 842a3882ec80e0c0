import type { IncomingMessage, RequestListener } from "node:http"
import type { Socket } from "node:net"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { authority } from "./Certificates.ts"
import { call, closeAll, gatewayTo, httpOrigin, signal, tlsOrigin } from "./PublicHttpHarness.ts"

afterEach(closeAll)

/** Answers the first request of each connection, and does this to any other. */
const afterTheFirst = (then: (request: IncomingMessage) => void) => {
  const seen: Array<string> = []
  const used = new WeakSet<Socket>()
  const listener: RequestListener = (request, response) => {
    seen.push(`${request.method} ${request.url}`)
    if (used.has(request.socket)) return then(request)
    used.add(request.socket)
    response.end("fine")
  }
  return { listener, seen }
}
const closing = ({ socket }: IncomingMessage) => void socket.end()
const cutting = ({ socket }: IncomingMessage) => void socket.destroy()
const resetting = ({ socket }: IncomingMessage) => void socket.resetAndDestroy()

describe("a connection that ends as the next call leaves", () => {
  it.each([
    ["GET", closing, "fine"],
    ["GET", resetting, "fine"],
    ["HEAD", closing, ""],
    ["OPTIONS", closing, "fine"]
  ])("is no matter to %s: it is made once more, on a fresh one", async (method, then, body) => {
    const { listener, seen } = afterTheFirst(then)
    const { events, port } = await gatewayTo(await httpOrigin(listener))
    await call(port, { path: "/first" })
    const answer = await call(port, { method, path: "/second" })
    assert.deepStrictEqual([answer.status, answer.body], [200, body])
    assert.deepStrictEqual(seen, ["GET /first", `${method} /second`, `${method} /second`])
    assert.notInclude(events, "Unreachable")
  })

  describe("behind TLS", () => {
    const trusted = getCACertificates("default")
    const { cert, certify } = authority(Date.now())
    beforeAll(() => setDefaultCACertificates([...trusted, cert]))
    afterAll(() => setDefaultCACertificates(trusted))
    const gatewayOver = async (listener: RequestListener) => {
      const origin = await tlsOrigin(listener, certify("localhost", 1, 1))
      return gatewayTo(origin, { origin: `https://localhost:${origin}`, policy: { allowLoopback: true } })
    }

    it.each([
      ["closed", closing],
      ["cut", cutting]
    ])("is no matter where it was %s", async (_, then) => {
      const { listener, seen } = afterTheFirst(then)
      const { port } = await gatewayOver(listener)
      await call(port)
      assert.strictEqual((await call(port)).status, 200)
      assert.strictEqual(seen.length, 3)
    })

    it("is the end of a call if it was fresh", async () => {
      let count = 0
      const { port } = await gatewayOver(({ socket }) => {
        count++
        socket.end()
      })
      assert.strictEqual((await call(port)).status, 502)
      assert.strictEqual(count, 1)
    })
  })

  it.each([
    ["POST without a body", { method: "POST" }],
    ["POST with one", { method: "POST", body: "order" }],
    ["DELETE", { method: "DELETE" }],
    ["GET with a body", { method: "GET", body: "query", headers: { "content-length": "5" } }]
  ])("is the end of %s: it may have been done", async (_, request) => {
    const { listener, seen } = afterTheFirst(closing)
    const { port } = await gatewayTo(await httpOrigin(listener))
    await call(port)
    assert.strictEqual((await call(port, request)).status, 502)
    assert.strictEqual(seen.length, 2)
  })

  it("is the end of a call that had a byte of its answer", async () => {
    const { listener, seen } = afterTheFirst(({ socket }) => void socket.end("H"))
    const { port } = await gatewayTo(await httpOrigin(listener))
    await call(port)
    assert.strictEqual((await call(port)).status, 502)
    assert.strictEqual(seen.length, 2)
  })

  it("is no matter to any other call either: no connection is taken twice for those that are made once more", async () => {
    const { listener, seen } = afterTheFirst(closing)
    const { port } = await gatewayTo(await httpOrigin(listener))
    for (const _ of [1, 2, 3, 4]) assert.strictEqual((await call(port)).status, 200)
    assert.strictEqual(seen.length, 6)
  })

  it.each(["", "\r\n"])("is the end of a call that was made once more, also behind %j", async (noAnswer) => {
    let count = 0
    const origin = await httpOrigin((request, response) => {
      if (count++ === 0) response.end()
      else request.socket.end(noAnswer)
    })
    const { port } = await gatewayTo(origin)
    await call(port)
    assert.strictEqual((await call(port)).status, 502)
    assert.strictEqual(count, 3)
  })

  it("is the end of a call if it was fresh", async () => {
    let count = 0
    const origin = await httpOrigin(({ socket }) => {
      count++
      socket.end()
    })
    const { port } = await gatewayTo(origin)
    assert.strictEqual((await call(port)).status, 502)
    assert.strictEqual(count, 1)
  })

  it("leaves the call no more time than it had", async () => {
    const seen: Array<string> = []
    const origin = await httpOrigin((request, response) => {
      if (seen.push(request.url ?? "") === 1) response.end()
      else if (seen.length === 2) request.socket.end()
    })
    const { events, port } = await gatewayTo(origin, { timeoutMillis: 300 })
    await call(port)
    assert.strictEqual((await call(port)).status, 504)
    assert.deepStrictEqual([seen.length, events.at(-1)], [3, "Timeout"])
  })

  it("brings the next call nothing that the origin said in between", async () => {
    const ended = signal()
    const origin = await httpOrigin(({ socket, url }, response) => {
      response.end(`to ${url}`)
      if (url !== "/first") return
      socket.once("close", () => ended.resolve())
      response.once("close", () =>
        setImmediate(() => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison"))
      )
    })
    const { port } = await gatewayTo(origin)
    assert.strictEqual((await call(port, { path: "/first" })).body, "to /first")
    await ended.promise
    assert.strictEqual((await call(port, { path: "/second" })).body, "to /second")
  })
})
