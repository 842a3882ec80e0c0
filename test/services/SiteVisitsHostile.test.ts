import type { ServerResponse } from "node:http"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { Duration } from "effect"
import { afterEach, assert, beforeAll, describe, it } from "vitest"
import { closeAll, httpOrigin, tcpOrigin } from "./PublicHttpHarness.ts"
import { answered, closeVisits, told, visitOf } from "./SiteVisitsHarness.ts"

afterEach(async () => {
  await closeVisits()
  await closeAll()
})

const hurried = { limits: { perRequest: Duration.millis(400), duration: Duration.seconds(4) } }
const megabyte = Buffer.alloc(1_000_000, "a")

/** Sends as fast as it is taken, for ever. */
const endless = (response: ServerResponse) => {
  const more = () => {
    while (!response.destroyed && response.write(megabyte));
  }
  response.on("drain", more)
  more()
}

describe("a hostile site", () => {
  let bombs: Record<string, Buffer> = {}
  beforeAll(() => {
    const zeros = Buffer.alloc(200_000_000)
    bombs = {
      gzip: gzipSync(zeros, { level: 1 }),
      br: brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
    }
  })

  it("with an endless body is cut at the cap, and its connection closed", async () => {
    const closed = Promise.withResolvers<void>()
    const port = await httpOrigin((_, response) => {
      response.on("close", () => closed.resolve())
      response.writeHead(200, { "content-type": "text/html" })
      endless(response)
    })
    const visit = await visitOf(`127.0.0.1:${port}`)
    const { bytes, isTruncated, text } = await answered(visit, "/")
    assert.deepStrictEqual([bytes, text.length, isTruncated], [3_000_000, 3_000_000, true])
    await closed.promise
  })

  it("is cut earlier when others like it are being read, and no ordinary page is", async () => {
    const port = await httpOrigin((request, response) => {
      if (request.url === "/small") response.end(megabyte.subarray(0, 400_000))
      else endless(response.writeHead(200))
    })
    const visit = await visitOf(`127.0.0.1:${port}`, { policy: { bytesUnderWay: 700_000 } })
    const { bytes, isTruncated } = await answered(visit, "/")
    assert.isTrue(isTruncated && bytes <= 700_000 && bytes > 600_000, String(bytes))
    const full = await visitOf(`127.0.0.1:${port}`, { policy: { bytesUnderWay: 0 } })
    assert.deepInclude(await answered(full, "/small"), { bytes: 400_000, isTruncated: false })
  })

  it("is read less of when visits keep much already, until they let it go", async () => {
    const port = await httpOrigin((_, response) => endless(response.writeHead(200)))
    const visit = await visitOf(`127.0.0.1:${port}`, { policy: { keptBytes: 3_500_000, smallVisit: 100_000 } })
    const first = await answered(visit, "/")
    assert.strictEqual(first.bytes, 3_000_000)
    assert.strictEqual((await answered(visit, "/")).bytes, 500_000)
    assert.strictEqual(await told(visit, "/"), "budget")
    visit.letGo(first)
    visit.letGo(first)
    assert.strictEqual((await answered(visit, "/")).bytes, 3_000_000)
    assert.strictEqual(await told(visit, "/"), "budget", "it was kept once, and is let go once")
  })

  it("gives back all but the beginning that is kept of it", async () => {
    const port = await httpOrigin((_, response) => endless(response.writeHead(200)))
    const visit = await visitOf(`127.0.0.1:${port}`, { policy: { keptBytes: 3_000_000, smallVisit: 100_000 } })
    visit.letGo(await answered(visit, "/"), 1_000)
    assert.strictEqual((await answered(visit, "/")).bytes, 2_999_000)
  })

  it.each(["gzip", "br"])("with a bomb in %s is cut at the cap, in little memory", async (coding) => {
    const port = await httpOrigin((_, response) => {
      response.writeHead(200, { "content-encoding": coding }).end(bombs[coding])
    })
    const visit = await visitOf(`127.0.0.1:${port}`, { policy: { visitBytes: 12_000_000 } })
    const before = process.memoryUsage.rss()
    for (let i = 0; i < 4; i++) {
      const { bytes, isTruncated } = await answered(visit, "/")
      assert.deepStrictEqual([bytes, isTruncated], [3_000_000, true])
    }
    assert.isBelow(process.memoryUsage.rss() - before, 100_000_000)
    assert.strictEqual(await told(visit, "/"), "budget", "a visit reads so much and no more")
  })

  it("whose codings are nonsense has answered nothing", async () => {
    const codings: Record<string, string> = { "/broken": "gzip", "/unknown": "rot13", "/many": "gzip, gzip, gzip" }
    const port = await httpOrigin((request, response) => {
      response.writeHead(200, { "content-encoding": codings[request.url ?? ""] }).end("no such thing")
    })
    const visit = await visitOf(`127.0.0.1:${port}`)
    for (const path of Object.keys(codings)) assert.strictEqual(await told(visit, path), "bad_response", path)
  })

  it("that drips, or is silent, or never ends its headers, costs the time of a request", async () => {
    const drips: Array<NodeJS.Timeout> = []
    const head = "HTTP/1.1 200 OK\r\n"
    const drip = (start: string) =>
      tcpOrigin((socket) => {
        socket.write(start)
        drips.push(setInterval(() => socket.write(start === head ? "x: y\r\n" : "a"), 10))
      })
    const sites = await Promise.all([drip(`${head}\r\n`), drip(head), tcpOrigin(() => {})])
    for (const { port } of sites) {
      const visit = await visitOf(`127.0.0.1:${port}`, hurried)
      assert.strictEqual(await told(visit, "/"), "timeout")
      assert.deepInclude(visit.requests()[0], { status: null, failure: "timeout" })
    }
    for (const timer of drips) clearInterval(timer)
  })

  it("that redirects for ever is followed five times", async () => {
    const port = await httpOrigin((request, response) => {
      response.writeHead(302, { location: `/${Number(request.url?.slice(1)) + 1}` })
      endless(response)
    })
    const visit = await visitOf(`127.0.0.1:${port}`)
    assert.strictEqual(await told(visit, "/0"), "too_many_redirects")
    assert.lengthOf(visit.requests(), 6)
  })

  it("with headers without end, informational answers without end, or no HTTP has answered nothing", async () => {
    const answers = [
      `HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(20_000)}\r\n`,
      "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1000),
      "SSH-2.0-OpenSSH_9.2\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort"
    ]
    for (const answer of answers) {
      const { port } = await tcpOrigin((socket) => socket.end(answer))
      const visit = await visitOf(`127.0.0.1:${port}`)
      assert.strictEqual(await told(visit, "/"), "bad_response", answer.slice(0, 30))
    }
  })

  it("has so many cookies kept and no more", async () => {
    const port = await httpOrigin((request, response) => {
      const cookies = Array.from({ length: 60 }, (_, index) => `${request.url?.slice(1)}${index}=${"v".repeat(100)}`)
      response.writeHead(200, { "set-cookie": cookies }).end()
    })
    const visit = await visitOf(`127.0.0.1:${port}`)
    for (const path of ["/a", "/b", "/c"]) await told(visit, path)
    const kept = visit.cookies(new URL(`http://127.0.0.1:${port}/`)).split("; ")
    assert.lengthOf(kept, 100)
    assert.isTrue(kept.at(-1)?.startsWith("c59="))
  })

  it("that closes each connection without a word is not reached", async () => {
    const { port } = await tcpOrigin((socket) => socket.destroy())
    assert.strictEqual(await told(await visitOf(`127.0.0.1:${port}`), "/"), "unreachable")
  })
})
