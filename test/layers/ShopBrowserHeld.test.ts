import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { isOrder } from "#layers/ShopBrowser/OrderLock.ts"
import { ShopBrowser } from "#services/ShopBrowser.ts"
import * as Fixture from "../shops/Fixture.ts"
import * as Harness from "./ShopBrowserHarness.ts"

const { missing } = Harness
const listed: Array<string> = []

const fields =
  '<label>Email <input type="email" autocomplete="email"></label><label>Name <input autocomplete="name"></label><label>Street <input autocomplete="street-address"></label><label>Phone <input type="tel" autocomplete="tel"></label>'
const steps = '<ol class="steps"><li aria-current="step">Address</li><li>Payment</li></ol>'
/** A checkout of scripts, whose only button sends everything to an address that tells nothing, and then shows this. */
const checkout = (button: string, shown: string, more = "") =>
  `${more}${fields}<p>Total: $12.00</p><button id="go">${button}</button><script>go.onclick = () => fetch("/api/submit", { method: "POST" }).then(() => { document.querySelector("main").innerHTML = ${JSON.stringify(shown)} })</script>`
const adding = `<button onclick="fetch('/api/cart', { method: 'POST' })">Add to cart</button>`

/** A shop of three pages. It counts what it takes for an order. */
const shopOf = Effect.fnUntraced(function* (pages: { readonly buying?: string; readonly checkout?: string }) {
  const log = { items: 0, orders: 0 }
  const fixture = yield* Fixture.open((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://shop")
    const html = (body: string, status = 200) =>
      void response
        .writeHead(status, { "content-type": "text/html" })
        .end(`<!doctype html><html lang="en"><title>Shop</title><a href="/cart">Cart</a><main>${body}</main></html>`)
    if (request.method === "POST") {
      if (pathname === "/api/cart") log.items++
      else log.orders++
      return html("<p>fine</p>")
    }
    if (pathname === "/p/mug") return html(`<h1>Blue mug</h1><p>$12.00</p>${pages.buying ?? adding}`)
    if (pathname === "/cart")
      return html(
        log.items === 0
          ? "Your cart is empty"
          : '<ul><li>Blue mug <b>$12.00</b> <button>Remove</button></li></ul><a href="/checkout">Checkout</a>'
      )
    if (pathname === "/checkout") return html(pages.checkout ?? "")
    return html("Not found", 404)
  })
  listed.push(fixture.domain)
  const { rail } = yield* Harness.open(yield* ShopBrowser, fixture.url)
  return { log, rail: Harness.patient(rail), mug: Harness.mugOf(fixture.url, null) }
})

describe("a page at an address that sounds like the deed", () => {
  it("is looked at when it is a platform's review page, come to from the page before it, and never sent to", () => {
    const url = new URL("https://shop.example/checkout/confirm")
    const leaving = { url, body: "", isDocument: true, from: "https://shop.example/checkout/register" }
    assert.isFalse(isOrder({ ...leaving, method: "GET" }))
    assert.isTrue(isOrder({ ...leaving, method: "POST" }))
    assert.isTrue(isOrder({ ...leaving, method: "GET", from: undefined }))
    assert.isTrue(isOrder({ ...leaving, method: "GET", from: "https://shop.example/cart" }))
  })
})

if (missing !== undefined) {
  it("shops were not tried: this machine has no browser", () => assert.match(missing ?? "", /no browser/))
} else {
  layer(Harness.layer({ allowHosts: listed }))("a browser in a checkout that may order by its next button", (it) => {
    const held: ReadonlyArray<readonly [what: string, page: string]> = [
      ["a script behind a neutral button", checkout("Continue", "<h1>Thank you!</h1>")],
      [
        "a script that takes a telephone number, to call back",
        '<label>Phone <input type="tel" autocomplete="tel"></label><button onclick="fetch(`/api/submit`, { method: `POST` })">Continue</button>'
      ],
      ["a script that goes to a bank", checkout("Continue to payment", "Redirecting to your bank")],
      [
        "a form that says how one pays",
        `<p>Pay at the counter when you collect.</p><form method="post" action="/checkout">${fields}<button>Continue</button></form>`
      ],
      [
        "a way past a login that is called an order",
        '<form method="post" action="/login"><label>E-Mail <input type="email" name="email"></label><label>Passwort <input type="password" name="pw"></label><button>Anmelden</button></form><form method="post" action="/guest"><button>Als Gast bestellen</button></form>'
      ]
    ]
    for (const [what, page] of held) {
      it.effect(`does not press it, and says so: ${what}`, () =>
        Effect.gen(function* () {
          const { log, mug, rail } = yield* shopOf({ checkout: page })
          assert.strictEqual((yield* rail.cart(mug)).status, "passed")
          const done = yield* rail.checkout
          assert.deepStrictEqual([log.orders, done.status], [0, "unknown"], done.detail)
          assert.match(done.detail, /may take the order itself.*a test does not send it/)
        })
      )
    }

    it.effect("says at once that it was one, where the page lists a later step and orders", () =>
      Effect.gen(function* () {
        const shown = "<h1>Thank you! Your order OS-77 is confirmed.</h1>"
        const { log, mug, rail } = yield* shopOf({ checkout: checkout("Continue", shown, steps) })
        yield* rail.cart(mug)
        const done = yield* rail.checkout
        assert.strictEqual(log.orders, 1)
        assert.deepInclude(done.blockers.at(-1) ?? {}, { id: "order_taken", severity: "blocking" })
        assert.match(done.detail, /cancel it.*reference OS-77/)
      })
    )

    it.effect("does not claim that nothing was ordered, where the page then says nothing", () =>
      Effect.gen(function* () {
        const { mug, rail } = yield* shopOf({ checkout: checkout("Continue", "Redirecting to your bank", steps) })
        yield* rail.cart(mug)
        const done = yield* rail.checkout
        assert.strictEqual(done.status, "unknown")
        assert.deepInclude(done.blockers.at(-1) ?? {}, { id: "order_uncertain", severity: "warning" })
      })
    )

    it.effect("does not claim it either, where the page stays as it was after the shop took what was sent", () =>
      Effect.gen(function* () {
        const silent = `${steps}${fields}<button onclick="fetch('/api/submit', { method: 'POST' })">Continue</button>`
        const { log, mug, rail } = yield* shopOf({ checkout: silent })
        yield* rail.cart(mug)
        const done = yield* rail.checkout
        assert.deepStrictEqual([log.orders, done.status], [1, "unknown"], done.detail)
        assert.deepInclude(done.blockers.at(-1) ?? {}, { id: "order_uncertain", severity: "warning" }, done.detail)
      })
    )

    it.effect("says so of a button that should only have filled the cart", () =>
      Effect.gen(function* () {
        const buying = `<button onclick="fetch('/api/instant', { method: 'POST' }).then(() => document.body.innerHTML = 'Thank you for your order')">Add to cart</button>`
        const { mug, rail } = yield* shopOf({ buying })
        const cart = yield* rail.cart(mug)
        assert.deepInclude(cart.blockers.at(-1) ?? {}, { id: "order_taken" }, cart.detail)
      })
    )

    it.effect("blames no shop that only offers to buy at once", () =>
      Effect.gen(function* () {
        const { log, mug, rail } = yield* shopOf({
          buying: `<button onclick="fetch('/x', { method: 'POST' })">Buy now</button>`
        })
        const cart = yield* rail.cart(mug)
        assert.deepStrictEqual([cart.status, cart.blockers, log.orders], ["unknown", [], 0])
        assert.match(cart.detail, /only offers to buy at once/)
      })
    )

    it.effect("blames no shop whose button may add to the cart or open it", () =>
      Effect.gen(function* () {
        const { mug, rail } = yield* shopOf({
          buying: `<meta charset="utf-8"><button onclick="fetch('/x', { method: 'POST' })">장바구니</button>`
        })
        const cart = yield* rail.cart(mug)
        assert.deepStrictEqual([cart.status, cart.blockers], ["unknown", []])
        assert.match(cart.detail, /"장바구니" may add/)
      })
    )
  })
}
