import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ScanFindings } from "#domain/Scan.ts"
import * as Fixture from "../shops/Fixture.ts"
import { jsonLd, page, productNode, send, sendJson, notebook } from "../shops/Storefront.ts"
import { scanOf, timeless } from "./ScanEngineHarness.ts"

/** Sites in the shapes that the world's have; each is asked for one thing that must not be held against it. */
type Pages = (base: string) => Readonly<Record<string, string | { readonly status: number; readonly text: string }>>

const site = (pages: Pages) =>
  Fixture.open((request, response, base) => {
    const found = pages(base)[new URL(request.url ?? "/", base).pathname]
    if (typeof found === "string" && /^\s*[[{]/.test(found)) sendJson(response, 200, JSON.parse(found))
    else if (typeof found === "string") send(response, 200, found)
    else {
      const other = found ?? pages(base)["*"]
      const missing = { status: 404, text: page(base, "Not found", "<p>No such page.</p>") }
      const { status, text } = typeof other === "object" ? other : missing
      send(response, status, text)
    }
  })
const statusOf = ({ checks }: ScanFindings, id: string) => checks.find((check) => check.id === id)?.status
const failed = ({ checks }: ScanFindings) => checks.filter(({ status }) => status === "fail").map(({ id }) => id)

const plain = (body: string, head = "") =>
  `<!doctype html><html lang="en"><head><title>Site</title>${head}</head><body><nav><a href="/contact">Contact</a></nav><main><h1>Site</h1><p>${"Plain words about what is done here. ".repeat(15)}</p>${body}</main></body></html>`
const woo = '<div class="woocommerce"></div>'
const ware = (base: string, more: string, head = productNode(base, notebook, "/product/notebook")) =>
  page(
    base,
    notebook.name,
    `<p>$${notebook.price}</p><p>${notebook.description}</p><form action="/cart/add" method="post"><input type="hidden" name="id" value="1">${more}<button>Add to cart</button></form>`,
    head
  )

describe("a site that sells nothing", () => {
  it.live.each([
    [
      "a blog about buying",
      plain("<p>How to add to cart, solve a captcha and checkout as guest. Sign in to comment.</p>")
    ],
    ["a restaurant", plain("<button>Order now</button>", jsonLd({ "@type": "Restaurant", name: "T" }))],
    ["a workshop", plain("", jsonLd({ "@type": "LocalBusiness", hasOfferCatalog: { "@type": "OfferCatalog" } }))],
    ["a shop in town without a cart", plain("", jsonLd({ "@type": "Store", name: "T" }))]
  ] as const)("fails nothing: %s", ([, home]) =>
    Effect.gen(function* () {
      const found = yield* scanOf((yield* site(() => ({ "/": home }))).domain)
      assert.deepStrictEqual(failed(found), [])
      assert.strictEqual(statusOf(found, "ucp_profile"), "not_applicable")
      assert.isNull(found.protocol_score)
    }).pipe(Effect.scoped)
  )

  it.live("but serves programs is asked for their protocols, not for those of buying", () =>
    Effect.gen(function* () {
      const { domain } = yield* site(() => ({
        "/": plain(
          '<a href="/pricing">Pricing</a><a href="/signup">Sign up</a><a href="/products/analytics">Analytics</a><button>Buy now</button>',
          jsonLd({ "@type": "SoftwareApplication", name: "Flow", offers: { "@type": "Offer", price: "12" } })
        ),
        "/products/analytics": plain("", jsonLd({ "@type": "Product", name: "Analytics" }))
      }))
      const found = yield* scanOf(domain)
      assert.strictEqual(found.business_model, "saas")
      assert.strictEqual(statusOf(found, "product_json_ld"), "not_applicable")
      assert.strictEqual(statusOf(found, "ucp_profile"), "not_applicable")
      assert.strictEqual(statusOf(found, "mcp_server"), "fail")
    }).pipe(Effect.scoped)
  )
})

it.live("one refusal that nobody else meets closes no gate", () =>
  Effect.gen(function* () {
    let visits = 0
    const { domain } = yield* Fixture.open((request, response) => {
      if (new URL(request.url ?? "/", "http://x").pathname !== "/") send(response, 404, "")
      else if (visits++ === 0) send(response, 403, "Forbidden")
      else response.destroy()
    })
    const found = yield* scanOf(domain)
    assert.deepStrictEqual(found.gates, [])
    assert.strictEqual(statusOf(found, "agents_not_challenged"), "unknown")
  }).pipe(Effect.scoped)
)

describe("a shop", () => {
  it.live("whose robots.txt is called a page is obeyed all the same", () =>
    Effect.gen(function* () {
      const { domain } = yield* site((base) => ({
        "/": page(base, "Shop", woo),
        "/robots.txt": "User-agent: *\nDisallow: /\n"
      }))
      const found = yield* scanOf(domain)
      assert.deepStrictEqual(
        found.gates.map(({ id }) => id),
        ["robots_disallow_agents"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("that lists itself under the scheme it does not answer at has its products looked at", () =>
    Effect.gen(function* () {
      const { domain } = yield* site((base) => {
        const secure = base.replace("http:", "https:")
        const listed = `<urlset><url><loc>${secure}/things/notebook</loc></url></urlset>`
        return {
          "/": plain(`${woo}<form role="search" action="${secure}/find"><input type="search" name="q"></form>`),
          "/robots.txt": `User-agent: *\nAllow: /\nSitemap: ${secure}/map.xml\n`,
          "/map.xml": `<?xml version="1.0"?>${listed}`,
          "/find": page(base, "Found", `<a href="/things/notebook">${notebook.name}</a>`),
          "/things/notebook": ware(base, "", productNode(base, notebook, "/things/notebook"))
        }
      })
      const found = yield* scanOf(domain)
      assert.deepStrictEqual(
        ["product_json_ld", "sitemap_products", "search_usable"].map((id) => statusOf(found, id)),
        ["pass", "pass", "pass"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("with all its pages one step below the home page is known by what its sitemap of products lists", () =>
    Effect.gen(function* () {
      const { domain } = yield* Fixture.open((request, response, base) => {
        const { pathname, search } = new URL(request.url ?? "/", base)
        const map = (...paths: ReadonlyArray<string>) => paths.map((path) => `<loc>${base}${path}</loc>`)
        const types = map("/xmlsitemap.php?type=categories", "/xmlsitemap.php?type=products")
        const maps: Readonly<Record<string, string>> = {
          "": `<sitemapindex>${types.map((loc) => `<sitemap>${loc}</sitemap>`).join("")}</sitemapindex>`,
          "?type=products": `<urlset>${map("/notebook/").map((loc) => `<url>${loc}</url>`)}</urlset>`
        }
        if (pathname === "/robots.txt") return send(response, 200, `Sitemap: ${base}/xmlsitemap.php\n`)
        if (pathname === "/xmlsitemap.php") return send(response, 200, `<?xml version="1.0"?>${maps[search] ?? ""}`)
        if (pathname === "/") return send(response, 200, page(base, "Shop", woo))
        return pathname === "/notebook/" ? send(response, 200, ware(base, "")) : send(response, 404, "")
      })
      const found = yield* scanOf(domain)
      assert.strictEqual(statusOf(found, "product_json_ld"), "pass")
      assert.strictEqual(statusOf(found, "sitemap_products"), "pass")
    }).pipe(Effect.scoped)
  )

  it.live("whose product's page is longer than we read is not said to lack what may stand behind", () =>
    Effect.gen(function* () {
      const statuses = (filler: string) =>
        Effect.gen(function* () {
          const { domain } = yield* site((base) => ({
            "/": page(base, "Shop", `${woo}<a href="/product/notebook">Notebook</a>`),
            "/product/notebook": page(
              base,
              notebook.name,
              `<p>$${notebook.price}</p><form action="/cart/add" method="post"><input type="hidden" name="id" value="1"><button>Add to cart</button></form>${filler}${productNode(base, notebook, "/product/notebook")}`
            )
          }))
          const found = yield* scanOf(domain)
          return ["product_json_ld", "offer_clarity"].map((id) => statusOf(found, id))
        })
      assert.deepStrictEqual(yield* statuses(""), ["pass", "pass"])
      assert.deepStrictEqual(yield* statuses("<i></i>".repeat(60_000)), ["unknown", "unknown"], "by its elements")
      assert.deepStrictEqual(yield* statuses(`<!--${"x".repeat(3_000_000)}-->`), ["unknown", "unknown"], "by its bytes")
    }).pipe(Effect.scoped)
  )

  it.live("of large pages, its missing ones too, is seen whole, and has the same score each time", () =>
    Effect.gen(function* () {
      const menu = `<script type="application/json">"${"x".repeat(1_400_000)}"</script>`
      const { domain } = yield* site((base) => ({
        "/": page(base, "Shop", `${woo}<a href="/product/notebook">Notebook</a>${menu}`),
        "/product/notebook": ware(base, menu),
        "/cart": page(base, "Cart", `Your cart is empty.${menu}`),
        "*": { status: 404, text: page(base, "Not found", menu) }
      }))
      const [first, second] = [yield* scanOf(domain), yield* scanOf(domain)]
      assert.deepStrictEqual(timeless(second), timeless(first))
      assert.isEmpty(first.requests.filter(({ failure }) => failure !== null))
      assert.isEmpty(first.checks.filter(({ message }) => /read as much|used up|no more than/.test(message)))
      assert.strictEqual(statusOf(first, "a2a_card"), "fail")
    }).pipe(Effect.scoped)
  )

  it.live("of which a scan has read as much as it may is told so, and fails nothing by it", () =>
    Effect.gen(function* () {
      const { domain } = yield* site((base) => ({
        "/": page(base, "Shop", `${woo}<a href="/product/notebook">Notebook</a>`),
        "/product/notebook": ware(base, "x".repeat(30_000)),
        "/search": page(base, "Found", "")
      }))
      const found = yield* scanOf(domain, { policy: { visitBytes: 25_000 } })
      const cart = found.checks.find(({ id }) => id === "guest_checkout")
      assert.strictEqual(cart?.status, "unknown")
      assert.include(found.checks.map(({ message }) => message).join(" "), "the scan had read as much as it may")
      assert.notInclude(found.checks.map(({ message }) => message).join(" "), "requests were used up")
    }).pipe(Effect.scoped)
  )

  it.live("on Magento whose catalogue answers with an error is not said to have closed it", () =>
    Effect.gen(function* () {
      const feed = (answer: string) =>
        Effect.gen(function* () {
          const { domain } = yield* site((base) => ({
            "/": page(base, "Shop", '<script type="text/x-magento-init">{}</script>'),
            "/graphql": answer
          }))
          return statusOf(yield* scanOf(domain), "product_feed")
        })
      assert.strictEqual(
        yield* feed('{"errors":[{"message":"Internal server error"}],"data":{"products":null}}'),
        "unknown"
      )
      assert.strictEqual(yield* feed('{"data":{"products":{"items":[{"name":"Mug","url_key":"mug"}]}}}'), "pass")
      assert.strictEqual(yield* feed('{"data":{}}'), "fail")
    }).pipe(Effect.scoped)
  )

  it.live("whose interfaces ask us to come later is not said to have closed them", () =>
    Effect.gen(function* () {
      const { domain } = yield* site((base) => ({
        "/": page(base, "Shop", `${woo}<a href="/product/notebook">Notebook</a>`),
        "/wp-json/wc/store/v1/products": { status: 429, text: "" },
        "/wp-json/wc/store/v1/cart": { status: 429, text: "" }
      }))
      const found = yield* scanOf(domain)
      assert.strictEqual(statusOf(found, "product_feed"), "unknown")
      assert.strictEqual(statusOf(found, "cart_api"), "unknown")
    }).pipe(Effect.scoped)
  )

  it.live("below the root is asked where WordPress says that it is", () =>
    Effect.gen(function* () {
      const { domain } = yield* site((base) => ({
        "/": page(base, "Shop", woo, `<link rel="https://api.w.org/" href="${base}/shop/wp-json/">`),
        "/shop/wp-json/wc/store/v1/products": JSON.stringify([
          {
            name: notebook.name,
            permalink: `${base}/product/notebook`,
            prices: { price: "1250", currency_minor_unit: 2 }
          }
        ]),
        "/shop/wp-json/wc/store/v1/cart": '{"items":[],"totals":{}}',
        "/product/notebook": ware(base, "")
      }))
      const found = yield* scanOf(domain)
      assert.strictEqual(statusOf(found, "product_feed"), "pass")
      assert.strictEqual(statusOf(found, "cart_api"), "pass")
    }).pipe(Effect.scoped)
  )

  it.live("has variants where one can choose between them, and nowhere else", () =>
    Effect.gen(function* () {
      const variants = (more: string) =>
        Effect.gen(function* () {
          const { domain } = yield* site((base) => ({
            "/": page(base, "Shop", `<a href="/product/notebook">Notebook</a>`),
            "/product/notebook": ware(base, more)
          }))
          return statusOf(yield* scanOf(domain), "variants_expressed")
        })
      const radio = (name: string, value: string) =>
        `<input type="radio" name="${name}" value="${value}" aria-label="${value}">`
      assert.strictEqual(yield* variants(radio("color", "black")), "not_applicable")
      assert.strictEqual(
        yield* variants(radio("delivery_option", "home") + radio("delivery_option", "store")),
        "not_applicable"
      )
      assert.strictEqual(yield* variants(radio("color", "black") + radio("color", "red")), "fail")
    }).pipe(Effect.scoped)
  )

  it.live("that shows marks of wallets before a checkout that lists nothing is not said to need a person", () =>
    Effect.gen(function* () {
      const field = (id: string) =>
        `<label for="${id}">${id}</label><input id="${id}" name="${id}" autocomplete="${id}">`
      const { domain } = yield* site((base) => ({
        "/": page(
          base,
          "Shop",
          `<script src="https://www.paypal.com/sdk/js"></script><a href="/product/notebook">N</a>`
        ),
        "/product/notebook": ware(base, ""),
        "/checkout": page(
          base,
          "Checkout",
          `<form>${["email", "name", "street-address", "postal-code"].map(field).join("")}</form>`
        )
      }))
      assert.strictEqual(statusOf(yield* scanOf(domain), "payment_methods"), "unknown")
    }).pipe(Effect.scoped)
  )
})
