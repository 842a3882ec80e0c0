import { assert, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Shop from "./ShopBrowserAsideShop.ts"
import * as Harness from "./ShopBrowserHarness.ts"

const at = "/index.php?route=checkout/checkout"
const route = (name: string) => `/index.php?route=${name}`

/** Who buys is asked in a form, and how to ship and to pay in lists that open over the page. */
const checkout = (button: string) => `<form id="form-register">
  <label><input type="radio" name="account" value="1" checked> Register Account</label>
  <label><input type="radio" name="account" value="0"> Guest Checkout</label>
  ${Shop.fields}<label id="secret">Password <input type="password" name="password"></label>
  <button type="submit" id="${button}">Continue</button></form>
<p id="told"></p><p>Total $12.00</p>
<p><button id="button-shipping-methods">Choose</button></p><p><button id="button-payment-methods">Choose</button></p><div id="list"></div>
<button id="button-confirm">Confirm Order</button>
<script>
const form = document.querySelector("form"), list = document.querySelector("#list"), say = (text) => { told.textContent = text }
const isGuest = () => form.account.value === "0"
form.onchange = () => { secret.hidden = isGuest() }
form.onsubmit = (event) => {
  event.preventDefault()
  if (!isGuest()) return say("Password must be between 4 and 20 characters!")
  fetch("${route("checkout/register.save")}", { method: "POST", body: "guest" }).then(() => say("Your guest account information has been saved."))
}
document.querySelector("#button-shipping-methods").onclick = () => {
  list.innerHTML = '<label><input type="radio" name="shipping_method" value="flat.flat" checked> Flat Shipping Rate - $5.00</label><button id="button-shipping-method">Continue</button>'
  list.lastChild.onclick = () => { list.innerHTML = ""; fetch("${route("checkout/shipping_method.save")}", { method: "POST", body: "flat" }) }
}
document.querySelector("#button-payment-methods").onclick = () => {
  list.innerHTML = '<label><input type="radio" name="payment_method" value="cod.cod"> Cash On Delivery</label>'
}
document.querySelector("#button-confirm").onclick = () => fetch("${route("extension/opencart/payment/cod.confirm")}", { method: "POST", body: "order" })
</script>`

if (Harness.missing !== undefined) {
  it("OpenCart was not tried: this machine has no browser", () => assert.match(Harness.missing ?? "", /no browser/))
} else {
  layer(Harness.layer({ allowHosts: Shop.listed }))("OpenCart's checkout of one page", (it) => {
    it.effect("is gone through as a guest until its ways to pay are read, and none is taken", () =>
      Effect.gen(function* () {
        const { mug, rail, sent } = yield* Shop.open({ at, checkout: checkout("button-register") })
        yield* rail.cart(mug)
        const done = yield* rail.checkout
        assert.strictEqual(done.status, "passed", done.detail)
        assert.match(done.detail, /shipping: Flat Shipping Rate/)
        assert.deepStrictEqual(sent, [
          `${route("checkout/register.save")} guest`,
          `${route("checkout/shipping_method.save")} flat`
        ])
        assert.deepInclude((yield* rail.payment).methods[0] ?? {}, { method: "cash_on_delivery" })
      })
    )

    it.effect("is held back where the button of that form is another, which may be to order", () =>
      Effect.gen(function* () {
        const { mug, rail, sent } = yield* Shop.open({ at, checkout: checkout("button-quick") })
        yield* rail.cart(mug)
        assert.match((yield* rail.checkout).detail, /may take the order itself/)
        assert.deepStrictEqual(sent, [])
      })
    )
  })
}
