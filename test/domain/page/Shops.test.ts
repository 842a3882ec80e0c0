import { assert, describe, it } from "vitest"
import { addToCart } from "#domain/page/AddToCart.ts"
import { readPage } from "#domain/page/Page.ts"
import { platformOf } from "#domain/page/Platform.ts"
import { policyLinks } from "#domain/page/PolicyLinks.ts"
import { priceVerdict } from "#domain/page/PriceShown.ts"

/** Pages of the usual shapes, as shops that are in order serve them: nothing may be held against them. */
const menu = Array.from(
  { length: 60 },
  (_, index) => `<li><a href="/collections/c${index}">Category ${index}</a></li>`
).join("")
const footer = `<footer><form action="/contact#newsletter" method="post" class="newsletter"><label for="n">Email</label><input id="n" type="email" name="contact[email]">
  <div class="h-captcha" data-size="invisible"></div><button>Subscribe</button></form>
  <a href="/policies/shipping-policy">Shipping policy</a><a href="/policies/refund-policy">Refund policy</a><a href="/policies/privacy-policy">Privacy policy</a>
  <a href="/policies/terms-of-service">Terms of service</a><a href="/pages/contact">Contact</a></footer>
  <div id="cookie-banner" role="dialog" aria-label="Cookies"><p>We use cookies. Accept cookies to continue with the best experience.</p><button>Accept</button></div>`
const data = (price: string, currency: string) =>
  `<script type="application/ld+json">{"@context":"https://schema.org","@type":"Product","name":"Blue mug","sku":"MUG-1","image":"https://shop.example/mug.jpg",
  "description":"A mug","brand":{"@type":"Brand","name":"Mugs"},"offers":{"@type":"Offer","price":"${price}","priceCurrency":"${currency}","availability":"https://schema.org/InStock"}}</script>`

const shopify = `<!doctype html><html lang="en"><head><title>Blue mug – Mugs</title><script>var Shopify = Shopify || {}; Shopify.theme = {"id":1};</script>
  ${data("19.90", "USD")}<script src="https://js.hcaptcha.com/1/api.js"></script></head><body><div class="announcement">Free shipping over $50</div>
  <header><nav><ul>${menu}</ul></nav></header><main><h1>Blue mug</h1><div class="price"><span class="visually-hidden">Regular price</span><span>$19.90 USD</span></div>
  <form method="post" action="/cart/add"><input type="hidden" name="id" value="42"><input name="quantity" value="1"><button name="add">Add to cart</button>
  <div data-shopify="payment-button" class="shopify-payment-button"><shopify-accelerated-checkout></shopify-accelerated-checkout></div></form>
  <section><h2>You may also like</h2><a href="/products/cup">Cup</a><span>$5.00</span></section></main>${footer}</body></html>`

const woo = `<!doctype html><html lang="de"><head><meta name="generator" content="WooCommerce 10.2">${data("1299.00", "EUR")}</head><body class="product woocommerce woocommerce-page">
  <nav><ul>${menu}</ul></nav><main><h1 class="product_title">Blue mug</h1><p class="price"><del><bdi>1.499,00&nbsp;<span>&euro;</span></bdi></del> <ins><bdi>1.299,00&nbsp;<span>&euro;</span></bdi></ins></p>
  <form class="cart" method="post"><input type="number" name="quantity" value="1"><button name="add-to-cart" value="9">In den Warenkorb</button></form>
  <a href="?add-to-cart=12">In den Warenkorb</a></main>${footer}</body></html>`

const magento = `<!doctype html><html lang="en"><head>${data("20", "GBP")}<script type="text/x-magento-init">{"*":{}}</script></head><body><ul>${menu}</ul><main><h1><span>Blue mug</span></h1>
  <div class="price-box"><span data-price-amount="20"><span class="price">£20.00</span></span></div>
  <form action="https://shop.example/checkout/cart/add/product/9/" method="post"><input type="hidden" name="product" value="9"><input type="hidden" name="form_key" value="k">
  <input name="qty" value="1"><button type="submit" id="product-addtocart-button">Add to Cart</button></form></main>${footer}</body></html>`

const rendered = `<!doctype html><html><head>${data("19.90", "USD")}<script src="/_next/static/main.js" defer></script></head><body><div id="__next"><nav><ul>${menu}</ul></nav>
  <main><h1>Blue mug</h1><p>$19.90</p><form action="/api/cart" method="post"><input type="hidden" name="sku" value="MUG-1"><button>Add to bag</button></form></main>${footer}</div>
  <noscript>You need to enable JavaScript to see reviews.</noscript><script id="__NEXT_DATA__" type="application/json">{"props":{}}</script></body></html>`

describe("shops that are in order", () => {
  for (const [name, html, id] of [
    ["like Shopify's", shopify, "shopify"],
    ["like WooCommerce's", woo, "woocommerce"],
    ["like Magento's", magento, "magento"],
    ["rendered on the server", rendered, undefined]
  ] as const) {
    it(`nothing is held against one ${name}`, () => {
      const facts = readPage(html, new URL("https://shop.example/products/blue-mug"))
      const product = facts.products[0]
      assert.deepInclude(product, { format: "json-ld", name: "Blue mug", sku: "MUG-1" })
      assert.strictEqual(priceVerdict(facts, product?.offers[0]?.price ?? null, product?.offers[0]?.currency), "equal")
      assert.strictEqual(addToCart(facts)?.kind, "form")
      assert.deepStrictEqual(addToCart(facts)?.choices, [])
      assert.isNull(facts.clientOnly)
      assert.deepStrictEqual(facts.walls, [])
      assert.isFalse(facts.captchas.some((captcha) => captcha.visible))
      assert.deepStrictEqual(facts.brokenBlocks, [])
      assert.isAbove(facts.visibleLength, 400)
      assert.strictEqual(policyLinks(facts).size, 5)
      assert.strictEqual(platformOf(facts, new Map(), [], html)?.id, id)
    })
  }

  it("a price that contradicts the page is seen", () => {
    const facts = readPage(
      shopify.replace(data("19.90", "USD"), data("24.90", "USD")),
      new URL("https://shop.example/")
    )
    assert.strictEqual(priceVerdict(facts, "24.90", "USD"), "different")
  })
})
