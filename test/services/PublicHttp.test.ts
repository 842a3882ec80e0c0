import { Duration, Effect, Fiber } from "effect"
import { afterEach, assert, describe, it } from "vitest"
import type { OutboundFailed } from "#services/PublicHttp/Failure.ts"
import type { Exchange } from "#services/PublicHttp/Forward.ts"
import { call, closeAll, gatewayTo, httpOrigin, publicHttp, rawCall, signal, tcpOrigin } from "./PublicHttpHarness.ts"

afterEach(closeAll)

describe("forwarding a call", () => {
  it("passes method, path bytes, headers and body on, and the origin's answer back", async () => {
    const seen: Array<unknown> = []
    const origin = await httpOrigin((request, response) => {
      seen.push(request.method, request.url, request.headers["x-team"], request.headers.host)
      response.writeHead(201, { "x-from": "origin", "set-cookie": ["a=1", "b=2"] })
      request.pipe(response)
    })
    const { port } = await gatewayTo(origin)
    const headers = { "x-team": "core", host: "evil.example" }
    const answer = await call(port, { method: "POST", path: "/a%2Fb/%c3%a9;x?q=%20+&q=", headers, body: "hello" })
    assert.deepStrictEqual(seen, ["POST", "/a%2Fb/%c3%a9;x?q=%20+&q=", "core", `127.0.0.1:${origin}`])
    assert.strictEqual(answer.status, 201)
    assert.strictEqual(answer.headers["x-from"], "origin")
    assert.deepStrictEqual(answer.headers["set-cookie"], ["a=1", "b=2"])
    assert.strictEqual(answer.body, "hello")
  })

  it("keeps a body's length, and chunked a body without one", async () => {
    const origin = await httpOrigin((request, response) => {
      const { "content-length": length, "transfer-encoding": encoding } = request.headers
      request.resume().on("end", () => response.end(`${length} ${encoding}`))
    })
    const { port } = await gatewayTo(origin)
    const send = (headers: Record<string, string>) => call(port, { method: "POST", headers, body: "12345" })
    assert.strictEqual((await send({ "content-length": "5" })).body, "5 undefined")
    assert.strictEqual((await send({ "transfer-encoding": "chunked" })).body, "undefined chunked")
    assert.strictEqual((await call(port, { method: "POST" })).body, "0 undefined")
    assert.strictEqual((await call(port)).body, "undefined undefined")
  })

  it("replaces the caller's fields by the added ones and drops what is for one hop", async () => {
    const origin = await httpOrigin((request, response) => {
      response.writeHead(200, ["Connection", "x-hop, keep-alive", "X-Hop", "1", "Payment-Response", "forged"])
      response.end(JSON.stringify(request.rawHeaders))
    })
    const { port } = await gatewayTo(origin, { added: ["X-Forwarded-For", "1.2.3.4"] })
    const headers = {
      "x-forwarded-for": "6.6.6.6",
      connection: "close, x-secret",
      "x-secret": "1",
      "x-payment-proof": "p"
    }
    const answer = await call(port, { headers })
    const seen = ["host", `127.0.0.1:${origin}`, "connection", "keep-alive", "X-Forwarded-For", "1.2.3.4"]
    seen.push("Via", "1.1 turnpike")
    assert.deepStrictEqual(JSON.parse(answer.body), seen)
    assert.notProperty(answer.headers, "x-hop")
    assert.notProperty(answer.headers, "payment-response")
  })

  it("has no body to wait for after HEAD, 204 and 304", async () => {
    const origin = await httpOrigin((request, response) => {
      response
        .writeHead(Number(request.url?.slice(1)), { "content-length": request.method === "HEAD" ? 1000 : 0 })
        .end()
    })
    const { events, port } = await gatewayTo(origin)
    assert.strictEqual((await call(port, { method: "HEAD", path: "/200" })).headers["content-length"], "1000")
    assert.strictEqual((await call(port, { path: "/204" })).status, 204)
    assert.strictEqual((await call(port, { path: "/304" })).status, 304)
    assert.notInclude(events, "BadResponse")
  })

  it("drops informational answers and trailers", async () => {
    const { port: origin } = await tcpOrigin((socket) => {
      socket.write("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n")
      socket.write(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n2\r\nok\r\n0\r\nx-sum: 1\r\n\r\n"
      )
    })
    const { port } = await gatewayTo(origin)
    const caller = rawCall(port, "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
    const text = await caller.closed()
    assert.match(text, /^HTTP\/1\.1 200 OK\r\n/)
    assert.notMatch(text, /103|102|link|x-sum|trailer/i)
    assert.isTrue(text.endsWith("2\r\nok\r\n0\r\n\r\n"))
  })

  it("passes a redirect on and never follows it", async () => {
    const inside = await tcpOrigin(() => {})
    const location = `http://127.0.0.1:${inside.port}/secret`
    const origin = await httpOrigin((_, response) => response.writeHead(307, { location }).end())
    const allowHosts = [origin, inside.port].map((port) => `127.0.0.1:${port}`)
    const { port } = await gatewayTo(origin, { policy: { allowHosts } })
    const answer = await call(port)
    assert.strictEqual(answer.status, 307)
    assert.strictEqual(answer.headers.location, location)
    assert.strictEqual(inside.connections(), 0)
  })

  it("uses one connection for calls in a row", async () => {
    const ports = new Set<number | undefined>()
    const origin = await httpOrigin((request, response) => {
      ports.add(request.socket.remotePort)
      response.end("ok")
    })
    const { port } = await gatewayTo(origin)
    for (let i = 0; i < 5; i++) await call(port)
    assert.strictEqual(ports.size, 1)
  })

  it("refuses a header that would not stay one line, without touching the origin", async () => {
    const origin = await tcpOrigin(() => {})
    const { events, port } = await gatewayTo(origin.port, { added: ["x-payer", "a\r\nx-forged: 1"] })
    assert.strictEqual((await call(port)).status, 502)
    assert.deepStrictEqual(events, ["BadRequest"])
    assert.strictEqual(origin.connections(), 0)
  })
})

describe("the end of an answer", () => {
  const held = () => {
    const arrived = signal<Exchange>()
    const onHeaders = (exchange: Exchange) => {
      exchange.send(exchange.headers)
      arrived.resolve(exchange)
    }
    return { arrived: arrived.promise, onHeaders }
  }

  it("of a stream waits for permission, its first event does not", async () => {
    const origin = await httpOrigin((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write("data: one\n\n")
      setTimeout(() => response.end("data: two\n\n"), 20)
    })
    const { arrived, onHeaders } = held()
    const { events, port } = await gatewayTo(origin, { onHeaders })
    const caller = rawCall(port, "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
    const exchange = await arrived
    await caller.contains("data: one")
    await new Promise((resolve) => setTimeout(resolve, 60))
    assert.notInclude(caller.received(), "\r\n0\r\n\r\n")
    exchange.finish()
    assert.include(await caller.closed(), "data: two\n\n\r\n0\r\n\r\n")
    assert.deepStrictEqual(events, ["headers 200", "complete"])
  })

  it("of a stream's headers are not waited for: they leave before any event", async () => {
    const origin = await httpOrigin((_, response) => response.writeHead(200, { "x-open": "yes" }).flushHeaders())
    const { onHeaders } = held()
    const { port } = await gatewayTo(origin, { onHeaders })
    const caller = rawCall(port, "GET / HTTP/1.1\r\nhost: x\r\n\r\n")
    await caller.contains("x-open: yes\r\n")
  })

  it("with a known length waits for permission with its last bytes", async () => {
    const parts = signal()
    const origin = await httpOrigin((_, response) => {
      response.writeHead(200, { "content-length": 6 }).write("abc")
      void parts.promise.then(() => response.end("def"))
    })
    const { arrived, onHeaders } = held()
    const { port } = await gatewayTo(origin, { onHeaders })
    const caller = rawCall(port, "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
    await caller.contains("abc")
    parts.resolve()
    await new Promise((resolve) => setTimeout(resolve, 50))
    assert.isTrue(caller.received().endsWith("abc"))
    ;(await arrived).finish()
    assert.isTrue((await caller.closed()).endsWith("abcdef"))
  })

  it("that is also its beginning leaves nothing sent, so a refused capture still gets a real answer", async () => {
    const origin = await httpOrigin((_, response) => response.end("paid content"))
    const refused = signal<Exchange>()
    const { events, port } = await gatewayTo(origin, {
      onHeaders: (exchange) => {
        exchange.send(exchange.headers)
        setTimeout(() => {
          exchange.abort()
          refused.resolve(exchange)
        }, 30)
      }
    })
    const caller = rawCall(port, "GET / HTTP/1.1\r\nhost: x\r\n\r\n")
    await refused.promise
    assert.strictEqual(caller.received(), "")
    assert.deepStrictEqual(events, ["headers 200"])
  })

  it.each(["1.1", "1.0"])("after a late abort is a cut, never a clean end, for HTTP/%s", async (version) => {
    const origin = await httpOrigin((_, response) => response.write("part"))
    const { arrived, onHeaders } = held()
    const { port } = await gatewayTo(origin, { onHeaders })
    const caller = rawCall(port, `GET / HTTP/${version}\r\nhost: x\r\n\r\n`)
    let reset = false
    caller.socket.on("error", () => (reset = true))
    await caller.contains("part")
    ;(await arrived).abort()
    assert.notInclude(await caller.closed(), "\r\n0\r\n\r\n")
    // Without chunks only a reset tells a cut from an end.
    assert.strictEqual(reset, version === "1.0")
  })

  it("comes even if the whole answer arrived before it was let through", async () => {
    const origin = await httpOrigin((_, response) => response.end("x".repeat(300_000)))
    const { port } = await gatewayTo(origin, {
      onHeaders: (exchange) => {
        exchange.finish()
        setTimeout(() => exchange.send([...exchange.headers, "x-late", "1"]), 50)
      }
    })
    const answer = await call(port)
    assert.strictEqual(answer.body.length, 300_000)
    assert.strictEqual(answer.headers["x-late"], "1")
  })
})

describe("one outbound request", () => {
  const outbound = { method: "GET", headers: [], body: null, timeout: Duration.minutes(1) }
  const reason = <A>(effect: Effect.Effect<A, OutboundFailed>) =>
    Effect.runPromise(
      effect.pipe(
        Effect.map(() => "no failure"),
        Effect.catch((error) => Effect.succeed(error.reason as string))
      )
    )

  it("returns status, headers, body and time, and follows no redirect", async () => {
    const origin = await httpOrigin((request, response) => {
      response.writeHead(302, { location: "http://10.0.0.1/", "x-seen": request.headers["x-mine"] })
      request.pipe(response)
    })
    const http = await publicHttp({ allowHosts: [`127.0.0.1:${origin}`] })
    const url = new URL(`http://127.0.0.1:${origin}/hook?x=1`)
    const body = Buffer.from("payload")
    const before = performance.now()
    const answer = await Effect.runPromise(
      http.request({ ...outbound, method: "POST", url, headers: ["x-mine", "1"], body })
    )
    assert.strictEqual(answer.status, 302)
    assert.strictEqual(Buffer.from(answer.body).toString(), "payload")
    assert.include(answer.headers, "x-seen")
    assert.isAtMost(Duration.toMillis(answer.duration), performance.now() - before)
  })

  it("is refused, unreachable, too slow, too large or nonsense, each by name", async () => {
    const { port: hang } = await tcpOrigin(() => {})
    const { port: drip } = await tcpOrigin((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx"))
    const { port: noise } = await tcpOrigin((socket) => socket.write("noise\r\n\r\n"))
    const large = await httpOrigin((_, response) => response.end(Buffer.alloc(20_000)))
    const allowHosts = [hang, drip, noise, large, 1].map((port) => `127.0.0.1:${port}`)
    const http = await publicHttp({ allowHosts, bodyBytes: 10_000 })
    const of = (url: string, timeout = outbound.timeout) =>
      reason(http.request({ ...outbound, url: new URL(url), timeout }))
    const soon = Duration.millis(150)
    assert.strictEqual(await of("http://127.0.0.1/"), "ForbiddenAddress")
    assert.strictEqual(await of("http://127.0.0.1:1/"), "Unreachable")
    assert.strictEqual(await of(`http://127.0.0.1:${hang}/`, soon), "Timeout")
    assert.strictEqual(await of(`http://127.0.0.1:${drip}/`, soon), "Timeout")
    assert.strictEqual(await of(`http://127.0.0.1:${large}/`), "TooLarge")
    assert.strictEqual(await of(`http://127.0.0.1:${noise}/`), "BadResponse")
    const badHeader = http.request({
      ...outbound,
      url: new URL(`http://127.0.0.1:${large}/`),
      headers: ["x", "a\r\nb"]
    })
    assert.strictEqual(await reason(badHeader), "BadRequest")
  })

  it("closes its connection when interrupted", async () => {
    const reached = signal()
    const freed = signal()
    const { port: origin } = await tcpOrigin((socket) => {
      socket.on("close", () => freed.resolve())
      reached.resolve()
    })
    const http = await publicHttp({ allowHosts: [`127.0.0.1:${origin}`] })
    const fiber = Effect.runFork(http.request({ ...outbound, url: new URL(`http://127.0.0.1:${origin}/`) }))
    await reached.promise
    await Effect.runPromise(Fiber.interrupt(fiber))
    await freed.promise
  })
})
