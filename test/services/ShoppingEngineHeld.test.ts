import { Effect, Layer, Logger } from "effect"
import { assert, describe, it } from "@effect/vitest"
import type { ShoppingTest } from "#domain/ShoppingTest.ts"
import { testReport } from "#http/Reports/TestReport.ts"
import { ShopBrowser } from "#services/ShopBrowser.ts"
import { unknown } from "#services/ShoppingEngine/Outcomes.ts"
import type { Rail } from "#services/ShoppingEngine/Rail.ts"
import * as StepShop from "../shops/StepShop.ts"
import * as PageReadingHere from "./PageReadingHere.ts"
import { line, testOf } from "./ShoppingEngineHarness.ts"

const noBrowser = Layer.succeed(ShopBrowser, {
  missing: Effect.succeed("no Chromium in this test"),
  open: () => Effect.die("there is no browser")
})

const tested = (settings: StepShop.StepShopSettings, browser: Layer.Layer<ShopBrowser> = noBrowser) =>
  Effect.gen(function* () {
    const { asked, domain, state } = yield* StepShop.open(settings)
    const outcome = yield* testOf(domain, "full_flow", {}, PageReadingHere.layer, browser)
    const record: ShoppingTest = {
      ...outcome,
      id: "t",
      domain,
      test_type: "full_flow",
      report_url: "",
      tested_at: new Date(0)
    }
    const [cart, checkout] = [outcome.steps[2], outcome.steps[3]]
    return { asked, ...state, outcome, line: line(outcome), cart, checkout, report: testReport(record) }
  }).pipe(Effect.scoped)

const who = '<label>Name <input name="name"></label><label>Email <input name="email" type="email"></label>'
const person = `${who}<label>Street <input name="street"></label><label>ZIP <input name="zip"></label><label>Phone <input name="phone" type="tel"></label><p>Total $20.00</p>`
const form = (action: string, fields: string, button: string) =>
  `<form method="post" action="${action}">${fields}<button>${button}</button></form>`
const listed = '<ol class="steps"><li aria-current="step">Address</li><li>Payment</li></ol>'
const held = /the page may take the order itself.*a test does not send it/i

describe("a checkout whose button says nothing of what comes next", () => {
  const pages: ReadonlyArray<readonly [what: string, page: string, path?: string]> = [
    [
      "an invoice in the parcel",
      `<p>Zahlung: Einzahlungsschein, Rechnung wird beigelegt.</p>${form("/kasse", person, "Weiter")}`,
      "/kasse"
    ],
    ["payment at the counter", `<p>Pay at the counter when you collect.</p>${form("/checkout", person, "Continue")}`],
    [
      "a name and a telephone number",
      form(
        "/checkout",
        '<label>Name <input name="name"></label><label>Phone <input name="phone" type="tel"></label>',
        "Continue"
      )
    ],
    [
      "a telephone number alone, to call back",
      form("/checkout", '<label>Phone <input name="phone" type="tel"></label>', "Continue")
    ],
    ["a bank that is asked next", form("/checkout", person, "Proceed to payment")],
    ["a button whose words are not known", form("/checkout", person, "Tęsti")],
    ["a payment that may be somewhere else", form("/checkout", person, "Continue to payment")]
  ]
  for (const [what, page, checkoutPath = "/checkout"] of pages) {
    it.live(`may be the whole order, and is not sent: ${what}`, () =>
      Effect.gen(function* () {
        const done = yield* tested({ checkoutPath, pages: { [checkoutPath]: page } })
        assert.deepStrictEqual([done.orders, done.sent], [0, []])
        assert.strictEqual(done.line, "discovery! selection! cart checkout? payment-")
        assert.match(done.checkout?.detail ?? "", held)
        assert.isNull(done.outcome.failure_point)
        assert.include(done.report, "Nothing was ordered.")
      })
    )
  }

  it.live("may be it in a later form as well, once the shop knows who and where", () =>
    Effect.gen(function* () {
      const shipping = '<label><input type="radio" name="shipping_method" value="1" checked> Standard</label>'
      const { checkout, orders, sent } = yield* tested({
        pages: {
          "/checkout": form("/checkout/address", person, "Continue to shipping"),
          "/checkout/shipping": form("/checkout/shipping", shipping, "Continue to payment")
        },
        steps: { "/checkout/address": "/checkout/shipping" }
      })
      assert.deepStrictEqual([orders, sent], [0, ["/checkout/address name email street zip phone"]])
      assert.match(checkout?.detail ?? "", held)
    })
  )
})

describe("a page that only buys at once", () => {
  for (const action of [
    "/checkout/express",
    "/orders/new",
    "/create-checkout-session",
    "https://www.paypal.example/cgi-bin/webscr"
  ]) {
    it.live(`is not accused, and its form is not sent: ${action}`, () =>
      Effect.gen(function* () {
        const fields = '<input type="hidden" name="cmd" value="_xclick"><input type="hidden" name="product" value="1">'
        const { cart, orders, outcome, sent } = yield* tested({ buying: form(action, fields, "Buy now") })
        assert.deepStrictEqual([orders, sent, cart?.status], [0, [], "unknown"])
        assert.match(cart?.detail ?? "", /only offers to buy at once, by "Buy now"/)
        assert.notInclude(
          outcome.blockers.map(({ id }) => id),
          "add_to_cart_failed"
        )
      })
    )
  }
})

describe("platforms' checkouts", () => {
  it.live("Shopware's is gone through to its review page, which is only looked at", () =>
    Effect.gen(function* () {
      const review = `<p>Gesamtsumme $24.00</p>${form("/checkout/configure", '<label><input type="radio" name="paymentMethodId" value="1" checked>Vorkasse</label><label><input type="radio" name="paymentMethodId" value="2">Kreditkarte</label>', "Speichern")}${form("/checkout/order", "", "Zahlungspflichtig bestellen")}`
      const { line, orders, sent } = yield* tested({
        checkoutPath: "/checkout/register",
        pages: {
          "/checkout/register": form(
            "/account/register",
            `<input type="hidden" name="guest" value="1">${person}`,
            "Weiter"
          ),
          "/checkout/confirm": review
        },
        steps: { "/account/register": "/checkout/confirm" }
      })
      assert.deepStrictEqual([orders, sent.length], [0, 1])
      assert.strictEqual(line, "discovery! selection! cart checkout payment")
    })
  )

  const address =
    '<label>Adresse <input name="address1"></label><label>Code postal <input name="postcode"></label><label>Ville <input name="city"></label>'
  it.live("PrestaShop's first step is sent, and what is held back after it is said to be", () =>
    Effect.gen(function* () {
      const { checkout, orders, outcome, sent } = yield* tested({
        checkoutPath: "/commande",
        pages: { "/commande": (sent) => form("/commande", sent === 0 ? who : address, "Continuer") },
        steps: { "/commande": "/commande" }
      })
      assert.deepStrictEqual([orders, sent], [0, ["/commande name email"]])
      assert.match(checkout?.detail ?? "", held)
      assert.notInclude(
        outcome.blockers.map(({ id }) => id),
        "checkout_form_unrecognized"
      )
    })
  )

  it.live("PrestaShop's steps are gone through where the page lists them", () =>
    Effect.gen(function* () {
      const names = ["Informations", "Adresses", "Paiement"]
      const contents = [
        form("/commande", who, "Continuer"),
        form("/commande", address, "Continuer"),
        '<label><input type="radio" name="payment-option"> Payer par virement bancaire</label><label><input type="radio" name="payment-option"> Payer par carte bancaire</label><p>Total $20.00</p>'
      ]
      const at = (current: number) =>
        `<div id="checkout-process">${names.map((name, step) => `<section class="checkout-step ${step === current ? "-current" : "-unreachable"}"><h1>${step + 1} ${name}</h1>${step === current ? contents[step] : ""}</section>`).join("")}</div>`
      const { line, orders, sent } = yield* tested({
        checkoutPath: "/commande",
        pages: { "/commande": at },
        steps: { "/commande": "/commande" }
      })
      assert.deepStrictEqual([orders, sent.length], [0, 2])
      assert.match(line, /cart checkout payment/)
    })
  )
})

describe("a shop that takes an order where it lists a later step", () => {
  const lying = { "/checkout": `${listed}${form("/checkout", person, "Continue")}` }

  it.live("is told so at once, in the log, in the record and in the report", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.map(Logger.formatJson, (line) => void lines.push(line))
      const done = yield* Effect.provide(
        tested({ pages: lying, answer: { text: "<h1>Danke! Bestellnummer: 100234</h1>" } }),
        Logger.layer([logger])
      )
      assert.deepStrictEqual([done.orders, done.line], [1, "discovery! selection! cart checkoutx payment-"])
      assert.strictEqual(done.outcome.failure_point?.blocker, "order_taken")
      assert.match(done.checkout?.detail ?? "", /cancel it.*agent-checkout-test@example\.com, reference 100234/)
      assert.notInclude(done.report, "Nothing was ordered")
      assert.include(done.report, "The shop took this test as an order")
      assert.isTrue(lines.some((text) => text.includes("ERROR") && text.includes("took a shopping test as an order")))
    })
  )

  it.live("may have taken one where its answer says neither, and then nothing else is claimed", () =>
    Effect.gen(function* () {
      for (const answer of [{ text: "<p>ok</p>" }, { text: "<p>Bad gateway</p>", status: 502 }]) {
        const { outcome, report } = yield* tested({ pages: lying, answer })
        assert.include(
          outcome.blockers.map(({ id, severity }) => `${severity} ${id}`),
          "warning order_uncertain"
        )
        assert.notInclude(report, "Nothing was ordered")
        assert.include(report, "is not known; see above")
      }
    })
  )

  it.live("took none where the step that was listed comes, though that page only asks to pay, in a frame", () =>
    Effect.gen(function* () {
      const paying =
        '<h1>Payment</h1><p>Total $20.00</p><iframe src="/card"></iframe><form method="post" action="/end"><button>Pay $20.00</button></form>'
      const { checkout, outcome } = yield* tested({ pages: lying, answer: { text: paying } })
      assert.include(checkout?.detail, "Pay $20.00")
      assert.notInclude(
        outcome.blockers.map(({ id }) => id),
        "order_uncertain"
      )
    })
  )

  it.live("took one at the cart when that says so", () =>
    Effect.gen(function* () {
      const { cart, outcome, report } = yield* Effect.provide(
        tested({
          buying: form("/basket", "", "Add to cart"),
          answer: { text: "<h1>Thank you for your order</h1>" }
        }),
        Logger.layer([])
      )
      assert.deepStrictEqual([cart?.status, outcome.failure_point?.blocker], ["failed", "order_taken"])
      assert.notInclude(report, "Nothing was ordered")
    })
  )
})

describe("a form of the checkout", () => {
  it.live("is not sent again by a browser after the forms sent it", () =>
    Effect.gen(function* () {
      const steps: Array<string> = []
      const rail: Rail = {
        name: "browser",
        cart: () => Effect.sync(() => void steps.push("cart")).pipe(Effect.as({ ...unknown("x"), price: null })),
        checkout: Effect.succeed({ ...unknown("x"), total: null }),
        payment: Effect.succeed({ ...unknown("x"), methods: [] }),
        cleanUp: Effect.void
      }
      const show = () => Effect.succeed({ failure: "x" })
      const browser = Layer.succeed(ShopBrowser, {
        missing: Effect.succeed(undefined),
        open: () => Effect.succeed({ rail: () => rail, show, later: show(), requests: () => [], isBroken: () => false })
      })
      const scripted = '<script src="/app.js"></script><div id="app"></div>'
      const { checkout, sent } = yield* tested(
        {
          pages: { "/checkout": form("/checkout/a", person, "Continue to shipping"), "/checkout/b": scripted },
          steps: { "/checkout/a": "/checkout/b" }
        },
        browser
      )
      assert.deepStrictEqual([sent.length, steps], [1, []])
      assert.strictEqual(checkout?.status, "unknown", checkout?.detail)
      assert.match(checkout?.detail ?? "", /not sent again/)
    })
  )
})
