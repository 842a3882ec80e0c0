import { assert, describe, it } from "vitest"
import { readPage } from "#domain/page/Page.ts"
import { isProductSitemap } from "#domain/page/ProductUrl.ts"
import { productCandidates } from "#domain/scan/Candidates.ts"
import { addressAt } from "#domain/scan/SiteAddress.ts"
import { cpuTime } from "../CpuTime.ts"

const origin = "https://shop.example"
const candidates = (
  { listed = [], locations = [] }: { listed?: ReadonlyArray<string>; locations?: ReadonlyArray<string> },
  isShop = true
) =>
  productCandidates({
    origin,
    platform: null,
    home: undefined,
    catalogue: [],
    sitemap: { products: [], listed, locations },
    isShop
  })

describe("a sitemap of products", () => {
  it("is told by its address from one of what they are sorted into", () => {
    const yes = ["/product-sitemap.xml", "/xmlsitemap.php?type=products&page=1", "/sitemap_products_1.xml"]
    const no = [
      "/product_cat-sitemap.xml",
      "/product_tag-sitemap.xml",
      "/product-categories.xml",
      "/product-brands.xml"
    ]
    assert.deepStrictEqual(
      [...yes, ...no, "/pages.xml"].map((path) => isProductSitemap(origin + path)),
      [...yes.map(() => true), ...no.map(() => false), false]
    )
    assert.isFalse(isProductSitemap("https://products.example/pages.xml"))
  })
})

describe("where products may be", () => {
  it("is all that a sitemap of products lists, before what only might be one", () => {
    const found = candidates({ listed: [`${origin}/kettle/`, `${origin}/shop/`], locations: [`${origin}/things/mug`] })
    assert.deepStrictEqual(found, [`${origin}/kettle/`, `${origin}/things/mug`])
  })

  it("is what stands below all that it is sorted into, by turns with what stands nearer", () => {
    const locations = [
      "/women/tops",
      "/women/coats",
      "/s/Ref/mens/ties/25752986M.html",
      "/women/tops/tees/nova-tee.html"
    ]
    assert.deepStrictEqual(
      candidates({ locations: locations.map((path) => origin + path) }),
      ["/women/coats", "/s/Ref/mens/ties/25752986M.html", "/women/tops", "/women/tops/tees/nova-tee.html"].map(
        (path) => origin + path
      )
    )
  })

  it("is one step with several words as the last resort, of a shop alone", () => {
    const locations = [
      "/brewing",
      "/able-brewing-system/",
      "/about-us",
      "/privacy-policy",
      "/coffee-mugs",
      "/things/mug"
    ]
    const found = candidates({ locations: locations.map((path) => origin + path) })
    assert.deepStrictEqual(
      found,
      ["/things/mug", "/able-brewing-system/", "/coffee-mugs"].map((path) => origin + path)
    )
    assert.deepStrictEqual(candidates({ locations: found }, false), [])
  })

  it("is such a step wherever its hyphens are, and no step that only begins or ends with one", () => {
    const found = candidates({ locations: ["/-red-cup", "/a--b", "/-a", "/a-", "/--"].map((path) => origin + path) })
    assert.deepStrictEqual(
      found,
      ["/-red-cup", "/a--b"].map((path) => origin + path)
    )
  })

  it("is told in no time of a hundred addresses of nothing but hyphens", () => {
    const locations = Array.from({ length: 100 }, (_, index) => `${origin}/${index}${"-p".repeat(2000)}/x/-`)
    const before = cpuTime()
    assert.deepStrictEqual(candidates({ locations }), [])
    assert.isBelow(cpuTime() - before, 250)
  })

  it("is one step of one word after all else, where a link says a price before it", () => {
    const link = (href: string, text: string) => `<a href="${href}">${text}</a>`
    const home = readPage(
      [
        link("/kom", "Kom € 12,00"),
        link("/over-ons-twee", "Over ons"),
        link("/kassa", "Kassa"),
        link("/winkelwagen", "Winkelwagen € 0,00"),
        link("/vaas", "Vaas"),
        link("/nl", "Nederlands"),
        link("/cart", "Cart € 0,00")
      ].join(" "),
      new URL(origin)
    )
    const found = (isShop: boolean) =>
      productCandidates({
        origin,
        platform: null,
        home,
        catalogue: [],
        sitemap: { products: [], listed: [], locations: [] },
        isShop
      }).map((href) => new URL(href).pathname)
    assert.deepStrictEqual(found(true), ["/kom", "/over-ons-twee", "/vaas"])
    assert.deepStrictEqual(found(false), [])
  })

  it("is no page of a brand, a category or a tag", () => {
    const locations = ["/brands/acme", "/brand/acme/", "/product-category/mugs/large/", "/product-tag/red"]
    assert.deepStrictEqual(candidates({ listed: locations.map((path) => origin + path) }), [])
  })

  it("is asked at the origin that answers, however the site lists it", () => {
    const listed = ["http://shop.example/kettle", "https://www.shop.example/mug", "https://other.example/cup"]
    assert.deepStrictEqual(candidates({ listed }), [`${origin}/kettle`, `${origin}/mug`])
    assert.strictEqual(addressAt("http://www.shop.example", `${origin}/a?b=c#d`)?.href, "http://www.shop.example/a?b=c")
    assert.strictEqual(addressAt(origin, "http://www.shop.example//x.example/a")?.host, "shop.example")
    for (const address of ["https://shop.example:8443/a", "mailto:a@shop.example", "https://x.shop.example/"]) {
      assert.isUndefined(addressAt(origin, address), address)
    }
  })
})

describe("pages of a system that serve its customers", () => {
  it("are none of its products, though they stand as deep", () => {
    const locations = [
      "/catalogsearch/advanced/",
      "/customer/account/login/referer/aHR0cDovLw~~/",
      "/sales/guest/form/",
      "/search/term/popular/",
      "/sales/chairs/"
    ].map((path) => origin + path)
    assert.deepStrictEqual(candidates({ locations }), [`${origin}/sales/chairs/`])
  })
})
