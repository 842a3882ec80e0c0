import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { rubricVersion } from "#domain/Rubric.ts"
import { newUuid } from "#services/NewId.ts"
import * as Fixture from "../shops/Fixture.ts"
import { jsonLd } from "../shops/Storefront.ts"
import * as WellBuilt from "../shops/WellBuilt.ts"
import { send, server } from "./GatewayHarness.ts"
import { callerWith, customer, visited } from "./ScannerHarness.ts"

const script = `"'><script>alert(1)</script><img src=x onerror=alert(1)>`

/** A shop that writes a script wherever somebody may show it. */
const hostile = Fixture.open((request, response, base) => {
  const url = new URL(request.url ?? "/", base)
  if (!["/", "/products/mug"].includes(url.pathname)) {
    return void response.writeHead(404, { "content-type": "text/html" }).end(`<title>${script}</title>`)
  }
  const node = { "@type": "Product", name: script, sku: script, brand: script, description: script, image: script }
  const offer = { "@type": "Offer", price: "5.00", priceCurrency: script, availability: script, url: url.href }
  const data = jsonLd({ "@context": "https://schema.org", ...node, offers: offer }).replace(
    "</script><img",
    "<\\/script><img"
  )
  const form = `<form action="/cart" method="post"><button name="${script.replaceAll('"', "&quot;")}">Add to cart</button></form>`
  response
    .writeHead(200, { "content-type": "text/html", "x-powered-by": "<script>alert(1)</script>" })
    .end(`<html><head><title>${script}</title>${data}</head><body><h1>${script}</h1><p>$5.00</p>
<a href="/products/mug">${script}</a>${form}<a href="javascript:alert(1)">Contact</a></body></html>`)
})

/** The path of an address of ours. */
const pathOf = (url: string) => url.replace(/^https?:\/\/[^/]+/, "")

layer(server, { timeout: "60 seconds", excludeTestServices: true })("a report", (it) => {
  const reported = Effect.gen(function* () {
    const shop = yield* visited(WellBuilt.open)
    const who = yield* customer()
    const scan = yield* who.call("POST", "/v1/scanner/scan", { domain: shop.domain })
    const test = yield* who.call("POST", "/v1/scanner/tests", { domain: shop.domain, test_type: "browse" })
    return { ...who, domain: shop.domain, scan: scan.json, test: test.json }
  })

  it.effect("opens for whoever has its address, and is shown to nobody else", () =>
    Effect.gen(function* () {
      const { call, principal, scan, test } = yield* reported
      const [scanPath, testPath] = [pathOf(scan.report_url), pathOf(test.report_url)]
      for (const path of [scanPath, testPath]) {
        const bare = path.slice(0, path.indexOf("?"))
        const status = Effect.fnUntraced(function* (at: string, key?: typeof call) {
          const answer = yield* key === undefined ? send(at) : key("GET", at)
          return [answer.status, answer.json?.code]
        })
        assert.deepStrictEqual(yield* status(path), [200, undefined])
        assert.deepStrictEqual(yield* status(bare, call), [200, undefined])
        assert.deepStrictEqual(yield* status(bare), [401, "MISSING_AUTH_HEADER"])
        assert.deepStrictEqual(yield* status(bare, yield* callerWith(principal, "scanner_key", ["scan"])), [
          403,
          "INSUFFICIENT_SCOPE"
        ])
        for (const wrong of ["", "x", `${path.slice(path.indexOf("=") + 1)}x`, "x".repeat(100)]) {
          assert.deepStrictEqual(yield* status(`${bare}?signature=${wrong}`), [403, "FORBIDDEN"], wrong)
        }
        assert.deepStrictEqual(yield* status(`${bare}?signature=${"x".repeat(101)}`), [400, "INVALID_REQUEST"])
        for (const none of ["?Signature=x", "?x?signature=x", "?x=?signature=x", "?%26signature=x"]) {
          assert.deepStrictEqual(yield* status(`${bare}${none}`), [401, "MISSING_AUTH_HEADER"], none)
        }
      }
      const signature = scanPath.slice(scanPath.indexOf("?"))
      for (const other of [
        `/v1/scanner/test/${test.id}`,
        `/v1/scanner/test/${scan.id}`,
        `/v1/scanner/scan/${newUuid()}`
      ]) {
        assert.strictEqual((yield* send(`${other}/report${signature}`)).status, 403, other)
      }
      assert.strictEqual((yield* call("GET", `/v1/scanner/scan/${newUuid()}/report`)).status, 404)
    })
  )

  it.effect("runs nothing, loads nothing, is kept by nobody, and is small", () =>
    Effect.gen(function* () {
      const { scan, test } = yield* reported
      for (const url of [scan.report_url, test.report_url]) {
        const { body, headers } = yield* send(pathOf(url))
        assert.strictEqual(headers["content-type"], "text/html; charset=utf-8")
        assert.match(
          String(headers["content-security-policy"]),
          /^default-src 'none'; img-src 'self'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/
        )
        assert.strictEqual(headers["cache-control"], "no-store")
        assert.strictEqual(headers["referrer-policy"], "no-referrer")
        assert.strictEqual(headers["x-robots-tag"], "noindex")
        assert.notMatch(body, /<script|<img|<link|<iframe|style="|\son\w+=/i)
        assert.isBelow(body.length, 100_000)
      }
    })
  )

  it.effect("readers of screens find where it begins", () =>
    Effect.gen(function* () {
      const { scan, test } = yield* reported
      for (const url of [scan.report_url, test.report_url]) {
        const { body } = yield* send(pathOf(url))
        assert.match(body, /<body>\s*<main>\s*<header>[\s\S]*<h1>[\s\S]*<\/main>\s*<\/body>/)
      }
    })
  )

  it.effect("shows every check with its evidence, and every request as it was sent", () =>
    Effect.gen(function* () {
      const { scan } = yield* reported
      const { body } = yield* send(pathOf(scan.report_url))
      for (const { id, message } of scan.checks) {
        assert.include(body, `id="${id}"`)
        assert.include(body, message.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("'", "&#39;"))
      }
      for (const { url } of scan.requests) assert.include(body, url.replaceAll("&", "&amp;"))
      assert.include(body, scan.vantage.user_agent)
    })
  )

  it.effect("shows what a hostile shop and a hostile caller wrote as text", () =>
    Effect.gen(function* () {
      const shop = yield* visited(hostile)
      const { call } = yield* customer()
      const order = { domain: shop.domain, merchant_name: script }
      const scan = yield* call("POST", "/v1/scanner/scan", order)
      const test = yield* call("POST", "/v1/scanner/tests", { domain: shop.domain, test_type: "search" })
      assert.include(scan.body, "<script>alert(1)</script>")
      for (const { json } of [scan, test]) {
        const { body, status } = yield* send(pathOf(json.report_url))
        assert.strictEqual(status, 200)
        assert.include(body, "&lt;script&gt;alert(1)")
        assert.notMatch(body, /<script|<img|href="javascript/i)
      }
    })
  )

  it.effect("has a badge for the merchant's own pages, which says the newest score to everybody", () =>
    Effect.gen(function* () {
      const { domain, scan } = yield* reported
      const shown = `>${scan.readiness_score}/100<`
      const spellings = [domain, encodeURIComponent(domain), `${domain}.svg`, encodeURIComponent(`HTTP://${domain}/`)]
      for (const spelling of spellings) {
        const { body, headers, status } = yield* send(`/v1/scanner/badge/${spelling}`)
        assert.deepStrictEqual([status, headers["content-type"]], [200, "image/svg+xml"], spelling)
        assert.strictEqual(headers["cache-control"], "public, max-age=300")
        assert.include(body, shown)
      }
      assert.include((yield* send("/v1/scanner/badge/nobody-scanned.com.svg")).body, ">not scanned<")
      assert.strictEqual((yield* send("/v1/scanner/badge/localhost")).json.code, "DOMAIN_NOT_ALLOWED")
      const gone = yield* visited(Effect.scoped(WellBuilt.open))
      const { call } = yield* customer()
      yield* call("POST", "/v1/scanner/scan", { domain: gone.domain })
      assert.include((yield* send(`/v1/scanner/badge/${gone.domain}`)).body, ">no score<")
    })
  )

  it.effect("stands on a rubric that everybody may read", () =>
    Effect.gen(function* () {
      const { scan } = yield* reported
      const { headers, json } = yield* send("/v1/scanner/rubric")
      assert.strictEqual(headers["cache-control"], "public, max-age=3600")
      assert.deepStrictEqual([json.version, scan.rubric_version], [rubricVersion, rubricVersion])
      assert.deepStrictEqual(
        scan.checks.map(({ group, id, max_points, spec, title }: Record<string, unknown>) => {
          return { id, group, title, points: max_points, spec }
        }),
        json.questions
      )
      for (const weights of [json.weights.shop, json.weights.service]) {
        const sum = Object.values<number>(weights).reduce((total, weight) => total + weight, 0)
        assert.closeTo(sum, 1, 1e-9)
      }
    })
  )
})
