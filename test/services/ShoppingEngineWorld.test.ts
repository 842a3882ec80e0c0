import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { IncomingMessage } from "node:http"
import * as Fixture from "../shops/Fixture.ts"
import { bodyOf, jsonLd, page, send } from "../shops/Storefront.ts"
import { line, testOf, told } from "./ShoppingEngineHarness.ts"

/** Shops in the shapes that the world's have, of which nothing may be said to block that does not. */
const product = (base: string, name: string, availability = "InStock", more = "") =>
  page(
    base,
    name,
    `<p>$9.00</p><form action="/cart/add" method="post"><input type="hidden" name="id" value="1"><button>Add to cart</button></form>${more}`,
    jsonLd({
      "@type": "Product",
      name,
      sku: "P-1",
      offers: { price: "9.00", priceCurrency: "USD", availability: `https://schema.org/${availability}` }
    })
  )

const field = (id: string, token: string) =>
  `<label for="${id}">${id}</label><input id="${id}" name="${id}" autocomplete="${token}">`
/** The steps of a checkout, all at one address. */
const steps = [
  field("email", "email"),
  [
    field("name", "name"),
    field("street", "street-address"),
    field("zip", "postal-code"),
    field("city", "address-level2")
  ].join(""),
  field("card_number", "cc-number")
]

interface Shop {
  cart: number
  step: number
}

const shop = (paths: ReadonlyArray<string>, pageOf: (base: string, path: string) => string) =>
  Effect.suspend(() => {
    const state: Shop = { cart: 0, step: 0 }
    const found = (base: string, path: string): string | undefined => {
      if (path === "/") return page(base, "Shop", paths.map((one) => `<a href="${one}">${one}</a>`).join(" "))
      if (paths.includes(path)) return pageOf(base, path)
      if (path === "/cart") {
        return page(
          base,
          "Cart",
          state.cart === 0
            ? "<p>Your cart is empty.</p>"
            : `<p>Pen $9.00</p><form action="/cart/empty" method="post"><button>Empty cart</button></form><a href="/checkout">Checkout</a>`
        )
      }
      return path === "/checkout"
        ? page(
            base,
            "Checkout",
            `<ol class="steps">${["Address", "Shipping", "Payment"].map((name, at) => `<li${at === state.step ? ' class="current"' : ""}>${name}</li>`).join("")}</ol><p>Total $9.00</p><form action="/checkout" method="post">${steps[state.step]}<button>${state.step === 2 ? "Place order" : "Continue"}</button></form>`
          )
        : undefined
    }
    const act = async (request: IncomingMessage, path: string) => {
      await bodyOf(request)
      if (path === "/cart/add") state.cart = 1
      if (path === "/cart/empty") state.cart = 0
      if (path === "/checkout") state.step += 1
      return path === "/checkout" ? path : "/cart"
    }
    return Fixture.open(async (request, response, base) => {
      const path = new URL(request.url ?? "/", base).pathname
      if (request.method === "POST") {
        send(response, 303, "", { location: await act(request, path) })
        return
      }
      const text = found(base, path)
      send(response, text === undefined ? 404 : 200, text ?? page(base, "Not found", ""))
    })
  })

describe("a test", () => {
  it.live("finds products whose addresses do not tell, and goes through a checkout whose steps share one", () =>
    Effect.gen(function* () {
      const { domain } = yield* shop(["/about-us.html", "/fountain-pen.html"], (base, path) =>
        path === "/about-us.html" ? page(base, "About us", "<p>We make pens.</p>") : product(base, "Pen")
      )
      const outcome = yield* testOf(domain)
      assert.strictEqual(line(outcome), "discovery! selection! cart checkout payment")
      assert.isEmpty(outcome.blockers.filter(({ severity }) => severity === "blocking"))
    }).pipe(Effect.scoped)
  )

  it.live("does not call a shop sold out of which it saw only a part", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 20 }, (_, index) => `/products/pen-${index + 10}`)
      const { domain } = yield* shop(many, (base) => product(base, "Pen", "OutOfStock"))
      const outcome = yield* testOf(domain, "search")
      assert.strictEqual(line(outcome), "discovery! selection?")
      assert.isNull(outcome.failure_point)
      const few = yield* shop(many.slice(0, 3), (base) => product(base, "Pen", "OutOfStock"))
      assert.include(told(yield* testOf(few.domain, "search")).blockers, "selection blocking out_of_stock")
    }).pipe(Effect.scoped)
  )

  it.live("looks further when the first products are sold out", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 20 }, (_, index) => `/products/pen-${index + 10}`)
      const { domain } = yield* shop(many, (base, path) =>
        product(base, "Pen", path.endsWith("18") ? "InStock" : "OutOfStock")
      )
      const outcome = yield* testOf(domain, "search")
      assert.strictEqual(outcome.product?.url?.endsWith("/products/pen-18"), true)
    }).pipe(Effect.scoped)
  )
})

describe("a product of which its button wants a choice before anything else", () => {
  const choosing = (buttons: string) => (base: string) =>
    page(base, "Shirt", `<p>$9.00</p><div><button>S</button><button>M</button></div>${buttons}`)
  const selected = (buttons: string) =>
    Effect.gen(function* () {
      const { domain } = yield* shop(["/products/shirt"], choosing(buttons))
      return yield* testOf(domain, "search")
    })

  it.live("is one with a price, and a list of such is none", () =>
    Effect.gen(function* () {
      const outcome = yield* selected("<button disabled>Select variant</button>")
      assert.strictEqual(line(outcome), "discovery! selection!")
      assert.deepInclude(outcome.product ?? {}, { name: "Shirt", price: "9.00", currency: "USD" })
      const twice = yield* selected("<button>Select Options</button><button disabled>Select variant</button>")
      assert.strictEqual(line(twice), "discovery! selection!")
      assert.match(
        line(yield* selected("<button>Choose options</button><button>Choose options</button>")),
        /selectionx$/
      )
    }).pipe(Effect.scoped)
  )
})

describe("a site that shows nothing", () => {
  const told503 = (path: string) => (path === "/robots.txt" ? 503 : 200)
  const failingAt = (statusOf: (path: string) => number, body = "Back soon") =>
    Fixture.open((request, response, base) => {
      const status = statusOf(request.url ?? "/")
      response.setHeader("retry-after", "3600")
      send(response, status, status === 404 ? "" : page(base, "Shop", body))
    })

  it.live("as it is closed for a while is not reachable, and is not said to keep agents out", () =>
    Effect.gen(function* () {
      const { domain } = yield* failingAt(() => 503)
      const outcome = yield* testOf(domain, "browse")
      assert.deepInclude(outcome.failure_point ?? {}, { blocker: "site_unreachable" })
      assert.notMatch(outcome.steps[0]?.detail ?? "", /keeps/)
      assert.strictEqual((yield* testOf((yield* failingAt(told503)).domain, "browse")).status, "failed")
      const fault = yield* failingAt((path) => (path === "/robots.txt" ? 500 : 200))
      assert.strictEqual((yield* testOf(fault.domain, "browse")).failure_point?.blocker, "robots_disallowed")
    }).pipe(Effect.scoped)
  )

  it.live("before its visitor says how old they are was not tried", () =>
    Effect.gen(function* () {
      const question =
        "<h1>Are you over 18?</h1><p>You must be 18 years or older to enter this site.</p><button>Yes, I am over 18</button>"
      const { domain } = yield* failingAt((path) => (path === "/" ? 200 : 404), question)
      const outcome = yield* testOf(domain, "browse")
      assert.strictEqual(line(outcome), "discovery?")
      assert.match(outcome.steps[0]?.detail ?? "", /how old its visitor is/)
      assert.isNull(outcome.failure_point)
    }).pipe(Effect.scoped)
  )
})
