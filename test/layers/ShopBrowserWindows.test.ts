import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fixture from "../shops/Fixture.ts"
import { browserOf, missing, open } from "./ShopBrowserHarness.ts"

const order = "fetch('/place-order', { method: 'POST' }); navigator.sendBeacon('/place-order', 'x')"
const form = (id: string) => `<form id="${id}" target="_blank" method="post" action="/place-order"></form>`
/** Every way that a page has to open another window, in which it then orders. */
const opening = `<h1>Windows</h1>${form("one")}<a id="link" target="_blank" href="/window">More</a>
<iframe srcdoc="<script>open('/window')</script>"></iframe><iframe src="/frame"></iframe><script>
const attempts = () => { open("/window"); open("/window", "_blank", "noopener"); document.getElementById("one").submit(); document.getElementById("link").click() }
attempts(); addEventListener("load", attempts); document.body.append("tried")</script>`

/** Every way that a page has to a worker of no page. */
const sharing = `<h1>Workers</h1><iframe id="frame"></iframe><script>
const blob = URL.createObjectURL(new Blob(["fetch(" + JSON.stringify(location.origin + "/place-order") + ", { method: 'POST' })"]))
for (const of of [globalThis, frame.contentWindow]) for (const script of [location.origin + "/worker.js", blob])
  try { new of.SharedWorker(script) } catch {}
document.body.append("tried")</script>`

/** Every way that a page has to order, by itself or by a redirect that carries it on. */
const ordering = ["/place-order", "/moved"]
  .map(
    (to) => `
fetch("${to}", { method: "POST", keepalive: true }).catch(() => {}); navigator.sendBeacon("${to}", "x")
globalThis.fetchLater?.("${to}", { method: "POST" }); addEventListener("pagehide", () => navigator.sendBeacon("${to}", "x"))
addEventListener("pagehide", () => navigator.sendBeacon("/unread", new Uint8Array([31, 139])))
{ const source = "fetch('" + location.origin + "${to}', { method: 'POST', mode: 'no-cors' })"
  new Worker(URL.createObjectURL(new Blob([source]))); new Worker("/worker.js?${to}")
  for (const sandbox of [undefined, "allow-scripts allow-forms"]) {
    const frame = document.createElement("iframe")
    if (sandbox) frame.sandbox = sandbox
    frame.srcdoc = "<script>" + source + "<\\/script><form method=post action=${to}></form><script>document.forms[0].submit()<\\/script>"
    document.body.append(frame)
  }
}`
  )
  .join("\n")
/** What a worker says over a socket meets no route at all. */
const talking = `fetch(location.search.slice(1), { method: "POST" }); try { new WebSocket(location.origin.replace("http", "ws") + "/socket") } catch {}`
const talkingPage =
  "new Worker(URL.createObjectURL(new Blob(['new WebSocket(\"' + location.origin.replace('http', 'ws') + '/socket\")'])))"

const shown = (url: URL, listed: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { show } = yield* open(yield* browserOf({ allowHosts: listed }), url.href)
    const first = yield* show(url)
    const again = yield* show(url)
    return [first, again].map((one) => ("html" in one ? one.html : assert.fail(one.failure)))
  })

if (missing !== undefined) {
  it("windows were not tried: this machine has no browser", () => assert.match(missing ?? "", /no browser/))
} else {
  describe("a page in our browser", () => {
    it.effect("opens no other window, and so orders in none", () =>
      Effect.gen(function* () {
        const asked: Array<string> = []
        const fixture = yield* Fixture.open((request, response) => {
          asked.push(`${request.method} ${request.url}`)
          const frame = `<script>open('/window'); ${order}</script>`
          response.setHeader("content-type", "text/html")
          response.end(request.url === "/" ? opening : request.url === "/frame" ? frame : `<script>${order}</script>`)
        })
        const [html = ""] = yield* shown(new URL(fixture.url), [fixture.domain])
        assert.include(html, "tried")
        assert.deepStrictEqual([...new Set(asked)].sort(), ["GET /", "GET /frame"])
      })
    )

    it.effect("has no worker that it shares, whose orders no route would see", () =>
      Effect.gen(function* () {
        const asked: Array<string> = []
        const fixture = yield* Fixture.open((request, response) => {
          asked.push(`${request.method} ${request.url}`)
          const isScript = request.url === "/worker.js"
          response.setHeader("content-type", isScript ? "text/javascript" : "text/html")
          response.end(isScript ? order : sharing)
        })
        const [html = ""] = yield* shown(new URL(fixture.url), [fixture.domain])
        assert.include(html, "tried")
        assert.deepStrictEqual([...new Set(asked)], ["GET /"])
      })
    )

    it.effect("orders by nobody: no frame of another site or in a sandbox, no worker, and no redirect of theirs", () =>
      Effect.gen(function* () {
        const asked: Array<string> = []
        const fixture = yield* Fixture.open((request, response) => {
          const { method = "", url = "" } = request
          asked.push(`${method} ${url} ${request.headers.host?.split(":")[0] ?? ""}`)
          if (url === "/moved") return void response.writeHead(307, { location: "/place-order" }).end()
          const isScript = url.startsWith("/worker.js")
          response.setHeader("content-type", isScript ? "text/javascript" : "text/html")
          const beside = `<iframe src="http://localhost:${new URL(fixture.url).port}/frame"></iframe><link rel="prefetch" href="/place-order">`
          const page = `<h1>Orders</h1>${url === "/" ? beside : ""}<script>${ordering}; ${talkingPage}; document.body.append("tried")</script>`
          response.end(isScript ? talking : url === "/place-order" ? "ordered" : page)
        })
        const { port } = new URL(fixture.url)
        const [html = ""] = yield* shown(new URL(fixture.url), [fixture.domain, `localhost:${port}`])
        assert.include(html, "tried")
        assert.include(asked, "POST /moved localhost", "the frame of another site did try")
        assert.deepStrictEqual(
          asked.filter((one) => /^\/(?:place-order|unread|socket)/.test(one.split(" ")[1] ?? "")),
          []
        )
      })
    )

    it.effect("is what the site sent: compressed, in its own characters, with all its cookies", () =>
      Effect.gen(function* () {
        const cookies: Array<string | undefined> = []
        const fixture = yield* Fixture.open((request, response) => {
          cookies.push(request.headers.cookie)
          response.writeHead(200, {
            "content-type": "text/html; charset=iso-8859-2",
            "content-encoding": "gzip",
            "set-cookie": ["a=1; Path=/; HttpOnly", "b=2; Path=/"]
          })
          response.end(gzipSync(Buffer.from([...Buffer.from("<h1>"), 0xa3, 0xf3, 0x64, 0xbc, ...Buffer.from("</h1>")])))
        })
        const [html = ""] = yield* shown(new URL(fixture.url), [fixture.domain])
        assert.include(html, "<h1>Łódź</h1>")
        assert.deepStrictEqual(cookies, [undefined, "a=1; b=2"])
      })
    )
  })
}
