import { assert, describe, it } from "vitest"
import { readPage } from "#domain/page/Page.ts"
import { asksNationalId, namesNationalId } from "#domain/NationalId.ts"
import { fill, mustAgree } from "#domain/ShopperForm.ts"
import { shopperAmong, shopperOf, shoppers } from "#domain/TestShopper.ts"

/** How the posts of these countries write their codes. */
const codes: Readonly<Record<keyof typeof shoppers, RegExp>> = {
  US: /^\d{5}$/,
  CA: /^[A-Z]\d[A-Z] \d[A-Z]\d$/,
  GB: /^[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}$/,
  DE: /^\d{5}$/,
  AU: /^\d{4}$/,
  FR: /^\d{5}$/,
  IT: /^\d{5}$/,
  ES: /^\d{5}$/,
  NL: /^\d{4} [A-Z]{2}$/,
  AT: /^\d{4}$/,
  CH: /^\d{4}$/,
  SE: /^\d{3} \d{2}$/,
  NO: /^\d{4}$/,
  DK: /^\d{4}$/,
  PL: /^\d{2}-\d{3}$/,
  CZ: /^\d{3} \d{2}$/,
  IN: /^\d{6}$/,
  JP: /^\d{3}-\d{4}$/,
  BR: /^\d{5}-\d{3}$/,
  MX: /^\d{5}$/
}

const home = (...signs: Parameters<typeof shopperOf>) => {
  const { isAtHome, shopper } = shopperOf(...signs)
  return `${shopper.country}${isAtHome ? "" : "?"}`
}

describe("the test shopper", () => {
  it("lives where the codes of the post look like this, and can be called there", () => {
    for (const [country, code] of Object.entries(codes)) {
      const shopper = Object.entries(shoppers).find(([key]) => key === country)?.[1] ?? shoppers.US
      assert.match(shopper.postalCode, code, country)
      assert.match(shopper.phone, /^\+[1-9]\d{7,13}$/, country)
      assert.strictEqual(shopper.country, country)
    }
  })

  it("lives where the currency is paid", () => {
    const told = ["USD", "CHF", "SEK", "NOK", "DKK", "PLN", "CZK", "INR", "JPY", "BRL", "MXN"].map((currency) =>
      home({ currency, language: "en" })
    )
    assert.strictEqual(told.join(" "), "US CH SE NO DK PL CZ IN JP BR MX")
    assert.strictEqual(shopperOf({ currency: "GBP" }).shopper.country, "GB")
  })

  it("lives where the language is spoken, of the countries that share a currency", () => {
    const told = ["de", "de-AT", "fr-FR", "it", "es", "nl_NL"].map((language) => home({ currency: "EUR", language }))
    assert.strictEqual(told.join(" "), "DE AT FR IT ES NL")
    assert.strictEqual(home({ currency: "SEK", language: "en-US" }), "SE", "the currency tells more")
  })

  it("guesses, and knows it, where neither tells", () => {
    assert.strictEqual(home({ currency: "EUR", language: "fi" }), "DE?")
    assert.strictEqual(home({ currency: "EUR", language: "fr-BE" }), "DE?")
    assert.strictEqual(home({ currency: "ZAR", language: "en" }), "US?")
    assert.strictEqual(home({ currency: null }), "US?")
  })

  it("lives where the merchant was said to be, whatever the currency", () => {
    assert.strictEqual(home({ currency: "EUR", language: "en", country: "ch" }), "CH")
    assert.strictEqual(home({ currency: "USD", language: "en", country: "ZA" }), "US?", "it has no address there")
  })

  it("moves to a country that the form lists, when its own is not among them", () => {
    assert.strictEqual(shopperAmong(shoppers.US, ["", "US", "DE"]).country, "US")
    assert.strictEqual(shopperAmong(shoppers.US, ["7", "Schweiz"]).country, "CH")
    assert.strictEqual(shopperAmong(shoppers.US, ["ZA", "South Africa"]).country, "US")
    const html = `<form method="post" action="/address"><label>ZIP <input name="zip" autocomplete="postal-code"></label>
      <select name="country" autocomplete="country"><option value="1">Österreich</option><option value="2" disabled>USA</option></select><button>Continue</button></form>`
    const [form] = readPage(html, new URL("https://shop.example/checkout")).forms
    const values = form === undefined ? [] : fill(form, undefined, shoppers.DE).values
    assert.deepStrictEqual(Object.fromEntries(values), { zip: "1010", country: "1" })
  })
})

/** The first form of a page that holds this. */
const formOf = (body: string) => {
  const form = readPage(
    `<form action="/next" method="post">${body}<button>Continue</button></form>`,
    new URL("https://shop.example/x")
  ).forms[0]
  assert.isDefined(form)
  return form
}
const sentBy = (body: string, shopper = shoppers.ES) =>
  Object.fromEntries(fill(formOf(body), undefined, shopper).values)

describe("the number of an identity card", () => {
  it("is a specimen's, right by the digits that check it", () => {
    const dni = shoppers.ES.nationalId ?? ""
    assert.strictEqual("TRWAGMYFPDXBNJZSQVHLCKE"[Number(dni.slice(0, 8)) % 23], dni[8])
    const cpf = [...(shoppers.BR.nationalId ?? "").replace(/\D/g, "")].map(Number)
    for (const length of [9, 10]) {
      const sum = cpf.slice(0, length).reduce((total, digit, at) => total + digit * (length + 1 - at), 0)
      assert.strictEqual(((sum * 10) % 11) % 10, cpf[length])
    }
    assert.match(shoppers.IT.nationalId ?? "", /^[A-Z]{6}\d\d[A-Z]\d\d[A-Z]\d{3}[A-Z]$/)
    assert.isUndefined(shoppers.DE.nationalId)
  })

  it("is written where a form must have it, and nowhere else", () => {
    const field = (more: string) => `<label for="d">Identification number</label><input id="d" name="dni" ${more}>`
    assert.deepInclude(sentBy(field("required")), { dni: "99999999R" })
    assert.deepInclude(sentBy(field("")), { dni: "" })
    const left = fill(formOf(field("required")), undefined, shoppers.DE)
    assert.deepStrictEqual(left.values, [["dni", ""]], "who has none writes none")
    for (const named of ["address[cpf]", "codice_fiscale", "CPF *", "Número de documento", "National ID"])
      assert.isTrue(namesNationalId(named), named)
    for (const named of ["Admin", "sidney", "Order number", "rfcode"]) assert.isFalse(namesNationalId(named), named)
    assert.isFalse(formOf('<input type="checkbox" name="dni" required>').controls.some(asksNationalId))
  })
})

describe("a box that has to be ticked", () => {
  const box = (name: string, label: string, more = "required") =>
    `<label><input type="checkbox" name="${name}" value="1" ${more}> ${label}</label>`
  const isTicked = (html: string) => Object.keys(sentBy(html)).length > 0

  it("is, where it agrees to the terms of the sale or to how data are kept, whatever pages of the shop it names", () => {
    for (const [name, label] of [
      ["psgdpr", "I agree to the terms and conditions and the privacy policy"],
      ["customer_privacy", 'Customer data privacy. You may delete what is found in the "My Account" page.'],
      ["agb", "Ich stimme den AGB zu"]
    ] as const) {
      assert.isTrue(isTicked(box(name, label)), name)
      assert.isFalse(isTicked(box(name, label, "")), `${name}, which need not be`)
    }
  })

  it("is not, where it takes letters, an account or a gift", () => {
    for (const [name, label] of [
      ["newsletter_consent", "Privacy"],
      ["privacy", "I accept the privacy policy and sign me up for the newsletter"],
      ["consent", "I agree to receive marketing"],
      ["accept", "I agree to the terms and want an account"],
      ["insurance", "I accept the terms of the insurance"],
      ["ok", "Yes"]
    ] as const)
      assert.isFalse(isTicked(box(name, label)), label)
    assert.isFalse(formOf('<input type="radio" name="terms" required>').controls.some(mustAgree))
  })
})

describe("where a form lists other countries", () => {
  it("somebody shops who pays in the same money, before anybody else", () => {
    assert.strictEqual(shopperAmong(shoppers.DE, ["US", "FR", "ES"]).country, "FR")
    assert.strictEqual(shopperAmong(shoppers.GB, ["Canada", "Poland"]).country, "CA")
    assert.strictEqual(shopperAmong(shoppers.ES, ["FR", "ES"]).country, "ES")
  })
})
