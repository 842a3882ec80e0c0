import { Effect } from "effect"
import type { TestShopper } from "#domain/TestShopper.ts"
import { ShopBrowser } from "#services/ShopBrowser.ts"
import * as Fixture from "../shops/Fixture.ts"
import * as Harness from "./ShopBrowserHarness.ts"

export const listed: Array<string> = []

export const fields = `<label>Email <input type="email" name="email"></label><label>Name <input name="name" autocomplete="name"></label><label>Street <input name="street" autocomplete="street-address"></label><label>Postcode <input name="postal-code"></label>`
export const steps = `<ol class="steps"><li aria-current="step">Address</li><li>Payment</li></ol>`

/** A script that sends this to the shop. */
export const send = (path: string, body = "''") => `fetch('${path}', { method: 'POST', body: ${body} })`
export const adding = `<button id="add" type="button" onclick="${send("/api/cart")}">Add to cart</button>`

/** How a shop of a product, a cart and a checkout differs from one without anything besides. */
export interface AsideShop {
  readonly product?: string
  /** What stands above the product's heading. */
  readonly above?: string
  /** What stands in the full cart beside the item. */
  readonly onward?: string
  readonly checkout?: string
  /** Where the checkout is. */
  readonly at?: string
  readonly cartAt?: string
  /** How an address is answered. */
  readonly answers?: Readonly<
    Record<string, { readonly status?: number; readonly location?: string; readonly html?: string }>
  >
}

/** Opens such a shop. `sent` is what it was sent, the cart's aside. */
export const open = Effect.fnUntraced(function* (shop: AsideShop, shopper?: TestShopper) {
  const { at = "/checkout", cartAt = "/cart" } = shop
  const sent: Array<string> = []
  let items = 0
  const fixture = yield* Fixture.open(async (request, response) => {
    const path = request.url ?? "/"
    const html = (body: string, status = 200) =>
      void response
        .writeHead(status, { "content-type": "text/html" })
        .end(
          `<!doctype html><html lang="en"><title>Shop</title><a href="${cartAt.replaceAll("&", "&amp;")}">Cart</a><main>${body}</main></html>`
        )
    if (request.method === "POST") {
      let body = ""
      for await (const chunk of request) body += String(chunk)
      if (path === "/api/cart" || path.startsWith("/api/cart?")) {
        items++
        if (path !== "/api/cart") sent.push(path)
      } else sent.push(`${path} ${body}`.trim())
    }
    const answer = shop.answers?.[path]
    if (answer?.location !== undefined) return void response.writeHead(302, { location: answer.location }).end()
    if (answer !== undefined) return html(answer.html ?? "", answer.status)
    if (path === "/p/mug")
      return html(
        `${shop.above ?? ""}<h1>Blue mug</h1><p>$12.00</p>${shop.product ?? `<div>${adding}</div>`}<p>Shipping is free.</p>`
      )
    if (path === cartAt)
      return html(
        items === 0
          ? "Your cart is empty"
          : `<ul><li>Blue mug <b>$12.00</b> <button>Remove</button></li></ul>${shop.onward ?? `<a href="${at.replaceAll("&", "&amp;")}">Checkout</a>`}`
      )
    if (path === at) return html(shop.checkout ?? "")
    return html("fine", request.method === "POST" ? 200 : 404)
  })
  listed.push(fixture.domain)
  const { rail } = yield* Harness.open(yield* ShopBrowser, fixture.url, shopper)
  return { sent, rail: Harness.patient(rail), mug: Harness.mugOf(fixture.url, null), url: fixture.url }
})
