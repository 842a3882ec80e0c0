import { assert, describe, it } from "vitest"
import { choose, fromMinor, type Offered, rarestWords, samePrice } from "#domain/ProductChoice.ts"

interface Thing extends Partial<Omit<Offered, "candidate">> {
  readonly price?: string | null
  readonly currency?: string | null
}
const thing = (name: string, { currency = "USD", price = "20.00", ...more }: Thing = {}): Offered => ({
  candidate: {
    name,
    url: new URL(`https://shop.example/${encodeURIComponent(name)}`),
    sku: null,
    platformId: null,
    variant: null,
    price,
    currency
  },
  isAvailable: true,
  variants: 1,
  kind: "",
  source: "structured",
  ...more
})
const chosen = (...offers: ReadonlyArray<Offered>) => choose(offers).chosen?.candidate.name

describe("the choice", () => {
  it("is the cheapest of at least one unit that is in stock", () => {
    assert.strictEqual(chosen(thing("b", { price: "9.00" }), thing("a", { price: "10.00" })), "b")
    assert.strictEqual(chosen(thing("sample", { price: "0.99" }), thing("a")), "a")
    assert.strictEqual(chosen(thing("gone", { price: "2.00", isAvailable: false }), thing("a")), "a")
    assert.strictEqual(chosen(thing("unsaid", { price: "2.00", isAvailable: null }), thing("a")), "unsaid")
    assert.strictEqual(chosen(thing("free", { price: null })), undefined)
  })

  it("is never a gift card, a subscription or age-restricted", () => {
    const cheap = { price: "2.00" }
    for (const name of ["Gift Card", "E-Gift 10", "Monthly Subscription", "Red Wine 2020", "Vape Kit"]) {
      assert.strictEqual(chosen(thing(name, cheap), thing("Mug")), "Mug", name)
    }
    assert.strictEqual(chosen(thing("Starter", { ...cheap, kind: "gift_card Gift Cards" }), thing("Mug")), "Mug")
    assert.strictEqual(chosen(thing("Starter", { ...cheap, kind: "Glass\nWine" }), thing("Mug")), "Mug")
    assert.strictEqual(chosen(thing("Ginger Original Drum", cheap)), "Ginger Original Drum")
  })

  it("may be a thing that is only named after a drink", () => {
    for (const name of [
      "Crystal Wine Glass",
      "Beer Mug",
      "Champagne Flute",
      "Champagne Satin Gown",
      "Cider Vinegar",
      "Alcohol Markers",
      "Whisky Stones",
      "Gin Rummy Cards",
      "Wine Red Silk Scarf"
    ])
      assert.strictEqual(chosen(thing(name)), name)
    for (const name of [
      "Wine with Glass",
      "Beer 6-Pack and Mug",
      "Gin",
      "Rum Set",
      "Wine Glass Bottle",
      "Beer Mug of Ale and Beer"
    ])
      assert.strictEqual(chosen(thing(name)), undefined, name)
    assert.strictEqual(chosen(thing("Chianti", { kind: "wine\ngift\nglass" })), undefined, "tags are not read as one")
  })

  it("is no insurance, sample or wrapping where there is something else", () => {
    const cheap = { price: "2.00" }
    for (const name of [
      "Shipping Protection",
      "Route Insurance",
      "Fabric Swatch",
      "Gift Wrap",
      "Tip",
      "Perfume Sample"
    ]) {
      assert.strictEqual(chosen(thing(name, cheap), thing("Mug")), "Mug", name)
      assert.strictEqual(chosen(thing(name, cheap)), name, "and it is better than nothing")
    }
  })

  it("of equals has the fewest variants, then the first address, in whatever order they are listed", () => {
    const few = thing("z")
    const many = thing("a", { variants: 3 })
    const other = thing("y")
    for (const offers of [
      [few, many, other],
      [other, few, many],
      [many, other, few]
    ]) {
      assert.strictEqual(chosen(...offers), "y")
    }
  })

  it("says what was sold out and what had no price", () => {
    const choice = choose([
      thing("gone", { isAvailable: false }),
      thing("unpriced", { price: null }),
      thing("Gift Card")
    ])
    assert.deepStrictEqual(
      [choice.chosen, choice.soldOut.length, choice.unpriced.length, choice.excluded],
      [undefined, 1, 1, 1]
    )
  })
})

describe("the words to search for", () => {
  it("are the two rarest of the title, in its order", () => {
    const titles = ["Linen Field Notebook", "Linen Pen Case", "Field Bag"]
    assert.deepStrictEqual(rarestWords("Linen Field Notebook", titles), ["field", "notebook"])
    assert.deepStrictEqual(rarestWords("Ox", titles), [])
  })
})

describe("prices", () => {
  it("come from minor units exactly", () => {
    assert.deepStrictEqual(
      [fromMinor(1250, 2), fromMinor("5", 2), fromMinor(1250, 0), fromMinor(12.5, 2), fromMinor("x", 2)],
      ["12.50", "0.05", "1250", undefined, undefined]
    )
  })

  it("are the same by value, not by spelling", () => {
    assert.isTrue(samePrice("12.5", "12.50"))
    assert.isFalse(samePrice("12.50", "12.51"))
    assert.isUndefined(samePrice(null, "12.50"))
  })
})
