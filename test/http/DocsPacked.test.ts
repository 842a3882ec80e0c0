import { assert, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { takesGzip } from "#http/Docs/Packed.ts"
import * as Harness from "./PlatformHarness.ts"
import { ask, entrance } from "./PlatformHarness.ts"

it("gzip is sent to whoever names it and does not refuse it", () => {
  for (const codings of ["gzip", "br, gzip", "deflate,GZIP;q=0.5", "x-gzip", "gzip ; q=1.000"]) {
    assert.isTrue(takesGzip(codings), codings)
  }
  for (const codings of [undefined, "", "br", "identity", "gzip;q=0", "gzip; q=0.000", "br, gzip;q=0, *", "gzipped"]) {
    assert.isFalse(takesGzip(codings), codings)
  }
})

layer(Harness.layer(), { excludeTestServices: true, timeout: "60 seconds" })(
  "the reference and the description",
  (it) => {
    it.effect("are compressed to a third or less, for whoever takes that, and the same to everybody", () =>
      Effect.gen(function* () {
        const { base } = yield* entrance
        for (const path of ["/docs", "/openapi.json"]) {
          const plain = yield* ask(base + path, { headers: { "accept-encoding": "identity" } })
          const zipped = yield* ask(base + path, { headers: { "accept-encoding": "gzip" } })
          assert.isNull(plain.headers.get("content-encoding"))
          assert.strictEqual(zipped.headers.get("content-encoding"), "gzip")
          assert.isTrue(zipped.text === plain.text, path)
          assert.isBelow(Number(zipped.headers.get("content-length")) * 3, Number(plain.headers.get("content-length")))
          assert.strictEqual(plain.headers.get("vary"), "accept-encoding")
          for (const name of ["content-type", "content-security-policy", "etag"]) {
            assert.strictEqual(zipped.headers.get(name), plain.headers.get(name), name)
          }
        }
      })
    )

    it.effect("are not sent again to whoever has them", () =>
      Effect.gen(function* () {
        const { base } = yield* entrance
        for (const path of ["/docs", "/openapi.json"]) {
          const first = yield* ask(base + path)
          const tag = first.headers.get("etag") ?? ""
          assert.strictEqual(first.headers.get("cache-control"), "no-cache")
          for (const asked of [tag, `"other", ${tag}`, tag.replace("W/", ""), "*"]) {
            const again = yield* ask(base + path, { headers: { "if-none-match": asked } })
            assert.deepStrictEqual([again.status, again.text, again.headers.get("etag")], [304, "", tag], asked)
          }
          const changed = yield* ask(base + path, { headers: { "if-none-match": 'W/"other"' } })
          assert.deepStrictEqual([changed.status, changed.text === first.text], [200, true])
        }
      })
    )

    it.effect("keep a policy that a page has of its own", () =>
      Effect.gen(function* () {
        const { base } = yield* entrance
        const { headers } = yield* ask(`${base}/docs/scanner`)
        assert.match(
          headers.get("content-security-policy") ?? "",
          /^default-src 'none'; img-src 'self'; style-src 'sha256-[^']+'; base-uri/
        )
      })
    )
  }
)
