import { Effect, type Scope } from "effect"
import { type Fixture, open as openFixture } from "./Fixture.ts"
import * as Pages from "./HtmlShopPages.ts"
import type { HtmlShopSettings } from "./HtmlShopPages.ts"
import { bodyOf, cookieOf, page, productNode, robotsText, send, Sessions, sharedPage, wares } from "./Storefront.ts"

export interface HtmlShop extends Fixture {
  readonly orders: () => number
  readonly items: () => number
}

const robots = (base: string, { robots }: HtmlShopSettings) => {
  if (robots === "products") return robotsText(base).replace("Allow: /", "Disallow: /products")
  if (robots === "agents") return robotsText(base, "User-agent: TurnpikeScanner\nDisallow: /\n")
  if (robots === "everything") return "User-agent: *\nDisallow: /\n"
  return robotsText(base)
}

/** A shop of ours, of plain forms and a session cookie. */
export const open = (settings: HtmlShopSettings = {}): Effect.Effect<HtmlShop, never, Scope.Scope> =>
  Effect.gen(function* () {
    let orders = 0
    const sessions = new Sessions<Pages.State>(() => ({
      lines: [],
      isGuest: false,
      hasAddress: false,
      hasShipping: false
    }))
    const price = settings.cartPrice ?? Pages.priceInCart
    const fixture = yield* openFixture(async (request, response, base) => {
      const url = new URL(request.url ?? "/", base)
      const form = new URLSearchParams(await bodyOf(request))
      const { id, state } = sessions.of(cookieOf(request, "sid"))
      const html = {
        "content-type": "text/html; charset=utf-8",
        "set-cookie": [`sid=${id}; Path=/; HttpOnly; SameSite=Lax`]
      }
      const show = (title: string, body: string, head = "", status = 200) =>
        send(response, status, page(base, title, body, head), html)
      const goTo = (location: string) => send(response, 303, "", { ...html, location })
      const missing = () => show("Not found", "<p>There is no such page.</p>", "", 404)

      if (settings.noProducts && /^\/(?:sitemap\.xml|collections\/all|search)$/.test(url.pathname)) return missing()
      if (settings.noProducts && url.pathname === "/") return show("Paper and brass for desks", "<p>Opening soon.</p>")
      const shared = sharedPage(base, url, Pages.path, { robots: robots(base, settings) })
      if (shared !== undefined) return send(response, 200, shared.text, { ...html, "content-type": shared.type })
      const ware = wares.find((one) => Pages.path(one) === url.pathname)
      if (ware !== undefined) {
        const said = productNode(base, ware, url.pathname, { available: settings.soldOut !== true })
        const priced = said.replaceAll('"USD"', `"${settings.currency ?? "USD"}"`)
        return show(ware.name, Pages.product(ware, id, settings), settings.structured === "none" ? "" : priced)
      }
      if (request.method === "POST" && form.get("csrf") !== id) return show("Refused", "<p>Bad form.</p>", "", 403)
      const wall = settings.account !== undefined && !state.isGuest
      switch (`${request.method} ${url.pathname}`) {
        case "POST /cart/add": {
          const added = wares.find((one) => String(one.id) === form.get("product_id"))
          if (added === undefined || settings.soldOut) return show("Cart", "<p>This product is sold out.</p>")
          if (settings.variants !== undefined && !form.get("colour")) {
            return show(added.name, "<p role=alert>Please select a colour.</p>")
          }
          if (settings.silentCart !== true) state.lines.push(added)
          return goTo("/cart")
        }
        case "GET /cart":
          return show("Cart", Pages.cart(state, id, price, settings))
        case "POST /cart/clear":
          state.lines = []
          return goTo("/cart")
        case "GET /checkout":
          if (state.lines.length === 0) return goTo("/cart")
          return wall ? goTo("/account/login") : show("Checkout", Pages.contact(state, id, price, settings))
        case "GET /account/login":
          return show("Log in", Pages.login(id, settings))
        case "POST /checkout/guest":
          state.isGuest = true
          return goTo("/checkout")
        case "POST /checkout/address":
          if (settings.badAddress || !form.get("postal_code")) {
            return show(
              "Checkout",
              `<p role=alert>We could not verify this address.</p>${Pages.contact(state, id, price, settings)}`
            )
          }
          state.hasAddress = true
          return goTo("/checkout/shipping")
        case "GET /checkout/shipping":
          return state.hasAddress ? show("Shipping", Pages.shipping(id, settings)) : goTo("/checkout")
        case "POST /checkout/shipping":
          if (settings.noShipping || !form.get("shipping_method")) return goTo("/checkout/shipping")
          state.hasShipping = true
          return goTo("/checkout/payment")
        case "GET /checkout/payment":
          return state.hasShipping ? show("Payment", Pages.payment(state, id, price, settings)) : goTo("/checkout")
        case "POST /checkout/place-order":
          orders += 1
          return show("Thank you", "<p>Your order is placed.</p>")
        default:
          return missing()
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
