import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, Queue } from "effect"
import { TestClock } from "effect/testing"
import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { type AddressInfo, createServer } from "node:net"
import { gzipSync } from "node:zlib"
import { cpuTime } from "../domain/CpuTime.ts"
import { ScanEngine } from "#services/ScanEngine.ts"
import * as Fixture from "../shops/Fixture.ts"
import { page, productNode, send, wares } from "../shops/Storefront.ts"
import * as WellBuilt from "../shops/WellBuilt.ts"
import { engine, type ScanOptions, scanOf } from "./ScanEngineHarness.ts"
import { setClock } from "./SetClock.ts"

/** What every scan must keep to, whatever the site does. */
const requests = 24

/** A well-built shop of which one path answers otherwise. */
const shopWith = (path: RegExp, answer: (response: ServerResponse, base: string) => void) =>
  Fixture.open((request, response, base) => {
    if (path.test(request.url ?? "")) answer(response, base)
    else void WellBuilt.pages(request, response, base)
  })

const insideBudget = Effect.fnUntraced(function* (
  shop: ReturnType<typeof shopWith>,
  limits: NonNullable<ScanOptions["limits"]> = {}
) {
  const { domain } = yield* shop
  const before = cpuTime()
  const found = yield* scanOf(domain, { limits })
  assert.isAtMost(cpuTime() - before, 9_500)
  assert.isAtMost(found.requests.length, requests)
  return found
})

/** Refuses every handshake, as who speaks another version of TLS does, and answers nothing over http. */
const refusingTls = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer((socket) => {
      socket.on("error", () => undefined)
      socket.once("data", ([first]: Uint8Array) => {
        if (first === 0x16) socket.end(Uint8Array.of(0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28))
        else socket.destroy()
      })
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    return { server, port: (server.address() as AddressInfo).port }
  }),
  ({ server }) => Effect.sync(() => server.close())
)

/** Limits in virtual time, in which nothing waits for its turn. */
const timed = (limits: { readonly duration: Duration.Input; readonly perRequest: Duration.Input }) => ({
  duration: Duration.fromInputUnsafe(limits.duration),
  perRequest: Duration.fromInputUnsafe(limits.perRequest),
  pace: Duration.zero
})
const statusOf = (found: Effect.Success<ReturnType<typeof insideBudget>>, id: string) =>
  found.checks.find((check) => check.id === id)?.status

/** Writes without end, as fast as it is read. */
const endless = (response: ServerResponse) => {
  response.writeHead(200, { "content-type": "text/html" })
  const more = () => {
    while (!response.destroyed && response.write("<p>more and more of the same</p>".repeat(2_000)));
  }
  response.on("drain", more)
  response.on("error", () => undefined)
  more()
}

describe("a scan of a hostile site", () => {
  it.live("reads an endless page as far as it may, and goes on", () =>
    Effect.gen(function* () {
      const found = yield* insideBudget(shopWith(/^\/cart$/, endless))
      assert.strictEqual(found.status, "completed")
      assert.strictEqual(statusOf(found, "product_json_ld"), "pass")
      assert.isAtMost(Math.max(...found.requests.map(({ bytes }) => bytes)), 3_100_000)
    }).pipe(Effect.scoped)
  )

  it.live("opens a gzip bomb no further than a page may be long", () =>
    Effect.gen(function* () {
      const bomb = gzipSync(Buffer.alloc(200_000_000, " "))
      const bombed = yield* insideBudget(
        shopWith(/^\/products\//, (response) => {
          response.writeHead(200, { "content-type": "text/html", "content-encoding": "gzip" })
          response.end(bomb)
        })
      )
      assert.strictEqual(bombed.status, "completed")
      assert.strictEqual(statusOf(bombed, "product_json_ld"), "unknown")
    }).pipe(Effect.scoped)
  )

  it.live("takes from a sitemap of 100,000 entries what it needs", () =>
    Effect.gen(function* () {
      const found = yield* insideBudget(
        shopWith(/^\/sitemap\.xml$/, (response, base) => {
          const urls = Array.from({ length: 100_000 }, (_, i) => `<url><loc>${base}/products/thing-${i}</loc></url>`)
          send(response, 200, `<?xml version="1.0"?><urlset>${urls.join("")}</urlset>`, {
            "content-type": "application/xml"
          })
        })
      )
      assert.strictEqual(statusOf(found, "sitemap_products"), "pass")
      assert.strictEqual(found.status, "completed")
    }).pipe(Effect.scoped)
  )

  it.live("is not overturned by JSON-LD that is nested without end", () =>
    Effect.gen(function* () {
      const deep = `${'{"@type":"Product","isRelatedTo":'.repeat(20_000)}{}${"}".repeat(20_000)}`
      const [ware] = wares
      const found = yield* insideBudget(
        shopWith(/^\/products\//, (response, base) => {
          const node = ware === undefined ? "" : productNode(base, ware, `/products/${ware.handle}`)
          const script = `<script type="application/ld+json">${deep}</script>`
          send(response, 200, page(base, ware?.name ?? "", `<p>$${ware?.price}</p>`, `${script}${node}`))
        })
      )
      assert.strictEqual(found.status, "completed")
      assert.notStrictEqual(statusOf(found, "product_json_ld"), "fail")
    }).pipe(Effect.scoped)
  )

  it.effect("gives up on an answer that drips, and says that it was not seen", () =>
    Effect.gen(function* () {
      const dripping = yield* Queue.unbounded<void>()
      const shop = shopWith(/^\/(?:products|cart|checkout)/, (response) => {
        response.writeHead(200, { "content-type": "text/html" })
        const drip = setInterval(() => response.write("<"), 20)
        response.on("close", () => clearInterval(drip))
        Queue.offerUnsafe(dripping, undefined)
      })
      // Time passes where something drips, and nowhere else.
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(Queue.take(dripping), TestClock.adjust("600 millis"))))
      const found = yield* insideBudget(shop, timed({ duration: "2 seconds", perRequest: "600 millis" }))
      assert.strictEqual(found.status, "completed")
      for (const id of ["product_json_ld", "works_without_javascript", "guest_checkout", "no_captcha"]) {
        assert.strictEqual(statusOf(found, id), "unknown", id)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("ends when its time is over, however slow everything is and whatever time it is set to be", () =>
    Effect.gen(function* () {
      const { clock, set } = yield* setClock
      const slow = yield* Queue.unbounded<void>()
      const shop = Fixture.open((request, response, base) => {
        if (request.url === "/" || request.url === "/robots.txt") void WellBuilt.pages(request, response, base)
        else Queue.offerUnsafe(slow, undefined)
      })
      const limits = timed({ duration: "1500 millis", perRequest: "1 minute" })
      const scanning = yield* Effect.forkScoped(Effect.provideService(insideBudget(shop, limits), Clock.Clock, clock))
      yield* Queue.take(slow)
      set.by = -86_400_000
      yield* TestClock.adjust("1499 millis")
      assert.isUndefined(scanning.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      const found = yield* Fiber.join(scanning)
      assert.strictEqual(found.scan_duration_ms, 1500)
      assert.strictEqual(found.status, "completed")
      assert.isEmpty(found.checks.filter(({ group, status }) => status === "fail" && group !== "protocol"))
      assert.strictEqual(found.confidence, "low")
    }).pipe(Effect.scoped)
  )

  it.live("follows no redirect to an address that is not public", () =>
    Effect.gen(function* () {
      const { asked, domain: inner } = yield* Fixture.open((_, response) => send(response, 200, "secret"))
      const shop = shopWith(/^\/(?:cart|checkout)$/, (response) => {
        send(response, 302, "", { location: `http://${inner}/` })
      })
      const found = yield* insideBudget(shop)
      assert.deepStrictEqual(asked, [])
      assert.strictEqual(statusOf(found, "guest_checkout"), "unknown")
    }).pipe(Effect.scoped)
  )

  it.live("is not told that its certificate is not valid where the two do not agree on TLS", () =>
    Effect.gen(function* () {
      const { port } = yield* refusingTls
      const scanning = Effect.gen(function* () {
        const { scan } = yield* ScanEngine
        const site = { domain: `127.0.0.1:${port}`, home: new URL(`https://127.0.0.1:${port}/`) }
        return yield* scan(site, { merchant_category: null })
      })
      const found = yield* Effect.provide(scanning, engine([`127.0.0.1:${port}`]))
      assert.strictEqual(found.status, "failed")
      assert.match(found.error_message ?? "", /^TLS with the site fails, and http does not answer: ERR_SSL\S+\.$/)
    }).pipe(Effect.scoped)
  )
})
