import { Effect, type Scope } from "effect"
import { type Fixture, open as openFixture } from "./Fixture.ts"
import {
  bodyOf,
  cookieOf,
  page,
  productNode,
  robotsText,
  send,
  sendJson,
  Sessions,
  sharedPage,
  type Ware,
  wares
} from "./Storefront.ts"

/** How the shop differs from a well-built one. */
export interface WooSettings {
  readonly soldOut?: boolean
  readonly noShipping?: boolean
  readonly payment?: "card" | "deferred" | "none"
  readonly currency?: "USD" | "EUR"
  /** The whole Store API answers 403. */
  readonly closedApi?: boolean
  /** Answers 503 with `Retry-After: 1` to so many adds to the cart. */
  readonly busy?: number
  /** Each product has so many variations, of which only the last is in stock; the list does not say so. */
  readonly variations?: number
}

export interface WooShop extends Fixture {
  readonly orders: () => number
  readonly items: () => number
}

const path = (ware: Ware) => `/product/${ware.handle}/`
const minor = (price: string) => price.replace(".", "")
const api = "/wp-json/wc/store/v1"

/** The states of a country by their keys, as WooCommerce has known them since 6.3; others of a country are refused. */
const states: Readonly<Record<string, ReadonlyArray<string>>> = { US: ["DC", "NY"], DE: ["DE-BE", "DE-BY"] }

interface Customer {
  readonly billing_address: { readonly country: string; readonly state: string }
}
const isKnownState = (body: string) => {
  const { country, state } = (JSON.parse(body) as Customer).billing_address
  return states[country]?.includes(state) ?? true
}

/** The variations of a product by their ids; none where it is sold as it is. */
const variationsOf = (ware: Ware, { variations = 0 }: WooSettings) =>
  Array.from({ length: variations }, (_, index) => ware.id * 100 + index)

const listed = (base: string, ware: Ware, settings: WooSettings, soldOut: boolean, money: object) => ({
  id: ware.id,
  name: ware.name,
  slug: ware.handle,
  type: settings.variations === undefined ? "simple" : "variable",
  sku: ware.sku,
  permalink: `${base}${path(ware)}`,
  prices: { price: minor(ware.price), regular_price: minor(ware.price), ...money },
  is_in_stock: !soldOut,
  is_purchasable: true,
  has_options: false,
  variations: variationsOf(ware, settings).map((id, at) => ({
    id,
    attributes: [{ name: "Size", value: `size-${at}` }]
  })),
  attributes: [
    { name: "Size", terms: variationsOf(ware, settings).map((_, at) => ({ name: `Size ${at}`, slug: `size-${at}` })) }
  ],
  categories: [{ name: ware.handle === "gift-card" ? "Gift cards" : "Desk" }]
})

interface Cart {
  lines: Array<{ key: string; ware: Ware }>
  address: boolean
}

const cartBody = ({ lines }: Cart) =>
  lines.length === 0
    ? "<p>Your cart is currently empty.</p>"
    : `<ul>${lines.map(({ ware }) => `<li><a href="${path(ware)}">${ware.name}</a> $${ware.price} <a href="/cart/?remove_item=1">Remove item</a></li>`).join("")}</ul><a href="/checkout/">Proceed to checkout</a>`

const billing = [
  "email email",
  "first_name given-name",
  "last_name family-name",
  "address_1 address-line1",
  "city address-level2",
  "postcode postal-code"
]
  .map((pair) => pair.split(" "))
  .map(
    ([name, token]) =>
      `<label for="b-${name}">${name?.replace("_", " ")}</label><input id="b-${name}" name="billing_${name}" autocomplete="${token}">`
  )
  .join("")

/** The classic checkout: one page, whose only button places the order. */
const checkoutBody = ({ lines }: Cart) =>
  `<p>Check out as a guest.</p><form class="checkout" action="/?wc-ajax=checkout" method="post">${billing}<p>Shipping: Flat rate $4.90</p><p>Total $${lines.reduce((sum, { ware }) => sum + Number(ware.price), 4.9).toFixed(2)}</p><label><input type="radio" name="payment_method" value="cod" checked> Cash on delivery</label><button type="submit" name="woocommerce_checkout_place_order">Place order</button></form>`

/** A shop of ours, shaped after the Store API of WooCommerce. It is no WooCommerce, and proves nothing of theirs. */
export const open = (settings: WooSettings = {}): Effect.Effect<WooShop, never, Scope.Scope> =>
  Effect.gen(function* () {
    let orders = 0
    let busy = settings.busy ?? 0
    const sessions = new Sessions<Cart>(() => ({ lines: [], address: false }))
    const soldOut = settings.soldOut ?? false
    const money = { currency_code: settings.currency ?? "USD", currency_minor_unit: 2 }
    const methods = { card: ["stripe"], deferred: ["cod", "bacs"], none: [] }[settings.payment ?? "card"]
    const total = (cart: Cart) => cart.lines.reduce((sum, { ware }) => sum + Number(minor(ware.price)), 0)

    const shown = (cart: Cart) => ({
      items: cart.lines.map(({ key, ware }) => ({
        key,
        id: variationsOf(ware, settings).at(-1) ?? ware.id,
        quantity: 1,
        name: ware.name,
        sku: ware.sku,
        variation:
          settings.variations === undefined ? [] : [{ attribute: "Size", value: `Size ${settings.variations - 1}` }],
        prices: { price: minor(ware.price), ...money },
        totals: { line_total: minor(ware.price), ...money }
      })),
      items_count: cart.lines.length,
      needs_shipping: cart.lines.length > 0,
      has_calculated_shipping: cart.address,
      shipping_rates: cart.address
        ? [
            {
              package_id: 0,
              shipping_rates: settings.noShipping
                ? []
                : [{ rate_id: "flat_rate:1", name: "Flat rate", price: "490", selected: true, ...money }]
            }
          ]
        : [],
      payment_methods: methods,
      errors: [],
      totals: {
        total_items: String(total(cart)),
        total_shipping: cart.address ? "490" : null,
        total_price: String(total(cart) + (cart.address && !settings.noShipping ? 490 : 0)),
        ...money
      }
    })

    const fixture = yield* openFixture(async (request, response, base) => {
      const url = new URL(request.url ?? "/", base)
      const body = await bodyOf(request)
      const html = { "content-type": "text/html; charset=utf-8" }
      const head = `<link rel="https://api.w.org/" href="${base}/wp-json/"><link rel="stylesheet" href="/wp-content/plugins/woocommerce/assets/css/wc-blocks.css"><meta name="generator" content="WooCommerce 9.9.0">`
      const shared = sharedPage(base, url, path, { robots: robotsText(base), head })
      if (shared !== undefined) return send(response, 200, shared.text, { "content-type": shared.type })
      const ware = wares.find((one) => path(one) === url.pathname)
      const visitor = sessions.of(cookieOf(request, "wp_woocommerce_session_1"))
      const cookie = { ...html, "set-cookie": [`wp_woocommerce_session_1=${visitor.id}; Path=/; HttpOnly`] }
      if (ware !== undefined && request.method === "POST") {
        const isAdded = new URLSearchParams(body).get("add-to-cart") === String(ware.id) && !soldOut
        if (isAdded) visitor.state.lines.push({ key: `k${ware.id}`, ware })
        return send(response, 302, "", { ...cookie, location: "/cart/" })
      }
      if (ware !== undefined) {
        const bought = soldOut
          ? "<p>Out of stock</p>"
          : `<form class="cart" action="${path(ware)}" method="post" enctype="multipart/form-data"><label for="n">Quantity</label><input id="n" type="number" name="quantity" value="1"><button type="submit" name="add-to-cart" value="${ware.id}">Add to cart</button></form>`
        const said = productNode(base, ware, path(ware), { available: !soldOut })
        return send(
          response,
          200,
          page(base, ware.name, `<p>$${ware.price}</p><p>${ware.description}</p>${bought}`, head + said),
          html
        )
      }
      if (url.pathname.startsWith(api)) {
        if (settings.closedApi) return sendJson(response, 403, { code: "rest_forbidden", message: "Forbidden" })
        if (url.pathname === `${api}/products`) {
          const some = wares.slice(0, Number(url.searchParams.get("per_page") ?? "10"))
          return sendJson(
            response,
            200,
            some.map((one) => listed(base, one, settings, soldOut, money))
          )
        }
        const token = request.headers["cart-token"]
        const { id, state } = sessions.of(typeof token === "string" ? token : undefined)
        const headers = { "cart-token": id, nonce: `nonce-${id}` }
        const call = `${request.method} ${url.pathname.slice(api.length)}`
        if (call === "GET /cart") return sendJson(response, 200, shown(state), headers)
        if (request.headers["nonce"] !== `nonce-${id}`) {
          return sendJson(response, 401, {
            code: "woocommerce_rest_missing_nonce",
            message: "Missing the Nonce header."
          })
        }
        switch (call) {
          case "POST /cart/add-item": {
            if (busy > 0) {
              busy -= 1
              return sendJson(response, 503, { code: "busy" }, { ...headers, "retry-after": "1" })
            }
            const { id: wanted } = JSON.parse(body) as { id: number }
            const added = wares.find((one) => (variationsOf(one, settings).at(-1) ?? one.id) === wanted)
            if (added === undefined || soldOut) {
              const code = "woocommerce_rest_product_out_of_stock"
              return sendJson(response, 400, { code, message: "out of stock" }, headers)
            }
            state.lines.push({ key: `k${added.id}`, ware: added })
            return sendJson(response, 201, shown(state), headers)
          }
          case "POST /cart/update-customer":
            if (!isKnownState(body)) return sendJson(response, 400, { code: "rest_invalid_param" }, headers)
            state.address = true
            return sendJson(response, 200, shown(state), headers)
          case "DELETE /cart/items":
            state.lines = []
            return sendJson(response, 200, [], headers)
          case "POST /checkout":
            orders += 1
            return sendJson(response, 200, { order_id: orders }, headers)
          default:
            return sendJson(response, 404, { code: "rest_no_route", message: "No route" }, headers)
        }
      }
      if (url.pathname === "/cart/" || url.pathname === "/cart") {
        if (url.searchParams.has("remove_item")) visitor.state.lines = []
        return send(response, 200, page(base, "Cart", cartBody(visitor.state), head), cookie)
      }
      if (url.pathname === "/checkout/" || url.pathname === "/checkout") {
        return send(response, 200, page(base, "Checkout", checkoutBody(visitor.state), head), cookie)
      }
      if (url.searchParams.get("wc-ajax") === "checkout") orders += 1
      return send(response, 404, page(base, "Not found", "<p>There is no such page.</p>", head), html)
    })
    return {
      domain: fixture.domain,
      url: fixture.url,
      asked: fixture.asked,
      orders: () => orders,
      items: () => [...sessions.states.values()].reduce((sum, { lines }) => sum + lines.length, 0)
    }
  })
