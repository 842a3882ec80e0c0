import { assert, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Harness from "./ShopBrowserHarness.ts"
import { listed, type Shop, shopOf } from "./ShopBrowserPlatformShop.ts"

const { missing } = Harness

const field = (name: string, label: string, more = "") => `<label>${label} <input name="${name}" ${more}></label>`
const address = "payment_information[billing_information][address][0][address]"
const asking = (country: string) =>
  `<form method="post" action="/checkout/1/order_information">${field("contact[email]", "Email", 'type="email" required')}${field("contact[email_confirm]", "Confirm email", 'type="email" required')}${field("coupons[code]", "Coupon code")}<button name="op" value="Apply coupon" formnovalidate>Apply coupon</button>${field(`${address}[given_name]`, "First name", 'autocomplete="given-name" required')}${field(`${address}[family_name]`, "Last name", 'autocomplete="family-name" required')}${field(`${address}[address_line1]`, "Street address", 'autocomplete="address-line1" required')}${field(`${address}[postal_code]`, "Postal code", 'autocomplete="postal-code" required')}${country}<input type="hidden" name="payment_information[billing_information][copy_fields][enable]" value="1"><button name="op" value="Continue to review">Continue to review</button></form><p>Total $12.00</p>`
const review =
  "<h3>Contact information</h3><p>someone</p><h3>Payment information</h3><p>Cash on delivery</p><p>Total $12.00</p><form method='post' action='/checkout/1/review'><button>Pay and complete purchase</button></form>"
const shop = (asked: string, answer = review): Shop => ({
  ways: '<a href="/checkout/1">Checkout</a>',
  pages: (path, sent) => {
    if (path === "/checkout/1") return { to: "/checkout/1/order_information" }
    if (path === "/checkout/1/review") return answer
    if (path !== "/checkout/1/order_information") return undefined
    return sent.length === 0 ? asked : { to: "/checkout/1/review" }
  }
})

if (missing !== undefined) {
  it("shops were not tried: this machine has no browser", () => assert.match(missing ?? "", /no browser/))
} else {
  layer(Harness.layer({ allowHosts: listed }))("a browser in the checkout of Drupal Commerce", (it) => {
    it.effect("goes through it to the last look at the order, which says how it is paid", () =>
      Effect.gen(function* () {
        const { log, mug, rail } = yield* shopOf(shop(asking("")))
        yield* rail.cart(mug)
        const done = yield* rail.checkout
        assert.deepInclude(done, { status: "passed", total: "12.00" }, JSON.stringify([done, log]))
        const [sent, ...more] = log.sent
        assert.deepStrictEqual(more, [])
        const body = new URLSearchParams(sent?.split(" ")[1])
        assert.strictEqual(body.get("contact[email]"), body.get("contact[email_confirm]"))
        assert.deepStrictEqual([body.get("op"), body.get("coupons[code]")], ["Continue to review", ""])
        const paid = yield* rail.payment
        assert.deepStrictEqual(
          paid.methods.map(({ method }) => method),
          ["cash_on_delivery"]
        )
      })
    )

    it.effect("lives in the only country that it sells to, which its form sends unseen", () =>
      Effect.gen(function* () {
        const country = `<input type="hidden" name="${address}[country_code]" value="GB">`
        const { log, mug, rail } = yield* shopOf(shop(asking(country)))
        yield* rail.cart(mug)
        assert.strictEqual((yield* rail.checkout).status, "passed")
        const body = new URLSearchParams(log.sent[0]?.split(" ")[1])
        assert.match(body.get(`${address}[postal_code]`) ?? "", /^[A-Z]{1,2}\d/)
      })
    )

    it.effect("says of what is refused what the page says, and of terms that nothing marks that it is not known", () =>
      Effect.gen(function* () {
        const refusing = (said: string, more = "") => {
          const { pages, ways } = shop(asking(""))
          const again = `<div role="alert">${said}</div>${more}${asking("")}`
          return shopOf({
            ways,
            pages: (path, sent) => (path.endsWith("order_information") && sent.length > 0 ? again : pages?.(path, sent))
          })
        }
        for (const [said, more, status, blocker] of [
          [
            "A valid shipping method must be selected in order to check out.",
            "<p>There are no shipping rates available for this address.</p>",
            "failed",
            "no_shipping_option"
          ],
          ["You must agree with the Terms before continuing.", "", "unknown", undefined]
        ] as const) {
          const { mug, rail } = yield* refusing(said, more)
          yield* rail.cart(mug)
          const done = yield* rail.checkout
          assert.deepStrictEqual([done.status, done.blockers[0]?.id], [status, blocker], done.detail)
        }
      })
    )
  })
}
