import { assert, describe, it } from "vitest"
import { readContentSignals } from "#domain/page/ContentSignals.ts"
import { readLlmsTxt } from "#domain/page/LlmsTxt.ts"
import { looksLikeProduct } from "#domain/page/ProductUrl.ts"
import { readSitemap, sitemapReader } from "#domain/page/Sitemap.ts"
import { productCandidates } from "#domain/scan/Candidates.ts"

describe("a sitemap", () => {
  const xml = `<?xml version="1.0" encoding="UTF-8"?>
    <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
    <url><loc>https://shop.example/</loc></url>
    <url><loc> https://shop.example/products/mug?a=1&amp;b=2 </loc><lastmod>2026-10-02T10:00:00Z</lastmod>
      <image:image><image:loc>https://cdn.example/products/mug.jpg</image:loc></image:image></url>
    <url><loc><![CDATA[https://shop.example/products/cup]]></loc><lastmod>2026-09-01</lastmod></url></urlset>`

  it("tells its addresses, which are products, and the newest change", () => {
    const map = readSitemap(xml)
    assert.deepInclude(map, { kind: "urlset", entries: 3, productEntries: 2, isCut: false, problem: null })
    assert.deepStrictEqual(map?.products, [
      "https://shop.example/products/cup",
      "https://shop.example/products/mug?a=1&b=2"
    ])
    assert.strictEqual(map?.newest, Date.parse("2026-10-02T10:00:00Z"))
  })

  it("is the same however it is cut into pieces", () => {
    const reader = sitemapReader()
    for (const character of xml) reader.write(character)
    assert.deepStrictEqual(reader.end(), readSitemap(xml))
  })

  it("tells the same addresses in whatever order a site lists itself, however many there are", () => {
    const lines = Array.from(
      { length: 5_000 },
      (_, index) => `https://shop.example/products/${(index * 7_919) % 5_000}`
    )
    const map = readSitemap(lines.join("\n"))
    assert.deepStrictEqual(readSitemap(lines.toReversed().join("\n")), map)
    assert.deepStrictEqual(map?.products, lines.toSorted().slice(0, 1_000))
    assert.deepStrictEqual(map?.locs, map?.products)
    assert.strictEqual(map?.productEntries, 5_000)
  })

  it("may be an index, or a list of lines", () => {
    assert.deepInclude(
      readSitemap("<sitemapindex><sitemap><loc>https://shop.example/s1.xml.gz</loc></sitemap></sitemapindex>"),
      {
        kind: "index",
        locs: ["https://shop.example/s1.xml.gz"]
      }
    )
    assert.strictEqual(readSitemap("https://shop.example/a\nhttps://shop.example/products/b\n")?.productEntries, 1)
  })

  it("is no page, feed or text", () => {
    for (const text of ["", "<!doctype html><html><body>Not found</body></html>", "<rss></rss>", "not found", "{}"]) {
      assert.isUndefined(readSitemap(text), text)
    }
  })

  it("that breaks off is read up to there", () => {
    assert.strictEqual(
      readSitemap("<urlset><url><loc>https://shop.example/products/a</loc></url><url><loc>https://sho")?.entries,
      1
    )
  })
})

describe("the address of a product", () => {
  it("is known by the platform's form or a common one", () => {
    for (const [path, platform] of [
      ["/products/mug", "shopify"],
      ["/collections/all/products/mug", "shopify"],
      ["/product/mug/", "woocommerce"],
      ["/produkt/tasse/", "woocommerce"],
      ["/mugs/12-blue-mug.html", "prestashop"],
      ["/index.php?route=product/product&product_id=40", "opencart"],
      ["/blue-mug/p", "vtex"],
      ["/de/shop/furn-8888-office-lamp-6", "odoo"],
      ["/shop/lamps-8/office-lamp-6", "odoo"],
      ["/dp/B00ABC", null],
      ["/index.php?route=product/product&product_id=50", "opencart"],
      ["/index.php?action=view&pid=50", null],
      ["/index.php?rt=product/product&product_id=50", null],
      ["/index.php?main_page=product_info&cPath=1_9&products_id=3", null],
      ["/index.php?main_page=document_general_info&cPath=64&products_id=170", null],
      ["/product_info.php?products_id=27", null],
      ["/p/blue-mug-1234", null],
      ["/blue-mug-12345.html", null],
      ["/shop/item.php?it_id=1000000001", null],
      ["/product/detail.html?product_no=12&cate_no=1", null],
      ["/goods/goods_view.php?goodsNo=1000000077", null],
      ["/shop/shopdetail.html?branduid=1234", null],
      ["/goods.php?id=12", null],
      ["/product.php?lang=de&id=7", null],
      ["/product_detail.aspx?ItemCode=A-1", null],
      ["/item?id=7", null]
    ] as const) {
      assert.isTrue(looksLikeProduct(`https://shop.example${path}`, platform), path)
    }
  })

  it("is no category, blog, policy, cart or file, nor what does something with a product", () => {
    for (const path of [
      "/",
      "/collections/all",
      "/blogs/news/products/",
      "/pages/about",
      "/cart",
      "/product-category/mugs/",
      "/products",
      "/products/mug.jpg",
      "/policies/refund-policy",
      "/products.json",
      "/cart.php?action=add&product_id=77",
      "/product/mug/?add-to-cart=3",
      "/index.php?route=account/wishlist/add&product_id=50",
      "/index.php?rt=content/contact&product_id=54&product_name=Mug",
      "/index.php?main_page=product_reviews_info&products_id=27",
      "/index.php?main_page=ask_a_question&pid=27",
      "/product_reviews.php?products_id=27",
      "/tell_a_friend.php?products_id=27",
      "/itemuse.php?it_id=1000000001",
      "/itemqaform.php?it_id=1000000001",
      "/largeimage.php?it_id=1000000001",
      "/list.php?ca_id=10",
      "/products.php?id=3",
      "/item.php?page=2",
      "/cart.php?id=7"
    ]) {
      for (const platform of ["shopify", "opencart", "woocommerce", null])
        assert.isFalse(looksLikeProduct(`https://shop.example${path}`, platform), path)
    }
    assert.isFalse(looksLikeProduct("not an address"))
  })
})

describe("llms.txt", () => {
  it("has a heading and links", () => {
    assert.deepStrictEqual(readLlmsTxt("# Mugs\n\n> A shop\n\n- [Catalogue](https://shop.example/c.md): all of it\n"), {
      title: "Mugs",
      links: [{ text: "Catalogue", href: "https://shop.example/c.md" }],
      isConforming: true,
      length: 70
    })
    assert.isFalse(readLlmsTxt("- [Catalogue](/c.md)")?.isConforming)
  })

  it("is no page that answers everything", () => {
    for (const text of ["<!DOCTYPE html><h1># x</h1>", `{"error":"not found"}`, "Not found", ""])
      assert.isUndefined(readLlmsTxt(text))
  })
})

describe("content signals", () => {
  it("are read from robots.txt and the header", () => {
    const read = readContentSignals(
      "User-Agent: *\nContent-Signal: search=yes, ai-input=yes,ai-train=no # ours\nAllow: /\nContent-Usage: train-ai=n\n"
    )
    assert.deepStrictEqual(
      [...read.signals],
      [
        ["search", true],
        ["ai-input", true],
        ["ai-train", false]
      ]
    )
    assert.strictEqual(read.usage, "train-ai=n")
    assert.strictEqual(readContentSignals("", "train-ai=n").marker, "Content-Usage: train-ai=n")
  })

  it("are nothing where nothing is said", () => {
    assert.deepStrictEqual(
      readContentSignals("User-agent: *\nDisallow:\nContent-Signal:\n# Content-Signal: search=yes"),
      {
        signals: new Map(),
        usage: null,
        marker: null
      }
    )
  })
})

describe("where products may be", () => {
  it("is the same in whatever order a site lists itself", () => {
    const at = (name: string) => `https://shop.example/products/${name}`
    const names = Array.from({ length: 40 }, (_, index) => at(`mug-${index}`))
    const candidates = (products: ReadonlyArray<string>) =>
      productCandidates({
        origin: "https://shop.example",
        platform: null,
        home: undefined,
        catalogue: products.slice(-3).map((url) => ({ name: "Mug", url, price: undefined, variants: 1 })),
        sitemap: { products, listed: [], locations: products },
        isShop: true
      })
    assert.strictEqual(candidates(names).length, 20)
    const shuffled = [...names.slice(0, 37).toReversed(), ...names.slice(37).toReversed()]
    assert.deepStrictEqual(candidates(shuffled), candidates(names))
  })
})
