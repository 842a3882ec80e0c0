import { Effect } from "effect"
import { shoppers } from "#domain/TestShopper.ts"
import { ShopBrowser } from "#services/ShopBrowser.ts"
import * as Fixture from "../shops/Fixture.ts"
import { bodyOf } from "../shops/Storefront.ts"
import * as Harness from "./ShopBrowserHarness.ts"

/** The hosts of the shops that were opened, which may be visited although they are private. */
export const listed: Array<string> = []

const adding = `<button onclick="fetch('/api/cart', { method: 'POST' })">Add to cart</button>`

export interface Shop {
  /** What stands in the cart below its item. */
  readonly ways: string
  /** Pages by their path, or where they lead on to; \`sent\` are the forms that were sent before. */
  readonly pages?: (path: string, sent: ReadonlyArray<string>) => string | { readonly to: string } | undefined
}

/** A shop in euros. What is sent to any address but that of its cart is kept, by address and fields. */
export const shopOf = Effect.fnUntraced(function* ({ pages, ways }: Shop) {
  const log = { items: 0, sent: [] as Array<string> }
  const fixture = yield* Fixture.open(async (request, response) => {
    const { pathname, search } = new URL(request.url ?? "/", "http://shop")
    const html = (body: string | { readonly to: string }, status = 200) => {
      if (typeof body === "object") return void response.writeHead(303, { location: body.to }).end()
      response
        .writeHead(status, { "content-type": "text/html; charset=utf-8" })
        .end(`<!doctype html><html lang="es"><title>Shop</title><a href="/cart">Cart</a><main>${body}</main></html>`)
    }
    if (request.method === "POST") {
      const body = await bodyOf(request)
      if (pathname === "/api/cart") {
        log.items++
        return html("ok")
      }
      log.sent.push(`${pathname}${search} ${body}`)
      return html(pages?.(pathname, log.sent) ?? "")
    }
    if (pathname === "/p/mug") return html(`<h1>Blue mug</h1><p>$12.00</p>${adding}`)
    if (pathname === "/cart")
      return html(
        log.items === 0
          ? "Your cart is empty"
          : `<ul><li>Blue mug <b>$12.00</b> <button>Remove</button></li></ul>${ways}`
      )
    const page = pages?.(pathname, log.sent)
    return html(page ?? "Not found", page === undefined ? 404 : 200)
  })
  listed.push(fixture.domain)
  const { rail } = yield* Harness.open(yield* ShopBrowser, fixture.url, shoppers.ES)
  return { log, rail: Harness.patient(rail), mug: Harness.mugOf(fixture.url, null) }
})

/** A form of a checkout for guests. */
export const guests = `<form method="post" action="/checkout/address"><label>Email <input type="email" name="email" required></label><label>Name <input name="name" autocomplete="name"></label><label>Street <input name="street[0]" required></label><label>City <input name="city"></label><button>Continue to payment</button></form><p>Total: $12.00</p>`
