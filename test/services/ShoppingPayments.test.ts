import { assert, describe, it } from "vitest"
import { readPage } from "#domain/page/Page.ts"
import { classed, judged, judgedPage, saysWayToPay } from "#services/ShoppingEngine/Payments.ts"
import { meaningOf } from "#services/ShoppingEngine/UcpRail.ts"

const judgedOf = (choices: string) => {
  const html = `<form method="post" action="/zloz">${choices}<button>OK</button></form>`
  return judgedPage(readPage(html, new URL("https://shop.example/pay")), { currency: "PLN", isWhole: true })
}
const radio = (name: string, value: string, label: string) =>
  `<label><input type="radio" name="${name}" value="${value}"> ${label}</label>`

describe("a page on which one chooses how to pay", () => {
  it("is read where its fields are named in other languages", () => {
    for (const name of ["platnosc", "zpusob_platby", "fizetes", "maksutapa", "oplata_оплата"]) {
      const { methods, status } = judgedOf(radio(name, "1", "BLIK") + radio(name, "2", "Przelew"))
      assert.deepStrictEqual([status, methods.map(({ method }) => method)], ["passed", ["bank_transfer", "blik"]], name)
    }
  })

  it("that offers only what nobody here knows does not offer nothing", () => {
    const { blockers, detail, status } = judgedOf(radio("platnosc", "tp", "Twisto na 30 dni"))
    assert.deepStrictEqual([status, blockers], ["unknown", []])
    assert.include(detail, "methods that we do not know: Twisto na 30 dni")
    const list = '<select name="payment"><option value="">Choose</option><option value="1">Barter</option></select>'
    assert.include(judgedOf(list).detail, "do not know: Barter;")
    const months = '<select name="payment[month]"><option>01</option><option>02</option></select>'
    assert.notInclude(judgedOf(months + radio("platnosc", "tp", "Twisto")).detail, "01")
    assert.strictEqual(judgedOf("").blockers[0]?.id, "no_payment_method")
  })
})

describe("a way to pay in other letters", () => {
  it("is known, so that a shop which takes cards is not said to take cash alone", () => {
    for (const card of [
      "クレジットカード",
      "신용카드",
      "บัตรเครดิต",
      "क्रेडिट कार्ड",
      "بطاقة ائتمان",
      "Platební karta",
      "Πιστωτική κάρτα"
    ]) {
      const { blockers, methods } = judgedOf(radio("payment", "card", card) + radio("payment", "cod", "代金引換"))
      assert.deepStrictEqual(methods.map(({ method }) => method).sort(), ["card", "cash_on_delivery"], card)
      assert.notInclude(JSON.stringify(blockers), "only_deferred_payment", card)
    }
  })

  it("that nobody here knows may be one by which an agent can pay", () => {
    const { blockers, detail } = judgedOf(radio("payment", "cod", "Nachnahme") + radio("payment", "tp", "Twisto"))
    assert.deepStrictEqual(blockers, [])
    assert.include(detail, "what we do not know: Twisto")
  })

  it("is not every card, point or thing that costs nothing", () => {
    for (const words of ["Greeting card", "Collect points", "Free sample"]) assert.isFalse(saysWayToPay(words), words)
    for (const words of ["Card", "Pay by card", "Credit card", "PayPal"]) assert.isTrue(saysWayToPay(words), words)
  })
})

describe("a method as a platform calls it", () => {
  const is = (name: string) => {
    const { marks, others } = classed([name])
    return marks[0]?.class ?? (others.length === 1 ? "not known" : "nothing")
  }

  it("is no card for a gateway in its name, nor for what somebody was given or lent", () => {
    for (const name of ["acme_gateway", "wc_gateway_crypto", "cardgateideal", "freecharge", "zeropay"])
      assert.strictEqual(is(name), "not known", name)
    for (const name of [
      "pay_gateway_giftcard",
      "woocommerce_gift_cards",
      "paysafecard",
      "Store credit",
      "customerbalance"
    ])
      assert.strictEqual(is(name), "human", name)
    for (const name of ["trade credit", "credit_line"]) assert.strictEqual(is(name), "deferred", name)
    for (const name of ["eway", "wc_eway", "nmi", "nmi_cc", "cardgatecreditcard", "EC-Card", "Credit or debit", "free"])
      assert.strictEqual(is(name), "agent", name)
  })

  it("is what a provider carries out, and the provider where nothing else is named", () => {
    for (const name of [
      "mollie_wc_gateway_ideal",
      "braintree_paypal PayPal",
      "stripe_klarna",
      "mollie_wc_gateway_sofort"
    ])
      assert.strictEqual(is(name), "human", name)
    for (const name of ["stripe_sepa", "mollie_wc_gateway_banktransfer"]) assert.strictEqual(is(name), "deferred", name)
    for (const name of ["stripe", "stripe_cc", "braintree", "adyen_hpp", "mollie_wc_gateway_creditcard"])
      assert.strictEqual(is(name), "agent", name)
  })

  it("is not paid by an agent where all that a shop offers asks for a person at a bank", () => {
    const offered = classed(["mollie_wc_gateway_ideal", "pay_gateway_giftcard"])
    const { blockers, status } = judged({ ...offered, isWhole: true, currency: "EUR", evidence: null })
    assert.deepStrictEqual([status, blockers[0]?.id], ["failed", "unsupported_payment_method"])
  })

  it("is the same on a page", () => {
    const { methods } = judgedOf(radio("payment_method", "mollie_wc_gateway_ideal", "iDEAL"))
    assert.deepStrictEqual(
      methods.map(({ method }) => method),
      ["ideal"]
    )
  })
})

describe("what a UCP service says", () => {
  it("of its ways of shipping is nothing about the product's options", () => {
    for (const said of ["no_shipping_options None here", "unavailable No delivery option for this address"])
      assert.strictEqual(meaningOf(said), "no_shipping_option", said)
    for (const said of ["invalid A variant is needed", "missing_options Choose an option first"])
      assert.strictEqual(meaningOf(said), "variant_required", said)
  })
})
