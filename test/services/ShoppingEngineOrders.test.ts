import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fixture from "../shops/Fixture.ts"
import { jsonLd, page, send } from "../shops/Storefront.ts"
import { line, testOf, told } from "./ShoppingEngineHarness.ts"

/** How a shop of plain forms differs from others of its kind. */
interface Shape {
  readonly name?: string
  readonly heading?: string
  /** What the product's page has to buy by. */
  readonly buying?: string
  /** What the cart shows of the product. */
  readonly inCart?: string
  readonly checkout?: string
}

const adding =
  '<form action="/cart/add" method="post"><input type="hidden" name="id" value="1"><button>In den Warenkorb</button></form>'
const person =
  '<label>E-Mail <input name="email" type="email"></label><label>Name <input name="name"></label><label>Straße <input name="strasse"></label><label>PLZ <input name="plz"></label><label>Ort <input name="ort"></label><p>Total $25.00</p>'

/** A shop that takes every form it does not know for an order. */
const shop = ({ buying = adding, checkout = "", heading, inCart, name = "Kettle" }: Shape) =>
  Effect.gen(function* () {
    const state = { items: 0, orders: 0 }
    const pages = (base: string): Readonly<Record<string, () => string>> => ({
      "/": () => page(base, "Shop", '<a href="/products/kettle">Kettle</a>'),
      "/products/kettle": () =>
        page(
          base,
          heading ?? name,
          `<p>$20.00</p>${buying}`,
          jsonLd({
            "@type": "Product",
            name,
            sku: "KET-1",
            offers: { price: "20.00", priceCurrency: "USD", availability: "https://schema.org/InStock" }
          })
        ),
      "/cart": () =>
        page(
          base,
          "Cart",
          state.items === 0
            ? "<p>Your cart is empty.</p>"
            : `<p>${inCart ?? name} $20.00</p><form action="/cart/clear" method="post"><button>Empty cart</button></form><a href="/checkout">Checkout</a>`
        ),
      "/checkout": () => page(base, "Checkout", checkout)
    })
    const fixture = yield* Fixture.open((request, response, base) => {
      const { pathname } = new URL(request.url ?? "/", base)
      if (request.method === "POST") {
        if (pathname === "/cart/add") state.items = 1
        else if (pathname === "/cart/clear") state.items = 0
        else state.orders += 1
        return send(response, 303, "", { location: "/cart" })
      }
      const text = pages(base)[pathname]?.()
      return send(response, text === undefined ? 404 : 200, text ?? page(base, "Not found", ""))
    })
    return { ...fixture, state }
  })

const tested = (shape: Shape) =>
  Effect.gen(function* () {
    const { domain, state } = yield* shop(shape)
    const outcome = yield* testOf(domain)
    const blocking = told(outcome).blockers.filter((one) => one.includes(" blocking "))
    return { ...state, line: line(outcome), blocking, outcome }
  }).pipe(Effect.scoped)

describe("a test orders nothing", () => {
  it.live("where a product's page is itself the order, and does not blame the shop", () =>
    Effect.gen(function* () {
      const form = (button: string) =>
        `<form method="post" action="/process.php"><input type="hidden" name="product" value="KET-1"><label>Name <input name="name" required></label><label>Phone <input type="tel" name="phone" required></label><label>Address <textarea name="address"></textarea></label><button>${button}</button></form>`
      for (const button of ["Buy now", "Купить в 1 клик"]) {
        const { blocking, line, orders } = yield* tested({ buying: form(button) })
        assert.deepStrictEqual([orders, line, blocking], [0, "discovery! selection! cart? checkout- payment-", []])
      }
    })
  )

  it.live("where one page takes address and payment and its button only goes on", () =>
    Effect.gen(function* () {
      const radio = (name: string, value: string, label: string) =>
        `<label><input type="radio" name="${name}" value="${value}" checked> ${label}</label>`
      for (const [action, choice, button] of [
        ["/bestellung/abschluss", radio("zahlungsart", "nachnahme", "Nachnahme"), "Weiter"],
        ["/checkout", radio("forma_pago", "reembolso", "Contra reembolso"), "Continuar"]
      ] as const) {
        const { blocking, items, line, orders } = yield* tested({
          checkout: `<form action="${action}" method="post">${person}${choice}<button>${button}</button></form>`
        })
        const course = "discovery! selection! cart checkout payment!"
        assert.deepStrictEqual([orders, items, line, blocking], [0, 0, course, []])
      }
    })
  )

  it.live("where an address may be all that an order takes, and says that it was not tried", () =>
    Effect.gen(function* () {
      for (const checkout of [
        `<p>You pay cash on delivery.</p><form action="/checkout" method="post">${person}<button>Continue</button></form>`,
        `<form action="/bestellung/abschluss" method="post">${person}<button>Weiter</button></form>`,
        `<form action="/checkout" method="post">${person}<button>Weiter zum Bestellabschluss</button></form>`
      ]) {
        const { blocking, line, orders } = yield* tested({ checkout })
        assert.deepStrictEqual([orders, line, blocking], [0, "discovery! selection! cart checkout? payment-", []])
      }
    })
  )
})

describe("a cart shows its product", () => {
  const name = "Acme Kettle 1.5 l - Dishwasher Safe"
  const shown: ReadonlyArray<readonly [by: string, shape: Shape]> = [
    ["a link to its page", { name, heading: "Enamel", inCart: '<a href="/products/kettle">Enamel one</a>' }],
    ["its SKU", { name, heading: "Enamel", inCart: "One thing, SKU: KET-1" }],
    ["its page's heading", { name, heading: "Acme Kettle", inCart: "Acme Kettle, red" }]
  ]
  for (const [by, shape] of shown) {
    it.live(`by ${by} as well as by its stated name`, () =>
      Effect.map(tested(shape), ({ outcome }) => {
        assert.strictEqual(outcome.steps[2]?.status, "passed", outcome.steps[2]?.detail ?? "")
      })
    )
  }

  it.live("by none of them when it holds something else", () =>
    Effect.map(tested({ name, heading: "Product", inCart: 'Product: <a href="/products/other">Pan</a>' }), (done) => {
      assert.deepInclude(done.outcome.steps[2], { step: "cart", status: "unknown" })
      assert.include(
        done.outcome.blockers.map(({ id }) => id),
        "add_to_cart_failed"
      )
    })
  )
})

describe("a shop that sells only what a test does not buy", () => {
  it.live("is not blamed for it", () =>
    Effect.map(tested({ name: "Red Wine 2020" }), ({ blocking, line }) => {
      assert.deepStrictEqual([line, blocking], ["discovery! selection? cart- checkout- payment-", []])
    })
  )
})
