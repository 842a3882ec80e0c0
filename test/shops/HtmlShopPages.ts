import { notebook, type Ware } from "./Storefront.ts"

/** How the shop differs from a well-built one. */
export interface HtmlShopSettings {
  /** The checkout sends strangers to the login. With `guest` the login has a way around it. */
  readonly account?: "wall" | "guest"
  readonly captcha?: boolean
  readonly noShipping?: boolean
  readonly payment?: "card" | "deferred" | "human" | "none"
  /** The pages that ask how to pay load a provider that is switched off, and style a button that is not there. */
  readonly loadsProvider?: boolean
  /** The page shows another price than its structured data. */
  readonly shownPrice?: string
  readonly cartPrice?: string
  /** What structured data says that prices are in. */
  readonly currency?: string
  readonly soldOut?: boolean
  /** `select`: a choice in the form, without which the shop refuses. `script`: a choice that only a script can make. */
  readonly variants?: "select" | "script"
  /** The form is taken and nothing lands in the cart. */
  readonly silentCart?: boolean
  /** The button has no form. */
  readonly scriptButton?: boolean
  /** The form has no address: sent as HTML says, it loads its page again. */
  readonly scriptForm?: boolean
  /** The button is disabled until a script has run. */
  readonly waitingButton?: boolean
  readonly minimumOrder?: string
  /** `none`: only text tells the price. */
  readonly structured?: "json-ld" | "none"
  /** Everything on one page, whose only button places the order. */
  readonly onePage?: boolean
  readonly robots?: "products" | "agents" | "everything"
  /** The address is refused whatever it is. */
  readonly badAddress?: boolean
  /** The pages of the checkout do not list its steps, so that nothing tells which is the last. */
  readonly unlistedSteps?: boolean
  /** The checkout's fields have neither labels, tokens nor telling names. */
  readonly namelessFields?: boolean
  /** There is neither a sitemap nor a link to a product. */
  readonly noProducts?: boolean
}

/** What the shop knows of one visitor. */
export interface State {
  lines: Array<Ware>
  isGuest: boolean
  hasAddress: boolean
  hasShipping: boolean
}

export const path = (ware: Ware) => `/products/${ware.handle}`
export const priceInCart = notebook.price

const csrf = (session: string) => `<input type="hidden" name="csrf" value="${session}">`

export const product = (ware: Ware, session: string, settings: HtmlShopSettings) => {
  const text = `<p>$${settings.shownPrice ?? ware.price}</p><p>${ware.description}</p>`
  if (settings.soldOut) return `${text}<p>Sold out</p>`
  if (settings.scriptButton) return `${text}<button type="button" onclick="add()">Add to cart</button>`
  const choice = {
    select:
      '<label for="v">Colour</label><select id="v" name="colour" required><option value="">Choose a colour</option><option value="sand" disabled>Sand (sold out)</option><option value="ink">Ink</option></select>',
    script: '<div role="group" aria-label="Colour"><button type="button" data-colour="ink">Ink</button></div>',
    none: ""
  }[settings.variants ?? "none"]
  const to = settings.scriptForm ? "" : ' action="/cart/add" method="post"'
  const script = settings.scriptForm ? '<script src="/assets/shop.js" defer></script>' : ""
  return `${text}${script}<form${to}>${csrf(session)}<input type="hidden" name="product_id" value="${ware.id}">${choice}<label for="n">Quantity</label><input id="n" type="number" name="quantity" value="1" min="1"><button type="submit"${settings.waitingButton ? " disabled" : ""}>Add to cart</button></form>`
}

export const cart = (state: State, session: string, price: string, settings: HtmlShopSettings) => {
  if (state.lines.length === 0) return "<p>Your cart is empty.</p>"
  const lines = state.lines
    .map((ware) => `<tr><td><a href="${path(ware)}">${ware.name}</a></td><td>1</td><td>$${price}</td></tr>`)
    .join("")
  const minimum = settings.minimumOrder === undefined ? "" : `<p>The minimum order is $${settings.minimumOrder}.</p>`
  return `<table><caption>Your cart</caption><thead><tr><th scope="col">Product</th><th scope="col">Quantity</th><th scope="col">Price</th></tr></thead><tbody>${lines}</tbody></table><p>Subtotal $${price}</p>${minimum}<form action="/cart/clear" method="post">${csrf(session)}<button type="submit">Empty cart</button></form><a href="/checkout">Checkout</a>`
}

export const login = (session: string, settings: HtmlShopSettings) =>
  `<p>Please log in to check out.</p><form action="/account/login" method="post">${csrf(session)}<label for="e">Email</label><input id="e" type="email" name="email" autocomplete="email"><label for="p">Password</label><input id="p" type="password" name="password" autocomplete="current-password"><button type="submit">Log in</button></form>${
    settings.account === "guest"
      ? `<form action="/checkout/guest" method="post">${csrf(session)}<button type="submit">Continue as guest</button></form>`
      : ""
  }`

const field = (id: string, label: string, name: string, token: string, type = "text") =>
  `<p><label for="${id}">${label}</label><input id="${id}" type="${type}" name="${name}" autocomplete="${token}" required></p>`

const fields = `${field("f-e", "Email", "email", "email", "email")}${field("f-f", "First name", "first_name", "given-name")}${field("f-l", "Last name", "last_name", "family-name")}${field("f-a", "Address", "address_1", "address-line1")}${field("f-c", "City", "city", "address-level2")}<p><label for="f-r">State</label><select id="f-r" name="state" autocomplete="address-level1"><option value="CA">California</option><option value="DC">District of Columbia</option></select></p>${field("f-z", "ZIP code", "postal_code", "postal-code")}<p><label for="f-y">Country</label><select id="f-y" name="country" autocomplete="country"><option value="US">United States</option></select></p>`
const nameless = Array.from({ length: 6 }, (_, index) => `<p><input name="q${index}"></p>`).join("")

const captcha =
  '<div class="cf-turnstile" data-sitekey="1x00000000000000000000AA"></div><script src="https://challenges.cloudflare.com/turnstile/v0/api.js" async></script>'

const names = ["Address", "Shipping", "Payment"] as const
const steps = (current: (typeof names)[number], settings: HtmlShopSettings) =>
  settings.unlistedSteps
    ? ""
    : `<ol aria-label="Steps">${names.map((name) => `<li${name === current ? ' aria-current="step"' : ""}>${name}</li>`).join("")}</ol>`

export const contact = (state: State, session: string, price: string, settings: HtmlShopSettings) => {
  const asked = `${csrf(session)}${settings.namelessFields ? nameless : fields}${settings.captcha ? captcha : ""}`
  if (settings.onePage) {
    return `<form action="/checkout/place-order" method="post">${asked}${rates(settings)}${summary(state, price)}${methods(settings)}<button type="submit">Place order</button></form>`
  }
  return `${steps("Address", settings)}<form action="/checkout/address" method="post">${asked}<button type="submit">Continue to shipping</button></form>`
}

const rates = (settings: HtmlShopSettings) =>
  settings.noShipping
    ? "<p>No shipping options are available for your address.</p>"
    : '<fieldset><legend>Shipping method</legend><label><input type="radio" name="shipping_method" value="standard" checked> Standard shipping $4.90</label></fieldset>'

export const shipping = (session: string, settings: HtmlShopSettings) =>
  `${steps("Shipping", settings)}<form action="/checkout/shipping" method="post">${csrf(session)}${rates(settings)}<button type="submit">Continue to payment</button></form>`

const summary = (state: State, price: string) =>
  `<dl><dt>Subtotal</dt><dd>$${price}</dd><dt>Shipping</dt><dd>$4.90</dd><dt>Total</dt><dd>$${(Number(price) * state.lines.length + 4.9).toFixed(2)}</dd></dl>`

const card =
  '<label for="c-n">Credit card number</label><input id="c-n" name="card_number" autocomplete="cc-number" inputmode="numeric"><label for="c-e">Expiry</label><input id="c-e" name="card_expiry" autocomplete="cc-exp"><label for="c-c">Security code</label><input id="c-c" name="card_cvc" autocomplete="cc-csc">'

const provider =
  '<style>.pay { -webkit-appearance: -apple-pay-button }</style><script src="https://js.stripe.com/v3/"></script>'

const methods = (settings: HtmlShopSettings) => `${settings.loadsProvider ? provider : ""}${choices(settings)}`

const choices = (settings: HtmlShopSettings) =>
  ({
    card,
    deferred:
      '<fieldset><legend>Payment method</legend><label><input type="radio" name="payment_method" value="cod" checked> Cash on delivery</label></fieldset>',
    human:
      '<div id="apple-pay-button"></div><apple-pay-button></apple-pay-button><script>if (window.ApplePaySession) show()</script>',
    none: "<p>No payment methods available.</p>"
  })[settings.payment ?? "card"]

export const payment = (state: State, session: string, price: string, settings: HtmlShopSettings) =>
  `${summary(state, price)}<form action="/checkout/place-order" method="post">${csrf(session)}${methods(settings)}<button type="submit">Place order</button></form>`
