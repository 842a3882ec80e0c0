import { assert, describe, it } from "vitest"
import { isOfBill, sendsPayment } from "#domain/Deeds.ts"
import { maySubmit } from "#domain/FormConduct.ts"
import { nextStepOf } from "#domain/NextStep.ts"
import { readPage } from "#domain/page/Page.ts"
import { paymentOffer } from "#domain/page/PaymentOffer.ts"
import { statedOn } from "#domain/page/PaymentStated.ts"
import { fixedCountry } from "#domain/ShopperForm.ts"

const pageOf = (html: string) => readPage(html, new URL("https://shop.example/checkout/1/order_information"))
const next = (label: string) => nextStepOf(label, pageOf(""))

describe("a button that names a look at the order as what comes next", () => {
  it("shows that nothing is ordered by it, by its whole label", () => {
    for (const label of [
      "Continue to review",
      "Save and continue to the review",
      "Weiter zur Überprüfung",
      "Continuer vers le récapitulatif",
      "Continuar a la revisión",
      "Prosegui con il riepilogo",
      "Verder naar overzicht"
    ])
      assert.isDefined(next(label), label)
    for (const label of ["Continue to review and pay", "Review", "Write a review", "Continue"])
      assert.isUndefined(next(label), label)
  })
})

describe("the address for the bill, named below what is about paying", () => {
  const bill = "payment_information[billing_information]"
  it("is no way to pay, and what stands beside it is one", () => {
    for (const name of [`${bill}[address][0][address][given_name]`, `${bill}[copy_fields][enable]`])
      assert.isTrue(isOfBill(name), name)
    for (const name of ["payment_information[payment_method]", `${bill}[payment_method]`, `${bill}[card][number]`])
      assert.isFalse(isOfBill(name), name)
    assert.isFalse(sendsPayment(`${encodeURIComponent(`${bill}[copy_fields][enable]`)}=1`))
    assert.isTrue(sendsPayment(`${encodeURIComponent("payment_information[payment_method]")}=manual`))
  })
})

describe("a form that goes on", () => {
  it("is not sent by what takes a coupon", () => {
    const { forms } = pageOf(
      '<form method="post" action="/checkout"><input name="street"><button>Apply coupon</button><button>Continue to shipping</button></form>'
    )
    const [form] = forms
    assert.isFalse(form !== undefined && maySubmit(form, "Apply coupon", "go_on"))
    assert.isTrue(form !== undefined && maySubmit(form, "Continue to shipping", "go_on"))
  })
})

describe("the country of a form", () => {
  const countries = (fields: string) => pageOf(`<form>${fields}</form>`).forms.flatMap(fixedCountry)
  const hidden = (name: string, value: string) => `<input type="hidden" name="${name}" value="${value}">`
  it("is the one that it sends unseen, where it asks for none", () => {
    assert.deepStrictEqual(countries(hidden("shipping[address][country_code]", "GB")), ["GB"])
    assert.deepStrictEqual(countries(hidden("country", "DE")), ["DE"])
    assert.deepStrictEqual(countries(hidden("country", "826") + hidden("country_of_visit_code_x", "GB")), [])
    const asked = '<select name="country"><option value="US">United States</option></select>'
    assert.deepStrictEqual(countries(hidden("country_code", "GB") + asked), [])
  })
})

describe("how an order is paid", () => {
  it("is by card where the label of a field says so alone, and not by another kind of card", () => {
    const methods = (label: string) =>
      paymentOffer(pageOf(`<form><label>${label} <input name="number" autocomplete="off"></label></form>`)).methods
    assert.deepStrictEqual(
      methods("Card number").map(({ method }) => method),
      ["card"]
    )
    for (const label of ["Gift card number", "Loyalty card number"]) assert.deepStrictEqual(methods(label), [], label)
  })

  it("is what stands below or behind such a heading, in several languages", () => {
    assert.deepStrictEqual(statedOn("Review\nPayment information (Edit)\nCash on delivery\nTotal $13.95"), [
      "Cash on delivery"
    ])
    assert.lengthOf(statedOn("Zahlungsart: Banküberweisung"), 1)
    assert.lengthOf(statedOn("Mode de paiement\n\nVirement bancaire"), 1)
    for (const text of ["Payment methods\nPayPal\nVisa", "Moyens de paiement : PayPal", "Zahlungsarten\nPayPal"])
      assert.deepStrictEqual(statedOn(text), [], `a footer: ${text}`)
    for (const text of ["Payment information\nAnn Lee\n1 Main St", "We take cash on delivery.", "Cash on delivery"])
      assert.deepStrictEqual(statedOn(text), [], text)
  })
})
