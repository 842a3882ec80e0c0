import { Effect, type Scope } from "effect"
import { type Fixture, open as openFixture } from "./Fixture.ts"
import {
  bodyOf,
  cookieOf,
  page,
  robotsText,
  send,
  sendJson,
  Sessions,
  sharedPage,
  type Ware,
  wares
} from "./Storefront.ts"

/** How the shop differs from a well-built one. */
export interface EverShopSettings {
  readonly noShipping?: boolean
  readonly noPayment?: boolean
}

export interface EverShop extends Fixture {
  readonly orders: () => number
  readonly items: () => number
}

interface Cart {
  lines: Array<Ware>
  hasAddress: boolean
  shipping: string | null
}

const path = (ware: Ware) => `/desk/${ware.handle}`
const head =
  '<link rel="stylesheet" href="/assets/frontStore/main.css"><script src="/assets/frontStore/main.js" defer></script>'
const form = '<form><input type="number" name="qty" value="1"><button type="button">Add to cart</button></form>'
const provider =
  '<style>.pay { -webkit-appearance: -apple-pay-button }</style><script src="https://js.stripe.com/v3/"></script>'

/** A shop of ours, shaped after EverShop's pages and cart. It is no EverShop, and proves nothing of it. */
export const open = (settings: EverShopSettings = {}): Effect.Effect<EverShop, never, Scope.Scope> =>
  Effect.gen(function* () {
    let orders = 0
    const sessions = new Sessions<Cart>(() => ({ lines: [], hasAddress: false, shipping: null }))
    const total = ({ lines, shipping }: Cart) =>
      lines.reduce((sum, { price }) => sum + Number(price), shipping === null ? 0 : 5)
    const cartOf = (cart: Cart) => ({
      currency: "USD",
      grandTotal: { value: total(cart) },
      shippingMethodName: cart.shipping,
      availableShippingMethods:
        cart.hasAddress && !settings.noShipping
          ? [{ providerCode: "core", code: "m-1", name: "Standard shipping" }]
          : [],
      availablePaymentMethods: settings.noPayment ? [] : [{ code: "cod", name: "Cash on delivery" }]
    })
    const summary = (cart: Cart) =>
      `<p>Sub total $${(total(cart) - (cart.shipping === null ? 0 : 5)).toFixed(2)}</p><p>Total (Inclusive of tax $0.00) $${total(cart).toFixed(2)}</p>`

    const fixture = yield* openFixture(async (request, response, base) => {
      const url = new URL(request.url ?? "/", base)
      const body = await bodyOf(request)
      const { id, state } = sessions.of(cookieOf(request, "sid"))
      const headers = { "content-type": "text/html; charset=utf-8", "set-cookie": [`sid=${id}; Path=/; HttpOnly`] }
      const show = (title: string, text: string, status = 200) =>
        send(response, status, page(base, title, text, head), headers)
      const say = (data: unknown) => sendJson(response, 200, { data })
      const shared = sharedPage(base, url, path, { robots: robotsText(base), head })
      if (shared !== undefined) return send(response, 200, shared.text, { ...headers, "content-type": shared.type })
      const ware = wares.find((one) => path(one) === url.pathname)
      if (ware !== undefined) {
        return show(ware.name, `<p>$${ware.price}</p><p>SKU: ${ware.sku}</p><p>${ware.description}</p>${form}`)
      }
      switch (`${request.method} ${url.pathname}`) {
        case "POST /api/cart/mine/items": {
          const added = wares.find(({ sku }) => sku === JSON.parse(body).sku)
          if (added === undefined) return sendJson(response, 400, { error: { message: "Product not found" } })
          state.lines.push(added)
          return sendJson(
            response,
            200,
            { data: { cartId: `c-${id}`, item: { uuid: `i-${added.id}` } } },
            { "set-cookie": `sid=${id}; Path=/; HttpOnly` }
          )
        }
        case "GET /cart":
          return show("Cart", state.lines.map(({ name, price }) => `<p>${name} $${price}</p>`).join(""))
        case `POST /api/carts/c-${id}/contacts`:
          return say({})
        case `POST /api/carts/c-${id}/addresses`:
          state.hasAddress = true
          return say({})
        case `POST /api/carts/c-${id}/shippingMethods`: {
          const { method_code, provider_code } = JSON.parse(body)
          if (provider_code !== "core" || method_code !== "m-1") return sendJson(response, 400, { error: {} })
          state.shipping = "Standard shipping"
          return say({ method: { code: method_code } })
        }
        case "POST /api/graphql":
          return say({ myCart: cartOf(state) })
        case "GET /checkout":
          return show("Checkout", `${provider}${summary(state)}<form><input name="contact.email"></form>`)
        case "POST /api/orders":
          orders += 1
          return say({})
        default:
          if (request.method === "DELETE" && url.pathname.startsWith("/api/cart/mine/items/")) {
            state.lines = []
            return say({})
          }
          return show("Not found", "<p>There is no such page.</p>", 404)
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
