import { assert, describe, it } from "vitest"
import * as EverShop from "../shops/EverShop.ts"
import * as HtmlShop from "../shops/HtmlShop.ts"
import * as Shopify from "../shops/Shopify.ts"
import * as Woo from "../shops/Woo.ts"
import { notebook } from "../shops/Storefront.ts"
import { line, type Opening, outcomeOf, told } from "./ShoppingEngineHarness.ts"

const well = "discovery selection cart checkout payment"

/** Each setting of each shop with its exact course and blockers. */
const courses: ReadonlyArray<readonly [string, Opening, string, ReadonlyArray<string>]> = [
  ["Shopify-shaped, well built", Shopify.open(), well, []],
  [
    "sold out",
    Shopify.open({ soldOut: true }),
    "discovery selectionx cart- checkout- payment-",
    ["selection blocking out_of_stock"]
  ],
  [
    "a cart that forgets",
    Shopify.open({ silentCart: true }),
    "discovery selection cart? checkout- payment-",
    ["cart warning add_to_cart_failed"]
  ],
  [
    "no shipping",
    Shopify.open({ noShipping: true }),
    "discovery selection cart checkoutx payment-",
    ["checkout blocking no_shipping_option"]
  ],
  [
    "wallets only, as far as its checkout's HTML says without the scripts that draw the fields of a card",
    Shopify.open({ onlyHumanPayment: true }),
    "discovery selection cart checkout! payment?",
    ["checkout warning total_unknown_before_payment"]
  ],
  [
    "another price in the cart",
    Shopify.open({ cartPrice: "13.00" }),
    "discovery selection cart! checkout payment",
    ["cart warning price_changed_in_cart"]
  ],
  [
    "a login before the checkout",
    Shopify.open({ accountWall: true }),
    "discovery selection cart checkoutx payment-",
    ["checkout blocking account_required"]
  ],

  ["Woo-shaped, well built", Woo.open(), well, []],
  ["a variation that is in stock after others that are not", Woo.open({ variations: 4 }), well, []],
  [
    "more variations than are tried",
    Woo.open({ variations: 9 }),
    "discovery selection cart! checkout payment!",
    ["cart warning add_to_cart_failed", "payment warning only_deferred_payment"]
  ],
  [
    "with an address in Germany, whose states have keys of their own",
    Woo.open({ currency: "EUR" }),
    `${well}!`,
    ["payment warning three_ds_likely"]
  ],
  [
    "sold out",
    Woo.open({ soldOut: true }),
    "discovery selectionx cart- checkout- payment-",
    ["selection blocking out_of_stock"]
  ],
  [
    "no shipping",
    Woo.open({ noShipping: true }),
    "discovery selection cart checkoutx payment-",
    ["checkout blocking no_shipping_option"]
  ],
  [
    "cash only",
    Woo.open({ payment: "deferred" }),
    "discovery selection cart checkout payment!",
    ["payment warning only_deferred_payment"]
  ],
  [
    "no payment",
    Woo.open({ payment: "none" }),
    "discovery selection cart checkout paymentx",
    ["payment blocking no_payment_method"]
  ],
  [
    "an interface that is closed",
    Woo.open({ closedApi: true }),
    "discovery selection cart checkout payment!",
    ["payment warning only_deferred_payment"]
  ],
  [
    "a shop that asks us to wait",
    Woo.open({ busy: 1 }),
    "discovery selection cartx checkout- payment-",
    ["cart blocking rate_limited"]
  ],

  [
    "EverShop-shaped, with cash on delivery",
    EverShop.open(),
    "discovery selection! cart checkout payment!",
    ["selection warning no_structured_data", "payment warning only_deferred_payment"]
  ],
  [
    "no shipping",
    EverShop.open({ noShipping: true }),
    "discovery selection! cart checkoutx payment-",
    ["selection warning no_structured_data", "checkout blocking no_shipping_option"]
  ],
  [
    "no payment",
    EverShop.open({ noPayment: true }),
    "discovery selection! cart checkout paymentx",
    ["selection warning no_structured_data", "payment blocking no_payment_method"]
  ],

  ["plain forms, well built", HtmlShop.open(), well, []],
  [
    "a login before the checkout",
    HtmlShop.open({ account: "wall" }),
    "discovery selection cart checkoutx payment-",
    ["checkout blocking account_required"]
  ],
  ["a login with a way around", HtmlShop.open({ account: "guest" }), well, []],
  [
    "a captcha",
    HtmlShop.open({ captcha: true }),
    "discovery selection cart checkoutx payment-",
    ["checkout blocking captcha_required"]
  ],
  [
    "no shipping",
    HtmlShop.open({ noShipping: true }),
    "discovery selection cart checkoutx payment-",
    ["checkout blocking no_shipping_option"]
  ],
  [
    "cash only",
    HtmlShop.open({ payment: "deferred" }),
    "discovery selection cart checkout payment!",
    ["payment warning only_deferred_payment"]
  ],
  [
    "wallets only",
    HtmlShop.open({ payment: "human" }),
    "discovery selection cart checkout paymentx",
    ["payment blocking unsupported_payment_method"]
  ],
  [
    "no payment",
    HtmlShop.open({ payment: "none" }),
    "discovery selection cart checkout paymentx",
    ["payment blocking no_payment_method"]
  ],
  [
    "cash only, and the script of a provider that is switched off",
    HtmlShop.open({ payment: "deferred", loadsProvider: true }),
    "discovery selection cart checkout payment!",
    ["payment warning only_deferred_payment"]
  ],
  [
    "no payment, and the script of a provider that is switched off",
    HtmlShop.open({ payment: "none", loadsProvider: true }),
    "discovery selection cart checkout paymentx",
    ["payment blocking no_payment_method"]
  ],
  [
    "another price on the page",
    HtmlShop.open({ shownPrice: "14.50" }),
    "discovery selection! cart checkout payment",
    ["selection warning price_mismatch"]
  ],
  [
    "another price in the cart",
    HtmlShop.open({ cartPrice: "14.50" }),
    "discovery selection cart! checkout payment",
    ["cart warning price_changed_in_cart"]
  ],
  [
    "sold out",
    HtmlShop.open({ soldOut: true }),
    "discovery selectionx cart- checkout- payment-",
    ["selection blocking out_of_stock"]
  ],
  [
    "a choice in the form",
    HtmlShop.open({ variants: "select" }),
    "discovery selection! cart checkout payment",
    ["selection warning variant_ambiguous"]
  ],
  [
    "a cart that forgets",
    HtmlShop.open({ silentCart: true }),
    "discovery selection cart? checkout- payment-",
    ["cart warning add_to_cart_failed"]
  ],
  [
    "a minimum order",
    HtmlShop.open({ minimumOrder: "50.00" }),
    "discovery selection cart! checkout payment",
    ["cart warning minimum_order"]
  ],
  [
    "only text tells the price",
    HtmlShop.open({ structured: "none" }),
    "discovery selection! cart checkout payment",
    ["selection warning no_structured_data"]
  ],
  ["everything on one page", HtmlShop.open({ onePage: true }), well, []],
  [
    "an address that is refused",
    HtmlShop.open({ badAddress: true }),
    "discovery selection cart checkoutx payment-",
    ["checkout blocking address_rejected"]
  ],
  [
    "robots.txt against product pages",
    HtmlShop.open({ robots: "products" }),
    "discoveryx selection- cart- checkout- payment-",
    ["discovery blocking robots_disallowed"]
  ],
  [
    "robots.txt against our agent",
    HtmlShop.open({ robots: "agents" }),
    "discoveryx selection- cart- checkout- payment-",
    ["discovery blocking robots_disallowed"]
  ],
  [
    "robots.txt against everybody",
    HtmlShop.open({ robots: "everything" }),
    "discoveryx selection- cart- checkout- payment-",
    ["discovery blocking robots_disallowed"]
  ],
  [
    "nothing to buy",
    HtmlShop.open({ noProducts: true }),
    "discoveryx selection- cart- checkout- payment-",
    ["discovery warning sitemap_missing", "discovery blocking no_products_found"]
  ],

  // What only a browser could do is unknown where there is none, and no failure.
  [
    "a choice by script",
    HtmlShop.open({ variants: "script" }),
    "discovery selection cart? checkout- payment-",
    ["cart warning variant_required"]
  ],
  [
    "a button by script",
    HtmlShop.open({ scriptButton: true }),
    "discovery selection cart? checkout- payment-",
    ["cart warning javascript_wall"]
  ],
  [
    "a form that only a script sends",
    HtmlShop.open({ scriptForm: true }),
    "discovery selection cart? checkout- payment-",
    ["cart warning javascript_wall"]
  ],
  [
    "fields without names",
    HtmlShop.open({ namelessFields: true }),
    "discovery selection cart checkout? payment-",
    ["checkout warning checkout_form_unrecognized"]
  ]
]

describe("a full test says how far an agent comes, orders nothing and leaves nothing", () => {
  for (const [name, shop, course, blockers] of courses) {
    it(`${name}: ${course}`, async () => {
      const outcome = await outcomeOf(shop)
      assert.deepStrictEqual([line(outcome), told(outcome).blockers], [course, blockers])
      const completed = outcome.steps.filter(({ status }) => status === "passed" || status === "degraded").length
      assert.strictEqual(outcome.success_rate, 20 * completed)
      const failing = outcome.steps.find(({ status }) => status === "failed")
      assert.strictEqual(outcome.failure_point?.step, failing?.step)
      const expected = completed === 5 ? "passed" : failing !== undefined && completed === 0 ? "failed" : "partial"
      assert.strictEqual(outcome.status, expected)
      assert.isAtMost(outcome.requests.length, 40)
    })
  }
})

it("the total of an EverShop is read with the shipping that was chosen, and not in the brackets of its tax", async () => {
  const { steps } = await outcomeOf(EverShop.open())
  const detailOf = (step: string) => steps.find((one) => one.step === step)?.detail
  const total = `${(Number(notebook.price) + 5).toFixed(2)}`
  assert.strictEqual(
    detailOf("checkout"),
    `As a guest, Standard shipping to United States is chosen. The total is ${total}.`
  )
  assert.strictEqual(detailOf("payment"), "Offered: cash_on_delivery. Nothing was submitted.")
})
