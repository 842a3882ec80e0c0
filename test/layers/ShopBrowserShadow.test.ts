import { assert, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ShopBrowser } from "#services/ShopBrowser.ts"
import * as Fixture from "../shops/Fixture.ts"
import * as Harness from "./ShopBrowserHarness.ts"

const listed: Array<string> = []

/** A page whose matter an element draws into a shadow root of its own, around what the page puts into its slot. */
const shadowed = (name: string, inner: string, slotted = "") =>
  `<${name}>${slotted}</${name}><script>customElements.define("${name}", class extends HTMLElement { connectedCallback() { if (!this.shadowRoot) this.attachShadow({ mode: "open" }).innerHTML = ${JSON.stringify(inner)} } })</script>`

const fields =
  '<label>Email <input type="email" autocomplete="email"></label><label>Name <input autocomplete="name"></label><label>Street <input autocomplete="street-address"></label>'
const steps = (at: number) =>
  `<ol class="steps">${["Address", "Payment"].map((step, index) => `<li${index === at ? ' aria-current="step"' : ""}>${step}</li>`).join("")}</ol>`

interface Pages {
  /** What stands above the product's heading. */
  readonly above?: string
  readonly buying?: string
  readonly checkout?: string
}

/** A shop whose cart and checkout are drawn into shadow roots. It counts what it takes. */
const shopOf = Effect.fnUntraced(function* ({ above = "", buying, checkout = "" }: Pages) {
  const log = { items: 0, sent: [] as Array<string> }
  const fixture = yield* Fixture.open((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://shop")
    const html = (body: string) =>
      void response
        .writeHead(200, { "content-type": "text/html; charset=utf-8" })
        .end(`<!doctype html><html lang="en"><title>Shop</title><a href="/cart">Cart</a><main>${body}</main></html>`)
    if (request.method === "POST") {
      if (pathname === "/api/cart") log.items++
      else log.sent.push(pathname)
      return html("fine")
    }
    const add = `<button onclick="fetch('/api/cart', { method: 'POST' })">Add to cart</button>`
    if (pathname === "/p/mug")
      return html(`${above}<h1>Blue mug</h1><p>$12.00</p>${buying ?? shadowed("buy-box", add)}`)
    if (pathname === "/checkout") return html(checkout)
    const row = '<div>Blue mug <b>$12.00</b></div><a href="/checkout">Checkout</a>'
    return html(shadowed("cart-box", log.items === 0 ? "<p>Your cart is empty</p>" : row))
  })
  listed.push(fixture.domain)
  const { rail } = yield* Harness.open(yield* ShopBrowser, fixture.url)
  return { log, rail: Harness.patient(rail), mug: Harness.mugOf(fixture.url, null) }
})

if (Harness.missing !== undefined) {
  it("shops were not tried: this machine has no browser", () => assert.match(Harness.missing ?? "", /no browser/))
} else {
  layer(Harness.layer({ allowHosts: listed }))("a shop that draws itself into shadow roots", (it) => {
    it.effect("is gone through to its payment, whose total stands in one, too", () =>
      Effect.gen(function* () {
        const payment = `${steps(1)}<form><label>Card number <input autocomplete="cc-number"></label><button>Pay now</button></form><p>Total $12.00</p>`
        const form = `${steps(0)}<form onsubmit="fetch('/api/address', { method: 'POST' }).then(() => { this.getRootNode().innerHTML = document.querySelector('template').innerHTML }); return false">${fields}<button>Continue</button></form><p>Total $12.00</p>`
        const { log, mug, rail } = yield* shopOf({
          checkout: `<template>${payment}</template>${shadowed("check-out", form)}`
        })
        assert.strictEqual((yield* rail.cart(mug)).status, "passed")
        const done = yield* rail.checkout
        assert.deepInclude(done, { status: "passed", total: "12.00", blockers: [] }, done.detail)
        assert.deepStrictEqual(log.sent, ["/api/address"])
        const { methods } = yield* rail.payment
        assert.deepStrictEqual(
          methods.map(({ method }) => method),
          ["card"]
        )
      })
    )

    it.effect("is bought from below the product's heading: what is recommended above it is something else", () =>
      Effect.gen(function* () {
        const button = (path: string) => `<button onclick="fetch('${path}', { method: 'POST' })">Add to cart</button>`
        // Drawn when all below it stands: the browser has no order of its own for the two.
        const { log, mug, rail } = yield* shopOf({
          above: "<also-bought></also-bought>",
          buying: `${shadowed("buy-box", button("/api/cart"))}${shadowed("also-bought", button("/api/other"))}`
        })
        assert.strictEqual((yield* rail.cart(mug)).status, "passed")
        assert.deepStrictEqual(log, { items: 1, sent: [] })
      })
    )

    it.effect(
      "has nothing pressed that may order: the form around an element is the one of the button that this draws",
      () =>
        Effect.gen(function* () {
          const go = `<button onclick="fetch('/api/submit', { method: 'POST' })">Continue</button>`
          const form = `<form action="/order/place" method="post">${fields}${shadowed("go-on", go)}</form>`
          const { log, mug, rail } = yield* shopOf({ checkout: `${steps(0)}${form}` })
          yield* rail.cart(mug)
          const done = yield* rail.checkout
          assert.deepStrictEqual([log.sent, done.status], [[], "unknown"], done.detail)
        })
    )
  })

  layer(Harness.layer({ allowHosts: listed }))("a page that adds nothing at once", (it) => {
    const counting = (more: string) =>
      `<div><input id="q" aria-label="Quantity" inputmode="numeric" value="0" ${more}><button aria-label="Increase quantity" onclick="q.value = Number(q.value) + 1">+</button></div><button onclick="if (Number(q.value) === 1) fetch('/api/cart', { method: 'POST' })">Add to cart</button>`
    for (const [what, more] of [
      ["is written as one", ""],
      ["is counted up once where only its button changes it", "readonly"]
    ] as const) {
      it.effect(`has a quantity of none, which ${what}`, () =>
        Effect.gen(function* () {
          const { log, mug, rail } = yield* shopOf({ buying: counting(more) })
          const cart = yield* rail.cart(mug)
          assert.deepStrictEqual([cart.status, log.items], ["passed", 1], cart.detail)
        })
      )
    }

    it.effect("is not blamed where what adds is in a box that has to be opened first", () =>
      Effect.gen(function* () {
        const buying = "<button>Choose and buy</button><dialog><button>Add to cart</button></dialog>"
        const { mug, rail } = yield* shopOf({ buying })
        const cart = yield* rail.cart(mug)
        assert.deepStrictEqual([cart.status, cart.blockers], ["unknown", []], cart.detail)
        assert.match(cart.detail, /has to be opened first/)
      })
    )

    it.effect("goes on by a button that names shipping next, in words that every form knows", () =>
      Effect.gen(function* () {
        const shipping = `<ol class="steps"><li>お客様情報</li><li aria-current="step">配送方法</li><li>お支払い</li></ol><label><input type="radio" name="shipping_method" checked>宅配便</label><p>合計 $12.00</p>`
        const checkout = `<ol class="steps"><li aria-current="step">お客様情報</li><li>配送方法</li><li>お支払い</li></ol>${fields}<p>合計 $12.00</p><button id="go">配送方法の選択へ進む</button><script>go.onclick = () => fetch("/api/address", { method: "POST" }).then(() => { document.querySelector("main").innerHTML = ${JSON.stringify(shipping)} })</script>`
        const { log, mug, rail } = yield* shopOf({ checkout })
        yield* rail.cart(mug)
        const done = yield* rail.checkout
        assert.deepStrictEqual(log.sent, ["/api/address"])
        assert.strictEqual(done.status, "unknown", `A step that is listed was not reached: ${done.detail}`)
      })
    )
  })
}
