import { Effect } from "effect"
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import { afterEach, assert, describe, it } from "vitest"
import type { SiteRequest } from "#services/SiteVisits.ts"
import { closeAll, httpOrigin } from "./PublicHttpHarness.ts"
import { answered, closeVisits, told, visitOf } from "./SiteVisitsHarness.ts"

afterEach(async () => {
  await closeVisits()
  await closeAll()
})

describe("a visit", () => {
  it("shows the site as it answers, and what we sent", async () => {
    const seen: Array<string | undefined> = []
    const port = await httpOrigin((request, response) => {
      seen.push(request.headers["user-agent"])
      response.writeHead(200, { "content-type": "Text/HTML", "x-a": ["1", "2"], "set-cookie": ["a=1", "b=2"] })
      response.end("<h1>Shop</h1>")
    })
    const visit = await visitOf(`127.0.0.1:${port}`)
    const home = await answered(visit, "/")
    assert.deepStrictEqual(
      [home.status, home.text, home.bytes, home.isTruncated, home.setCookies, home.contentType, home.httpVersion],
      [200, "<h1>Shop</h1>", 13, false, ["a=1", "b=2"], "text/html", "HTTP/1.1"]
    )
    assert.deepStrictEqual([home.headers.get("x-a"), home.challenge, home.redirects], ["1, 2", undefined, []])
    assert.strictEqual(visit.cookies(home.url), "a=1; b=2")
    assert.deepStrictEqual(seen, ["TurnpikeScanner/1.0 (+https://turnpike.test/docs/scanner)"])
    const [made] = visit.requests()
    assert.isDefined(made)
    assert.deepInclude(made, {
      method: "GET",
      url: `http://127.0.0.1:${port}/`,
      user_agent: seen[0] ?? "",
      status: 200
    })
  })

  it("reads every coding and charset of the web, and files that are gzip themselves", async () => {
    const page = Buffer.from("<p>Rosé</p>")
    const bodies: Record<string, [Buffer, Record<string, string>]> = {
      "/gzip": [gzipSync(page), { "content-encoding": "gzip" }],
      "/deflate": [deflateSync(page), { "content-encoding": "deflate" }],
      "/raw": [deflateRawSync(page), { "content-encoding": "Deflate" }],
      "/br": [brotliCompressSync(page), { "content-encoding": "br" }],
      "/zstd": [zstdCompressSync(page), { "content-encoding": "zstd" }],
      "/twice": [gzipSync(brotliCompressSync(page)), { "content-encoding": "br, gzip" }],
      "/file": [gzipSync(page), { "content-type": "application/gzip" }],
      "/latin": [Buffer.from("<p>Rosé</p>", "latin1"), { "content-type": "text/html; charset=ISO-8859-1" }],
      "/mark": [Buffer.from("\uFEFF<p>Rosé</p>", "utf16le"), { "content-type": "text/html; charset=utf-8" }],
      "/none": [page, { "content-encoding": "identity", "content-type": "text/html; charset=unheard-of" }]
    }
    const meta = '<meta charset="windows-1252"><p>Rosé</p>'
    bodies["/meta"] = [Buffer.from(meta, "latin1"), { "content-type": "text/html" }]
    const port = await httpOrigin((request, response) => {
      const [body, headers] = bodies[request.url ?? ""] ?? [page, {}]
      response.writeHead(200, headers).end(body)
    })
    const visit = await visitOf(`127.0.0.1:${port}`)
    for (const path of Object.keys(bodies)) {
      assert.strictEqual((await answered(visit, path)).text, path === "/meta" ? meta : "<p>Rosé</p>", path)
    }
  })

  it("is over with its budget, of which a redirect takes its part", async () => {
    const port = await httpOrigin((request, response) => {
      response.writeHead(request.url === "/a" ? 301 : 200, { location: "/b" }).end("yes")
    })
    const visit = await visitOf(`127.0.0.1:${port}`, { limits: { requests: 3 } })
    const outcomes = [await told(visit, "/"), await told(visit, "/a"), await told(visit, "/")]
    assert.deepStrictEqual(outcomes, ["200", "200", "budget"])
    assert.deepStrictEqual(
      visit.requests().map(({ status, url }) => [new URL(url).pathname, status]),
      [
        ["/", 200],
        ["/a", 301],
        ["/b", 200]
      ]
    )
  })

  it("reads little of what comes instead of what was asked for, but all of what answers a form", async () => {
    const port = await httpOrigin((request, response) => {
      response.writeHead(request.url === "/" ? 200 : 404).end(Buffer.alloc(1_400_000, "a"))
    })
    const visit = await visitOf(`127.0.0.1:${port}`)
    const read = async (request: SiteRequest) => {
      const { bytes, isTruncated } = await answered(visit, request)
      return [bytes, isTruncated]
    }
    assert.deepStrictEqual(await read({ url: "/" }), [1_400_000, false])
    assert.deepStrictEqual(await read({ url: "/missing" }), [256_000, true])
    assert.deepStrictEqual(await read({ url: "/", isDocument: true }), [256_000, true])
    assert.deepStrictEqual(await read({ url: "/form", method: "POST", body: "a=1" }), [1_400_000, false])
  })

  it("keeps something to read for what puts things back", async () => {
    const port = await httpOrigin((_, response) => response.end(Buffer.alloc(1_000_000, "a")))
    const visit = await visitOf(`127.0.0.1:${port}`, {
      limits: { reserveBytes: 1_000_000 },
      policy: { visitBytes: 2_000_000 }
    })
    assert.strictEqual((await answered(visit, "/")).bytes, 1_000_000)
    assert.strictEqual(await told(visit, "/"), "budget")
    assert.deepInclude(await answered(visit, { url: "/", isTidying: true }), { bytes: 1_000_000, isTruncated: false })
    assert.strictEqual(await told(visit, { url: "/", isTidying: true }), "budget")
  })

  it("resolves addresses against the home page as it was reached, and says how it was led there", async () => {
    const port = await httpOrigin((request, response) => {
      response.writeHead(request.url === "/" ? 302 : 200, { location: "/en/" }).end(request.url)
    })
    const visit = await visitOf(`127.0.0.1:${port}`)
    const home = await answered(visit, "/")
    assert.deepStrictEqual([home.url.pathname, home.redirects.map(({ status }) => status)], ["/en/", [302]])
    assert.strictEqual((await answered(visit, "cart")).text, "/en/cart")
    assert.strictEqual((await answered(visit, { url: "/", followsRedirects: false })).status, 302)
  })

  it("sends to another host neither cookies, headers nor a body of the first", async () => {
    const seen: Array<unknown> = []
    const note = (name: string, asked: { method?: string | undefined; headers: Record<string, unknown> }) => {
      seen.push([
        name,
        asked.method,
        asked.headers["cookie"],
        asked.headers["cart-token"],
        asked.headers["content-type"]
      ])
    }
    const other = await httpOrigin((request, response) => {
      note("other", request)
      response.end()
    })
    const port = await httpOrigin((request, response) => {
      note("shop", request)
      const status = Number(request.url?.slice(1))
      const headers = { location: `http://127.0.0.1:${other}/`, "set-cookie": "sid=1" }
      response.writeHead(status > 0 ? status : 200, headers).end()
    })
    const visit = await visitOf(`127.0.0.1:${port}`, { rules: { allowHosts: [`127.0.0.1:${other}`] } })
    await told(visit, "/")
    const post = {
      method: "POST",
      headers: [
        ["Cart-Token", "t"],
        ["Content-Type", "text/plain"]
      ],
      body: "me@example.com"
    } as const
    assert.strictEqual(await told(visit, { ...post, url: "/303" }), "200")
    assert.strictEqual(await told(visit, { ...post, url: "/307" }), "307", "it would be ours to send again")
    assert.deepStrictEqual(seen, [
      ["shop", "GET", undefined, undefined, undefined],
      ["shop", "POST", "sid=1", "t", "text/plain"],
      ["other", "GET", undefined, undefined, undefined],
      ["shop", "POST", "sid=1", "t", "text/plain"]
    ])
  })

  it("refuses requests that say for themselves what a visit says, or that are none", async () => {
    const visit = await visitOf("127.0.0.1:1")
    assert.strictEqual(await told(visit, { url: "/", headers: [["cookie", "a=1"]] }), "bad_request")
    assert.strictEqual(await told(visit, { url: "/", headers: [["X-A", "a\r\nB: c"]] }), "bad_request")
    assert.strictEqual(await told(visit, `/${"a".repeat(5000)}`), "bad_request")
    assert.strictEqual(await told(visit, "/"), "unreachable")
  })
})

describe("a site that asks who we are", () => {
  const wall = async (status: number, headers: Record<string, string>) => {
    const seen: Array<string> = []
    const port = await httpOrigin((request, response) => {
      const isOurs = request.headers["user-agent"]?.startsWith("Turnpike") === true
      seen.push(`${isOurs ? "agent" : "browser"} ${request.url}`)
      if (isOurs && request.url !== "/robots.txt") response.writeHead(status, headers)
      response.end("roses")
    })
    return { visit: await visitOf(`127.0.0.1:${port}`), seen }
  }

  it("is left alone after its first challenge, but for one look as a browser", async () => {
    const { seen, visit } = await wall(403, { "cf-mitigated": "challenge" })
    assert.strictEqual((await answered(visit, "/")).challenge?.vendor, "cloudflare")
    assert.strictEqual(await told(visit, "/a"), "challenged")
    assert.strictEqual(await told(visit, { url: "/", as: "browser" }), "200")
    assert.strictEqual(await told(visit, { url: "/b", as: "browser" }), "challenged")
    assert.strictEqual(await told(visit, { url: "/c", obeysRobots: true }), "challenged")
    assert.deepStrictEqual(visit.challenge(), { vendor: "cloudflare", marker: "cf-mitigated: challenge" })
    assert.deepStrictEqual(seen, ["agent /", "browser /"])
  })

  it("is left alone when it says that it is too much, and when it says until when also by the browser", async () => {
    const some = await wall(429, {})
    assert.deepStrictEqual([await told(some.visit, "/"), await told(some.visit, "/a")], ["429", "rate_limited"])
    assert.strictEqual(await told(some.visit, { url: "/", as: "browser" }), "200")
    assert.isUndefined(some.visit.challenge())
    const later = await wall(503, { "retry-after": "120" })
    assert.deepStrictEqual([await told(later.visit, "/"), await told(later.visit, "/a")], ["503", "rate_limited"])
    assert.strictEqual(await told(later.visit, { url: "/", as: "browser" }), "rate_limited")
    assert.deepStrictEqual(later.seen, ["agent /"])
  })

  it("that sends everybody to where they are until its cookie comes back is seen as a browser too, which has one of its own", async () => {
    const cookies: Array<string | undefined> = []
    const port = await httpOrigin((request, response) => {
      const { cookie } = request.headers
      cookies.push(cookie)
      if (cookie !== undefined) return response.end("roses")
      response.writeHead(307, { location: request.url, "set-cookie": `visitor=${cookies.length}` }).end()
    })
    const visit = await visitOf(`127.0.0.1:${port}`)
    assert.strictEqual(await told(visit, "/"), "200")
    assert.strictEqual(await told(visit, { url: "/", as: "browser" }), "200")
    assert.deepStrictEqual(cookies, [undefined, "visitor=1", undefined, "visitor=3"])
  })

  it("that challenges a browser alone is still open to us", async () => {
    const port = await httpOrigin((request, response) => {
      const isOurs = request.headers["user-agent"]?.startsWith("Turnpike") === true
      response.writeHead(isOurs ? 200 : 403, isOurs ? {} : { "cf-mitigated": "challenge" }).end()
    })
    const visit = await visitOf(`127.0.0.1:${port}`)
    assert.strictEqual(await told(visit, { url: "/", as: "browser" }), "403")
    assert.deepStrictEqual([await told(visit, "/"), visit.challenge()], ["200", undefined])
    assert.strictEqual(await told(visit, { url: "/", as: "browser" }), "challenged")
  })
})

describe("a robots.txt", () => {
  const shop = async (status: number, robots: string) => {
    const seen: Array<string> = []
    const port = await httpOrigin((request, response) => {
      seen.push(request.url ?? "")
      if (request.url === "/robots.txt") response.writeHead(status).end(robots)
      else response.writeHead(request.url === "/moved" ? 302 : 200, { location: "/private/x" }).end("page")
    })
    return { visit: await visitOf(`127.0.0.1:${port}`), seen }
  }
  const obeying = (url: string) => ({ url, obeysRobots: true })

  it("is asked for once, and forbids what it forbids us, also after a redirect", async () => {
    const { seen, visit } = await shop(
      200,
      "User-agent: turnpikescanner\nDisallow: /private\n\nUser-agent: *\nDisallow: /"
    )
    const paths = ["/", "/private/x", "/moved"]
    const outcomes = await Promise.all(paths.map((path) => told(visit, obeying(path))))
    assert.deepStrictEqual(outcomes, ["200", "robots", "robots"])
    assert.strictEqual((await answered(visit, "/robots.txt")).status, 200)
    assert.deepStrictEqual([...seen].sort(), ["/", "/moved", "/robots.txt"])
  })

  it("is named where it forbids, as a site that redirects has several", async () => {
    const { visit } = await shop(200, "User-agent: TurnpikeScanner\nDisallow: /private")
    const outcome = await Effect.runPromise(visit.ask(obeying("/moved")))
    assert.include(outcome, { detail: `Disallow: /private (${visit.site.home.origin}/robots.txt)` })
  })

  it("binds a single look, also as a browser, by what it says to us by name, and not by what it says to everybody", async () => {
    const looks = [{ url: "/private/x" }, { url: "/private/x", as: "browser" as const }, { url: "/moved" }]
    const outcomes = async (agent: string) => {
      const { visit } = await shop(200, `User-agent: ${agent}\nDisallow: /private`)
      const first = await told(visit, { url: "/private/x", obeysRobots: "named" })
      const rest = []
      for (const look of looks) rest.push(await told(visit, look))
      return [first, ...rest]
    }
    assert.deepStrictEqual(await outcomes("TurnpikeScanner"), ["robots", "robots", "robots", "robots"])
    assert.deepStrictEqual(await outcomes("*"), ["200", "200", "200", "200"])
  })

  it("that is missing forbids nothing, and one whose server is in trouble everything", async () => {
    assert.strictEqual(await told((await shop(404, "")).visit, obeying("/")), "200")
    const { seen, visit } = await shop(500, "")
    assert.strictEqual(await told(visit, obeying("/")), "robots")
    assert.deepStrictEqual(seen, ["/robots.txt"])
  })
})
