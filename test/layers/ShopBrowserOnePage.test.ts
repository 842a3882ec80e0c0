import { assert, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Shop from "./ShopBrowserAsideShop.ts"
import * as Harness from "./ShopBrowserHarness.ts"

const paying = `<label><input type="radio" name="pay" value="invoice"> Invoice</label>`
const onePage = `<form>${Shop.fields}${paying}<button>Place order</button></form><p>Total $12.00</p>`

if (Harness.missing !== undefined) {
  it("carts were not tried: this machine has no browser", () => assert.match(Harness.missing ?? "", /no browser/))
} else {
  layer(Harness.layer({ allowHosts: Shop.listed }))("a cart on whose page one orders as well", (it) => {
    for (const [what, onward] of [
      ["nothing leads on", onePage],
      ["a link leads to the page itself", `<a href="/cart">Checkout</a>${onePage}`],
      [
        "a script draws it late",
        `<div id="here"></div><script>setTimeout(() => { here.innerHTML = ${JSON.stringify(onePage)} }, 300)</script>`
      ]
    ] as const) {
      it.effect(`is the checkout, and no order is placed there, where ${what}`, () =>
        Effect.gen(function* () {
          const { mug, rail, sent } = yield* Shop.open({ onward, at: "/elsewhere" })
          yield* rail.cart(mug)
          const done = yield* rail.checkout
          assert.strictEqual(done.status, "passed", done.detail)
          assert.deepStrictEqual(sent, [])
          assert.deepInclude((yield* rail.payment).methods[0] ?? {}, { method: "invoice" })
        })
      )
    }

    it.effect("is none that asks only where to, for what the shipping would cost", () =>
      Effect.gen(function* () {
        const onward = `<form><label>Street <input name="street" autocomplete="street-address"></label><label>Postcode <input name="postal-code"></label><button>Estimate</button></form>`
        const { mug, rail } = yield* Shop.open({ onward, at: "/elsewhere" })
        yield* rail.cart(mug)
        assert.match((yield* rail.checkout).detail, /No link, button or usual address/)
      })
    )
  })
}
