import type { Socket } from "node:net"
import { Duration } from "effect"
import { afterEach, assert, describe, it } from "vitest"
import type { Exchange } from "#services/PublicHttp/Forward.ts"
import {
  brief,
  call,
  closeAll,
  gatewayTo,
  httpOrigin,
  rawCall,
  signal,
  standStill,
  tcpOrigin
} from "./PublicHttpHarness.ts"

afterEach(closeAll)

const rejects = async (promise: Promise<unknown>) => {
  const failed = await promise.then(
    () => false,
    () => true
  )
  assert.isTrue(failed, "a clean answer")
}

describe("a hostile or broken origin", () => {
  it("that never answers is a timeout", async () => {
    const { port: origin } = await tcpOrigin(() => {})
    const { events, port } = await gatewayTo(origin, { timeoutMillis: 100 })
    assert.strictEqual((await call(port)).status, 504)
    assert.deepStrictEqual(events, ["Timeout"])
  })

  it("that sends headers and no body is a timeout, too", async () => {
    const { port: origin } = await tcpOrigin((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n"))
    const policy = { idleTimeout: Duration.hours(1) }
    const { events, port } = await gatewayTo(origin, { timeoutMillis: 100, policy })
    assert.strictEqual((await call(port)).status, 504)
    assert.deepStrictEqual(events, ["headers 200", "Timeout"])
  })

  it("that answered while this process stood still did so in time", async () => {
    const origin = await httpOrigin((_, response) => standStill(() => response.end("there")))
    const { events, port } = await gatewayTo(origin, { timeoutMillis: 200 })
    assert.strictEqual((await call(port)).body, "there")
    assert.notInclude(events, "Timeout")
  })

  it("that is not there, or resets before its headers, is unreachable", async () => {
    const { port: origin } = await tcpOrigin((socket) => socket.resetAndDestroy())
    const { events, port } = await gatewayTo(origin)
    assert.strictEqual((await call(port)).status, 502)
    const { port: nobody } = await gatewayTo(1)
    assert.strictEqual((await call(nobody)).body, "Unreachable")
    assert.deepStrictEqual(events, ["Unreachable"])
  })

  it.each([
    ["with a length", "content-length: 100\r\n\r\npart"],
    ["chunked", "transfer-encoding: chunked\r\n\r\n4\r\npart\r\n"],
    ["until it closes", "\r\npart"]
  ])("that resets within a body %s cuts the caller", async (_, rest) => {
    const sockets: Array<Socket> = []
    const { port: origin } = await tcpOrigin((socket) => {
      sockets.push(socket)
      socket.write(`HTTP/1.1 200 OK\r\n${rest}`)
    })
    const { events, happened, port } = await gatewayTo(origin)
    await rejects(call(port, { onPart: () => sockets[0]?.resetAndDestroy() }))
    await happened("Unreachable")
    assert.notInclude(events, "complete")
  })

  it("that sends much before anything of it may be passed on is not read meanwhile", async () => {
    const sockets: Array<Socket & { readonly _handle?: { readonly writeQueueSize: number } }> = []
    const size = 16 * 2 ** 20
    const { port: origin } = await tcpOrigin((socket) => {
      sockets.push(socket)
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`)
      socket.write(Buffer.alloc(size))
    })
    let isRead = false
    const held = signal<Exchange>()
    const onHeaders = (exchange: Exchange) => {
      exchange.copy(2 ** 20, () => (isRead = true))
      held.resolve(exchange)
    }
    const { port } = await gatewayTo(origin, { onHeaders })
    const answer = call(port)
    const exchange = await held.promise
    const left = () => sockets[0]?._handle?.writeQueueSize ?? 0
    for (let [before, quiet] = [-1, 0]; quiet < 200; ) {
      quiet = left() === before ? quiet + 1 : 0
      before = left()
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    assert.deepStrictEqual([isRead, left() > 0], [false, true])
    exchange.send(exchange.headers)
    exchange.finish()
    assert.strictEqual((await answer).body.length, size)
  })

  it("that announces more than it sends cuts the caller, and one that sends more loses its connection", async () => {
    const short = await tcpOrigin((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort"))
    const { happened, port } = await gatewayTo(short.port)
    await rejects(call(port))
    await happened("Unreachable")
    const long = await tcpOrigin((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison")
    })
    const { port: second } = await gatewayTo(long.port)
    assert.strictEqual((await call(second)).body, "ok")
    assert.strictEqual((await call(second)).body, "ok")
    assert.strictEqual(long.connections(), 2)
  })

  it.each([
    ["both framings", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc"],
    ["something else than HTTP", "SSH-2.0-OpenSSH_9.7\r\n"],
    ["an endless run of informational answers", "HTTP/1.1 102 Processing\r\n\r\n".repeat(100)],
    ["a control character", "HTTP/1.1 200 OK\r\nx-bad: a\u0001b\r\ncontent-length: 2\r\n\r\nok"],
    ["a line break of its own", "HTTP/1.1 200 OK\r\nx-bad: a\rb\r\ncontent-length: 2\r\n\r\nok"],
    ["endless headers", `HTTP/1.1 200 OK\r\n${"x-a: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n".repeat(2000)}`]
  ])("that answers with %s is a bad response", async (_, text) => {
    const { port: origin } = await tcpOrigin((socket) => socket.write(text))
    const { events, port } = await gatewayTo(origin)
    assert.strictEqual((await call(port)).status, 502)
    assert.deepStrictEqual(events, ["BadResponse"])
  })

  it("that answers with nearly 32 KB of headers is heard, more than Node takes unless it is told", async () => {
    const fields = "x-a: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n".repeat(795)
    const { port: origin } = await tcpOrigin((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\n${fields}content-length: 2\r\n\r\nok`)
    )
    assert.isAbove(fields.length, 31_000)
    const { events, port } = await gatewayTo(origin)
    const text = await rawCall(port, "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").closed()
    assert.isTrue(text.endsWith("\r\n\r\nok"))
    assert.deepStrictEqual(events, ["headers 200", "complete"])
  })

  it("that drips informational answers does not stretch the timeout", async () => {
    const { port: origin } = await tcpOrigin((socket) => {
      const drip = setInterval(() => socket.write("HTTP/1.1 102 Processing\r\n\r\n"), 40)
      socket.on("close", () => clearInterval(drip))
    })
    const { port } = await gatewayTo(origin, { timeoutMillis: 200 })
    assert.strictEqual((await call(port)).status, 504)
  })

  it("that falls silent within its body cuts the caller; one that drips is waited for", async () => {
    const silent = await httpOrigin((_, response) => response.writeHead(200, { "content-length": 10 }).write("x"))
    const first = await gatewayTo(silent, { timeoutMillis: 300, policy: { idleTimeout: brief } })
    await rejects(call(first.port))
    await first.happened("Timeout")
    const dripping = await httpOrigin((_, response) => {
      let left = 35
      const drip = setInterval(() => {
        if (--left > 0) return response.write("x")
        clearInterval(drip)
        response.end(".")
      }, 100)
    })
    // All of it takes longer than a silence may. A moment in which this process gets no turn is half a second of silence at most.
    const second = await gatewayTo(dripping, { timeoutMillis: 2000, policy: { idleTimeout: Duration.seconds(2) } })
    assert.strictEqual((await call(second.port)).body, `${"x".repeat(34)}.`)
  })

  it("that may take long to answer may be silent as long within its body", async () => {
    const origin = await httpOrigin((_, response) => {
      response.write("one, ")
      setTimeout(() => response.end("two"), 1500)
    })
    const { port } = await gatewayTo(origin, { timeoutMillis: 60_000, policy: { idleTimeout: brief } })
    assert.strictEqual((await call(port)).body, "one, two")
  })

  it("that answers before it read the body gets no more of it, and the caller gets the answer", async () => {
    let read = 0
    const { port: origin } = await tcpOrigin((socket) => {
      read = socket.pause().bytesRead
      socket.write("HTTP/1.1 413 Too Large\r\ncontent-length: 9\r\n\r\ntoo large")
    })
    const { port } = await gatewayTo(origin)
    const answer = await call(port, { method: "POST", body: Buffer.alloc(8_000_000) })
    assert.strictEqual(answer.status, 413)
    assert.strictEqual(answer.body, "too large")
    assert.isBelow(read, 1_000_000)
  })
})
