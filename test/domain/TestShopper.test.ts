import { assert, describe, it } from "vitest"
import { readPage } from "#domain/page/Page.ts"
import { fill } from "#domain/ShopperForm.ts"
import { shopperAmong, shopperFor, shopperOf, shoppers } from "#domain/TestShopper.ts"

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
    assert.strictEqual(shopperFor("GBP").country, "GB")
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
