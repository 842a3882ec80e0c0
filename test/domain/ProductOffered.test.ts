import { assert, describe, it } from "vitest"
import { readPage } from "#domain/page/Page.ts"
import { offeredBy } from "#domain/ProductOffered.ts"

const address = new URL("https://shop.example/radiant-tee.html")
const offered = (html: string) => offeredBy(address, readPage(`<h1>Radiant Tee</h1><p>$22.00</p>${html}`, address))
const form = (button: string) => `<form method="post" action="/checkout/cart/add/product/1556/">${button}</form>`

describe("whether a product page's thing can be had", () => {
  it("is not said by a button that waits for its script or for a choice", () => {
    const luma = `<button type="submit" title="Add to Cart" id="product-addtocart-button" disabled>Add to Cart</button>`
    assert.isNull(offered(form(luma))?.isAvailable)
    assert.isNull(offered(`<button disabled>Add to bag</button>`)?.isAvailable)
  })

  it("is said by the words of the button, enabled or not", () => {
    assert.isFalse(offered(form(`<button disabled>Sold out</button>`))?.isAvailable)
    assert.isFalse(offered(form(`<button name="add">Sold out</button>`))?.isAvailable)
  })

  it("is said beside the heading where the form has nothing to press", () => {
    const gone = "<p>Availability: Out of stock</p>"
    assert.isFalse(offered(gone + form('<input type="hidden" name="qty" value="1">'))?.isAvailable)
    assert.isNull(offered(gone + form("<button>Add to cart</button>"))?.isAvailable)
    assert.isNull(offered(form('<input type="hidden" name="qty" value="1">'))?.isAvailable)
  })

  it("is said by the structured data before anything else", () => {
    const said = (availability: string) =>
      `<script type="application/ld+json">{"@type":"Product","name":"Radiant Tee","offers":{"price":"22.00","priceCurrency":"USD","availability":"https://schema.org/${availability}"}}</script>`
    assert.isFalse(offered(form(`<button>Add to cart</button>`) + said("OutOfStock"))?.isAvailable)
    assert.isTrue(offered(form(`<button disabled>Add to cart</button>`) + said("InStock"))?.isAvailable)
  })
})

describe("a product page", () => {
  const add = form("<button>Add to cart</button>")
  const read = (html: string) => offeredBy(address, readPage(html, address))
  const data = (product: object) =>
    `<script type="application/ld+json">${JSON.stringify({ "@type": "Product", ...product })}</script>`
  const offer = (price: string, availability: string) => ({
    "@type": "Offer",
    price,
    priceCurrency: "EUR",
    availability
  })

  it("is one that says so in data, or has something to press that adds or asks for a choice first", () => {
    assert.isUndefined(read("<h1>About us</h1><p>$22.00</p>"))
    assert.strictEqual(read(`<h1>Tee</h1>${add}`)?.candidate.name, "Tee")
    assert.strictEqual(read(`<h1>About tees</h1>${data({ name: "Tee" })}`)?.candidate.name, "Tee")
  })

  it("is one whose button asks for a choice, also where its twin for small screens says so in other words, and not a list of such buttons", () => {
    const asks = (...words: ReadonlyArray<string>) =>
      read(`<h1>Tee</h1>${words.map((label) => `<button type="button">${label}</button>`).join("")}`)?.candidate.name
    assert.strictEqual(asks(" Select a size "), "Tee")
    assert.strictEqual(asks("Select a size", "Choose an option"), "Tee")
    assert.isUndefined(asks("Select a size", "select a size"))
    assert.isUndefined(asks("Size guide"))
    assert.strictEqual(
      read(`<h1>Tee</h1><form action="/x"><button>Choose a colour</button></form>`)?.candidate.name,
      "Tee"
    )
    assert.isUndefined(read(`<h1>Tee</h1><form action="/x"><input name="q" aria-label="Select a size"></form>`))
  })

  it("has its name from its data, its heading or its title, and is none without", () => {
    assert.strictEqual(read(`<title>Tee | Shop</title>${add}`)?.candidate.name, "Tee | Shop")
    assert.strictEqual(read(`<title>Shop</title><h1>Tee</h1>${add}`)?.candidate.name, "Tee")
    assert.isUndefined(read(add))
  })

  it("offers the first that can be had and has a price, or else the first", () => {
    const [gone, here] = [offer("10.00", "OutOfStock"), offer("12.00", "InStock")]
    const of = (...offers: ReadonlyArray<object>) => {
      const found = read(data({ name: "Tee", offers }))
      return [found?.candidate.price, found?.isAvailable]
    }
    assert.deepStrictEqual(of(gone, { "@type": "Offer", availability: "InStock" }, here, offer("9.00", "InStock")), [
      "12.00",
      true
    ])
    assert.deepStrictEqual(of(gone, offer("9.00", "OutOfStock")), ["10.00", false])
  })

  it("has a price of its data, or the first with a currency from its heading on", () => {
    const shown = (html: string) => {
      const found = read(html)
      return [found?.candidate.price, found?.candidate.currency, found?.source]
    }
    assert.deepStrictEqual(shown(`<p>$5.00 off</p><h1>Tee</h1><p>Size 22.50, now $22.00</p>${add}`), [
      "22.00",
      "USD",
      "text"
    ])
    assert.deepStrictEqual(shown(`<title>Tee</title><p>$22.00</p>${add}`), ["22.00", "USD", "text"])
    assert.deepStrictEqual(shown(`<h1>Tee</h1>${add}`), [null, null, "text"])
    const stated = data({ name: "Tee", offers: offer("12.00", "InStock") })
    assert.deepStrictEqual(shown(`<h1>Tee</h1><p>$22.00</p>${stated}`), ["12.00", "EUR", "structured"])
  })

  it("has the number of its product from its data, that of the offer, or its text", () => {
    const sku = (html: string) => read(`<h1>Tee</h1>${html}`)?.candidate.sku
    const inText = `<p>SKU: T-3</p>${add}`
    assert.strictEqual(
      sku(data({ name: "Tee", sku: "T-1", offers: { ...offer("1", "InStock"), sku: "T-2" } }) + inText),
      "T-1"
    )
    assert.strictEqual(sku(data({ name: "Tee", offers: { ...offer("1", "InStock"), sku: "T-2" } }) + inText), "T-2")
    assert.strictEqual(sku(inText), "T-3")
    assert.isNull(sku(add))
  })
})

describe("the price of a product page", () => {
  const candidate = (html: string) => offeredBy(address, readPage(`<h1>Shelf</h1>${html}`, address))?.candidate
  const add = form("<button>Add to cart</button>")

  it("is not the one that is struck through", () => {
    assert.strictEqual(candidate(`<p><del>$120.00</del> <ins>$80.00</ins></p>${add}`)?.price, "80.00")
    assert.strictEqual(candidate(`<p>M.R.P. <s>₹1,999</s> ₹1,499</p>${add}`)?.price, "1499")
    assert.strictEqual(candidate(`<p><strike><b>$9</b>9.00</strike> now $80.00</p>${add}`)?.price, "80.00")
    for (const name of [
      "old-price",
      "price old_price",
      "price-old",
      "normalprice",
      "text-zinc-500 line-through",
      "text-decoration-line-through"
    ])
      assert.strictEqual(
        candidate(`<p><span class="${name}">$120</span> <b>$80.00</b></p>${add}`)?.price,
        "80.00",
        name
      )
    assert.strictEqual(
      candidate(`<p><b>$80.00</b><span class="normalprice">$120</span> -33%</p>${add}`)?.price,
      "80.00"
    )
    assert.strictEqual(candidate(`<p class="normalPrice">$80.00</p>${add}<p>Other shelves</p>`)?.price, "80.00")
    assert.strictEqual(candidate(`<p class="golden-old-prices">$80.00</p>${add}`)?.price, "80.00")
    assert.strictEqual(candidate(`<p>$80.00 <del>$120.00</del></p><p>$5.00 more</p>${add}`)?.price, "80.00")
  })

  it("is known with its tax by the label before it, and not by that of the next", () => {
    const stated = `<script type="application/ld+json">{"@type":"Product","name":"Shelf","offers":{"price":"59.90","priceCurrency":"EUR"}}</script>`
    const both = candidate(`${stated}<p>Excl. Tax: €59.90 Incl. Tax: €71.28</p>${add}`)
    assert.deepStrictEqual([both?.price, both?.priceWithTax], ["59.90", "71.28"])
  })

  it("is known with its tax, where the page says it beside the one without", () => {
    const stated = `<script type="application/ld+json">{"@type":"Product","name":"Shelf","offers":{"price":"120.00","priceCurrency":"GBP","priceSpecification":{"price":"120.00","priceCurrency":"GBP","valueAddedTaxIncluded":"false"}}}</script>`
    const both = candidate(`<p>£120.00 <small>ex. VAT</small> (£144.00 inc. VAT)</p>${stated}${add}`)
    assert.deepInclude(both ?? {}, { price: "120.00", priceWithTax: "144.00" })
    assert.notProperty(candidate(`<p>£120.00 inc. VAT</p>${stated}${add}`) ?? {}, "priceWithTax")
    assert.notProperty(candidate(`<p>£120.00</p><p>£144.00 for two</p>${stated}${add}`) ?? {}, "priceWithTax")
  })
})
