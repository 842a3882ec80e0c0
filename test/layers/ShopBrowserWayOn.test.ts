import { assert, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type AsideShop, fields, listed, open, send, steps } from "./ShopBrowserAsideShop.ts"
import * as Harness from "./ShopBrowserHarness.ts"

const showing = (shown: string) =>
  `document.querySelector('main').innerHTML = ${JSON.stringify(shown).replaceAll('"', "&quot;")}`
const button = (name: string, script: string) => `<button type="button" onclick="${script}">${name}</button>`
const body = "new URLSearchParams(new FormData(this.form))"
const paying = showing(`<label><input type="radio" name="pm"> Credit card</label>`)
/** A step that asks for an address, with something more, and what its button does. */
const step = (script: string, more = "") =>
  `${steps}<h1>Address</h1><form>${fields}${more}${button("Continue", script)}</form><p>Total $12.00</p>`
const address = (more = "") => step(`${send("/api/address", body)}.then(() => ${paying})`, more)

const checkoutOf = Effect.fnUntraced(function* (shop: AsideShop) {
  const { mug, rail, sent } = yield* open(shop)
  const cart = yield* rail.cart(mug)
  assert.strictEqual(cart.status, "passed", cart.detail)
  return { sent, done: yield* rail.checkout }
})

if (Harness.missing !== undefined) {
  it("ways on were not tried: this machine has no browser", () => assert.match(Harness.missing ?? "", /no browser/))
} else {
  layer(Harness.layer({ allowHosts: listed }))("a browser that goes on in a checkout", (it) => {
    it.effect("answers no offer that lies over its way on: shops go on from there", () =>
      Effect.gen(function* () {
        const answers = {
          "a form": `<form action="/funnel" method="post"><button>Close</button><button>No thanks</button></form>`,
          "a script": button("No thanks", send("/funnel"))
        }
        for (const [how, answer] of Object.entries(answers)) {
          const offer = `<div style="position:fixed;inset:0;background:white"><h2>Add a candle for $9?</h2>${answer}</div>`
          const { done, sent } = yield* checkoutOf({ checkout: `${address()}${offer}` })
          assert.deepStrictEqual([done.status, sent], ["unknown", []], how)
        }
      })
    )

    it.effect("presses nothing elsewhere on the page where what is chosen beside the purchase has no name", () =>
      Effect.gen(function* () {
        const choice = (legend: string, input: string) =>
          `<fieldset><legend>${legend}</legend><label><input type="radio" ${input}</label></fieldset>`
        const bill = choice("Where else", `onclick="${send("/api/other")}"> Another address`)
        const { done, sent } = yield* checkoutOf({
          checkout: address(bill + choice("Parcel", "checked> Gift wrap"))
        })
        assert.deepStrictEqual(
          [done.status, sent.map((one) => one.split(" ")[0])],
          ["passed", ["/api/address"]],
          done.detail
        )
      })
    )

    const later = (script: string) => `setTimeout(() => { ${script} }, 1500)`
    const ordering = later(
      "const form = document.createElement('form'); form.method = 'post'; form.action = '/checkout/place-order'; document.body.append(form); form.submit()"
    )
    it.effect("knows that nothing was ordered where the order that a page sends some time later was stopped", () =>
      Effect.gen(function* () {
        const { done, sent } = yield* checkoutOf({ checkout: step(`${showing("Please wait")}; ${ordering}`) })
        assert.deepStrictEqual([done.status, done.blockers, sent], ["unknown", [], []])
        assert.match(done.detail, /when "Continue" is pressed; a test does not send it/)
      })
    )

    it.effect("does not know that where the shop took something before, and then shows that it was done", () =>
      Effect.gen(function* () {
        for (const then of ["location = '/checkout/success'", later("location = '/checkout/success'")]) {
          const { done } = yield* checkoutOf({ checkout: step(`${send("/api/address")}.then(() => { ${then} })`) })
          assert.deepStrictEqual(
            done.blockers.map(({ id }) => id),
            ["order_uncertain"],
            then
          )
        }
      })
    )

    it.effect("follows a link that orders by its name to what is by its address the checkout", () =>
      Effect.gen(function* () {
        const at = "/fr_FR/checkout/"
        const { done } = yield* checkoutOf({ at, onward: `<a href="${at}">Commander</a>`, checkout: address() })
        assert.strictEqual(done.status, "passed", done.detail)
      })
    )

    it.effect("takes no finder of postcodes beside a login for a form for guests", () =>
      Effect.gen(function* () {
        const login = `<form action="/login"><label>Email <input name="email" type="email"></label><label>Password <input name="passwd" type="password"></label><button>Sign in</button></form>`
        const finder = `<form action="/area"><label>Postcode <input name="postal-code"></label><button>Do we deliver?</button></form>`
        const { done } = yield* checkoutOf({ at: "/login?back=order", checkout: login + finder })
        assert.deepInclude(done.blockers.at(-1) ?? {}, { id: "account_required" }, done.detail)
      })
    )

    it.effect("fills the form for guests that stands below those for who has an account or wants one", () =>
      Effect.gen(function* () {
        const members = `<form action="/login"><h2>Create an account</h2><label>Email <input name="email_create" type="email"></label><button>Create an account</button></form><form action="/login"><label>Email <input name="email" type="email"></label><label>Password <input name="passwd" type="password"></label><button>Sign in</button></form>`
        const guests = `<form><h2>Instant checkout</h2>${fields}${button("Proceed to checkout", `${send("/api/guest", body)}.then(() => ${paying})`)}</form><p>Total $12.00</p>`
        const { done, sent } = yield* checkoutOf({ at: "/login?back=order", checkout: `${steps}${members}${guests}` })
        assert.strictEqual(done.status, "passed", done.detail)
        assert.lengthOf(sent, 1)
        assert.match(sent[0] ?? "", /^\/api\/guest email=[^&]+%40/)
      })
    )
  })
}
