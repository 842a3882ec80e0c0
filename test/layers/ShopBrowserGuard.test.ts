import { createSocket } from "node:dgram"
import { once } from "node:events"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { nameServer } from "../services/NameServer.ts"
import * as Fixture from "../shops/Fixture.ts"
import { browserOf, missing, open } from "./ShopBrowserHarness.ts"

/** Something on this machine that no page may reach. It counts whoever comes, over TCP and over UDP on the same port. */
const secret = Effect.acquireRelease(
  Effect.promise(async () => {
    const came: Array<string> = []
    const server = createServer((socket) => {
      came.push("tcp")
      socket.destroy()
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    const udp = createSocket("udp4").on("message", () => void came.push("udp"))
    udp.bind(port, "127.0.0.1")
    await once(udp, "listening")
    return { came, port, server, udp }
  }),
  ({ server, udp }) =>
    Effect.sync(() => {
      server.close()
      udp.close()
    })
)

/** Every way that a page has to make its browser talk to somebody. */
const hostile = (port: number, name: string) => `<!doctype html><title>Hostile</title>
<link rel="dns-prefetch" href="http://${name}:${port}/"><link rel="preconnect" href="http://127.0.0.1:${port}/">
<link rel="prefetch" href="http://127.0.0.1:${port}/prefetch"><link rel="stylesheet" href="http://127.0.0.1:${port}/style">
<img src="http://127.0.0.1:${port}/image"><iframe src="http://127.0.0.1:${port}/frame"></iframe><iframe src="http://localhost:${port}/frame"></iframe>
<iframe src="file:///etc/passwd"></iframe><iframe src="http://169.254.169.254/latest/meta-data/"></iframe>
<object data="http://127.0.0.1:${port}/object"></object><script src="http://[::ffff:127.0.0.1]:${port}/script"></script>
<script>
document.body.append("tried:")
const trying = (what, deed) => { try { Promise.resolve(deed()).then(() => {}, () => {}); document.body.append(" " + what) } catch (error) { document.body.append(" " + what + "!") } }
for (const host of ["127.0.0.1", "localhost", "0x7f.1", "2130706433", "0.0.0.0", "[::1]", "${name}"]) {
  trying("fetch", () => fetch("http://" + host + ":${port}/fetch", { mode: "no-cors" }))
  trying("socket", () => new WebSocket("ws://" + host + ":${port}/socket"))
  trying("beacon", () => navigator.sendBeacon("http://" + host + ":${port}/beacon", "x"))
  trying("source", () => new EventSource("http://" + host + ":${port}/source"))
}
trying("file", () => fetch("file:///etc/passwd"))
trying("worker", () => new Worker(URL.createObjectURL(new Blob(["new WebSocket('ws://127.0.0.1:${port}/w'); fetch('http://127.0.0.1:${port}/w', { mode: 'no-cors' })"]))))
trying("rtc", () => { const one = new RTCPeerConnection({ iceServers: [{ urls: "stun:127.0.0.1:${port}" }] }); one.createDataChannel("x"); return one.createOffer().then((offer) => one.setLocalDescription(offer)) })
trying("transport", () => new WebTransport("https://127.0.0.1:${port}/transport").ready)
trying("popup", () => window.open("http://127.0.0.1:${port}/popup"))
</script>`

if (missing !== undefined) {
  it("the browser's guard was not tried: this machine has no browser", () => assert.match(missing ?? "", /no browser/))
} else {
  describe("a page in our browser", () => {
    it.effect("reaches nothing on this machine or beside it, by no means that a browser has", () =>
      Effect.gen(function* () {
        const { came, port } = yield* secret
        const fixture = yield* Fixture.open((_request, response) => {
          response.setHeader("content-type", "text/html").end(hostile(port, "rebind.com"))
        })
        yield* Effect.promise(() =>
          nameServer({ "rebind.com": ["127.0.0.1"] }, (address) =>
            Effect.gen(function* () {
              const browser = yield* browserOf({ allowHosts: [fixture.domain], nameServers: [address] })
              const { show } = yield* open(browser, fixture.url)
              const shown = yield* show(new URL(fixture.url))
              assert.isTrue("html" in shown && shown.html.includes("popup"), "all was tried")
              assert.isFalse("html" in shown && shown.html.includes("root:x:"))
            }).pipe(Effect.scoped, Effect.runPromise)
          )
        )
        assert.deepStrictEqual(came, [])
      })
    )

    it.effect("reaches what the deployment lists, so the page above does try", () =>
      Effect.gen(function* () {
        const { came, port } = yield* secret
        const fixture = yield* Fixture.open((_request, response) => {
          response.setHeader("content-type", "text/html").end(hostile(port, "rebind.com"))
        })
        const browser = yield* browserOf({ allowHosts: [fixture.domain, `127.0.0.1:${port}`] })
        const { show } = yield* open(browser, fixture.url)
        yield* show(new URL(fixture.url))
        assert.include(came, "tcp")
        assert.notInclude(came, "udp", "nothing goes past the proxy")
      })
    )

    it.effect("is sent nowhere by a redirect either, and no file is shown", () =>
      Effect.gen(function* () {
        const { came, port } = yield* secret
        const fixture = yield* Fixture.open((request, response) => {
          const to = new URL(request.url ?? "/", "http://shop").searchParams.get("to") ?? ""
          response.writeHead(302, { location: to }).end()
        })
        const browser = yield* browserOf({ allowHosts: [fixture.domain] })
        const { show } = yield* open(browser, fixture.url)
        const targets = [
          `http://127.0.0.1:${port}/`,
          `http://localhost:${port}/`,
          "http://169.254.169.254/",
          "http://10.0.0.1/"
        ]
        for (const target of targets) {
          const shown = yield* show(new URL(`/?to=${encodeURIComponent(target)}`, fixture.url))
          assert.isTrue("failure" in shown || shown.status === 502, `${target} ${JSON.stringify(shown)}`)
        }
        const file = yield* show(new URL(`/?to=${encodeURIComponent("file:///etc/passwd")}`, fixture.url))
        assert.notInclude(JSON.stringify(file), "root:x:")
        for (const url of [
          "file:///etc/passwd",
          "chrome://version",
          "data:text/html,x",
          "view-source:http://x.example/"
        ]) {
          assert.deepStrictEqual(yield* show(new URL(url)), { failure: "Only pages of the web are shown." })
        }
        assert.deepStrictEqual(came, [])
      })
    )
  })
}
