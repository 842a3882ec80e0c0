import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as StepShop from "../shops/StepShop.ts"
import { line, testOf, told } from "./ShoppingEngineHarness.ts"

const tested = (settings: StepShop.StepShopSettings) =>
  Effect.gen(function* () {
    const { asked, domain, state } = yield* StepShop.open(settings)
    const outcome = yield* testOf(domain)
    const [discovery, selection, cart, checkout] = outcome.steps
    return { asked, ...state, outcome, line: line(outcome), ...told(outcome), discovery, selection, cart, checkout }
  }).pipe(Effect.scoped)

const email = '<label>Email <input name="email" type="email"></label>'
const who = `<label>Name <input name="name"></label>${email}`
const person = `${who}<label>Street <input name="street"></label><label>ZIP <input name="zip"></label>`
const form = (action: string, fields: string, button: string) =>
  `<form method="post" action="${action}">${fields}<button>${button}</button></form>`
const card = '<label>Credit card number <input name="card_number" autocomplete="cc-number"></label>'
const all = "discovery! selection! cart checkout payment"

/** A checkout of one step and a payment, with something else on its page. */
const checkoutBeside = (beside: string, fields = person) => ({
  pages: {
    "/checkout": `${beside}<h2>Shipping address</h2>${form("/checkout/address", fields, "Continue to shipping")}`,
    "/checkout/payment": `<p>Total $20.00</p>${form("/checkout/place-order", card, "Place order")}`
  },
  steps: { "/checkout/address": "/checkout/payment" }
})

describe("what stands beside a checkout", () => {
  for (const [what, beside] of [
    [
      "a pop-up for letters",
      `<div role="dialog"><h2>Get 10% off</h2>${form("/api/newsletter/signup", email, "Continue")}</div>`
    ],
    ["letters at the foot", `<footer><h3>Newsletter</h3>${form("/x", email, "Go")}</footer>`],
    [
      "a login by code",
      `<div><h2>Sign in or create an account</h2>${form("/checkout/start", email, "Continue")}</div>`
    ],
    ["a cart that is kept", form("/cart/keep", email, "Save my cart and email it to me")],
    [
      "a call back",
      `<div><h3>Need help? We call you back</h3>${form("/x", `${who}<input name="phone">`, "Next")}</div>`
    ]
  ] as const) {
    it.live(`is not sent, and the checkout is gone through: ${what}`, () =>
      Effect.map(tested(checkoutBeside(beside)), ({ line, orders, sent }) => {
        assert.deepStrictEqual([orders, sent], [0, ["/checkout/address name email street zip"]])
        assert.strictEqual(line, all)
      })
    )
  }

  it.live("is not sent where there is nothing else, and is no fault of the shop", () =>
    Effect.gen(function* () {
      const login = `<h2>Sign in or create an account</h2>${form("/checkout/start", email, "Continue")}`
      const { checkout, orders, outcome, sent } = yield* tested({ pages: { "/checkout": login } })
      assert.deepStrictEqual([orders, sent, outcome.failure_point], [0, [], null])
      assert.match(checkout?.detail ?? "", /"Continue" may sign in, make an account.*a test does not send it/)
    })
  )
})

describe("what is offered beside a purchase", () => {
  it.live("is not taken, though it is ticked or comes first", () =>
    Effect.gen(function* () {
      const extras =
        '<label><input type="checkbox" name="newsletter" value="1" checked> News</label><label><input type="checkbox" name="create_account" value="1" checked> Create an account</label><label><input type="radio" name="donation" value="5"> $5</label>'
      const { line, sent } = yield* tested(checkoutBeside("", person + extras))
      assert.deepStrictEqual([sent, line], [["/checkout/address name email street zip"], all])
    })
  )

  it.live("is not put into the cart, so that its price is the shop's own", () =>
    Effect.gen(function* () {
      const lists =
        '<select name="selling_plan" aria-label="Purchase"><option value="">One-time purchase</option><option value="688">Subscribe</option></select><select name="warranty" aria-label="Warranty"><option value="">No warranty</option><option value="2y">2 years</option></select>'
      const { added, blockers } = yield* tested({ buying: form("/cart/add", lists, "Add to cart") })
      assert.deepStrictEqual(added, ["selling_plan=&warranty="])
      assert.notInclude(blockers, "selection warning variant_ambiguous")
    })
  )

  it.live("ends the test where something of it has to be taken", () =>
    Effect.gen(function* () {
      const gifts = '<label><input type="radio" name="donation" value="5" required> $5</label>'
      const { checkout, sent } = yield* tested(checkoutBeside("", person + gifts))
      assert.deepStrictEqual([sent, checkout?.status], [[], "unknown"])
      assert.match(checkout?.detail ?? "", /takes more than the purchase/)
    })
  )
})

describe("a step that only asks how to ship", () => {
  it.live("is one whatever its field is called, so that the checkout is gone through", () =>
    Effect.gen(function* () {
      const step = (at: number) =>
        `<ol class="steps">${["Address", "Shipping", "Payment"].map((name, index) => `<li${index === at ? ' aria-current="step"' : ""}>${name}</li>`).join("")}</ol>`
      const rates = '<label><input type="radio" name="method" value="std" checked> Standard $4.00</label>'
      const { blockers, line, orders } = yield* tested({
        pages: {
          "/checkout": `${step(0)}${form("/checkout/address", person, "Continue to shipping")}`,
          "/checkout/method": `${step(1)}${form("/checkout/rate", rates, "Continue to payment")}`,
          "/checkout/payment": `${step(2)}<p>Total $24.00</p>${form("/checkout/place-order", card, "Place order")}`
        },
        steps: { "/checkout/address": "/checkout/method", "/checkout/rate": "/checkout/payment" }
      })
      assert.deepStrictEqual([orders, line], [0, all])
      assert.notInclude(blockers.join(), "order_uncertain")
    })
  )
})

describe("what is recommended above a product", () => {
  it.live("is not what is put into the cart", () =>
    Effect.gen(function* () {
      const other = form("/cart/add", '<input type="hidden" name="id" value="2">', "Add to cart")
      const { added, cart } = yield* tested({ above: `<section><a href="/products/pot">Pot</a>${other}</section>` })
      assert.deepStrictEqual([added, cart?.status], [["id=1"], "passed"])
    })
  )
})

describe("a thing that needs no address", () => {
  for (const [button, action] of [
    ["Order as a guest", "/checkout/guest"],
    ["Continue as guest", "/checkout/guest"],
    ["Continue", "/checkout"]
  ] as const) {
    it.live(`may be ordered by name and email, so they are not sent: ${button}`, () =>
      Effect.gen(function* () {
        const { checkout, orders, sent } = yield* tested({
          name: "E-Book Blue",
          pages: { "/checkout": `<p>The download link comes by email.</p>${form(action, who, button)}` }
        })
        assert.deepStrictEqual([orders, sent, checkout?.status], [0, [], "unknown"])
        assert.include(checkout?.detail ?? "", `"${button}" is pressed; a test does not send it`)
      })
    )
  }
})

describe("a cart", () => {
  it.live("is filled with as many as the shop sells at least, which is a warning", () =>
    Effect.gen(function* () {
      const many = '<input type="number" name="quantity" value="6" min="6" step="6">'
      const { added, blockers, cart } = yield* tested({ buying: form("/cart/add", many, "Add to cart") })
      assert.deepStrictEqual([added, cart?.status], [["quantity=6"], "degraded"])
      assert.include(blockers, "cart warning minimum_order")
    })
  )

  it.live("is filled by a button that orders before the thing is there", () =>
    Effect.map(tested({ buying: form("/cart/add", "", "Pre-order now") }), ({ added, cart }) => {
      assert.deepStrictEqual([added.length, cart?.status], [1, "passed"])
    })
  )
})

describe("a server in trouble", () => {
  it.live("is asked once more", () =>
    Effect.map(tested({ failures: 1 }), ({ selection }) => assert.strictEqual(selection?.status, "degraded"))
  )

  it.live("says nothing about its shop", () =>
    Effect.gen(function* () {
      const { asked, outcome, selection } = yield* tested({ failures: 99 })
      assert.deepStrictEqual([selection?.status, outcome.failure_point], ["unknown", null])
      assert.match(selection?.detail ?? "", /kettle answers 503/)
      assert.lengthOf(
        asked.filter((one) => one === "GET /products/kettle"),
        2
      )
    })
  )
})

describe("a page that is longer than is read", () => {
  const long = `<p hidden>${"x".repeat(3_300_000)}</p>`

  it.live("may lead to products behind that", () =>
    Effect.gen(function* () {
      const { discovery, outcome } = yield* tested({ home: `${long}<a href="/products/kettle">Kettle</a>` })
      assert.deepStrictEqual([discovery?.status, outcome.failure_point], ["unknown", null])
      assert.match(discovery?.detail ?? "", /longer than we read/)
    })
  )

  it.live("may have its cart's button behind that", () =>
    Effect.gen(function* () {
      const buying = `${long}${form("/cart/add", "", "Add to cart")}`
      const { blockers, cart } = yield* tested({ buying })
      assert.match(cart?.detail ?? "", /longer than we read/)
      assert.notInclude(blockers.join(), "add_to_cart_failed")
    })
  )
})
