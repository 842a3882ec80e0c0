import { assert, describe, it } from "vitest"
import type { FormPurpose } from "#domain/FormConduct.ts"
import { readPage } from "#domain/page/Page.ts"
import { fill } from "#domain/ShopperForm.ts"
import { shoppers } from "#domain/TestShopper.ts"

const filled = (fields: string, purpose: FormPurpose = "go_on") => {
  const page = readPage(`<form method="post" action="/x">${fields}</form>`, new URL("https://shop.example/checkout"))
  const [form] = page.forms
  if (form === undefined) throw new Error("no form")
  const { left, quantity, unwanted, values } = fill(form, undefined, shoppers.US, purpose)
  return {
    sent: values.map(([name, value]) => `${name}=${value}`).join("&"),
    unwanted: unwanted.length,
    left: left.length,
    quantity
  }
}
const box = (name: string, label: string, more = "checked") =>
  `<label><input type="checkbox" name="${name}" value="1" ${more}> ${label}</label>`
const radio = (name: string, value: string, label: string, more = "") =>
  `<label><input type="radio" name="${name}" value="${value}" ${more}> ${label}</label>`
const list = (name: string, options: string, more = "") =>
  `<label>${name} <select name="${name}" ${more}>${options}</select></label>`

describe("a box that is ticked already", () => {
  it("is left off where it takes something beside the purchase, in the languages that are known", () => {
    for (const [name, label] of [
      ["newsletter", "Yes"],
      ["b1", "Email me news and offers"],
      ["create_account", "Save time next time"],
      ["b2", "Create an account for me"],
      ["b3", "Add $2 for the ocean: donation"],
      ["b4", "Shipping insurance $1.99"],
      ["b5", "Gift wrap it"],
      ["b6", "Subscribe and save"],
      ["b7", "Ja, ich möchte Angebote erhalten"],
      ["b8", "Kundenkonto anlegen"],
      ["b9", "Je souhaite recevoir les offres"],
      ["b10", "Quiero recibir ofertas y novedades"],
      ["b11", "Desidero ricevere offerte"],
      ["b12", "Quero receber promoções"],
      ["b13", "Ik wil aanbiedingen ontvangen"],
      ["b14", "Chcę otrzymywać oferty"],
      ["b15", "お知らせを受け取る"]
    ])
      assert.strictEqual(filled(box(name ?? "", label ?? "")).sent, "", label)
  })

  it("is sent where it is about the purchase, and terms are ticked where they have to be", () => {
    assert.strictEqual(filled(box("same", "Bill to the same address")).sent, "same=1")
    assert.strictEqual(filled(box("agb", "I accept the terms", "required")).sent, "agb=1")
    assert.strictEqual(filled(box("agb", "I accept the terms", "")).sent, "")
    assert.strictEqual(filled(box("consent", "I agree to receive marketing", "required")).sent, "")
  })
})

describe("radio buttons", () => {
  it("of which none is chosen are left, unless one has to be", () => {
    const gifts = radio("donation", "5", "$5") + radio("donation", "10", "$10")
    assert.deepInclude(filled(gifts), { sent: "", unwanted: 0, left: 0 })
    assert.deepInclude(filled(radio("slot", "a", "Morning") + radio("slot", "b", "Evening")), { sent: "", left: 1 })
    assert.strictEqual(filled(radio("slot", "a", "Morning", "required") + radio("slot", "b", "Evening")).sent, "slot=a")
    assert.strictEqual(filled(radio("shipping_method", "std", "Standard, insured")).sent, "shipping_method=std")
    assert.strictEqual(filled(radio("colour", "red", "Red"), "add_to_cart").sent, "colour=red")
  })

  it("are one of shipping by what they offer, whatever the shop calls the field", () => {
    const rates = (name: string) => radio(name, "std", "Standard $5.00") + radio(name, "exp", "Express $15.00")
    assert.strictEqual(filled(rates("method")).sent, "method=std")
    assert.strictEqual(filled(radio("rate", "7", "Versand mit DHL")).sent, "rate=7")
    assert.strictEqual(filled(radio("w", "1", "Cash on delivery")).sent, "")
    assert.strictEqual(filled(rates("warranty")).sent, "")
  })

  it("send an empty value as it is, by which many shops mean no subscription", () => {
    const plans = radio("plan", "", "One-time purchase") + radio("plan", "2", "Subscribe and save", "checked")
    assert.strictEqual(filled(plans, "add_to_cart").sent, "plan=")
  })

  it("that take something are answered by the one that takes nothing, or the form is not sent", () => {
    const gifts = (more: string) => radio("donation", "5", "$5", more) + radio("donation", "0", "No thanks")
    assert.strictEqual(filled(gifts("required")).sent, "donation=0")
    assert.strictEqual(filled(gifts("checked")).sent, "donation=0")
    const plans = radio("plan", "1", "One-time purchase") + radio("plan", "2", "Subscribe and save", "checked")
    assert.strictEqual(filled(plans, "add_to_cart").sent, "plan=1")
    assert.strictEqual(
      filled(radio("account", "1", "Register", "checked") + radio("account", "0", "Guest")).sent,
      "account=0"
    )
    assert.deepInclude(filled(radio("donation", "5", "$5", "required")), { sent: "", unwanted: 1 })
  })
})

describe("a list", () => {
  const plan = '<option value="">One-time purchase</option><option value="688">Subscribe, every month</option>'

  it("that nobody has to choose from keeps what it shows", () => {
    assert.strictEqual(filled(list("selling_plan", plan), "add_to_cart").sent, "selling_plan=")
    assert.strictEqual(filled(list("frequency", plan), "add_to_cart").sent, "frequency=")
    const none = '<option value="">No warranty</option><option value="2y">2 years</option>'
    assert.strictEqual(filled(list("warranty", none), "add_to_cart").sent, "warranty=")
    assert.strictEqual(
      filled(list("time", '<option value="">Any time</option><option value="1">Morning</option>')).sent,
      "time="
    )
  })

  it("of variants, or one that is required, is chosen from", () => {
    const sizes = '<option value="">Size</option><option value="s" disabled>S</option><option value="m">M</option>'
    assert.strictEqual(filled(list("size", sizes), "add_to_cart").sent, "size=m")
    const time = '<option value="">Any time</option><option value="1">Morning</option>'
    assert.strictEqual(filled(list("time", time, "required")).sent, "time=1")
    const warranty =
      '<option value="">Choose</option><option value="2y">2 years</option><option value="0">None</option>'
    assert.strictEqual(filled(list("warranty", warranty, "required"), "add_to_cart").sent, "warranty=0")
  })

  it("that shows what takes something is set to what takes nothing, or the form is not sent", () => {
    const tips = (more: string) => `<option value="5" selected>$5</option><option value="10">$10</option>${more}`
    assert.strictEqual(filled(list("donation", tips('<option value="0">Nothing</option>'))).sent, "donation=0")
    assert.deepInclude(filled(list("donation", tips(""))), { sent: "", unwanted: 1 })
  })
})

describe("what is written", () => {
  it("is not an address for letters, nor an amount that is given", () => {
    const fields =
      '<input name="email"><input name="newsletter_email"><input name="tip" value="3"><input name="ref" value="x">'
    assert.strictEqual(filled(fields).sent, "email=agent-checkout-test@example.com&newsletter_email=&tip=&ref=x")
    assert.strictEqual(filled('<input name="amount" value="">').sent, "amount=")
  })

  it("is as many of a product as its form asks for at least", () => {
    const many = (more: string) => filled(`<input type="number" name="quantity" ${more}>`, "add_to_cart").quantity
    assert.strictEqual(many('value="6" min="6" step="6"'), 6)
    assert.strictEqual(many('value="6"'), 6)
    assert.strictEqual(many('value="10" min="1"'), 1)
    assert.strictEqual(many('value="0" min="0"'), 1)
    assert.strictEqual(many('value="12" min="0" step="12"'), 12)
    assert.strictEqual(many(""), 1)
  })

  it("is told to be a quantity by any name or label of one, and by no other", () => {
    const many = (field: string) => filled(`<label>${field} min="4" value="4"></label>`, "add_to_cart").quantity
    for (const name of ["q", "qty[]", "add_qty", "lineItems[a1][quantity]", "quantity_wanted", "quantity[77]", "ilość"])
      assert.strictEqual(many(`<input type="number" name="${name}"`), 4, name)
    for (const label of ["Количество", "Số lượng:", "数量", "Menge *"])
      assert.strictEqual(many(`${label}<input type="number" name="f1"`), 4, label)
    for (const field of ['<input type="number" name="height"', 'Quantity of sugar<input type="number" name="f1"'])
      assert.strictEqual(many(field), 1, field)
  })
})
