import { once } from "node:events"
import { request as httpRequest } from "node:http"
import { connect, createServer } from "node:net"
import { Effect, Exit, Scope } from "effect"
import { afterEach, assert, describe, it } from "vitest"
import * as GuardedProxy from "#services/GuardedProxy.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { nameServer } from "./NameServer.ts"
import { closeAll, httpOrigin, tcpOrigin } from "./PublicHttpHarness.ts"

const scopes: Array<Scope.Closeable> = []
const closeProxies = async () => {
  for (const scope of scopes.splice(0)) await Effect.runPromise(Scope.close(scope, Exit.void))
}
afterEach(async () => {
  await closeProxies()
  await closeAll()
})

const opened = async (rules: Partial<PublicHttpPolicy>, limits: Partial<GuardedProxy.ProxyLimits> = {}) => {
  const scope = Scope.makeUnsafe()
  scopes.push(scope)
  const opening = GuardedProxy.open(
    { connections: 10, requests: 100, bytes: 10_000_000, ...limits },
    { ...PublicHttpPolicy.defaultValue(), ...rules }
  )
  return await Effect.runPromise(Scope.provide(opening, scope))
}

/** What a request in the clear through the proxy came to: its status and body, or `gone`. */
const get = (port: number, url: string, method = "GET", body?: string) =>
  new Promise<string>((resolve) => {
    const request = httpRequest(
      { port, method, path: url, headers: { host: new URL(url).host }, agent: false },
      (response) => {
        let text = ""
        response.on("data", (chunk: Buffer) => {
          text += chunk.toString()
        })
        response.on("error", () => resolve("gone"))
        response.on("end", () => resolve(`${response.statusCode} ${text}`))
      }
    )
    request.on("error", () => resolve("gone")).end(body)
  })

/** What is said through a tunnel, until it is closed. */
const tunnel = (port: number, authority: string, said = "") =>
  new Promise<string>((resolve) => {
    let received = ""
    const socket = connect(port, "127.0.0.1", () =>
      socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n${said}`)
    )
    socket.on("data", (chunk) => {
      received += chunk.toString()
    })
    socket.on("error", () => {})
    socket.on("close", () => resolve(received))
  })

describe("a browser's proxy", () => {
  it("outlives answers that are no answers", async () => {
    for (const answer of [
      "HTTP/1.1 000 Odd\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 101 Odd\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n",
      "HTTP/1.1 200 OK\r\nA: \u0001\r\nContent-Length: 0\r\n\r\n"
    ]) {
      const site = await tcpOrigin((socket) => socket.write(answer))
      const proxy = await opened({ allowHosts: [`127.0.0.1:${site.port}`] })
      assert.strictEqual(await get(proxy.port, `http://127.0.0.1:${site.port}/`), "502 ", answer)
      assert.isDefined(proxy.asked()[0]?.failure, answer)
    }
  })

  it("leaves no connection to a site behind that is made when it has ended", async () => {
    const site = createServer().listen(0, "127.0.0.1")
    await once(site, "listening")
    const address = site.address()
    const host = `localhost:${typeof address === "object" ? address?.port : ""}`
    const proxy = await opened({ allowHosts: [host] })
    const reached = once(site, "connection")
    const answer = get(proxy.port, `http://${host}/`)
    while (proxy.asked().length === 0) await new Promise((resolve) => setImmediate(resolve))
    await closeProxies()
    assert.strictEqual(await answer, "gone")
    const [socket] = await reached
    await once(socket.resume(), "close")
    site.close()
  })

  it("carries requests and tunnels to what is listed, and says what was asked", async () => {
    const seen: Array<unknown> = []
    const clear = await httpOrigin((request, response) => {
      let body = ""
      request.on("data", (chunk) => {
        body += String(chunk)
      })
      request.on("end", () => {
        seen.push([request.method, request.url, request.headers["proxy-connection"], body])
        response.writeHead(201, { "set-cookie": "a=1" }).end("roses")
      })
    })
    const raw = await tcpOrigin((socket) => socket.end("tulips"))
    const proxy = await opened({ allowHosts: [`127.0.0.1:${clear}`, `127.0.0.1:${raw.port}`] })
    assert.strictEqual(await get(proxy.port, `http://127.0.0.1:${clear}/a?b`, "POST", "one rose"), "201 roses")
    assert.deepStrictEqual(seen, [["POST", "/a?b", undefined, "one rose"]])
    const said = await tunnel(proxy.port, `127.0.0.1:${raw.port}`, "hello")
    assert.strictEqual(said, "HTTP/1.1 200 Connection Established\r\n\r\ntulips")
    assert.deepStrictEqual(proxy.asked(), [
      { method: "POST", target: `http://127.0.0.1:${clear}/a?b`, failure: undefined },
      { method: "CONNECT", target: `127.0.0.1:${raw.port}`, failure: undefined }
    ])
    assert.strictEqual(proxy.bytes(), "one rose".length + "roses".length + "hello".length + "tulips".length)
  })

  it("leads to nothing that a visit may not reach, and connects to nothing there", async () => {
    const secret = await tcpOrigin((socket) => socket.end("secret"))
    await nameServer({ "rebind.com": ["127.0.0.1"] }, async (address) => {
      const proxy = await opened({ nameServers: [address], ownHosts: ["turnpike.io"] })
      const hosts = [
        "127.0.0.1",
        "2130706433",
        "0x7f.1",
        "localhost",
        "[::1]",
        "[::ffff:7f00:1]",
        "169.254.169.254",
        "10.0.0.1"
      ]
      for (const host of [...hosts, "rebind.com", "turnpike.io"]) {
        for (const port of [443, 80, secret.port]) {
          assert.strictEqual(await tunnel(proxy.port, `${host}:${port}`), "HTTP/1.1 502 Bad Gateway\r\n\r\n", host)
          assert.strictEqual(await get(proxy.port, `http://${host}:${port}/`), "502 ", host)
        }
      }
      assert.isTrue(proxy.asked().every(({ failure }) => failure !== undefined))
      assert.strictEqual(await tunnel(proxy.port, "x@rebind.com:443"), "HTTP/1.1 403 Forbidden\r\n\r\n")
      assert.strictEqual(await tunnel(proxy.port, "rebind.com"), "HTTP/1.1 403 Forbidden\r\n\r\n")
    })
    assert.strictEqual(secret.connections(), 0)
  })

  it("is over with its requests, and with its bytes", async () => {
    const port = await httpOrigin((_, response) => response.end("a".repeat(60_000)))
    const allowHosts = [`127.0.0.1:${port}`]
    const url = `http://127.0.0.1:${port}/`
    const few = await opened({ allowHosts }, { requests: 2 })
    const statuses = [await get(few.port, url), await get(few.port, url), await get(few.port, url)]
    assert.deepStrictEqual(
      statuses.map((answer) => answer.slice(0, 3)),
      ["200", "200", "403"]
    )
    assert.lengthOf(few.asked(), 2)
    const little = await opened({ allowHosts }, { bytes: 100_000 })
    assert.strictEqual((await get(little.port, url)).length, 60_004)
    assert.strictEqual(await get(little.port, url), "gone")
    assert.strictEqual(await get(little.port, url), "403 ")
  })

  it("ends with its scope, tunnels and all", async () => {
    const raw = await tcpOrigin((socket) => socket.write("for ever"))
    const proxy = await opened({ allowHosts: [`127.0.0.1:${raw.port}`] })
    const tunnelled = tunnel(proxy.port, `127.0.0.1:${raw.port}`, "hello")
    while (proxy.bytes() < "hellofor ever".length) await new Promise((resolve) => setImmediate(resolve))
    await closeProxies()
    assert.match(await tunnelled, /for ever$/)
    assert.strictEqual(await get(proxy.port, `http://127.0.0.1:${raw.port}/`), "gone")
  })
})
