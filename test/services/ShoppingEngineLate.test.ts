import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Harness from "../layers/ShopBrowserHarness.ts"
import * as Fixture from "../shops/Fixture.ts"
import { bodyOf, page, send } from "../shops/Storefront.ts"
import * as PageReadingHere from "./PageReadingHere.ts"
import { testOf, told } from "./ShoppingEngineHarness.ts"

/** A shop of one thing, whose page of it is this, in a browser. */
const testedOf = (product: string, type: "search" | "add_to_cart") =>
  Effect.scoped(
    Effect.gen(function* () {
      let held = ""
      const { domain } = yield* Fixture.open(async (request, response, base) => {
        const sent = await bodyOf(request)
        if (request.url === "/cart/add" && /quantity=[1-9]/.test(sent)) held = "<p>Blue mug $12.00</p>"
        const pages: Record<string, string> = {
          "/": '<a href="/products/mug">Blue mug</a>',
          "/products/mug": `${product}<a href="/cart">Cart</a>`,
          "/cart": `${held || "<p>Your cart is empty.</p>"}`,
          "/cart/add": "<p>Thanks</p>"
        }
        const found = pages[request.url ?? ""]
        send(
          response,
          found === undefined ? 404 : 200,
          page(base, request.url === "/products/mug" ? "Blue mug" : "Shop", found ?? "Not found")
        )
      })
      const browser = Layer.orDie(Harness.layer({ allowHosts: [domain] }))
      return yield* testOf(domain, type, {}, PageReadingHere.layer, browser)
    })
  )

const add = (fields: string) =>
  `<p>$12.00</p><form action="/cart/add" method="post"><input type="hidden" name="id" value="1">${fields}<button>Add to cart</button></form>`

if (Harness.missing !== undefined) {
  it("was not tried: this machine has no browser", () => assert.match(Harness.missing ?? "", /no browser/))
} else {
  describe("a product's page in a browser", () => {
    it.live("may draw its price late", () =>
      Effect.gen(function* () {
        const late =
          '<p id="price"></p><button>Add to cart</button><script>setTimeout(() => { price.textContent = "$12.00" }, 800)</script>'
        const outcome = yield* testedOf(late, "search")
        assert.strictEqual(outcome.product?.price, "12.00", JSON.stringify(told(outcome)))
      })
    )

    it.live("that asks for words which only a buyer knows is not said to sell nothing", () =>
      Effect.gen(function* () {
        const outcome = yield* testedOf(
          add('<label>Engraving <input name="engraving" required></label><input name="quantity" value="1">'),
          "add_to_cart"
        )
        assert.match(outcome.steps[2]?.detail ?? "", /asks for "Engraving"/)
        assert.strictEqual(outcome.steps[2]?.status, "unknown")
      })
    )

    it.live("whose control speaks over a socket, which we close, is not said to sell nothing", () =>
      Effect.gen(function* () {
        const socket =
          '<p>$12.00</p><button>Add to cart</button><script>const s = new WebSocket("ws://" + location.host + "/live"); document.querySelector("button").onclick = () => s.send("add")</script>'
        const outcome = yield* testedOf(socket, "add_to_cart")
        assert.strictEqual(outcome.steps[2]?.status, "unknown", outcome.steps[2]?.detail)
        assert.match(outcome.steps[2]?.detail ?? "", /WebSocket/)
      })
    )
  })

  it.live("what is paid every month is a subscription, and not without a price", () =>
    Effect.gen(function* () {
      const monthly =
        '<p>$12.00 per month</p><form action="/cart/add" method="post"><input type="hidden" name="id" value="1"><button>Subscribe</button></form>'
      const outcome = yield* testedOf(monthly, "search")
      assert.strictEqual(outcome.steps[1]?.status, "unknown", outcome.steps[1]?.detail)
      assert.match(outcome.steps[1]?.detail ?? "", /only offer a subscription/)
    })
  )

  it.live("a home page that leads to a login asks for an account", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const form =
          '<form method="post"><input name="email"><input type="password" name="pw"><button>Log in</button></form>'
        const { domain } = yield* Fixture.open((request, response) => {
          const isLogin = request.url === "/login"
          response.writeHead(isLogin ? 200 : 303, { "content-type": "text/html", location: "/login" })
          response.end(isLogin ? form : "")
        })
        const outcome = yield* testOf(domain, "browse")
        assert.deepInclude(outcome.failure_point ?? {}, { step: "discovery", blocker: "account_required" })
      })
    )
  )

  it.live("a list of how many that begins with none is set to one", () =>
    Effect.gen(function* () {
      const list = '<select name="quantity"><option value="0">0</option><option value="1">1</option></select>'
      const outcome = yield* testedOf(add(`<label>Quantity ${list}</label>`), "add_to_cart")
      assert.strictEqual(outcome.steps[2]?.rail, "html_form", outcome.steps[2]?.detail)
      assert.strictEqual(outcome.steps[2]?.status, "passed", outcome.steps[2]?.detail)
    })
  )
}
