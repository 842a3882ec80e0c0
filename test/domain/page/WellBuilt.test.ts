import { assert, describe, it } from "vitest"
import { accountWall } from "#domain/page/Accounts.ts"
import { addToCart } from "#domain/page/AddToCart.ts"
import { readPage } from "#domain/page/Page.ts"
import { policyLinks } from "#domain/page/PolicyLinks.ts"
import { priceVerdict } from "#domain/page/PriceShown.ts"

/** What well-built shops write, in their words and forms, and must not be held against them. */
const read = (body: string, path = "/products/thing") =>
  readPage(
    `<!doctype html><html lang="en"><head><title>Thing</title></head><body><main><h1>Thing</h1>${body}</main></body></html>`,
    new URL(path, "https://shop.test")
  )
const wall = (body: string, path = "/cart") => accountWall(read(body, path), new URL(path, "https://shop.test"))
const login = `<form action="/login" method="post"><input name="email"><input type="password" name="password"></form>`

describe("no account is asked for", () => {
  it.each([
    "<p>Have an account? <a href='/account/login'>Log in</a> to check out faster.</p>",
    "<p>Create an account to check out more quickly.</p>",
    "<p>Please log in to continue shopping with your points.</p>"
  ])("where one is only an advantage: %s", (body) => assert.isUndefined(wall(body)))

  it.each([
    "Als Neukunde bestellen",
    "Gastbestellung",
    "Bestellen ohne Konto",
    "Commande en tant qu’invité",
    "ログインせずに購入する"
  ])("beside a login, where guests are let on: %s", (text) =>
    assert.isUndefined(wall(`${login}<a href="/next">${text}</a>`, "/account/login"))
  )

  it("but where there is no other way", () => {
    assert.isDefined(wall("<p>You must be logged in to checkout.</p>"))
    assert.isDefined(wall("<p>Log in to check out faster. Please log in to checkout.</p>"))
    assert.isDefined(wall(login, "/account/login"))
  })
})

describe("a price", () => {
  it.each([
    ["25€00 19€90 TTC", "19.90", "EUR"],
    ["1 299€00", "1299.00", "EUR"],
    ["<span>$</span> <span>19</span> . <span>99</span>", "19.99", "USD"],
    ["1.234,<sup>56</sup> €* inkl. MwSt.", "1234.56", "EUR"],
    ["￥1,980（税込）", "1980", "JPY"],
    ["R$ 1.234,56 em até 12x de R$ 102,88", "1234.56", "BRL"]
  ])("is read as %s is written", (text, price, currency) =>
    assert.strictEqual(priceVerdict(read(`<p>${text}</p>`), price, currency), "equal")
  )

  it.each([
    ["Refer a friend and get $20", "USD"],
    ["RRP £80", "GBP"],
    ["UVP 1.499,00 €", "EUR"],
    ["Was $59.00", "USD"],
    ["12,34 €/100 g", "EUR"]
  ])("is not contradicted by %s, where scripts show it", (text, currency) =>
    assert.strictEqual(priceVerdict(read(`<p>${text}</p>`), "49.00", currency), "unknown")
  )

  it("is contradicted by another beside the heading, also under a label", () => {
    assert.strictEqual(priceVerdict(read("<p>Regular price $59.00</p>"), "49.00", "USD"), "different")
  })
})

describe("a captcha", () => {
  const visible = (body: string) => read(body).captchas.some((captcha) => captcha.visible)

  it.each([
    '<form action="/nl" method="post"><input type="email" name="email"><div class="g-recaptcha"></div><button>Join</button></form>',
    '<footer><div class="g-recaptcha"></div></footer>',
    '<div class="popup"><div><div class="h-captcha"></div></div></div>'
  ])("stands in nobody's way to buy: %s", (body) => assert.isFalse(visible(body)))

  it.each([
    '<form action="/cart/add" method="post"><div class="g-recaptcha"></div><button>Add to cart</button></form>',
    '<form action="/checkout" method="post"><input name="email"><div class="cf-turnstile"></div></form>',
    '<div class="g-recaptcha"></div>'
  ])("stands in the way: %s", (body) => assert.isTrue(visible(body)))
})

it("a great menu does not hide what stands at the end of a page", () => {
  const menu = Array.from({ length: 3_000 }, (_, index) => `<a href="/c/${index}">Things ${index}</a>`).join("")
  const links = policyLinks(
    read(`${menu}<footer><a href="/shipping">Shipping</a><a href="/returns">Returns</a></footer>`)
  )
  assert.deepStrictEqual([...links.keys()], ["shipping", "returns"])
})

it.each(["Adicionar à sacola", "Kaufen", "Jetzt vorbestellen"])("“%s” adds to the cart", (label) =>
  assert.isDefined(addToCart(read(`<button>${label}</button>`)))
)
