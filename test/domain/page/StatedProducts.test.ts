import { assert, describe, it } from "vitest"
import { isBuyable } from "#domain/page/Availability.ts"
import { readPage } from "#domain/page/Page.ts"

const url = new URL("https://shop.example/products/mug")
const page = (html: string) => readPage(html, url)
const block = (json: unknown) =>
  `<script type="application/ld+json">${typeof json === "string" ? json : JSON.stringify(json)}</script>`
const product = (json: unknown) => page(block(json)).products[0]
const offer = (json: object) => product({ "@type": "Product", name: "Mug", offers: json })?.offers[0]

describe("the product that a page is about", () => {
  const full = { description: "A plate", sku: "P", gtin13: "4006381333931", brand: "B", image: "/p.jpg" }
  const plate = { "@type": "Product", name: "Red plate", ...full, offers: { "@type": "Offer", price: "35.00" } }
  const mug = { "@type": "Product", name: "Blue mug" }
  const first = (head: string, ...nodes: ReadonlyArray<object>) =>
    page(`${head}${nodes.map(block).join("")}`).products[0]?.name

  it("is the one that has its address or the canonical one, whatever others say", () => {
    assert.strictEqual(first("", plate, { ...mug, url: "/products/mug/?variant=1" }), "Blue mug")
    assert.strictEqual(first("", plate, { ...mug, "@id": "https://shop.example/products/mug#product" }), "Blue mug")
    const canonical = `<link rel="canonical" href="https://www.shop.example/mugs/blue">`
    assert.strictEqual(first(canonical, plate, { ...mug, url: "/mugs/blue" }), "Blue mug")
    assert.strictEqual(first("", plate, { ...mug, "@id": "#product" }), "Red plate", "a fragment tells nothing")
  })

  it("is not one that has the address of another page of the site", () => {
    assert.strictEqual(first("", { ...plate, url: "/products/plate" }, mug), "Blue mug")
    assert.strictEqual(first("", { ...plate, url: "https://maker.example/plate" }, mug), "Red plate")
  })

  it("else is the one that has its name, and else the one that says most", () => {
    assert.strictEqual(first("<h1>Blue  mug</h1>", plate, mug), "Blue mug")
    assert.strictEqual(first("<title>Blue mug | Shop</title>", plate, mug), "Blue mug")
    assert.strictEqual(first("<h1>Shop</h1>", mug, plate), "Red plate")
  })
})

describe("products in JSON-LD", () => {
  it("are also what a restaurant's menu offers", () => {
    const pizza = { "@type": "MenuItem", name: "Pizza", offers: { price: 11, priceCurrency: "USD" } }
    assert.strictEqual(product(pizza)?.offers[0]?.price, "11")
    assert.isUndefined(product({ "@type": "MenuItem", name: "Pizza" }))
  })

  it("have the brand that they refer to", () => {
    const graph = [
      { "@type": "Product", name: "Mug", brand: { "@id": "#brand" } },
      { "@type": "Brand", "@id": "#brand", name: "Mugs" }
    ]
    assert.strictEqual(product({ "@graph": graph })?.brand, "Mugs")
  })

  it("that are one variant of a group on pages of their own have its variants, and what it says of all", () => {
    const group = {
      "@type": "ProductGroup",
      "@id": "#mugs",
      name: "Mug",
      description: "For tea",
      brand: { "@type": "Brand", name: "Mugs" },
      productGroupID: "M",
      variesBy: ["https://schema.org/color"]
    }
    const red = { "@type": "Product", name: "Red mug", sku: "M-1", offers: { "@type": "Offer", price: "9" } }
    const other = { "@type": "Product", isVariantOf: { "@id": "#mugs" }, url: "https://shop.example/blue" }
    const [best] = page(block([group, { ...red, isVariantOf: { "@id": "#mugs" } }, other])).products
    assert.deepInclude(best, { name: "Red mug", sku: "M-1", brand: "Mugs", description: "For tea", variants: 1 })
    assert.strictEqual(page(block([red])).products[0]?.variants, 0)
  })

  it("are available as they refer to it, and as the offers in an offer say", () => {
    assert.strictEqual(offer({ availability: { "@id": "https://schema.org/InStock" } })?.availability, "InStock")
    const among = (...availabilities: ReadonlyArray<string>) =>
      offer({
        "@type": "AggregateOffer",
        lowPrice: "9",
        offers: availabilities.map((availability) => ({ "@type": "Offer", price: "9", availability }))
      })?.availability
    assert.strictEqual(among("OutOfStock", "OutOfStock"), "OutOfStock")
    assert.strictEqual(among("OutOfStock", "InStock"), "InStock")
  })

  it("are read whole", () => {
    const mug = product({
      "@context": "https://schema.org",
      "@type": "Product",
      name: "Tom &amp; Jerry mug",
      description: "For tea",
      image: [{ "@type": "ImageObject", url: "/mug.jpg" }],
      sku: 771,
      gtin13: "4006381333931",
      brand: { "@type": "Brand", name: "Mugs" },
      url: "/products/mug",
      offers: {
        "@type": "Offer",
        price: 19.99,
        priceCurrency: "EUR",
        availability: "https://schema.org/InStock",
        priceValidUntil: "2027-01-01",
        shippingDetails: {},
        hasMerchantReturnPolicy: { "@type": "MerchantReturnPolicy" }
      }
    })
    assert.deepStrictEqual(mug, {
      format: "json-ld",
      name: "Tom & Jerry mug",
      description: "For tea",
      image: "https://shop.example/mug.jpg",
      sku: "771",
      gtin: "4006381333931",
      brand: "Mugs",
      url: "https://shop.example/products/mug",
      offers: [
        {
          rawPrice: "19.99",
          price: "19.99",
          currency: "EUR",
          availability: "InStock",
          url: null,
          priceValidUntil: "2027-01-01",
          sku: null
        }
      ],
      variants: 0,
      hasShipping: true,
      hasReturns: true
    })
  })

  it("are found in a graph, in lists, as the main thing of a page, and by reference", () => {
    const names = (json: unknown) => page(block(json)).products.map((one) => one.name)
    assert.deepStrictEqual(
      names({ "@graph": [{ "@type": "WebSite" }, { "@type": ["Product", "Thing"], name: "A" }] }),
      ["A"]
    )
    assert.deepStrictEqual(names([[{ "@type": "http://schema.org/Product", name: "B" }]]), ["B"])
    assert.deepStrictEqual(names({ "@type": "ItemPage", mainEntity: { "@type": "Product", name: "C" } }), ["C"])
    const byReference = product({
      "@graph": [
        { "@type": "Product", name: "D", offers: { "@id": "#offer" }, brand: { "@id": "#brand" } },
        { "@type": "Offer", "@id": "#offer", price: "5.00", priceCurrency: "USD" },
        { "@type": "Brand", "@id": "#brand", name: "Mugs" }
      ]
    })
    assert.strictEqual(byReference?.offers[0]?.price, "5.00")
  })

  it("are not those that a list or another product only mentions", () => {
    const facts = page(
      block({
        "@type": "Product",
        name: "Mug",
        isRelatedTo: [{ "@type": "Product", name: "Cup", offers: { price: "1.00" } }]
      }) +
        block({
          "@type": "ItemList",
          itemListElement: [{ "@type": "ListItem", item: { "@type": "Product", name: "Pot" } }]
        })
    )
    assert.deepStrictEqual(
      facts.products.map((one) => one.name),
      ["Mug"]
    )
    assert.isAbove(facts.jsonLd.length, 3)
  })

  it("survive what templates do to JSON", () => {
    const name = (text: string) => product(text)?.name
    assert.strictEqual(name(`/* <![CDATA[ */ {"@type":"Product","name":"A",} /* ]]> */`), "A")
    assert.strictEqual(name(`//<![CDATA[\n{"@type":"Product","name":"A"}\n//]]>`), "A")
    assert.strictEqual(name(`<!-- {"@type":"Product", // a comment\n "name":"A"} -->`), "A")
    assert.strictEqual(name(`{&quot;@type&quot;:&quot;Product&quot;,&quot;name&quot;:&quot;A&quot;}`), "A")
    assert.strictEqual(
      name(`{"@type":"Product","name":"Caf&eacute; &Uuml;ber &lt;b&gt; &nosuch;"}`),
      "Café Über <b> &nosuch;"
    )
    assert.strictEqual(name(`{"@type":"Product","description":"two\nlines\tand\u0001more","name":"A"};`), "A")
    assert.strictEqual(name(`{"@type":"WebSite"}{"@type":"Product","name":"A"}`), "A")
  })

  it("that cannot be read are told as broken, and empty blocks are not", () => {
    const facts = page(block(`{"@type":"Product","name":"A" "sku":1}`) + block(" ") + block({ "@type": "WebSite" }))
    assert.strictEqual(facts.brokenBlocks.length, 1)
    assert.strictEqual(facts.jsonLd.length, 1)
  })
})

describe("offers", () => {
  it("have a price only where it is a decimal with a dot, and keep what is written", () => {
    assert.deepInclude(offer({ price: "1.299,00" }), { price: null, rawPrice: "1.299,00" })
    assert.deepInclude(offer({ price: "$19.99" }), { price: null, rawPrice: "$19.99" })
    assert.deepInclude(offer({ price: " 19.90 " }), { price: "19.90" })
  })

  it("take the price of a specification, not the one that is struck through", () => {
    const found = offer({
      priceSpecification: [
        { priceType: "https://schema.org/ListPrice", price: "30.00", priceCurrency: "USD" },
        { price: "20.00", priceCurrency: "USD" }
      ]
    })
    assert.deepInclude(found, { price: "20.00", currency: "USD" })
  })

  it("of an aggregate begin with its lowest price and give theirs what it says", () => {
    const mug = product({
      "@type": "Product",
      name: "Mug",
      offers: {
        "@type": "AggregateOffer",
        lowPrice: "10.00",
        priceCurrency: "USD",
        offers: [
          { sku: "s", price: "10.00" },
          { sku: "m", price: "12.00" }
        ]
      }
    })
    assert.deepStrictEqual(
      mug?.offers.map((one) => [one.price, one.currency]),
      [
        ["10.00", "USD"],
        ["10.00", "USD"],
        ["12.00", "USD"]
      ]
    )
    assert.strictEqual(mug?.variants, 2)
  })

  it("of a group are those of its variants", () => {
    const variant = (sku: string) => ({ "@type": "Product", sku, offers: { price: "9.00", priceCurrency: "USD" } })
    const facts = page(
      block({ "@type": "ProductGroup", name: "Shirt", variesBy: "size", hasVariant: [variant("s"), variant("m")] })
    )
    assert.strictEqual(facts.products.length, 1)
    assert.deepInclude(facts.products[0], { name: "Shirt", variants: 2, sku: "s" })
    assert.strictEqual(facts.products[0]?.offers.length, 2)
  })

  it("say availability by address or by word", () => {
    const availability = (text: string) => offer({ availability: text })?.availability
    assert.strictEqual(availability("http://schema.org/OutOfStock"), "OutOfStock")
    assert.strictEqual(availability("in stock"), "InStock")
    assert.strictEqual(availability("out_of_stock"), "OutOfStock")
    assert.isTrue(isBuyable("InStock"))
    assert.isFalse(isBuyable("SoldOut"))
    assert.isUndefined(isBuyable("Perhaps"))
  })
})

describe("products in other words", () => {
  it("are read from microdata", () => {
    const facts = page(`<div itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">Mug</h1>
      <img itemprop="image" src="/mug.jpg"><span itemprop="brand" itemscope itemtype="https://schema.org/Brand"><meta itemprop="name" content="Mugs"></span>
      <div itemprop="offers" itemscope itemtype="https://schema.org/Offer"><span itemprop="price" content="19.99">€19,99</span>
      <meta itemprop="priceCurrency" content="EUR"><link itemprop="availability" href="https://schema.org/InStock"></div></div>`)
    assert.deepInclude(facts.products[0], {
      format: "microdata",
      name: "Mug",
      brand: "Mugs",
      image: "https://shop.example/mug.jpg"
    })
    assert.deepInclude(facts.products[0]?.offers[0], { price: "19.99", currency: "EUR", availability: "InStock" })
  })

  it("are read from RDFa lite", () => {
    const facts = page(`<div vocab="https://schema.org/" typeof="Product"><span property="name">Mug</span>
      <div property="offers" typeof="Offer"><span property="price">19.99</span><span property="priceCurrency">EUR</span></div></div>`)
    assert.deepInclude(facts.products[0], { format: "rdfa", name: "Mug" })
    assert.deepInclude(facts.products[0]?.offers[0], { price: "19.99", currency: "EUR" })
  })

  it("are read from OpenGraph, behind what says more", () => {
    const open = `<meta property="og:type" content="product"><meta property="og:title" content="Mug"><meta property="og:price:amount" content="19.99">
      <meta property="og:price:currency" content="EUR"><meta property="product:availability" content="instock">`
    assert.deepInclude(page(open).products[0], { format: "opengraph", name: "Mug" })
    assert.deepInclude(page(open).products[0]?.offers[0], { price: "19.99", availability: "InStock" })
    assert.deepStrictEqual(
      page(open + block({ "@type": "Product", name: "Mug" })).products.map((one) => one.format),
      ["json-ld", "opengraph"]
    )
  })

  it("are not any page that has a title for sharing", () => {
    assert.deepStrictEqual(
      page(`<meta property="og:type" content="website"><meta property="og:title" content="Shop">`).products,
      []
    )
  })
})
