import { Effect } from "effect"
import * as Fixture from "./Fixture.ts"
import { bodyOf, jsonLd, page, send } from "./Storefront.ts"

/** A shop by what its pages hold. Whatever is sent that is not one of its steps is an order. */
export interface StepShopSettings {
  readonly name?: string
  readonly home?: string
  /** How often the product's page is out of order before it is there; each look counts. */
  readonly failures?: number
  /** What it costs, as a decimal of this currency; 20.00 USD. */
  readonly price?: string
  readonly currency?: string
  /** What the cart says of the item; its name and price. */
  readonly line?: string
  /** What the product's page has to buy by. */
  readonly buying?: string
  /** What stands above the heading of the product's page. */
  readonly above?: string
  /** Where the cart's page leads to. */
  readonly checkoutPath?: string
  /** Bodies of pages by their path. */
  readonly pages?: Readonly<Record<string, string | ((sent: number) => string)>>
  /** Where each form leads by its path: a path to go to. */
  readonly steps?: Readonly<Record<string, string>>
  /** What the page says that takes an order, and with which status. */
  readonly answer?: { readonly text: string; readonly status?: number }
}

const adding =
  '<form action="/cart/add" method="post"><input type="hidden" name="id" value="1"><button>Add to cart</button></form>'

/** `sent` is what every form of the checkout sent: its path and the names of its fields; `added` what was put into the cart. */
export const open = ({
  above = "",
  answer,
  buying = adding,
  checkoutPath = "/checkout",
  currency = "USD",
  failures = 0,
  home = '<a href="/products/kettle">Kettle</a>',
  name = "Kettle",
  pages = {},
  price = "20.00",
  line = `${name} $${price}`,
  steps = {}
}: StepShopSettings) =>
  Effect.gen(function* () {
    const state = { items: 0, orders: 0, sent: [] as Array<string>, added: [] as Array<string>, looks: 0 }
    const cart = () =>
      state.items === 0
        ? "<p>Your cart is empty.</p>"
        : `<p>${line}</p><form action="/cart/clear" method="post"><button>Empty cart</button></form><a href="${checkoutPath}">Checkout</a>`
    const product = `<p>${currency} ${price}</p>${buying}`
    const stated = jsonLd({
      "@type": "Product",
      name,
      sku: "KET-1",
      offers: { price, priceCurrency: currency, availability: "https://schema.org/InStock" }
    })
    const fixture = yield* Fixture.open(async (request, response, base) => {
      const { pathname } = new URL(request.url ?? "/", base)
      if (request.method === "POST") {
        const body = new URLSearchParams(await bodyOf(request))
        const names = [...body.keys()]
        if (pathname === "/cart/add") state.added.push(decodeURIComponent(body.toString()))
        const changes = pathname === "/cart/add" || pathname === "/cart/clear"
        if (changes) state.items = pathname === "/cart/add" ? 1 : 0
        else state.sent.push([pathname, ...names].join(" "))
        const location = changes ? "/cart" : steps[pathname]
        if (location !== undefined) return send(response, 303, "", { location })
        state.orders += 1
        return send(response, answer?.status ?? 200, page(base, "Shop", answer?.text ?? "<p>ok</p>"))
      }
      if (pathname === "/") return send(response, 200, page(base, "Shop", home))
      if (pathname === "/products/kettle" && ++state.looks <= failures) return send(response, 503, "Out of order")
      if (pathname === "/products/kettle")
        return send(response, 200, page(base, name, product, stated).replace("<h1>", `${above}<h1>`))
      if (pathname === "/cart") return send(response, 200, page(base, "Cart", cart()))
      const body = pages[pathname]
      const text = typeof body === "function" ? body(state.sent.length) : body
      return send(response, text === undefined ? 404 : 200, page(base, "Checkout", text ?? ""))
    })
    return { ...fixture, state }
  })
