import type { IncomingMessage, ServerResponse } from "node:http"
import * as Fixture from "./Fixture.ts"
import { jsonLd, page, robotsText, send, sharedPage, type Ware, wares } from "./Storefront.ts"

/** A shop that does everything right in its HTML, its data and its checkout. It speaks no protocol for agents. */

const path = (ware: Ware) => `/products/${ware.handle}`
const sizes = ["Small", "Large"]

/** A product with its variants, as schema.org has it. */
const productNode = (base: string, ware: Ware) =>
  jsonLd({
    "@context": "https://schema.org",
    "@type": "ProductGroup",
    productGroupID: ware.sku,
    name: ware.name,
    description: ware.description,
    image: [`${base}/images/${ware.handle}.jpg`],
    url: `${base}${path(ware)}`,
    brand: { "@type": "Brand", name: "Paper & Brass" },
    variesBy: ["https://schema.org/size"],
    hasVariant: sizes.map((size, index) => ({
      "@type": "Product",
      name: `${ware.name}, ${size}`,
      description: ware.description,
      image: `${base}/images/${ware.handle}.jpg`,
      sku: `${ware.sku}-${index + 1}`,
      gtin13: `40000000${String(ware.id + index).padStart(5, "0")}`,
      size,
      offers: {
        "@type": "Offer",
        url: `${base}${path(ware)}?size=${size}`,
        price: ware.price,
        priceCurrency: "USD",
        availability: "https://schema.org/InStock",
        shippingDetails: {
          "@type": "OfferShippingDetails",
          shippingRate: { "@type": "MonetaryAmount", value: "4.90", currency: "USD" },
          shippingDestination: { "@type": "DefinedRegion", addressCountry: "US" }
        },
        hasMerchantReturnPolicy: {
          "@type": "MerchantReturnPolicy",
          applicableCountry: "US",
          returnPolicyCategory: "https://schema.org/MerchantReturnFiniteReturnWindow",
          merchantReturnDays: 30
        }
      }
    }))
  })

const productBody = (ware: Ware) =>
  `<p>$${ware.price}</p><p>${ware.description}</p><p>In stock. Shipping is $4.90 to the United States and takes two days.</p>
<form action="/cart/add" method="post"><input type="hidden" name="product_id" value="${ware.id}">
<label for="size">Size</label><select id="size" name="size">${sizes.map((size) => `<option value="${size}">${size}</option>`).join("")}</select>
<label for="quantity">Quantity</label><input id="quantity" type="number" name="quantity" value="1" min="1">
<button type="submit">Add to cart</button></form>`

const markdown = (base: string, ware: Ware) =>
  `# ${ware.name}\n\n$${ware.price}\n\n${ware.description}\n\n[Add to cart](${base}${path(ware)})\n`

const field = (id: string, label: string, token: string, type = "text") =>
  `<p><label for="${id}">${label}</label><input id="${id}" type="${type}" name="${id}" autocomplete="${token}" required></p>`

/** What stands in the checkout's form beside its fields, for fixtures that add to it. */
export const checkoutBody = (more = "") =>
  `<p>Check out as a guest, or <a href="/account">log in</a>.</p>
<form action="/checkout/place-order" method="post">${field("email", "Email", "email", "email")}${field("name", "Full name", "name")}
${field("street", "Street address", "street-address")}${field("city", "City", "address-level2")}${field("zip", "ZIP code", "postal-code")}
<p><label for="country">Country</label><select id="country" name="country" autocomplete="country"><option value="US">United States</option></select></p>
<dl><dt>Subtotal</dt><dd>$0.00</dd><dt>Shipping</dt><dd>$4.90</dd><dt>Tax</dt><dd>$0.00</dd><dt>Total</dt><dd>$4.90</dd></dl>
<fieldset><legend>Payment</legend>${field("card_number", "Card number", "cc-number")}${field("card_expiry", "Expiry", "cc-exp")}${field("card_code", "Security code", "cc-csc")}</fieldset>
${more}<button type="submit">Place order</button></form>`

const feed = (base: string) =>
  `<?xml version="1.0"?><rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel>${wares
    .map((ware) => `<item><g:id>${ware.sku}</g:id><title>${ware.name}</title><link>${base}${path(ware)}</link></item>`)
    .join("")}</channel></rss>`

/** Answers as the shop does; false when it has no such page. */
export const answer = (request: IncomingMessage, response: ServerResponse, base: string): boolean => {
  const url = new URL(request.url ?? "/", base)
  const head = `<link rel="alternate" type="application/rss+xml" title="Products" href="${base}/feeds/products.xml">`
  const html = { "content-type": "text/html; charset=utf-8", vary: "Accept" }
  const robots = robotsText(base)
  const shared = sharedPage(base, url, path, { robots, head })
  const ware = wares.find((one) => path(one) === url.pathname)
  if (shared !== undefined) send(response, 200, shared.text, { "content-type": shared.type })
  else if (ware !== undefined && /^text\/markdown/.test(request.headers.accept ?? "")) {
    send(response, 200, markdown(base, ware), { "content-type": "text/markdown; charset=utf-8", vary: "Accept" })
  } else if (ware !== undefined) {
    send(response, 200, page(base, ware.name, productBody(ware), productNode(base, ware)), html)
  } else if (url.pathname === "/cart") {
    send(
      response,
      200,
      page(base, "Your cart", `<p>Your cart is empty.</p><a href="${base}/checkout">Checkout</a>`),
      html
    )
  } else if (url.pathname === "/checkout") send(response, 200, page(base, "Checkout", checkoutBody()), html)
  else if (url.pathname === "/feeds/products.xml")
    send(response, 200, feed(base), { "content-type": "application/xml" })
  else return false
  return true
}

export const missing = (response: ServerResponse, base: string) =>
  send(response, 404, page(base, "Not found", "<p>There is no such page.</p>"))

export const pages: Fixture.ShopPages = (request, response, base) => {
  if (!answer(request, response, base)) missing(response, base)
}

export const open = Fixture.open(pages)

/** The same shop, of which something changes. */
export const openWith = (change: (pages: Fixture.ShopPages) => Fixture.ShopPages) => Fixture.open(change(pages))
