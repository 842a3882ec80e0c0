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
export interface ShopifySettings {
  readonly soldOut?: boolean
  /** `/cart/add.js` answers with the item and keeps nothing. */
  readonly silentCart?: boolean
  readonly noShipping?: boolean
  /** Only a wallet's sheet is offered. */
  readonly onlyHumanPayment?: boolean
  /** The cart takes nothing that is bought once. */
  readonly onlySubscribed?: boolean
  /** Nothing but a script takes a line out of the cart. */
  readonly scriptedCart?: boolean
  /** The cart asks another price than the product. */
  readonly cartPrice?: string
  /** The checkout sends strangers to the login. */
  readonly accountWall?: boolean
}

export interface ShopifyShop extends Fixture {
  /** Orders that were placed. */
  readonly orders: () => number
  /** Things that lie in carts now. */
  readonly items: () => number
}

const path = (ware: Ware) => `/products/${ware.handle}`
const variantOf = (ware: Ware) => 40_000_000_000_000 + ware.id

const listed = (base: string, ware: Ware, soldOut: boolean) => ({
  id: 7_000_000_000_000 + ware.id,
  title: ware.name,
  handle: ware.handle,
  body_html: `<p>${ware.description}</p>`,
  vendor: "Paper & Brass",
  product_type: ware.handle === "gift-card" ? "Gift Card" : "Desk",
  tags: [],
  variants: [
    {
      id: variantOf(ware),
      title: "Default Title",
      option1: "Default Title",
      sku: ware.sku,
      requires_shipping: ware.handle !== "gift-card",
      available: !soldOut,
      price: ware.price
    }
  ],
  images: [{ src: `${base}/images/${ware.handle}.jpg` }],
  options: [{ name: "Title", position: 1, values: ["Default Title"] }]
})

/** Minor units, as the cart's interface counts. */
const cents = (price: string) => Number(price.replace(".", ""))

const subscribersOnly = {
  status: 422,
  message: "Cart Error",
  description: "Variant can only be purchased with a selling plan."
}

const cartBody = (lines: ReadonlyArray<Ware>, { cartPrice, scriptedCart }: ShopifySettings) =>
  lines.length === 0
    ? "<p>Your cart is empty.</p>"
    : `<ul>${lines.map((ware) => `<li><a href="${path(ware)}">${ware.name}</a> $${cartPrice ?? ware.price}</li>`).join("")}</ul>${scriptedCart === true ? '<button type="button">Remove</button>' : '<a href="/cart/clear">Remove all</a>'} <a href="/checkout">Checkout</a>`

/** A shop of ours, shaped after the public addresses of Shopify shops. It is no Shopify, and proves nothing of theirs. */
export const open = (settings: ShopifySettings = {}): Effect.Effect<ShopifyShop, never, Scope.Scope> =>
  Effect.gen(function* () {
    let orders = 0
    const sessions = new Sessions(() => ({ lines: [] as Array<Ware> }))
    const fixture = yield* openFixture(async (request, response, base) => {
      const url = new URL(request.url ?? "/", base)
      const body = await bodyOf(request)
      const { id, state } = sessions.of(cookieOf(request, "cart"))
      const platform = { "powered-by": "Shopify", "x-shopid": "1", "x-sorting-hat-shopid": "1" }
      const cookie = { ...platform, "set-cookie": [`cart=${id}; Path=/; SameSite=Lax`, "_shopify_y=1; Path=/"] }
      const html = { ...cookie, "content-type": "text/html; charset=utf-8" }
      const line = (ware: Ware) => ({
        id: variantOf(ware),
        variant_id: variantOf(ware),
        product_id: 7_000_000_000_000 + ware.id,
        title: ware.name,
        quantity: 1,
        sku: ware.sku,
        price: cents(settings.cartPrice ?? ware.price),
        url: `${path(ware)}?variant=${variantOf(ware)}`
      })
      const cart = () => ({
        token: id,
        currency: "USD",
        item_count: state.lines.length,
        items: state.lines.map(line),
        total_price: state.lines.reduce((sum, ware) => sum + cents(settings.cartPrice ?? ware.price), 0),
        requires_shipping: state.lines.length > 0
      })
      const handle = /^\/products\/([\w-]+?)(\.js|\.json)?$/.exec(url.pathname)
      const ware = wares.find((one) => one.handle === handle?.[1])
      const shared = sharedPage(base, url, path, {
        robots: robotsText(base).replace("Disallow: /checkout", "Disallow: /checkout\nDisallow: /checkouts/"),
        head: '<script src="/cdn/shop.js?from=cdn.shopify.com" defer></script>'
      })
      if (shared !== undefined) return send(response, 200, shared.text, { ...cookie, "content-type": shared.type })
      if (ware !== undefined && handle?.[2] !== undefined) {
        const product = listed(base, ware, settings.soldOut ?? false)
        return sendJson(response, 200, handle[2] === ".js" ? product : { product }, cookie)
      }
      if (ware !== undefined) {
        const bought = settings.soldOut
          ? "<p>Sold out</p>"
          : `<form action="/cart/add" method="post"><input type="hidden" name="id" value="${variantOf(ware)}"><label for="n">Quantity</label><input id="n" type="number" name="quantity" value="1"><button type="submit" name="add">Add to cart</button></form>`
        const text = `<p>$${ware.price}</p><p>${ware.description}</p>${bought}`
        const head = productNode(base, ware, path(ware), { available: settings.soldOut !== true })
        return send(response, 200, page(base, ware.name, text, head), html)
      }
      switch (`${request.method} ${url.pathname}`) {
        case "GET /products.json": {
          const limit = Number(url.searchParams.get("limit") ?? "30")
          return sendJson(
            response,
            200,
            { products: wares.slice(0, limit).map((one) => listed(base, one, settings.soldOut ?? false)) },
            cookie
          )
        }
        case "GET /search/suggest.json": {
          const words = (url.searchParams.get("q") ?? "").toLowerCase().split(/\s+/)
          const products = wares
            .filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
            .map((one) => ({ title: one.name, url: path(one), price: one.price }))
          return sendJson(response, 200, { resources: { results: { products } } }, cookie)
        }
        case "GET /cart.js":
          return sendJson(response, 200, cart(), cookie)
        case "POST /cart/add.js": {
          const wanted = (JSON.parse(body) as { items?: Array<{ id: number }> }).items?.[0]?.id
          const added = wares.find((one) => variantOf(one) === wanted)
          if (added === undefined || settings.soldOut === true) {
            return sendJson(response, 422, { status: 422, message: "Cart Error", description: "is sold out" }, cookie)
          }
          if (settings.onlySubscribed === true) return sendJson(response, 422, subscribersOnly, cookie)
          if (settings.silentCart !== true) state.lines.push(added)
          return sendJson(response, 200, { items: [line(added)] }, cookie)
        }
        case "POST /cart/add": {
          const wanted = Number(new URLSearchParams(body).get("id"))
          const added = wares.find((one) => variantOf(one) === wanted)
          if (settings.onlySubscribed === true)
            return send(response, 422, page(base, "Cart Error", `<p>${subscribersOnly.description}</p>`), html)
          if (added !== undefined && settings.soldOut !== true && settings.silentCart !== true) state.lines.push(added)
          return send(response, 302, "", { ...html, location: "/cart" })
        }
        case "POST /cart/clear.js":
          state.lines.length = 0
          return sendJson(response, 200, cart(), cookie)
        case "GET /cart/shipping_rates.json": {
          const rate = { name: "Standard", price: "4.90", delivery_days: [2], source: "shopify" }
          return sendJson(response, 200, { shipping_rates: settings.noShipping ? [] : [rate] }, cookie)
        }
        case "GET /cart/clear":
          state.lines.length = 0
          return send(response, 302, "", { ...html, location: "/cart" })
        case "GET /cart":
          return send(response, 200, page(base, "Cart", cartBody(state.lines, settings)), html)
        case "GET /checkout": {
          if (state.lines.length === 0) return send(response, 302, "", { ...html, location: "/cart" })
          if (settings.accountWall) return send(response, 302, "", { ...html, location: "/account/login" })
          const card =
            '<label for="c">Credit card number</label><input id="c" name="number" autocomplete="cc-number"><script src="https://js.stripe.com/v3/" async></script>'
          const wallet =
            '<apple-pay-button></apple-pay-button><script>window.ApplePaySession</script><script src="/cdn/checkout.js" defer></script>'
          return send(
            response,
            200,
            page(
              base,
              "Checkout",
              `<form action="/checkouts/complete" method="post"><label for="e">Email</label><input id="e" type="email" name="email" autocomplete="email"><label for="s">Address</label><input id="s" name="address1" autocomplete="address-line1"><label for="z">ZIP code</label><input id="z" name="postalCode" autocomplete="postal-code">${settings.onlyHumanPayment ? wallet : card}<button type="submit">Pay now</button></form>`
            ),
            html
          )
        }
        case "GET /account/login":
          return send(
            response,
            200,
            page(
              base,
              "Login",
              '<p>Log in to check out.</p><form action="/account/login" method="post"><label for="e">Email</label><input id="e" type="email" name="email" autocomplete="email"><label for="p">Password</label><input id="p" type="password" name="password" autocomplete="current-password"><button>Log in</button></form>'
            ),
            html
          )
        case "POST /checkouts/complete":
          orders += 1
          return send(response, 200, page(base, "Thank you", "<p>Order placed</p>"), html)
        default:
          return send(response, 404, page(base, "Not found", "<p>There is no such page.</p>"), html)
      }
    })
    return {
      domain: fixture.domain,
      url: fixture.url,
      asked: fixture.asked,
      orders: () => orders,
      items: () => [...sessions.states.values()].reduce((sum, { lines }) => sum + lines.length, 0)
    }
  })
