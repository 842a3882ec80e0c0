import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fixture from "../shops/Fixture.ts"
import { jsonLd, page, send } from "../shops/Storefront.ts"
import { scanOf } from "./ScanEngineHarness.ts"

/** A shop of one script, which leads from its checkout back to the cart while that is empty. */
const shop = (names: string, cart: string, checkout: string) =>
  Fixture.open((request, response, base) => {
    const url = new URL(request.url ?? "/", base)
    const to = (name: string) => `${base}/index.php?${names}=${name}`
    const name = url.searchParams.get(names)
    const links = `<a href="${to(cart)}">Basket</a> <a href="${to(checkout)}">Checkout</a>`
    if (url.pathname === "/")
      return send(response, 200, page(base, "Kettles", links, jsonLd({ "@type": "OnlineStore", name: "Kettles" })))
    if (url.pathname === "/index.php" && name === cart)
      return send(response, 200, page(base, "Cart", "<p>Your cart is empty.</p>"))
    if (url.pathname === "/index.php" && name === checkout) return send(response, 302, "", { location: to(cart) })
    return send(response, 404, page(base, "Not found", "<p>No such page.</p>"))
  })

describe("a scan of a shop that names its pages in a query", () => {
  it.live.each([
    ["route", "checkout/cart", "checkout/checkout"],
    ["rt", "checkout/cart", "checkout/fast_checkout"],
    ["main_page", "shopping_cart", "checkout_shipping"],
    ["_a", "basket", "checkout"]
  ] as const)("asks for the checkout that its %s names, and not for one at a path of its own", ([names, cart, till]) =>
    Effect.gen(function* () {
      const { domain } = yield* shop(names, cart, till)
      const found = yield* scanOf(domain)
      const guest = found.checks.find(({ id }) => id === "guest_checkout")
      assert.include(guest?.message ?? "", "it leads back while the cart is empty")
    }).pipe(Effect.scoped)
  )
})
