import { assert, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Harness from "./ShopBrowserHarness.ts"
import { guests, listed, type Shop, shopOf } from "./ShopBrowserPlatformShop.ts"

const { missing } = Harness

if (missing !== undefined) {
  it("shops were not tried: this machine has no browser", () => assert.match(missing ?? "", /no browser/))
} else {
  layer(Harness.layer({ allowHosts: listed }))("a browser in the checkout of Odoo", (it) => {
    it.effect("goes through it: its link sends the address, and its page between sounds like an order", () =>
      Effect.gen(function* () {
        const step = (tag: string, name: string, more = "") =>
          `<${tag}><div class="d-flex ${more}"><p class="o_wizard_steplabel">${name}</p></div></${tag}>`
        const wizard = (shipping: string, payment: string) =>
          `<div class="o_wizard"><div>${step("a", "Review Order", "o_wizard_step-done")}${step("span", "Shipping", shipping)}${step("span", "Payment", payment)}</div></div>`
        const current = "o_wizard_step_active"
        const field = (name: string, label: string, type = "text") =>
          `<label for="${name}">${label}</label><input type="${type}" name="${name}">`
        const where = `${wizard(current, "")}<form action="/shop/address" method="post" id="f">${field("name", "Full name")}${field("email", "Email", "email")}${field("phone", "Phone", "tel")}${field("street", "Street and Number")}${field("city", "City")}${field("zip", "Zip Code")}<a role="button" href="#" onclick="f.submit()">Kassiervorgang fortsetzen</a></form>`
        const how = `${wizard("o_wizard_step-done", current)}<h3>Confirm order</h3><ul><li><input type="radio" name="delivery_type" value="1" checked><label>Standard delivery</label></li></ul><p>Total $13.80</p><label><input type="radio" name="o_payment_radio"> Wire Transfer</label><button>Pay now</button>`
        const { log, mug, rail } = yield* shopOf({
          ways: '<a href="/shop/checkout?express=1">Checkout</a>',
          pages: (path, sent) => {
            if (path === "/shop/checkout") return { to: "/shop/address" }
            if (path === "/shop/address") return sent.length === 0 ? where : { to: "/shop/confirm_order" }
            if (path === "/shop/confirm_order") return { to: "/shop/payment" }
            return path === "/shop/payment" ? how : undefined
          }
        })
        yield* rail.cart(mug)
        const done = yield* rail.checkout
        assert.deepInclude(done, { status: "passed", total: "13.80" }, JSON.stringify([done, log]))
        assert.include(done.detail, "shipping: Standard delivery")
        assert.deepStrictEqual(
          log.sent.map((one) => one.split(" ")[0]),
          ["/shop/address"]
        )
      })
    )

    it.effect("goes through it as of 18: its states come after the country, and a link called Confirm leads on", () =>
      Effect.gen(function* () {
        const where = `<form id="f" action="/shop/address/submit" method="post"><label>Email <input type="email" name="email"></label><label>Full name <input name="name"></label><label>Street <input name="street"></label><label>City <input name="city"></label><label>Country <select name="country_id"><option value="">Country...</option><option value="68">Spain</option></select></label><label id="states" hidden>State / Province <select name="state_id"><option value="">State...</option></select></label><button>Continue to shipping</button></form><script>
          const state = f.elements.state_id
          f.elements.country_id.onchange = () => setTimeout(() => {
            state.options.length = 1
            state.append(new Option("Madrid", "417"))
            state.required = true
            states.hidden = false
          }, 900)
        </script>`
        const how = `<h4>Choose a delivery method</h4><label><input type="radio" name="o_delivery_radio" disabled checked> Standard delivery</label><p>Total $13.80</p><a role="button" href="/shop/confirm_order">Confirm</a>`
        const pay = `<p>Total $13.80</p><label><input type="radio" name="o_payment_radio"> Wire Transfer</label><button>Pay now</button>`
        const { log, mug, rail } = yield* shopOf({
          ways: '<a href="/shop/checkout?try_skip_step=true">Checkout</a>',
          pages: (path, sent) => {
            if (path === "/shop/checkout") return sent.length === 0 ? { to: "/shop/address" } : how
            if (path === "/shop/address/submit") return { to: "/shop/checkout" }
            if (path === "/shop/confirm_order") return { to: "/shop/payment" }
            return path === "/shop/address" ? where : path === "/shop/payment" ? pay : undefined
          }
        })
        yield* rail.cart(mug)
        const done = yield* rail.checkout
        assert.deepInclude(done, { status: "passed", total: "13.80" }, JSON.stringify([done, log]))
        assert.strictEqual(log.sent.length, 1)
        assert.match(log.sent[0] ?? "", /country_id=68&state_id=417/)
        assert.deepStrictEqual(
          (yield* rail.payment).methods.map(({ method }) => method),
          ["bank_transfer"]
        )
      })
    )

    it.effect("opens the checkout to which a login leads back that stands in its place", () =>
      Effect.gen(function* () {
        const login = `<form action="/web/login" method="post"><label>Email <input name="login"></label><label>Password <input type="password" name="password"></label><button>Log in</button></form>`
        const shop = (isOpen: boolean): Shop => ({
          ways: '<a href="/web/login?redirect=/shop/checkout?express=1">Sign In</a>',
          pages: (path) => {
            if (path === "/shop/checkout") return isOpen ? guests : { to: "/web/login" }
            return path === "/web/login" ? login : undefined
          }
        })
        for (const [isOpen, said] of [
          [false, "account_required"],
          [true, undefined]
        ] as const) {
          const { mug, rail } = yield* shopOf(shop(isOpen))
          yield* rail.cart(mug)
          const done = yield* rail.checkout
          assert.strictEqual(done.blockers.find(({ severity }) => severity === "blocking")?.id, said, done.detail)
          if (isOpen) assert.notMatch(done.detail, /leads from the cart to a checkout/)
        }
      })
    )
  })
}
