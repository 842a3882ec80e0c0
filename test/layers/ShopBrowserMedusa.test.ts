import { assert, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Harness from "./ShopBrowserHarness.ts"
import { listed, shopOf } from "./ShopBrowserPlatformShop.ts"

const { missing } = Harness

const box = (heading: string, more = "") => `<div><h2>${heading}</h2>${more}<div class="line"></div></div>`
const boxes = (...all: ReadonlyArray<string>) => `<div class="grid">${all.join("")}</div><p>Total $12.00</p>`
const field = (name: string, label: string, type = "text") =>
  `<label>${label} <input name="shipping_address.${name}" type="${type}" required></label>`
const where = boxes(
  box(
    "Shipping Address",
    `<form method="post" action="/checkout/address">${field("first_name", "First name")}${field("last_name", "Last name")}${field("address_1", "Address")}${field("postal_code", "Postal code")}${field("city", "City")}<label>Email <input name="email" type="email" required></label><button>Continue to delivery</button></form>`
  ),
  box("Delivery"),
  box("Payment"),
  box("Review")
)
const written = box("Shipping Address", "<button>Edit</button><p>Written.</p>")
const how = boxes(
  written,
  box(
    "Delivery",
    `<div role="radiogroup"><span role="radio" id="way" tabindex="0" aria-checked="false">Standard Shipping $2.00</span></div><button id="go" disabled>Continue to payment</button>`
  ),
  box("Payment"),
  box("Review")
)
// The shop takes the way to ship, and only later is the way on open.
const script = `<script>
  way.onclick = async () => {
    way.ariaChecked = "true"
    await fetch("/checkout/shipping", { method: "POST" })
    setTimeout(() => { go.disabled = false }, 900)
  }
  go.onclick = () => { location = "/checkout/payment" }
</script>`
const pay = boxes(
  written,
  box("Delivery", "<button>Edit</button><p>Standard</p>"),
  box(
    "Payment",
    '<label><input type="radio" name="pay"> Bank transfer</label><button disabled>Continue to review</button>'
  ),
  box("Review")
)

if (missing !== undefined) {
  it("shops were not tried: this machine has no browser", () => assert.match(missing ?? "", /no browser/))
} else {
  layer(Harness.layer({ allowHosts: listed }))("a browser in the checkout of Medusa", (it) => {
    it.effect("goes through it: its boxes open one after the other, and its way on waits for how to ship", () =>
      Effect.gen(function* () {
        const { log, mug, rail } = yield* shopOf({
          ways: '<a href="/checkout">Go to checkout</a>',
          pages: (path) =>
            path === "/checkout"
              ? where
              : path === "/checkout/address"
                ? how + script
                : path === "/checkout/payment"
                  ? pay
                  : undefined
        })
        yield* rail.cart(mug)
        const done = yield* rail.checkout
        assert.deepInclude(done, { status: "passed", total: "12.00" }, JSON.stringify([done, log]))
        assert.include(done.detail, "shipping: Standard Shipping")
        assert.deepStrictEqual(
          log.sent.map((one) => one.split(" ")[0]),
          ["/checkout/address", "/checkout/shipping"]
        )
        assert.deepStrictEqual(
          (yield* rail.payment).methods.map(({ method }) => method),
          ["bank_transfer"]
        )
      })
    )
  })
}
