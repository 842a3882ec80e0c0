import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import type { PublicHttp } from "#services/PublicHttp.ts"
import type { PostOutcome } from "#services/PublicHttp/Posting.ts"
import { authority } from "./Certificates.ts"
import { nameServer } from "./NameServer.ts"
import { closeAll, httpOrigin, publicHttp, standStill, tcpOrigin } from "./PublicHttpHarness.ts"

afterEach(closeAll)

const post = (http: PublicHttp["Service"], origin: string, timeoutMillis = 110_000) =>
  new Promise<PostOutcome>((resolve) =>
    http.post({ origin, path: "/", headers: [], body: Buffer.from("{}"), timeoutMillis, kept: 16_384 }, resolve)
  )
const cameOf = async (http: PublicHttp["Service"], origin: string, timeoutMillis?: number) => {
  const { answer, failure } = await post(http, origin, timeoutMillis)
  return failure ?? answer?.status
}

describe("a message to a name", () => {
  it("that nobody knows, whose servers are silent, or that leads to where nobody may call, is not sent", async () => {
    const records = {
      "private.example": ["10.0.0.1"],
      "mixed.example": ["192.0.43.7", "127.0.0.1"],
      "silent.example": null
    }
    await nameServer(records, async (address) => {
      const http = await publicHttp({ nameServers: [address] })
      assert.strictEqual(await cameOf(http, "https://nobody.example"), "dns")
      assert.strictEqual(await cameOf(http, "https://silent.example", 300), "timeout")
      assert.strictEqual(await cameOf(http, "https://private.example"), "forbidden_address")
      assert.strictEqual(await cameOf(http, "https://mixed.example"), "forbidden_address")
    })
  })

  it("is not sent where the name cannot be asked about: nobody refused it", async () => {
    // Nobody listens at port 1.
    const http = await publicHttp({ nameServers: ["127.0.0.1:1"] })
    assert.strictEqual(await cameOf(http, "https://somebody.example"), "dns")
    assert.strictEqual(await cameOf(http, `https://${"a".repeat(64)}.example`), "dns")
  })

  it("is judged again for every connection: a name that changes its address leads nowhere new", async () => {
    const records: Record<string, ReadonlyArray<string>> = {}
    const port = await httpOrigin((_, response) => response.writeHead(200, { connection: "close" }).end())
    const asked = await nameServer(records, async (address) => {
      const http = await publicHttp({ nameServers: [address] })
      records["rebind.example"] = []
      assert.strictEqual(await cameOf(http, "https://rebind.example"), "dns")
      records["rebind.example"] = ["127.0.0.1"]
      assert.strictEqual(await cameOf(http, "https://rebind.example"), "forbidden_address")
      assert.strictEqual(await cameOf(http, `http://127.0.0.1:${port}`), "forbidden_address")
    })
    assert.isAtLeast(asked.length, 3)
  })
})

describe("a message over TLS", () => {
  const trusted = getCACertificates("default")
  const { cert, certify } = authority(Date.now())
  beforeAll(() => setDefaultCACertificates([...trusted, cert]))
  afterAll(() => setDefaultCACertificates(trusted))

  const serves = async (...of: Parameters<typeof certify>) => {
    const server = createServer(certify(...of), (_, response) => response.end("yes"))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return { port: (server.address() as AddressInfo).port, close: () => server.close() && server.closeAllConnections() }
  }

  it.each([
    ["that is good", "localhost", 1, 1, 200],
    ["that has expired", "localhost", 2, -1, "tls"],
    ["that is not valid yet", "localhost", -1, 2, "tls"],
    ["of another host", "elsewhere.example", 1, 1, "tls"]
  ] as const)("with a certificate %s", async (_, host, before, after, outcome) => {
    const { close, port } = await serves(host, before, after)
    const http = await publicHttp({ allowLoopback: true })
    assert.strictEqual(await cameOf(http, `https://localhost:${port}`), outcome)
    close()
  })

  it("with a certificate that proves no server", async () => {
    const { close, port } = await serves("localhost", 1, 1, true)
    const http = await publicHttp({ allowLoopback: true })
    assert.strictEqual(await cameOf(http, `https://localhost:${port}`), "tls")
    close()
  })

  it("is not sent to a host by the session of another", async () => {
    const { close, port } = await serves("localhost", 1, 1)
    const http = await publicHttp({ allowLoopback: true })
    assert.strictEqual(await cameOf(http, `https://localhost:${port}`), 200)
    assert.strictEqual(await cameOf(http, `https://127.0.0.1:${port}`), "tls")
    assert.strictEqual(await cameOf(http, `https://other.localhost:${port}`), "tls")
    close()
  })
})

describe("an answer", () => {
  it("that drips byte by byte is kept whole up to what is kept", async () => {
    const body = "0123456789".repeat(200)
    const port = await httpOrigin((_, response) => {
      response.writeHead(200)
      let at = 0
      const timer = setInterval(() => {
        for (let count = 0; count < 50 && at < body.length; count++) response.write(body[at++])
        if (at === body.length) {
          clearInterval(timer)
          response.end()
        }
      }, 1)
    })
    const { answer } = await post(await publicHttp({ allowLoopback: true }), `http://127.0.0.1:${port}`)
    assert.strictEqual(Buffer.from(answer?.body ?? []).toString(), body)
    assert.isFalse(answer?.truncated)
  })

  it("with a hostile header has it as text, and one with two bodies' lengths is none", async () => {
    const says = async (head: string) =>
      (await tcpOrigin((socket) => void socket.end(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n`))).port
    const http = await publicHttp({ allowLoopback: true })
    const odd = await post(http, `http://127.0.0.1:${await says("X-Odd: \xff\xfe <script>\r\nContent-Length: 0")}`)
    assert.strictEqual(odd.answer?.headers[0], "X-Odd")
    const port = await says("Content-Length: 0\r\nContent-Length: 5")
    assert.strictEqual(await cameOf(http, `http://127.0.0.1:${port}`), "bad_response")
  })

  it("that came while this process stood still is one, although its time was over then", async () => {
    const port = await httpOrigin((_, response) => standStill(() => response.end()))
    assert.strictEqual(await cameOf(await publicHttp({ allowLoopback: true }), `http://127.0.0.1:${port}`, 200), 200)
  })
})
