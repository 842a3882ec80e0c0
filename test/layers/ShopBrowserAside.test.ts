import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { shoppers, type TestShopper } from "#domain/TestShopper.ts"
import { isOtherPage } from "#layers/ShopBrowser/CheckoutEntry.ts"
import * as Fixture from "../shops/Fixture.ts"
import { type AsideShop, fields, listed, open, send, steps } from "./ShopBrowserAsideShop.ts"
import * as Harness from "./ShopBrowserHarness.ts"

describe("a checkout's address", () => {
  const other = (url: string, cart: string) =>
    isOtherPage(new URL(url, "http://shop.example"), new URL(cart, "http://shop.example"))
  it("is another one than the cart's, by its path or by the parameter that names the page", () => {
    const cart = "/index.php?route=checkout/cart&language=en-gb"
    assert.isTrue(other("/index.php?route=checkout/checkout&language=en-gb", cart))
    assert.isTrue(other("/?page_id=7", "/?page_id=6"))
    assert.isTrue(other("/checkout", "/cart"))
    assert.isFalse(other("/index.php?route=checkout/cart", cart))
    assert.isFalse(other("/cart?error=1", "/cart"))
    assert.isFalse(other("/de/cart", "/cart"))
  })
})

/** What is shown when the checkout was taken. */
const paying = `<label><input type="radio" name="pm"> Credit card</label>`
const showing = (shown: string) =>
  `document.querySelector('main').innerHTML = ${JSON.stringify(shown).replaceAll('"', "&quot;")}`
const button = (name: string, script: string) => `<button type="button" onclick="${script}">${name}</button>`
const body = "new URLSearchParams(new FormData(this.form))"
/** A step of a checkout that sends its form and shows what comes next. */
const address = (more = "") =>
  `${steps}<h1>Address</h1><form>${fields}${more}${button("Continue", `${send("/api/address", body)}.then(() => ${showing(paying)})`)}</form><p>Total $12.00</p>`

const checkoutOf = Effect.fnUntraced(function* (shop: AsideShop, shopper?: TestShopper) {
  const { mug, rail, sent } = yield* open(shop, shopper)
  const cart = yield* rail.cart(mug)
  assert.strictEqual(cart.status, "passed", cart.detail)
  return { rail, sent, done: yield* rail.checkout }
})

if (Harness.missing !== undefined) {
  it("checkouts were not tried: this machine has no browser", () => assert.match(Harness.missing ?? "", /no browser/))
} else {
  layer(Harness.layer({ allowHosts: listed }))("a browser on its way to the payment", (it) => {
    it.effect("leaves a pop-up alone that has a field and a button like those of the checkout", () =>
      Effect.gen(function* () {
        const popup = `<div role="dialog" aria-label="10% off"><h2>Get 10% off your first order</h2><form><label>Email <input type="email" name="email" onchange="${send("/api/typed", "this.value")}"></label>${button("Continue", send("/api/popup", body))}</form></div>`
        const { done, sent } = yield* checkoutOf({ checkout: `${popup}${address()}` })
        assert.strictEqual(done.status, "passed", done.detail)
        assert.lengthOf(sent, 1)
        assert.match(sent[0] ?? "", /^\/api\/address email=agent-checkout-test/)
      })
    )

    it.effect("does not blame the shop for a page without fields whose button nobody here knows", () =>
      Effect.gen(function* () {
        const { done, sent } = yield* checkoutOf({
          checkout: `<h1>Checkout</h1>${button("Onwards!", send("/api/on", "''"))}`
        })
        assert.deepStrictEqual([done.status, sent], ["unknown", []], done.detail)
        assert.match(done.detail, /has no field, and no way on whose words are known/)
      })
    )

    it.effect("takes a login for one whatever its page calls guests, invitations and food", () =>
      Effect.gen(function* () {
        const login = `<form action="/login"><label>E-Mail <input type="email"></label><label>Passwort <input type="password"></label><button>Anmelden</button></form>`
        const { done } = yield* checkoutOf({
          checkout: `<h1>Gastronomiebedarf</h1><p>Invitations, Gästebücher</p>${login}`
        })
        assert.deepStrictEqual(
          done.blockers.map(({ id }) => id),
          ["account_required"]
        )
      })
    )

    it.effect("takes a page that lets guests on for no login, in other languages as well", () =>
      Effect.gen(function* () {
        const login = `<form action="/login"><label>E-mail <input type="email"></label><label>Password <input type="password"></label><button>Accedi</button></form>`
        const { done } = yield* checkoutOf({
          checkout: `<h1>Cassa</h1><a href="#ospite">Acquista come ospite</a>${login}`
        })
        assert.notInclude(
          done.blockers.map(({ id }) => id),
          "account_required",
          done.detail
        )
      })
    )

    it.effect("presses nothing that orders by its id, whatever it is called and whatever step is said to come", () =>
      Effect.gen(function* () {
        const confirm = `<button type="button" id="button-confirm" onclick="${send("/api/confirm", "''")}">Continue</button>`
        const { done, sent } = yield* checkoutOf({
          checkout: `${steps}<h1>Address</h1><form>${fields}${confirm}</form>`
        })
        assert.deepStrictEqual([done.status, sent], ["unknown", []], done.detail)
        assert.match(done.detail, /when "Continue" is pressed; a test does not send it/)
      })
    )

    it.effect("says so where the only way on makes an account, and presses nothing", () =>
      Effect.gen(function* () {
        const checkout = `<h1>Checkout</h1><h2>Sign in or create an account</h2><form action="/auth/otp"><label>Email <input type="email" name="email"></label>${button("Continue", send("/api/otp", body))}</form>`
        const { done, sent } = yield* checkoutOf({ checkout })
        assert.deepStrictEqual([done.status, sent], ["unknown", []], done.detail)
        assert.match(done.detail, /"Continue" belongs to a form that signs in or makes an account/)
      })
    )

    it.effect("sends no letters, accounts or gifts that the page had ticked", () =>
      Effect.gen(function* () {
        const ticked = `<label><input type="checkbox" name="subscribe" checked> Sign me up for news</label><label><input type="checkbox" name="create_account" checked> Create an account for me</label><fieldset><legend>Donation</legend><label><input type="radio" name="donation" value="5" checked> $5</label><label><input type="radio" name="donation" value="0"> No thanks</label></fieldset><label><input type="checkbox" name="same" value="yes" checked> Bill to the same address</label>`
        const { done, sent } = yield* checkoutOf({ checkout: address(ticked) })
        assert.strictEqual(done.status, "passed", done.detail)
        assert.deepStrictEqual(
          [...new URLSearchParams(sent[0]?.split(" ")[1] ?? "")].slice(4),
          [
            ["donation", "0"],
            ["same", "yes"]
          ],
          sent.join("\n")
        )
      })
    )

    it.effect("sends nothing with a box that stays ticked", () =>
      Effect.gen(function* () {
        const stubborn = `<label><input type="checkbox" name="subscribe" checked onclick="return false"> Sign me up for news</label>`
        const { done, sent } = yield* checkoutOf({ checkout: address(stubborn) })
        assert.deepStrictEqual([done.status, sent], ["unknown", []], done.detail)
        assert.match(done.detail, /"Sign me up for news" is ticked and stays ticked/)
      })
    )

    const hidden = (how: string) =>
      `<style>.shut { max-height: 0; overflow: hidden }</style><div ${how}><h2>Payment</h2><form><label><input type="radio" name="payment[method]" value="checkmo"> Check / Money order</label><label>Card number <input name="cc_number" autocomplete="cc-number"></label><button>Place Order</button></form></div>`
    for (const how of ['style="display:none"', "hidden", 'class="shut"']) {
      it.effect(`is not there when the step of the payment is only in the source: ${how}`, () =>
        Effect.gen(function* () {
          const refusing = `${steps}<h1>Address</h1><form>${fields}<div id="said"></div>${button("Next", `${send("/api/address")}.then(() => said.textContent = 'We do not ship to this address.')`)}</form>${hidden(how)}<p>Total $12.00</p>`
          const { done, rail, sent } = yield* checkoutOf({
            checkout: refusing,
            answers: { "/api/address": { status: 422 } }
          })
          assert.strictEqual(done.status, "failed", done.detail)
          assert.strictEqual(done.blockers.at(-1)?.id, "no_shipping_option")
          assert.isAbove(sent.length, 0)
          assert.strictEqual((yield* rail.payment).status, "unknown")
        })
      )
    }

    it.effect("tells of an address that the shop refuses without a word", () =>
      Effect.gen(function* () {
        const silent = `${steps}<h1>Address</h1><form>${fields}${button("Next", send("/api/address"))}</form>`
        const answers = { "/api/address": { status: 422 } }
        const { done, sent } = yield* checkoutOf({ checkout: silent, answers })
        assert.deepInclude(done.blockers.at(-1) ?? {}, { id: "address_rejected" }, done.detail)
        assert.match(done.detail, /stays where it is when "Next" is pressed: POST \/api\/address answers 422/)
        assert.lengthOf(sent, 1, "and it is not sent again")
      })
    )

    it.effect("closes a pop-up that lies over its way on, and signs up for nothing", () =>
      Effect.gen(function* () {
        const close = `<button aria-label="Close" onclick="this.closest('div').remove()">×</button>`
        const letters = `<form><input type="email"><button type="button" onclick="${send("/api/letters")}">Sign me up</button></form>`
        const popup = `<div style="position:fixed;inset:0;background:white">${close}<h2>Get 10% off</h2>${letters}</div>`
        const { done, sent } = yield* checkoutOf({ checkout: `${address()}${popup}` })
        assert.strictEqual(done.status, "passed", done.detail)
        assert.deepStrictEqual(
          sent.map((one) => one.split(" ")[0]),
          ["/api/address"]
        )
      })
    )

    it.effect("waits for a step that comes some time after the address was taken", () =>
      Effect.gen(function* () {
        const late = `setTimeout(() => ${showing(paying)}, 2500)`
        const next = button("Continue", `${send("/api/address", body)}.then(() => ${late})`)
        const { done } = yield* checkoutOf({ checkout: `${steps}<h1>Address</h1><form>${fields}${next}</form>` })
        assert.deepStrictEqual(
          done.blockers.map(({ id }) => id),
          ["total_unknown_before_payment"],
          done.detail
        )
      })
    )

    it.effect("reads a total that comes when the address is written", () =>
      Effect.gen(function* () {
        const total = "setTimeout(() => { document.getElementById('sum').textContent = 'Total $16.00' }, 900)"
        const onePage = `<h1>Checkout</h1><form oninput="${total}">${fields}${paying}<button>Place order</button></form><p id="sum"></p>`
        const { done } = yield* checkoutOf({ checkout: onePage })
        assert.strictEqual(done.total, "16.00", done.detail)
      })
    )

    it.effect("says that nothing was sent where one page asks for everything", () =>
      Effect.gen(function* () {
        const checkout = `<form>${fields}${paying}<button>Place order</button></form><p>Total $12.00</p>`
        assert.match((yield* checkoutOf({ checkout })).done.detail, /; nothing was sent\./)
      })
    )

    it.effect("takes the shop's own checkout, and no login of a way to pay for one of the shop", () =>
      Effect.gen(function* () {
        const paypal = yield* Fixture.open((_request, response) => {
          response
            .writeHead(200, { "content-type": "text/html" })
            .end(`<form><label>Password <input type="password"></label><button>Log in</button></form>`)
        })
        const login = new URL("/signin", paypal.url)
        listed.push(login.host)
        const answers = { "/checkout/fast": { location: login.href } }
        const links = (name: string) => `<a href="/checkout/fast">${name}</a>`
        const both = { onward: `${links("Check out with PayPal")} <a href="/checkout">Checkout</a>`, answers }
        assert.strictEqual((yield* checkoutOf({ ...both, checkout: address() })).done.status, "passed")
        const only = yield* checkoutOf({ onward: links("Checkout"), at: "/somewhere", answers })
        assert.deepStrictEqual([only.done.status, only.done.blockers], ["unknown", []], only.done.detail)
        assert.match(only.done.detail, /asks to log in there: a way to pay/)
      })
    )

    it.effect("finds the checkout of a shop that names its pages in a parameter", () =>
      Effect.gen(function* () {
        const shop = {
          cartAt: "/index.php?route=checkout/cart&language=en-gb",
          at: "/index.php?route=checkout/checkout&language=en-gb",
          checkout: address()
        }
        assert.strictEqual((yield* checkoutOf(shop)).done.status, "passed")
      })
    )

    it.effect("is somebody of the country that the shop ships to", () =>
      Effect.gen(function* () {
        const countries = (names: string) =>
          `<label>Country <select name="country"><option value="">Choose</option>${names}</select></label>`
        const both = countries('<option value="AT">Austria</option><option value="DE">Germany</option>')
        const austrian = yield* checkoutOf({ checkout: address(both) }, shoppers.AT)
        assert.match(austrian.sent[0] ?? "", /postal-code=1010&country=AT/)
        const only = yield* checkoutOf({ checkout: address(countries('<option value="7">Schweiz</option>')) })
        assert.match(only.sent[0] ?? "", /postal-code=3005&country=7/)
      })
    )
  })
}
