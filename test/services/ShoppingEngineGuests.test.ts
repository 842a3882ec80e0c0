import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as StepShop from "../shops/StepShop.ts"
import { line, testOf } from "./ShoppingEngineHarness.ts"

const tested = (settings: StepShop.StepShopSettings) =>
  Effect.gen(function* () {
    const { domain, state } = yield* StepShop.open(settings)
    const outcome = yield* testOf(domain)
    const [, , , checkout] = outcome.steps
    return { ...state, outcome, line: line(outcome), checkout }
  }).pipe(Effect.scoped)

const step = (state: string, heading: string, form: string) =>
  `<section class="checkout-step ${state}"><h1>${heading}</h1>${form}</section>`
const hidden = (name: string, value: string) => `<input type="hidden" name="${name}" value="${value}">`

/** A checkout of PrestaShop: all steps go to its own page; an account is made where a password is written. */
const prestashop = (path: string, [who, where, pay, go]: ReadonlyArray<string>, password = "") => {
  const customer = `<form action="${path}" id="customer-form" method="post">${hidden("id_customer", "")}<label>Vorname <input name="firstname" required></label><label>Name <input name="lastname" required></label><label>E-mail <input name="email" type="email" required></label><p>Create an account (optional)</p><label>Password <input name="password" type="password" ${password}></label><label><input type="checkbox" name="newsletter" value="1"> Newsletter</label>${hidden("submitCreate", "1")}<button name="continue">${go}</button></form>`
  const address = `<form action="${path}" method="post"><label>Address <input name="address1" required></label><label>ZIP <input name="postcode" required></label>${hidden("submitAddress", "1")}<button name="confirm-addresses">${go}</button></form>`
  const ways = `<p>Total 20,00 €</p><form action="/module/ps_wirepayment/validation" method="post"><label><input type="radio" name="payment-option" value="bankwire"> Bank transfer</label><button>Place order</button></form>`
  const page = (sent: number) =>
    [
      step(sent === 0 ? "-current" : "-complete", `1${who}`, sent === 0 ? customer : ""),
      step(sent === 1 ? "-current" : "-unreachable", `2${where}`, sent === 1 ? address : ""),
      step(sent > 1 ? "-current" : "-unreachable", `3${pay}`, sent > 1 ? ways : "")
    ].join("")
  return { checkoutPath: path, pages: { [path]: page }, steps: { [path]: path } }
}
const english = ["Personal Information", "Addresses", "Payment", "Continue"]

describe("a checkout of PrestaShop", () => {
  for (const [path, ...words] of [
    ["/order", ...english],
    ["/commande", "Informations personnelles", "Adresses", "Paiement", "Continuer"],
    ["/bestellung", "Persönliche Angaben", "Adressen", "Zahlung", "Weiter"],
    ["/pedido", "Datos personales", "Direcciones", "Pago", "Continuar"]
  ] as const) {
    it.live(`is gone through as a guest, without a password and without letters: ${path}`, () =>
      Effect.gen(function* () {
        const { line, orders, sent } = yield* tested(prestashop(path, words))
        assert.deepStrictEqual(
          [orders, sent],
          [
            0,
            [
              `${path} id_customer firstname lastname email password submitCreate continue`,
              `${path} address1 postcode submitAddress confirm-addresses`
            ]
          ]
        )
        assert.strictEqual(line, "discovery! selection! cart checkout payment!")
      })
    )
  }

  it.live("is not gone through where its form needs a password, as that makes an account", () =>
    Effect.gen(function* () {
      const { orders, outcome, sent } = yield* tested(prestashop("/order", english, "required"))
      assert.deepStrictEqual([orders, sent], [0, []])
      assert.deepInclude(outcome.failure_point ?? {}, { step: "checkout", blocker: "account_required" })
    })
  )

  it.live("is not gone through where a password is written already", () =>
    Effect.gen(function* () {
      const { checkout, orders, sent } = yield* tested(prestashop("/order", english, 'value="x"'))
      assert.deepStrictEqual([orders, sent, checkout?.status], [0, [], "unknown"])
    })
  )
})

describe("a checkout's way in", () => {
  const address =
    '<form action="/checkout/address" method="post"><label>Email <input name="email" type="email"></label><label>Street <input name="street" autocomplete="address-line1"></label><label>State <select name="state" autocomplete="address-level1">STATES</select></label><button>Continue to shipping</button></form>'

  it.live("is no link to the cart itself, as a small cart over every page has one of that name", () =>
    Effect.gen(function* () {
      const small = '<a href="/cart">Check out</a>'
      const { sent } = yield* tested({
        line: `${small} Kettle $20.00`,
        checkoutPath: "/go",
        pages: { "/go": address.replace("STATES", '<option value="DC">District of Columbia</option>') }
      })
      assert.deepStrictEqual(sent, ["/checkout/address email street state"])
    })
  )

  it.live("is not sent where only a script fills its list of states: it would come back", () =>
    Effect.gen(function* () {
      const states = address.replace("STATES", '<option value="">-</option>')
      const pages = { "/checkout": `${states}<script src="/states.js"></script>` }
      const { checkout, outcome, sent } = yield* tested({ pages })
      assert.deepStrictEqual([sent, checkout?.status, outcome.failure_point], [[], "unknown", null])
      assert.match(checkout?.detail ?? "", /Only a script fills the list "State/)
    })
  )
})

describe("a form of a checkout that nobody knows, with a password that may stay empty", () => {
  it.live("is not sent, and that is no fault of the shop", () =>
    Effect.gen(function* () {
      const form =
        '<form action="/checkout/start" method="post"><label>First name <input name="firstname"></label><label>Email <input name="email" type="email"></label><label>Password (optional) <input name="password" type="password"></label><button>Continue</button></form>'
      const { checkout, outcome, sent } = yield* tested({ pages: { "/checkout": form } })
      assert.deepStrictEqual([sent, outcome.failure_point, checkout?.status], [[], null, "unknown"])
      assert.include(checkout?.detail ?? "", '"Continue" may make an account')
    })
  )
})
