import { Duration, Effect } from "effect"
import { afterEach, assert, describe, it } from "vitest"
import { shoppers } from "#domain/TestShopper.ts"
import { PageReading } from "#services/PageReading.ts"
import * as Errand from "#services/ShoppingEngine/Errand.ts"
import * as Catalogue from "#services/ShoppingEngine/Catalogue.ts"
import * as BigCommerce from "#services/ShoppingEngine/BigCommerceRail.ts"
import * as EverShop from "#services/ShoppingEngine/EverShopRail.ts"
import * as Magento from "#services/ShoppingEngine/MagentoRail.ts"
import type { Candidate } from "#services/ShoppingEngine/Rail.ts"
import * as PageReadingHere from "./PageReadingHere.ts"
import { closeAll, httpOrigin } from "./PublicHttpHarness.ts"
import { closeVisits, visitOf } from "./SiteVisitsHarness.ts"

afterEach(async () => {
  await closeVisits()
  await closeAll()
})

/** With which status a value is answered, if another than 200. */
const statusOf = Symbol("status")

/** What a shop answers by `METHOD path`: a page, a value as JSON, or a status alone. */
type Answers = Readonly<Record<string, string | number | object>>

/** An errand at a shop that knows these answers and no others. */
const errandAt = async (answers: Answers) => {
  const asked: Array<string> = []
  const port = await httpOrigin((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://shop")
    const call = `${request.method} ${pathname}`
    asked.push(call)
    const answer = answers[call] ?? 404
    if (typeof answer === "number") return void response.writeHead(answer).end()
    if (typeof answer === "object" && statusOf in answer) response.statusCode = Number(answer[statusOf])
    const isPage = typeof answer === "string" && answer.startsWith("<")
    response.setHeader("content-type", isPage ? "text/html" : "application/json")
    response.end(isPage ? answer : JSON.stringify(answer))
  })
  const visit = await visitOf(`127.0.0.1:${port}`)
  const pages = await Effect.runPromise(Effect.provide(PageReading, PageReadingHere.layer))
  const limits = { requests: 20, duration: Duration.seconds(8), reserve: Duration.zero }
  const url = new URL("/p/book", visit.site.home)
  const book: Candidate = {
    name: "A book to read on screen",
    url,
    sku: "BOOK",
    platformId: null,
    variant: null,
    price: "5.00",
    currency: "USD"
  }
  return { asked, book, errand: Errand.make(visit, limits, pages) }
}

describe("goods of which nothing is shipped", () => {
  const magentoOf = (...kinds: ReadonlyArray<string>): Answers => {
    const cart = "/rest/V1/guest-carts/c1"
    const [item, ...others] = kinds.map((product_type, index) => ({
      item_id: index,
      sku: "BOOK",
      qty: 1,
      price: 5,
      product_type
    }))
    return {
      "POST /rest/V1/guest-carts": "c1",
      [`POST ${cart}/items`]: item ?? 404,
      [`GET ${cart}/items`]: [item, ...others],
      [`POST ${cart}/estimate-shipping-methods`]: [],
      [`GET ${cart}/payment-methods`]: [{ code: "checkmo", title: "Check / Money order" }],
      [`GET ${cart}/totals`]: { grand_total: 5.5, base_currency_code: "USD" }
    }
  }
  const magento = async (...kinds: ReadonlyArray<string>) => {
    const { asked, book, errand } = await errandAt(magentoOf(...kinds))
    const rail = Magento.make(errand, shoppers.US, "USD")
    await Effect.runPromise(rail.cart(book))
    const checkout = await Effect.runPromise(rail.checkout)
    return { asked, checkout, payment: await Effect.runPromise(rail.payment) }
  }

  for (const kind of ["virtual", "downloadable"]) {
    it(`are bought from Magento without asking how it ships them: ${kind}`, async () => {
      const { asked, checkout, payment } = await magento(kind)
      assert.deepInclude(checkout, { status: "passed", total: "5.50", blockers: [] }, checkout.detail)
      assert.match(checkout.detail, /nothing is shipped/)
      assert.match(payment.evidence ?? "", /checkmo/)
      assert.notInclude(asked, "POST /rest/V1/guest-carts/c1/estimate-shipping-methods")
    })
  }

  it("do not spare other goods in Magento's cart their shipping", async () => {
    for (const kinds of [["simple"], ["virtual", "simple"]]) {
      const { checkout } = await magento(...kinds)
      assert.deepInclude(checkout.blockers.at(-1) ?? {}, { id: "no_shipping_option" }, kinds.join())
    }
  })

  const bigCommerce = async (lineItems: object) => {
    const cart = { id: "c1", lineItems }
    const { asked, book, errand } = await errandAt({
      "GET /p/book": '<form><input type="hidden" name="product_id" value="7"><button>Add to cart</button></form>',
      "POST /api/storefront/carts": cart,
      "GET /api/storefront/carts": [cart],
      "GET /api/storefront/checkouts/c1": { grandTotal: 5.5, consignments: [] },
      "POST /api/storefront/checkouts/c1/consignments": { grandTotal: 5.5, consignments: [] }
    })
    const rail = BigCommerce.make(errand, shoppers.US, "USD")
    const done = await Effect.runPromise(rail.cart(book))
    return { asked, cart: done, checkout: await Effect.runPromise(rail.checkout) }
  }
  const line = { id: "i1", productId: 7, quantity: 1, salePrice: 5 }

  it("are seen in the cart of a BigCommerce shop, and bought without asking how it ships them", async () => {
    const { asked, cart, checkout } = await bigCommerce({ physicalItems: [], digitalItems: [line] })
    assert.deepInclude(cart, { status: "passed", price: "5.00", blockers: [] }, cart.detail)
    assert.deepInclude(checkout, { status: "passed", total: "5.50", blockers: [] }, checkout.detail)
    assert.notInclude(asked, "POST /api/storefront/checkouts/c1/consignments")
  })

  it("do not spare other goods in BigCommerce's cart their shipping, nor hide beside them", async () => {
    const other = { ...line, id: "i2", productId: 8 }
    const { cart, checkout } = await bigCommerce({ physicalItems: [line], digitalItems: [other] })
    assert.match(cart.detail, /does not hold this item once: 2 lines/)
    assert.deepInclude(checkout.blockers.at(-1) ?? {}, { id: "no_shipping_option" })
  })
})

describe("what a line of Magento's cart costs", () => {
  const cart = "/rest/V1/guest-carts/c1"
  const pricedAt = async (stated: string, totals: object | number) => {
    const item = { item_id: 1, sku: "BOOK", qty: 1, price: 4.2, product_type: "simple" }
    const { book, errand } = await errandAt({
      "POST /rest/V1/guest-carts": "c1",
      [`POST ${cart}/items`]: item,
      [`GET ${cart}/items`]: [item],
      [`GET ${cart}/totals`]: totals
    })
    const done = await Effect.runPromise(Magento.make(errand, shoppers.DE, "EUR").cart({ ...book, price: stated }))
    return [done.price, ...done.blockers.map(({ id }) => id)]
  }
  const totals = { items: [{ item_id: 1, price: 5, price_incl_tax: 5.95 }] }

  it("is what its buyer sees: with the tax or without, as the shop states its prices, in the money it states them in", async () => {
    assert.deepStrictEqual(await pricedAt("5.95", totals), ["5.95"])
    assert.deepStrictEqual(await pricedAt("5", totals), ["5.00"])
  })

  it("is another where none of these is the price that was stated", async () => {
    assert.deepStrictEqual(await pricedAt("7.00", totals), ["5.95", "price_changed_in_cart"])
  })

  it("is what the line itself says where nothing else does", async () => {
    assert.deepStrictEqual(await pricedAt("4.20", 404), ["4.20"])
    assert.deepStrictEqual(await pricedAt("4.20", { items: [] }), ["4.20"])
  })
})

describe("a Magento that sells to nobody without an account", () => {
  it("is said to want one, by the words in which its interface refuses guests", async () => {
    const cart = "/rest/V1/guest-carts/c1"
    const said = (message: string) => ({ [statusOf]: 400, message })
    const checkoutOf = async (message: string) => {
      const item = { item_id: 1, sku: "BOOK", qty: 1, price: 5, product_type: "simple" }
      const { book, errand } = await errandAt({
        "POST /rest/V1/guest-carts": "c1",
        [`POST ${cart}/items`]: item,
        [`GET ${cart}/items`]: [item],
        [`POST ${cart}/estimate-shipping-methods`]: [{ carrier_code: "flat", method_code: "flat", available: true }],
        [`POST ${cart}/shipping-information`]: said(message)
      })
      const rail = Magento.make(errand, shoppers.US, "USD")
      await Effect.runPromise(rail.cart(book))
      return (await Effect.runPromise(rail.checkout)).blockers.at(-1)?.id
    }
    assert.strictEqual(await checkoutOf("Sorry, guest checkout is not available."), "account_required")
    assert.strictEqual(await checkoutOf("The region is required."), "address_rejected")
  })
})

describe("an EverShop's cart that is read back", () => {
  const readBack = async (cart: string | number) => {
    const added = { data: { cartId: "c1", item: { uuid: "i1" } } }
    const { book, errand } = await errandAt({ "POST /api/cart/mine/items": added, "GET /cart": cart })
    return Effect.runPromise(EverShop.make(errand, shoppers.US).cart(book))
  }

  it("holds the item, or is empty, which is a failure of the shop", async () => {
    const held = await readBack("<h1>Cart</h1><p>A book to read on screen $5.00</p>")
    assert.strictEqual(held.status, "passed", held.detail)
    const empty = await readBack("<h1>Cart</h1><p>Your cart is empty</p>")
    assert.deepInclude(empty.blockers.at(-1) ?? {}, { id: "add_to_cart_failed" })
  })

  it("is not known where its page does not answer, and no fault of the shop", async () => {
    const unread = await readBack(503)
    assert.deepStrictEqual([unread.status, unread.blockers], ["unknown", []], unread.detail)
  })
})

describe("what a platform's interface lists", () => {
  it("has no SKU that is longer than a name of a thing, which every page would be searched for", async () => {
    const skuOf = async (platform: string, call: string, answer: object) => {
      const { book, errand } = await errandAt({ [call]: answer })
      const [offered] = await Effect.runPromise(Catalogue.listed(errand, platform, book.url ?? new URL("https://a.b")))
      assert.isDefined(offered, platform)
      return offered.candidate.sku
    }
    const shops = (sku: string) => {
      const variant = { id: 1, title: "Default", sku, price: "5.00" }
      const shopify = { products: [{ title: "A book", handle: "book", variants: [variant] }] }
      const woo = [{ id: 1, name: "A book", sku, permalink: "https://a.b", prices: { price: "500" } }]
      const sold = { id: "1", name: "A book", sku, priceWithTax: 500, currencyCode: "USD", stockLevel: "IN_STOCK" }
      const vendure = { data: { products: { items: [{ name: "A book", slug: "book", variants: [sold] }] } } }
      return Promise.all([
        skuOf("shopify", "GET /products.json", shopify),
        skuOf("woocommerce", "GET /wp-json/wc/store/v1/products", woo),
        skuOf("vendure", "POST /shop-api", vendure)
      ])
    }
    assert.deepStrictEqual(await shops("BOOK-1"), ["BOOK-1", "BOOK-1", "BOOK-1"])
    assert.deepStrictEqual(await shops("B".repeat(201)), [null, null, null])
  })

  it("calls a variation by twenty attributes at most, each of which is looked for among all of the product's", async () => {
    const attributes = Array.from({ length: 30 }, (_, index) => ({ name: `n${index}`, value: `v${index}` }))
    const prices = { price: "500" }
    const variations = [{ id: 2, attributes }]
    const woo = [{ id: 1, name: "A book", permalink: "https://a.b", prices, variations }]
    const { errand } = await errandAt({ "GET /wp-json/wc/store/v1/products": woo })
    const [offered] = await Effect.runPromise(Catalogue.listed(errand, "woocommerce", new URL("https://a.b")))
    assert.strictEqual(offered?.candidate.variant?.split(" / ").length, 20)
  })

  it("is Magento's over GraphQL, by the variant that is in stock, without what its buyer has to put together", async () => {
    const goods = (sku: string, value: number, stock_status = "IN_STOCK") => ({
      sku,
      stock_status,
      price_range: { minimum_price: { final_price: { value, currency: "EUR" } } }
    })
    const item = (type: string, key: string | null, more: object) => ({
      __typename: type,
      name: `The ${key}`,
      url_key: key,
      url_suffix: ".html",
      categories: [{ name: "Tea" }],
      ...more
    })
    const variants = [
      { attributes: [{ label: "Red" }, { label: "L" }], product: goods("SHIRT-RL", 9, "OUT_OF_STOCK") },
      { attributes: [{ label: "Blue" }, { label: "L" }], product: goods("SHIRT-BL", 9.5) }
    ]
    const items = [
      item("SimpleProduct", "mug", goods("MUG", 12.5)),
      item("SimpleProduct", null, goods("JUG", 1, "OUT_OF_STOCK")),
      item("ConfigurableProduct", "shirt", { ...goods("SHIRT", 9), variants }),
      item("BundleProduct", "set", goods("SET", 30)),
      item("ConfigurableProduct", "bare", { ...goods("BARE", 7), variants: [] })
    ]
    const { errand } = await errandAt({ "GET /graphql": { data: { products: { items } } } })
    const offers = await Effect.runPromise(Catalogue.listed(errand, "magento", new URL("https://a.b/en/")))
    assert.deepStrictEqual(
      offers.map(({ candidate: { currency, price, sku, url, variant }, isAvailable, variants }) =>
        [sku, url?.href, price, currency, variant, variants, isAvailable].join(" ")
      ),
      [
        "MUG https://a.b/mug.html 12.50 EUR  1 true",
        "JUG  1.00 EUR  1 false",
        "SHIRT-BL https://a.b/shirt.html 9.50 EUR Blue / L 2 true",
        "BARE https://a.b/bare.html 7.00 EUR  1 true"
      ]
    )
  })

  it("is nothing where Magento's GraphQL is closed, or answers with a fault", async () => {
    for (const answer of [403, { errors: [{ message: "no" }], data: null }]) {
      const { errand } = await errandAt({ "GET /graphql": answer })
      assert.deepStrictEqual(await Effect.runPromise(Catalogue.listed(errand, "magento", new URL("https://a.b"))), [])
    }
  })
})
