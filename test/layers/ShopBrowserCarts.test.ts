import { assert, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ShopBrowser } from "#services/ShopBrowser.ts"
import type { Candidate } from "#services/ShoppingEngine/Rail.ts"
import * as Fixture from "../shops/Fixture.ts"
import * as Harness from "./ShopBrowserHarness.ts"

const listed: Array<string> = []

/** A shop by its cart. */
interface Carts {
  /** The product's price as structured data would state it, and its mark. */
  readonly price: string
  readonly currency: string
  /** The cart's page once something is in it. */
  readonly full: string
  readonly empty?: string
  /** Where the link "Cart" of each page leads; `/cart` is missing when it is elsewhere. */
  readonly at?: string
  readonly lang?: string
  readonly button?: string
  /** What the product's page has before that button. */
  readonly before?: string
  /** What the address answers instead of a cart. */
  readonly redirectsTo?: string
}

const shop = ({
  at = "/cart",
  before = "",
  button = "Add to cart",
  lang = "en",
  redirectsTo,
  ...carts
}: Carts): Fixture.ShopPages => {
  let items = 0
  const page = (body: string) =>
    `<!doctype html><html lang="${lang}"><body><nav><a href="/">Home</a> <a href="${at}">Cart (${items})</a></nav><main>${body}</main></body></html>`
  return (request, response) => {
    const html = (body: string, status = 200) =>
      void response.writeHead(status, { "content-type": "text/html; charset=utf-8" }).end(page(body))
    const path = request.url ?? "/"
    if (path === "/api/cart") items++
    if (path === "/api/empty") items = 0
    if (path.startsWith("/api/")) return void response.end("{}")
    if (path === "/p/mug")
      return html(
        `<h1>Blue mug</h1>${before}<button onclick="fetch('/api/cart', { method: 'POST' })">${button}</button>`
      )
    if (path === at && redirectsTo !== undefined) return void response.writeHead(302, { location: redirectsTo }).end()
    if (path === "/login") return html(`<h1>Log in</h1><form><label>Password <input type="password"></label></form>`)
    if (path === at) return html(items > 0 ? carts.full : (carts.empty ?? "<p>Your cart is empty</p>"))
    return html("Not found", 404)
  }
}

const cartOf = Effect.fnUntraced(function* (carts: Carts) {
  const browser = yield* ShopBrowser
  const fixture = yield* Fixture.open(shop(carts))
  listed.push(fixture.domain)
  const { rail } = yield* Harness.open(browser, fixture.url)
  const mug: Candidate = { ...Harness.mugOf(fixture.url, null), price: carts.price, currency: carts.currency }
  return yield* rail.cart(mug)
})

const row = (price: string, more = "") => `<ul><li><b>Blue mug</b> <span>${price}</span>${more}</li></ul>`

if (Harness.missing !== undefined) {
  it("carts were not read: this machine has no browser", () => assert.match(Harness.missing ?? "", /no browser/))
} else {
  layer(Harness.layer({ allowHosts: listed }))("a cart in a browser", (it) => {
    const written: ReadonlyArray<readonly [shown: string, price: string, currency: string]> = [
      ["1 299 kr", "1299.00", "SEK"],
      ["12,800円", "12800", "JPY"],
      ["49 zł", "49.00", "PLN"]
    ]
    for (const [shown, price, currency] of written) {
      it.effect(`holds what costs ${shown}`, () =>
        Effect.map(cartOf({ price, currency, full: row(shown) }), (cart) => {
          assert.deepInclude(cart, { status: "passed", blockers: [] }, JSON.stringify(cart))
        })
      )
    }

    it.effect("is filled by the button that a person can reach, and not by one that is a trap for programs", () =>
      Effect.gen(function* () {
        const before = `<form action="/trap" method="post" style="position:absolute;left:-9999px"><button>Add to cart</button></form>`
        const cart = yield* cartOf({ price: "12.00", currency: "USD", full: row("$12.00"), before })
        assert.strictEqual(cart.status, "passed", cart.detail)
      })
    )

    it.effect(
      "is filled by a button that a person can scroll back to, in a part of the page that scrolls by itself",
      () =>
        Effect.gen(function* () {
          const before = `<style>main { height: 300px; overflow: auto } main::after { content: ""; display: block; height: 3000px }</style>
          <script>addEventListener("load", () => document.querySelector("main").scrollTo(0, 2000))</script>`
          const cart = yield* cartOf({ price: "12.00", currency: "USD", full: row("$12.00"), before })
          assert.strictEqual(cart.status, "passed", cart.detail)
        })
    )

    it.effect("is filled by a button to the left of a page that begins at the right, as its body says", () =>
      Effect.gen(function* () {
        const before = `<style>body { direction: rtl; width: 3000px } button { position: absolute; left: -1500px }</style>`
        const cart = yield* cartOf({ price: "12.00", currency: "USD", full: row("$12.00"), before })
        assert.strictEqual(cart.status, "passed", cart.detail)
      })
    )

    it.effect("holds as many as the product's page puts into it, at a price for all of them", () =>
      Effect.gen(function* () {
        const before = `<input type="number" name="q" min="4" value="4">`
        const cart = yield* cartOf({ price: "12.00", currency: "USD", full: row("$48.00"), before })
        assert.deepStrictEqual(
          cart.blockers.map(({ id }) => id),
          ["minimum_order"]
        )
      })
    )

    it.effect("is not empty for having a button that empties it, whatever that is drawn like", () =>
      Effect.gen(function* () {
        const button = `<button style="text-transform: uppercase">Empty cart</button>`
        for (const price of ["$12.00", "$12"]) {
          const cart = yield* cartOf({
            price: "12.00",
            currency: "USD",
            full: `${row(price)}<p>10 items in your bag</p>${button}`
          })
          assert.deepInclude(cart, { status: "passed", blockers: [] }, JSON.stringify(cart))
        }
      })
    )

    it.effect("is not empty for a word elsewhere, where the item's row has its quantity", () =>
      Effect.gen(function* () {
        const full = `<aside>Your basket is empty</aside>${row("$12.00", '<input type="number" value="1">')}`
        assert.strictEqual((yield* cartOf({ price: "12.00", currency: "USD", full })).status, "passed")
      })
    )

    it.effect("costs what its own row says, and not what is said of the item where it is recommended below", () =>
      Effect.gen(function* () {
        const cells = `<td>Blue mug $12.00</td><td><button>Remove Blue mug</button></td>`
        const below = `<h2>You may also like</h2><ul><li>Blue mug $15.00 <button>Add</button></li></ul>`
        const full = `<table><tr>${cells}</tr></table>${below}`
        const cart = yield* cartOf({ price: "12.00", currency: "USD", full })
        assert.deepInclude(cart, { status: "passed", blockers: [], price: "12.00" }, JSON.stringify(cart))
      })
    )

    it.effect("that says it is empty holds nothing, also beside what was seen last", () =>
      Effect.gen(function* () {
        const full = `<h1>Your cart is empty</h1><h2>Seen last</h2>${row("$12.00", '<a href="/p/mug">More</a>')}`
        const cart = yield* cartOf({ price: "12.00", currency: "USD", full })
        assert.strictEqual(cart.blockers.at(-1)?.id, "add_to_cart_failed")
      })
    )

    it.effect("is found where its link leads, with its query", () =>
      Effect.gen(function* () {
        const french = { lang: "fr", button: "Ajouter au panier", at: "/panier?action=show" }
        const cart = yield* cartOf({ price: "1234.50", currency: "EUR", full: row("1\u202f234,50\u00a0€"), ...french })
        assert.deepInclude(cart, { status: "passed", price: "1234.50" }, cart.detail)
      })
    )

    it.effect("is where the shop leads whoever adds something, though no link leads there, in a plain paragraph", () =>
      Effect.gen(function* () {
        let items = 0
        const fixture = yield* Fixture.open((request, response) => {
          const path = request.url ?? "/"
          const html = (body: string, status = 200) =>
            void response.writeHead(status, { "content-type": "text/html; charset=utf-8" }).end(`<body>${body}</body>`)
          if (path === "/cesta" && request.method === "POST") {
            items++
            return void response.writeHead(303, { location: "/cesta" }).end()
          }
          if (path === "/p/mug")
            return html(`<h1>Blue mug</h1><form method="post" action="/cesta"><button>Add to cart</button></form>`)
          if (path !== "/cesta") return html("Not found", 404)
          return html(items === 0 ? "<p>Your cart is empty</p>" : "<h1>Cesta</h1><p>Blue mug $12.00</p><p>Total</p>")
        })
        listed.push(fixture.domain)
        const { rail } = yield* Harness.open(yield* ShopBrowser, fixture.url)
        const cart = yield* rail.cart(Harness.mugOf(fixture.url, null))
        assert.deepInclude(cart, { status: "passed", price: "12.00" }, cart.detail)
      })
    )

    it.effect("is filled from a page that holds a small login beside what it sells", () =>
      Effect.gen(function* () {
        const before = `<form action="/login" method="post"><input type="email" name="email"><input type="password" name="password"><button>Sign In</button></form>`
        const full = "<h1>Cart</h1><p>Blue mug $12.00</p><p>Total</p>"
        const cart = yield* cartOf({ price: "12.00", currency: "USD", full, before })
        assert.deepInclude(cart, { status: "passed", price: "12.00" }, cart.detail)
      })
    )

    it.effect("that leads to a login asks for an account", () =>
      Effect.gen(function* () {
        const cart = yield* cartOf({ price: "12.00", currency: "USD", full: "", redirectsTo: "/login" })
        assert.deepInclude(cart.blockers.at(-1) ?? {}, { id: "account_required", severity: "blocking" }, cart.detail)
      })
    )
  })
}
