import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fixture from "../shops/Fixture.ts"
import * as StepShop from "../shops/StepShop.ts"
import { jsonLd, send } from "../shops/Storefront.ts"
import { testOf } from "./ShoppingEngineHarness.ts"

interface Way {
  /** What the product's page is answered with. */
  readonly status?: number
  /** Where the home page leads. */
  readonly product?: string
  /** The link of the cart's page that leads to the checkout. */
  readonly link?: string
}

const page = (body: string) =>
  `<!doctype html><html lang="fr"><head><title>Bouilloires</title></head><body>${body}</body></html>`
const stated = jsonLd({
  "@type": "Product",
  name: "Kettle",
  sku: "KET-1",
  offers: { price: "20.00", priceCurrency: "EUR", availability: "https://schema.org/InStock" }
})

/** A shop as WooCommerce writes it, without its interface: its cart is emptied by a link. */
const tested = ({ link = "", product = "/produit/kettle/", status = 200 }: Way) =>
  Effect.gen(function* () {
    const cart = { items: 0 }
    const { domain } = yield* Fixture.open((request, response, base) => {
      const { pathname, searchParams } = new URL(request.url ?? "/", base)
      if (request.method === "POST") {
        cart.items = 1
        return send(response, 303, "", { location: "/panier/" })
      }
      if (pathname === "/") return send(response, 200, page(`<a href="${base}${product}">Kettle</a>`))
      if (pathname === product) {
        const form = `<form method="post" action="${base}${product}"><button name="add-to-cart" value="14">Ajouter au panier</button></form>`
        return send(
          response,
          status,
          page(`${stated}<a href="${base}/panier/">Panier</a><h1>Kettle</h1><p>20,00 €</p>${form}`)
        )
      }
      if (pathname === "/panier/") {
        if (searchParams.has("remove_item")) cart.items = 0
        const line = `<a href="${base}/soldes/">Clearance</a><a href="#">×</a><p>Kettle 20,00 €</p><a href="${base}/panier/?remove_item=aab">×</a>${link}`
        return send(response, 200, page(cart.items === 0 ? "<p>Votre panier est vide.</p>" : line))
      }
      const pay = `<p>Total 20,00 €</p><form method="post" action="${base}/commander/"><label>Rue <input name="billing_address_1"></label><label>Email <input name="billing_email"></label><label><input type="radio" name="payment_method" value="cod"> Paiement à la livraison</label><button>Commander</button></form>`
      return send(response, pathname === "/commander/" ? 200 : 404, page(pathname === "/commander/" ? pay : ""))
    })
    const outcome = yield* testOf(domain)
    return { cart, outcome, steps: Object.fromEntries(outcome.steps.map((step) => [step.step, step])) }
  }).pipe(Effect.scoped)

describe("the way to the checkout", () => {
  for (const link of ['<a href="/commander/">Valider la commande</a>', '<a href="/commander/">Suite</a>']) {
    it.live(`is found as French shops call it: ${link}`, () =>
      Effect.gen(function* () {
        const { steps } = yield* tested({ link })
        assert.strictEqual(steps["checkout"]?.status, "passed", steps["checkout"]?.detail)
      })
    )
  }

  it.live(
    "is not known where nothing leads to it and the usual address is not there, and that is no fault of the shop",
    () =>
      Effect.gen(function* () {
        const { outcome, steps } = yield* tested({ link: '<a href="/x/">Suite</a>' })
        assert.deepStrictEqual([steps["checkout"]?.status, outcome.failure_point], ["unknown", null])
        assert.match(steps["checkout"]?.detail ?? "", /Nothing in the cart.*\/checkout answers 404/)
      })
  )
})

describe("a login in the place of the way to the checkout, as Odoo's", () => {
  for (const [back, status] of [
    ["/commander/", "passed"],
    ["/kasse", "unknown"]
  ] as const)
    it.live(`is no verdict: ${back}, to which it leads back, is opened`, () =>
      Effect.gen(function* () {
        const { steps } = yield* tested({ link: `<a href="/x/login?redirect=${back}?express=1">Suite</a>` })
        assert.strictEqual(steps["checkout"]?.status, status, steps["checkout"]?.detail)
      })
    )
})

describe("a sitemap that is older than the shop", () => {
  it.live("is left for what the shop's own list has", () =>
    Effect.gen(function* () {
      const found = (list: string) =>
        Effect.scoped(
          Effect.gen(function* () {
            const { domain } = yield* Fixture.open((request, response, base) => {
              const { pathname } = new URL(request.url ?? "/", base)
              const at = (path: string) => `<url><loc>${base}${path}</loc></url>`
              const old = Array.from({ length: 12 }, (_, index) => `/old-mug-${index}.html`)
              const xml = { "content-type": "application/xml" }
              if (pathname === "/sitemap.xml")
                return send(response, 200, `<urlset>${old.map(at).join("")}</urlset>`, xml)
              const pages: Readonly<Record<string, string>> = {
                "/": '<a href="/shop">Shop</a>',
                "/shop": list,
                "/steel-kettle.html": `${stated}<h1>Kettle</h1><p>20,00 €</p>`
              }
              const body = pages[pathname]
              return send(response, body === undefined ? 403 : 200, page(body ?? ""))
            })
            return yield* testOf(domain, "search")
          })
        )
      const listed = yield* found('<h1>All</h1><a href="/steel-kettle.html">Kettle</a>')
      assert.match(
        listed.product?.url ?? "",
        /\/steel-kettle\.html$/,
        JSON.stringify(listed.requests.map(({ url, status }) => [url, status]))
      )
      const none = yield* found("<h1>All</h1>")
      assert.strictEqual(none.failure_point?.step, "discovery", JSON.stringify(none.steps))
    })
  )
})

describe("Magento 1, which looks like Magento from outside", () => {
  it.live("is not said to refuse what its interface does not have", () =>
    Effect.gen(function* () {
      const home = '<script type="text/x-magento-init">{}</script><a href="/products/kettle">Kettle</a>'
      const { domain } = yield* StepShop.open({ home, answer: { text: "", status: 404 } })
      const { blockers, platform, requests, steps } = yield* testOf(domain, "add_to_cart")
      assert.strictEqual(platform, "magento")
      assert.isTrue(requests.some(({ status, url }) => url.endsWith("/rest/V1/guest-carts") && status === 404))
      assert.strictEqual(steps[2]?.status, "passed", JSON.stringify(blockers))
    }).pipe(Effect.scoped)
  )
})

describe("the shop's own search", () => {
  it.live("finds what it links, and not what it only repeats or says that it has not", () =>
    Effect.gen(function* () {
      for (const [body, finds] of [
        ['<p>Results for "kettle"</p><a href="/products/kettle">Kettle</a>', true],
        ['<p>Results for "kettle"</p><a href="/hot/kettle?from=search">Look</a>', true],
        ['<p>Results for "kettle"</p>', false],
        ['<p>Your search returns no results.</p><h2>Recently viewed</h2><a href="/products/kettle">Kettle</a>', false]
      ] as const) {
        const { domain } = yield* StepShop.open({ pages: { "/search": body } })
        const { blockers } = yield* testOf(domain, "search")
        assert.strictEqual(
          blockers.some(({ id }) => id === "search_unusable"),
          !finds,
          body
        )
      }
    }).pipe(Effect.scoped)
  )
})

describe("a cart that is emptied by a link", () => {
  it.live("is left empty, though other links of its page sound alike", () =>
    Effect.gen(function* () {
      const { cart } = yield* tested({ link: '<a href="/commander/">Valider la commande</a>' })
      assert.strictEqual(cart.items, 0)
    })
  )
})

describe("the only product page", () => {
  for (const [status, blocker, said] of [
    [404, "no_products_found", /answers 404/],
    [403, "bot_challenge", /answers 403, at least to our agent/],
    [401, "account_required", /answers 401: it asks for a login/]
  ] as const) {
    for (const [product, step] of [
      ["/produit/kettle/", "selection"],
      ["/bouilloires/kettle-bleue", "discovery"]
    ] as const) {
      it.live(`is told by its answer: ${status} to ${product}`, () =>
        Effect.gen(function* () {
          const { outcome } = yield* tested({ status, product })
          assert.deepInclude(outcome.failure_point ?? {}, { step, blocker })
          assert.match(outcome.failure_point?.detail ?? "", said)
        })
      )
    }
  }
})
