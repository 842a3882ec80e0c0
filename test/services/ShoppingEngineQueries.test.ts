import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fixture from "../shops/Fixture.ts"
import { send } from "../shops/Storefront.ts"
import { testOf } from "./ShoppingEngineHarness.ts"

const page = (body: string) =>
  `<!doctype html><html lang="en"><head><title>Kettles</title></head><body>${body}</body></html>`

/**
 * A shop of one script that names its pages in a query, and leads to its cart once that holds something. On its product's page a small
 * cart is opened by a "#", and the price is told again beside what else is sold.
 */
const tested = (names: string, prices = "<h2>$20.00</h2>") =>
  Effect.gen(function* () {
    let items = 0
    const { domain } = yield* Fixture.open((request, response, base) => {
      const url = new URL(request.url ?? "/", base)
      const name = url.searchParams.get(names) ?? ""
      const to = (rest: string) => `${base}/index.php?${names}=${rest}`
      const html = (body: string, status = 200) =>
        send(response, status, page(`<a href="#">Basket (${items})</a>${body}`))
      if (request.method === "POST") {
        items = 1
        return send(response, 303, "", { location: to("shopping_cart") })
      }
      if (url.pathname === "/") return html(`<a href="${to("product_info&products_id=3")}">Kettle</a>`)
      if (url.pathname !== "/index.php") return html("Not found", 404)
      if (name === "product_info") {
        const form = `<form method="post" action="${to("product_info&products_id=3&action=add_product")}"><input type="hidden" name="products_id" value="3"><button>Add to cart</button></form>`
        return html(`<h1>Kettle</h1>${prices}${form}<h2>Best sellers</h2><p>Kettle $25.00</p>`)
      }
      if (name === "shopping_cart")
        return html(items === 0 ? "Your cart is empty" : "<h1>Your cart</h1><p>Kettle $20.00</p>")
      return html("Not found", 404)
    })
    const outcome = yield* testOf(domain, "add_to_cart")
    return { outcome, cart: outcome.steps.find(({ step }) => step === "cart") }
  }).pipe(Effect.scoped)

describe("a shop that names its pages in a query", () => {
  for (const names of ["main_page", "_a", "route"]) {
    it.live(`has a cart that its ${names} names, where that is led to once it holds something`, () =>
      Effect.gen(function* () {
        const { cart } = yield* tested(names)
        assert.deepInclude(cart ?? {}, { status: "passed", rail: "html_form" }, cart?.detail)
        assert.match(cart?.detail ?? "", /holds "Kettle" once at 20\.00/)
      })
    )
  }

  it.live("sells for what a product costs now, and not for what is called its price of before", () =>
    Effect.gen(function* () {
      const now = `<h2><span class="normalprice">$30.00</span> <span class="now">$20.00</span></h2>`
      const { cart, outcome } = yield* tested("main_page", now)
      assert.deepInclude(outcome.product ?? {}, { price: "20.00" })
      assert.strictEqual(cart?.status, "passed", cart?.detail)
    })
  )

  for (const category of ["route=product/category&path=20", "main_page=index&cPath=1_4", "cPath=3", "cat_id=7"]) {
    it.live(`sells what a category lists that is named by ${category}, where its home page lists nothing`, () =>
      Effect.gen(function* () {
        const { domain } = yield* Fixture.open((request, response, base) => {
          const url = new URL(request.url ?? "/", base)
          const html = (body: string) => send(response, 200, page(body))
          if (url.pathname === "/") return html(`<a href="${base}/index.php?${category}">Kettles</a>`)
          if (url.pathname !== "/index.php") return send(response, 404, page("Not found"))
          if (url.searchParams.has("products_id"))
            return html("<h1>Kettle</h1><p>$20.00</p><button>Add to cart</button>")
          return html(`<a href="${base}/index.php?main_page=product_info&products_id=3">Kettle</a>`)
        })
        const { steps } = yield* testOf(domain, "browse")
        const discovery = steps.find(({ step }) => step === "discovery")
        assert.match(discovery?.detail ?? "", /Found 1 product address(?:es)? by links/)
      }).pipe(Effect.scoped)
    )
  }
})
