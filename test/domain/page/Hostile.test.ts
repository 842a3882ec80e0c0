import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { accountWall, guestMarks } from "#domain/page/Accounts.ts"
import { addToCart } from "#domain/page/AddToCart.ts"
import { checkoutFields } from "#domain/page/CheckoutFields.ts"
import { readContentSignals } from "#domain/page/ContentSignals.ts"
import { readJson } from "#domain/page/JsonText.ts"
import { readLlmsTxt } from "#domain/page/LlmsTxt.ts"
import { pageLimits, readPage } from "#domain/page/Page.ts"
import { treeLimits } from "#domain/page/PageTree.ts"
import { platformOf } from "#domain/page/Platform.ts"
import { policyLinks } from "#domain/page/PolicyLinks.ts"
import { readPrices } from "#domain/page/Price.ts"
import { priceVerdict } from "#domain/page/PriceShown.ts"
import { looksLikeProduct } from "#domain/page/ProductUrl.ts"
import { readSitemap, sitemapLimits } from "#domain/page/Sitemap.ts"
import { cpuTime } from "../CpuTime.ts"

const url = new URL("https://shop.example/products/mug")

/** Everything that reads a page, one after the other. */
const readAll = (html: string) => {
  const facts = readPage(html, url)
  addToCart(facts)
  guestMarks(facts)
  accountWall(facts, url)
  policyLinks(facts)
  checkoutFields([...facts.controls, ...facts.forms.flatMap((form) => form.controls)])
  priceVerdict(facts, facts.products[0]?.offers[0]?.price ?? "1")
  platformOf(facts, new Map(), [], html)
  return facts
}

const length = 3_000_000
const filled = (piece: string) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length)

/** Texts of three megabytes that are slow for a reader that is careless somewhere. */
const traps: Record<string, string> = {
  "tags that are never closed": filled("<b>"),
  "blocks that are never closed": filled("<div><p>"),
  "ends without beginnings": `${"<i>".repeat(500)}${filled("</b>")}`,
  "an element with very many attributes": `<p ${filled('a1="x" b2 ')}>`,
  "different attributes": `<p ${Array.from({ length: 100_000 }, (_, index) => `a${index}="x"`).join(" ")}>`,
  "an attribute without an end": `<a href="${filled("x&amp;")}`,
  "forms in forms": filled("<form><input name=a>"),
  "labels without ends": filled("<label>x<input>"),
  "lists of lists": filled("<ul><li>"),
  "options without ends": `<select>${filled("<option>a")}`,
  "headings in headings": filled("<h1>a<span>"),
  spaces: `<a href="/x">${filled(" ")}</a>`,
  "a number without an end": `<p>${filled("1")}`,
  "numbers with marks": `<p>${filled("1,234.")}`,
  prices: `<p>${filled("$19 ")}`,
  "words that begin like others": `<p>${filled("add to the my shopping ")}`,
  "a word without an end": filled("d"),
  "words of a platform": filled("Magento_A"),
  "comments that do not end": filled("<!--"),
  "hosts of payment providers without an end": `<script>${filled("static-checkoutshopper-live")}</script>`,
  scripts: filled("<script>x</script>"),
  "lists in JSON": `<script type="application/ld+json">${"[".repeat(1_000_000)}</script>`,
  "objects in JSON": `<script type="application/ld+json">${'{"a":'.repeat(500_000)}</script>`,
  "closed lists in JSON": `<script type="application/ld+json">${"[".repeat(400_000)}${"]".repeat(400_000)}</script>`,
  "wide JSON": `<script type="application/ld+json">[${'{"@type":"Product","offers":[{}]},'.repeat(80_000)}{}]</script>`,
  "comments in JSON": `<script type="application/ld+json">{${"/*".repeat(400_000)}</script>`,
  "things in things": filled('<div itemscope itemprop="a">'),
  dialogs: filled('<div role="dialog">are you over '),
  classes: `<p class="${filled("g-recaptcha ")}">`,
  entities: `<p>${filled("&amp;")}`,
  styles: filled('<p style="display : ">'),
  "foreign content": filled("<svg><title>"),
  links: filled('<a href="/p">p</a>')
}

describe("any text is a page", () => {
  for (const [name, html] of Object.entries(traps)) {
    it(`reads ${name} in bounded time`, () => {
      const before = cpuTime()
      const facts = readAll(html)
      // Ten times what it takes.
      assert.isBelow(cpuTime() - before, 3_000)
      assert.isAtMost(facts.visibleText.length, pageLimits.text)
      assert.isAtMost(facts.jsonLd.length, 200)
      assert.isAtMost(facts.links.length, pageLimits.links)
    })
  }

  it("never throws, whatever the text", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "<",
        ">",
        "</",
        "/>",
        "<form",
        "<input ",
        "<script type=application/ld+json>",
        "</script>",
        '"',
        "'",
        "=",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "itemscope",
        "itemprop=price",
        '{"@type":"Product"',
        '"@graph":[',
        "}",
        "]",
        ",",
        "$19",
        "1.234,56 €",
        "<svg>",
        "</svg>",
        "<noscript>",
        "<select><option>",
        "<label for=a>",
        "&#x110000;",
        "&#0;",
        "\u0000",
        "\ud800",
        "<p hidden>"
      ),
      fc.string({ maxLength: 20 })
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const text = pieces.join("")
        readAll(text)
        readJson(text)
        readLlmsTxt(text)
        readContentSignals(text)
        readSitemap(text)
        readSitemap(`<urlset><url><loc>${text}</loc></url></urlset>`)
        readPrices(text)
        looksLikeProduct(text)
      }),
      { numRuns: 300 }
    )
  })

  it("reads what JSON writes as it was, also with tolerance", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = JSON.stringify(value)
        assert.deepStrictEqual(readJson(text), { value: JSON.parse(text) })
        assert.deepStrictEqual(readJson(`/* a */ [${text},]`), { value: [JSON.parse(text)] })
      }),
      { numRuns: 200 }
    )
  })

  it("flattens what is nested too deeply and keeps the text", () => {
    const deep = treeLimits.depth + 200
    const facts = readPage(`${"<div>".repeat(deep)}inside${"</div>".repeat(deep)}<h1>After</h1>`, url)
    assert.include(facts.visibleText, "inside")
    assert.strictEqual(facts.headings[0]?.text, "After")
  })
})

describe("any text may be a sitemap", () => {
  const entry = (index: number) =>
    `<url><loc>https://shop.example/products/p${index}</loc><lastmod>2026-10-01</lastmod></url>`

  it("stops at the number of entries that the standard allows", () => {
    const xml = `<urlset>${Array.from({ length: 100_000 }, (_, index) => entry(index)).join("")}</urlset>`
    const map = readSitemap(xml)
    assert.strictEqual(map?.entries, sitemapLimits.entries)
    assert.strictEqual(map?.locs.length, sitemapLimits.kept)
    assert.isTrue(map?.isCut)
  })

  it("expands no entities that the document declares", () => {
    const xml = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/hostname">]>
<urlset><url><loc>https://shop.example/products/&b;&f;</loc></url>${entry(1)}</urlset>`
    const map = readSitemap(xml)
    assert.isFalse(map?.locs.some((loc) => loc.includes("aaaa")) ?? true)
    assert.include(map?.locs ?? [], "https://shop.example/products/p1")
  })

  it("stops where elements are nested too deeply, and where attributes have no end", () => {
    const before = cpuTime()
    assert.isTrue(readSitemap(`<urlset>${"<url>".repeat(500_000)}`)?.isCut)
    readSitemap(`<urlset><url ${"a ".repeat(1_000_000)}`)
    readSitemap(`<!DOCTYPE ${"x".repeat(3_000_000)}`)
    readSitemap(`<urlset>${"&".repeat(3_000_000)}`)
    assert.isBelow(cpuTime() - before, 5_000)
  })
})
