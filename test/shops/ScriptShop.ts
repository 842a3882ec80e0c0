import { randomUUID } from "node:crypto"
import type { IncomingMessage } from "node:http"
import type { ShopPages } from "./Fixture.ts"

/** How a shop differs from one that is well built. */
export interface ScriptShopOptions {
  /** `swatches` are buttons in a list, `beside` buttons in none, `spans` can be pressed by a person with a mouse and by nobody else. */
  readonly choice?: "select" | "radios" | "swatches" | "beside" | "spans" | "none"
  readonly button?: "works" | "silent" | "sold out" | "none"
  readonly wall?: "account" | "captcha" | "guest"
  readonly shipping?: boolean
  readonly payments?: ReadonlyArray<string>
  /** What else a product's page runs. */
  readonly script?: string
  /** How many scripts every page is made of, and as many are asked for ahead of a page that may never be opened. */
  readonly parts?: number
  /** A page that orders by itself as soon as shipping is chosen. */
  readonly isGreedy?: boolean
}

/** What happened to a shop. */
export interface ScriptShopLog {
  orders: number
  /** What every cart holds now. */
  readonly carts: Map<string, Array<string>>
}

const page = (title: string, script: string) =>
  `<!doctype html><html lang="en"><head><title>${title}</title></head><body><div id="app"></div><script>
const app = document.getElementById("app")
const post = (url, body, method = "POST") => fetch(url, { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) })
${script}</script></body></html>`

const choices = {
  select: `<label>Size <select id="size"><option value="">Choose a size</option><option>S</option><option>L</option></select></label>`,
  radios: `<fieldset><legend>Size</legend><label><input type="radio" name="size" value="S">S</label><label><input type="radio" name="size" value="L">L</label></fieldset>`,
  swatches: `<p>Size</p><ul><li><button type="button" data-size="S">S</button></li><li><button type="button" data-size="L">L</button></li></ul>`,
  beside: `<p>Size</p><div><button type="button" data-size="S">S</button><button type="button" data-size="L">L</button></div>`,
  spans: `<p>Size</p><span data-size="S">S</span> <span data-size="L">L</span>`,
  none: ""
}

const product = ({ button = "works", choice = "select", script = "" }: ScriptShopOptions) =>
  page(
    "Blue mug",
    `app.innerHTML = \`<main><h1>Blue mug</h1><p>$12.00</p><a href="/cart">Cart</a><form id="buy">${choices[choice]}
<label>Quantity <input type="number" value="1"></label>
${button === "sold out" ? "<p>Sold out</p>" : ""}
${button === "none" ? "" : `<button type="button" id="add" ${button === "sold out" ? "disabled" : ""}>Add to cart</button>`}
${button === "none" ? "" : '<button type="button" id="now">Buy now</button>'}<p id="said"></p></form></main>\`
let size = ${choice === "none" ? '"one"' : '""'}
for (const one of document.querySelectorAll("[data-size]")) one.onclick = () => { size = one.dataset.size }
const now = document.getElementById("now")
if (now) now.onclick = () => post("/api/orders", {})
const add = document.getElementById("add")
if (add) add.onclick = async () => {
  const select = document.getElementById("size")
  const radio = document.querySelector("input[name=size]:checked")
  size = select ? select.value : radio ? radio.value : size
  if (size === "") return void (document.getElementById("said").textContent = "Please select a size")
  ${button === "silent" ? "" : `await post("/api/cart", { item: "Blue mug, " + size }); document.getElementById("said").textContent = "Added"`}
}
${script}`
  )

const cart = page(
  "Your cart",
  `const draw = async () => {
  const items = await (await fetch("/api/cart")).json()
  app.innerHTML = items.length === 0 ? "<main><h1>Your cart</h1><p>Your cart is empty</p></main>" : \`<main><h1>Your cart</h1><ul>\${items
    .map((item, at) => \`<li><b>\${item}</b> <span>Quantity 1</span> <span>$12.00</span> <button data-at="\${at}">Remove</button></li>\`).join("")}</ul><button id="on">Proceed to checkout</button></main>\`
  for (const one of document.querySelectorAll("[data-at]")) one.onclick = async () => { await post("/api/cart/" + one.dataset.at, {}, "DELETE"); draw() }
  const on = document.getElementById("on")
  if (on) on.onclick = () => { location.href = "/checkout" }
}
draw()`
)

const fields = [
  `<label>Email <input type="email" autocomplete="email" required></label>`,
  `<label>Full name <input name="shipping.full_name" required></label>`,
  `<label>Address <input autocomplete="shipping street-address" required></label>`,
  `<label>City <input name="city" required></label>`,
  `<label>Country <select name="country" required><option value="">Country</option><option value="CA">Canada</option><option value="US">United States</option></select></label>`,
  `<label>Postcode <input id="postcode" required></label>`
].join("")

const checkout = ({ isGreedy = false, payments = ["Credit card"], shipping = true, wall }: ScriptShopOptions) =>
  page(
    "Checkout",
    `const draw = () => { app.innerHTML = \`<main><h1>Checkout</h1><div data-loaded="https://js.stripe.com/v3"></div>${wall === "captcha" ? '<div class="g-recaptcha" data-sitekey="x"></div>' : ""}<form id="form">${fields}
<div id="shipping">Shipping methods appear with the address.</div><div id="sum">Subtotal $12.00</div>
<div id="payment">${payments.length === 0 ? "No payment methods available" : payments.map((name) => `<label><input type="radio" name="method">${name}</label>`).join("")}</div>
<button type="submit">Place order</button></form></main>\`
const form = document.getElementById("form")
form.onsubmit = (event) => { event.preventDefault(); post("/api/orders", {}) }
form.onchange = (event) => {
  if (event.target.name === "ship") {
    document.getElementById("sum").textContent = "Total $17.00"
    ${isGreedy ? `post("/api/orders", {})` : ""}
    return
  }
  if ([...form.querySelectorAll("[required]")].every((one) => one.value !== ""))
    document.getElementById("shipping").innerHTML = ${shipping ? `'<label><input type="radio" name="ship">Standard shipping $5.00</label>'` : `"No shipping methods available for this address"`}
} }
${
  wall === "account" || wall === "guest"
    ? `app.innerHTML = '<main><h1>Sign in</h1><label>Email <input type="email"></label><label>Password <input type="password"></label><button>Sign in</button>${wall === "guest" ? '<button id="guest">Continue as guest</button>' : ""}</main>'
const guest = document.getElementById("guest"); if (guest) guest.onclick = draw`
    : "draw()"
}`
  )

const bodyOf = async (request: IncomingMessage): Promise<{ readonly item?: string }> => {
  let text = ""
  for await (const chunk of request) text += String(chunk)
  return JSON.parse(text === "" ? "{}" : text)
}

/** A shop whose pages are nothing before their scripts have run. It counts the orders that it should never get. */
export const scriptShop = (
  options: ScriptShopOptions = {}
): { readonly pages: ShopPages; readonly log: ScriptShopLog } => {
  const log: ScriptShopLog = { orders: 0, carts: new Map() }
  const pages: ShopPages = async (request, response) => {
    const path = (request.url ?? "/").split("?")[0] ?? "/"
    const sid = /sid=([\w-]+)/.exec(request.headers.cookie ?? "")?.[1] ?? randomUUID()
    const items = log.carts.get(sid) ?? []
    log.carts.set(sid, items)
    const json = (value: unknown) => response.setHeader("content-type", "application/json").end(JSON.stringify(value))
    const parts = Array.from({ length: options.parts ?? 0 }, (_, at) => at)
      .map((at) => `<script src="/part/${at}.js"></script><link rel="prefetch" href="/ahead/${at}.js" as="script">`)
      .join("")
    const html = (text: string, status = 200) => {
      response.writeHead(status, { "content-type": "text/html", "set-cookie": `sid=${sid}; Path=/` })
      response.end(text.replace("</head>", `${parts}</head>`))
    }
    if (path.startsWith("/part/")) return void response.setHeader("content-type", "text/javascript").end("0")
    if (path === "/api/orders") {
      log.orders++
      return void json({ order: log.orders })
    }
    if (path === "/api/cart" && request.method === "POST") {
      items.push((await bodyOf(request)).item ?? "")
      return void json(items)
    }
    if (path.startsWith("/api/cart/")) {
      items.splice(Number(path.slice("/api/cart/".length)), 1)
      return void json(items)
    }
    if (path === "/api/cart") return void json(items)
    if (path === "/") return html(page("Shop", `app.innerHTML = '<a href="/p/mug">Blue mug</a>'`))
    if (path === "/p/mug") return html(product(options))
    if (path === "/cart") return html(cart)
    if (path === "/checkout") return html(checkout(options))
    return html(page("Not found", `app.textContent = "Not found"`), 404)
  }
  return { pages, log }
}
