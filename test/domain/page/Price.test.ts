import { assert, describe, it } from "vitest"
import { readPage } from "#domain/page/Page.ts"
import { parseAmount, readPrices } from "#domain/page/Price.ts"
import { priceVerdict } from "#domain/page/PriceShown.ts"

const shown = (html: string) => readPage(html, new URL("https://shop.example/p"))
const verdict = (html: string, price: string, currency: string | null = null) =>
  priceVerdict(shown(html), price, currency)

describe("an amount", () => {
  it("is read in every common way to write it", () => {
    const written: ReadonlyArray<readonly [string, string]> = [
      ["1234", "1234"],
      ["19.99", "19.99"],
      ["19,99", "19.99"],
      ["1.234,56", "1234.56"],
      ["1,234.56", "1234.56"],
      ["1'234.50", "1234.50"],
      ["1’234.50", "1234.50"],
      ["1 234,50", "1234.50"],
      ["1.234", "1234"],
      ["1,234,567", "1234567"],
      ["1,23,456.00", "123456.00"],
      ["0.999", "0.999"],
      ["19,9", "19.9"]
    ]
    for (const [text, value] of written) assert.strictEqual(parseAmount(text), value, text)
  })

  it("has three decimals in the currencies that have them", () => {
    assert.strictEqual(parseAmount("1.250", "KWD"), "1.250")
  })

  it("is nothing else", () => {
    for (const text of ["", "abc", "1-2", "12.34.5x"]) assert.isUndefined(parseAmount(text), text)
  })
})

describe("prices of a text", () => {
  it("are known by a mark before or behind", () => {
    for (const [text, value, currency] of [
      ["€ 1.234,56", "1234.56", "EUR"],
      ["19,99 €", "19.99", "EUR"],
      ["CHF 1'200.00", "1200.00", "CHF"],
      ["1 299 kr", "1299", null],
      ["R$ 59,90", "59.90", "BRL"],
      ["19.99 USD", "19.99", "USD"],
      ["From £20", "20", null],
      ["49,-€", "49", "EUR"],
      ["129,00 zł", "129.00", "PLN"],
      ["1 350 р.", "1350", "RUB"],
      ["¥1,980", "1980", null],
      ["R1,499.00", "1499.00", "ZAR"],
      ["149.00 ر.س", "149.00", "SAR"],
      ["١٬٢٤٩٫٥٠ ر.س", "1249.50", "SAR"],
      ["۱۴۹٬۰۰۰ تومان", "149000", "IRT"],
      ["4.990,00 RSD", "4990.00", "RSD"],
      ["14 990 ₸", "14990", "KZT"],
      ["97,23 $US", "97.23", "USD"],
      ["1 250,00 $CA", "1250.00", "CAD"]
    ] as const) {
      const [found] = readPrices(text)
      const [only, ...others] = found?.currencies ?? []
      assert.deepStrictEqual([found?.value, others.length > 0 ? null : only], [value, currency], text)
    }
  })

  it("are told apart from a quantity or another price beside them", () => {
    const values = (text: string) => readPrices(text).map(({ value }) => value)
    assert.deepStrictEqual(values("Mug 2 12.50 25.00"), ["12.50", "25.00"])
    assert.deepStrictEqual(values("머그컵 1 12,900원"), ["12900"])
    assert.deepStrictEqual(values("Krus 3 12 345,00 kr"), ["12345.00"])
    assert.deepStrictEqual(values("Krus 1 234 567 kr"), ["1234567"])
    assert.deepStrictEqual(values("Hrnek 10 12\u00a0345,00\u00a0Kč"), ["12345.00"])
  })

  it("are not dates, times, sizes, versions, telephone numbers or percent", () => {
    assert.deepStrictEqual(
      readPrices("On 19.10.2025 at 12:30, 40 x 60 cm, v1.2.3, 555-0199, 20.00% more, model 1234"),
      []
    )
  })
})

describe("a price behind the name of its product", () => {
  const isAside = (name: string, rest = "$9.00", heading = name) =>
    readPage(`<h1>${heading}</h1><p>${name} ${rest}</p>`, new URL("https://shop.example/p")).prices.map(
      (price) => price.isAside
    )

  it("is its price, whatever word the name ends with", () => {
    for (const name of [
      "iPhone X",
      "Rye Bread Gluten Free",
      "Free Range Eggs",
      "Birthday Gift",
      "Express Delivery Van"
    ])
      assert.deepStrictEqual(isAside(name), [false], name)
  })

  it("is none where the word is said of the price", () => {
    for (const rest of ["Shipping $9.00", "4 x $9.00", "was $9.00"])
      assert.deepStrictEqual(isAside("Mug", rest), [true])
    assert.deepStrictEqual(isAside("Free shipping over", "$50.00", "Mug"), [true])
  })
})

describe("whether a stated price is the visible one", () => {
  const mug = (price: string) => `<h1>Mug</h1><p>${price}</p>`

  it("holds however it is written", () => {
    for (const price of [
      "$19.90",
      "19,90 €",
      "EUR 19.9",
      "<s>$30.00</s> $19.90",
      "<span>$</span><span>19</span>.<sup>90</sup>"
    ]) {
      assert.strictEqual(verdict(mug(price), "19.90"), "equal", price)
    }
    assert.strictEqual(verdict(mug("1.299,00 €"), "1299.00"), "equal")
    assert.strictEqual(verdict(mug("$20"), "20.00"), "equal")
  })

  it("holds where the cents are raised", () => {
    assert.strictEqual(verdict(mug("<span>$19</span><sup>90</sup>"), "19.90"), "equal")
    assert.strictEqual(verdict(mug("<div>$19</div><div>90</div>"), "19.90"), "equal")
  })

  it("does not hold beside another price of its currency", () => {
    assert.strictEqual(verdict(mug("$24.90"), "19.90", "USD"), "different")
    assert.strictEqual(verdict(mug("$2490"), "19.90", "USD"), "different")
  })

  it("is not known where no price is shown, or only what is no product's", () => {
    assert.strictEqual(verdict("<h1>Mug</h1>", "19.90"), "unknown")
    assert.strictEqual(verdict("<p>Free shipping over $50</p><h1>Mug</h1><p>Cart: $0.00</p>", "19.90"), "unknown")
    assert.strictEqual(verdict(mug("or 4 payments of $4.98"), "19.90"), "unknown")
  })

  it("is not known where the shop shows another currency to us", () => {
    assert.strictEqual(verdict(mug("£17.50"), "19.90", "USD"), "unknown")
  })

  it("is not known by prices far from the heading, such as those of other products", () => {
    assert.strictEqual(
      verdict(`<h1>Mug</h1><p>${"About the mug. ".repeat(100)}</p><p>Cup $5.00</p>`, "19.90", "USD"),
      "unknown"
    )
  })

  it("is not known of a price that is none", () => {
    assert.strictEqual(verdict(mug("$19.90"), "call us"), "unknown")
  })
})
