import { Effect, Layer } from "effect"
import { assert, describe, it } from "vitest"
import type { BlockerId, Step } from "#domain/ShoppingTest.ts"
import { ShopBrowser } from "#services/ShopBrowser.ts"
import { failed, passed, unknown } from "#services/ShoppingEngine/Outcomes.ts"
import type { Rail, StepOutcome } from "#services/ShoppingEngine/Rail.ts"
import * as Fixture from "../shops/Fixture.ts"
import * as HtmlShop from "../shops/HtmlShop.ts"
import type { HtmlShopSettings } from "../shops/HtmlShopPages.ts"
import * as StepShop from "../shops/StepShop.ts"
import * as PageReadingHere from "./PageReadingHere.ts"
import { line, testOf, told } from "./ShoppingEngineHarness.ts"

/** A browser that says this of each step, whatever it is shown. */
const saying = (
  steps: { readonly cart: StepOutcome; readonly checkout?: StepOutcome; readonly payment?: StepOutcome },
  isBroken = false
) => {
  const rail: Rail = {
    name: "browser",
    cart: () => Effect.succeed({ ...steps.cart, price: null }),
    checkout: Effect.succeed({ ...(steps.checkout ?? unknown("not tried")), total: null }),
    payment: Effect.succeed({ ...(steps.payment ?? unknown("not tried")), methods: [] }),
    cleanUp: Effect.void
  }
  const show = () => Effect.succeed({ failure: "nothing is shown" })
  return Layer.succeed(ShopBrowser, {
    missing: Effect.succeed(undefined),
    open: () => Effect.succeed({ rail: () => rail, show, later: show(), requests: () => [], isBroken: () => isBroken })
  })
}

const outcomeWith = (settings: HtmlShopSettings, browser: Layer.Layer<ShopBrowser>) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const { domain } = yield* HtmlShop.open(settings)
        return yield* testOf(domain, "full_flow", {}, PageReadingHere.layer, browser)
      })
    )
  )

const no = (step: Step, id: BlockerId) => failed(step, id, "said the browser")

describe("a home page that has everything but its products before its scripts have run", () => {
  const scripted = '<p>Kettles since 1901.</p><div id="grid"></div><script src="/app.js"></script>'
  const testWith = (shownOf: (url: URL) => string, home = scripted) => {
    let last = new URL("http://none.test")
    const show = (url: URL) =>
      Effect.sync(() => {
        last = url
        return { url, status: 200, html: shownOf(url) }
      })
    const later = Effect.suspend(() => show(last))
    const rail = () => Effect.runSync(Effect.die("nothing is bought"))
    const browser = Layer.succeed(ShopBrowser, {
      missing: Effect.succeed(undefined),
      open: () => Effect.succeed({ rail, show, later, requests: () => [], isBroken: () => false })
    })
    return Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const pages = { "/shop": '<div id="grid"></div>' }
          const { domain } = yield* StepShop.open({ home, pages })
          return yield* testOf(domain, "search", {}, PageReadingHere.layer, browser)
        })
      )
    )
  }

  it("is shown by a browser, which finds them", async () => {
    const outcome = await testWith(() => '<h1>Kettles</h1><a href="/products/kettle">Kettle</a>')
    assert.deepStrictEqual(told(outcome).steps, ["discovery degraded browser", "selection degraded html_form"])
    assert.include(told(outcome).blockers, "discovery warning javascript_wall")
  })

  it("is shown by a browser, which goes on to what a category lists where neither address tells what it is", async () => {
    const kettle = '<h1>Kettle</h1><p>$49.00</p><form action="/cart/add"><button>Add to cart</button></form>'
    const menu = '<a href="/kitchenware.html">Kitchenware</a>'
    const shown = new Map([
      ["/", menu],
      [
        "/kitchenware.html",
        `${menu} <a href="/kitchenware.html?color=1">Blue</a> <a href="/steel-kettle.html">Kettle</a>`
      ],
      ["/steel-kettle.html", kettle]
    ])
    const asked: Array<string> = []
    const outcome = await testWith(({ pathname, search }) => {
      asked.push(pathname + search)
      return shown.get(pathname) ?? ""
    })
    assert.match(outcome.steps[0]?.detail ?? "", /1 product addresses, but only with a browser/)
    assert.include(asked, "/steel-kettle.html")
    assert.notInclude(asked, "/kitchenware.html?color=1")
  })

  it("is shown by a browser, which tells a product by its page where no address does", async () => {
    const kettle = '<h1>Kettle</h1><p>$49.00</p><form action="/cart/add"><button>Add to cart</button></form>'
    const outcome = await testWith(({ pathname }) =>
      pathname === "/" ? '<a href="/about-us">About us</a> <a href="/s/kitchen/steel/25752.html">Kettle</a>' : kettle
    )
    assert.deepStrictEqual(told(outcome).steps[0], "discovery degraded browser", outcome.steps[0]?.detail)
  })

  it("is not said to have none where only the page that lists them needs its scripts", async () => {
    const list = ({ pathname }: URL) =>
      pathname === "/shop" ? '<a href="/products/kettle">Kettle</a>' : "<h1>Shop</h1><a href='/shop'>All</a>"
    const outcome = await testWith(list, '<p>Kettles since 1901.</p><a href="/shop">All kettles</a>')
    assert.deepStrictEqual(told(outcome).steps, ["discovery degraded browser", "selection degraded html_form"])
    assert.include(told(outcome).blockers, "discovery warning javascript_wall")
    assert.notInclude(JSON.stringify(told(outcome).blockers), "no_products_found")
  })

  it("is not said to have none where all its pages have one address", async () => {
    const outcome = await testWith(() => '<h1>Kettles</h1><a href="#/product/kettle">Kettle $49.00</a>')
    assert.match(line(outcome), /^discovery\?/)
    assert.match(outcome.steps[0]?.detail ?? "", /one address for all its pages, as .*#\/product\/kettle/)
  })

  it("has none where a browser finds none either", async () => {
    const outcome = await testWith(() => "<h1>Kettles</h1>")
    assert.deepInclude(outcome.failure_point ?? {}, { step: "discovery", blocker: "no_products_found" })
  })
})

it("a captcha in place of a home page is a wall, whatever status it has, and no shop without products", async () => {
  const wall =
    '<title>Just a moment</title><div class="cf-turnstile" data-sitekey="x"></div><p>Verify you are human</p>'
  const outcome = await Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const { domain } = yield* Fixture.open((request, response) => {
          const isHome = request.url === "/"
          response.writeHead(isHome ? 200 : 404, { "content-type": "text/html" }).end(isHome ? wall : "")
        })
        return yield* testOf(domain, "browse", {}, PageReadingHere.layer)
      })
    )
  )
  assert.deepInclude(outcome.failure_point ?? {}, { step: "discovery", blocker: "bot_challenge" })
})

describe("where the forms only say that a script is needed", () => {
  const shops: ReadonlyArray<HtmlShopSettings> = [
    { scriptButton: true },
    { variants: "script" },
    { silentCart: true },
    { waitingButton: true, structured: "none" }
  ]
  for (const settings of shops) {
    it(`what the browser says of the shop is the verdict: ${Object.keys(settings)[0]}`, async () => {
      const outcome = await outcomeWith(settings, saying({ cart: no("cart", "account_required") }))
      assert.deepInclude(outcome.failure_point ?? {}, { step: "cart", blocker: "account_required" })
      assert.include(told(outcome).steps, "cart failed browser")
    })
    it(`nothing is known where the browser could not tell: ${Object.keys(settings)[0]}`, async () => {
      const outcome = await outcomeWith(settings, saying({ cart: unknown("The page did not answer in time.") }))
      assert.match(line(outcome), /^discovery selection!? cart\? checkout- payment-$/)
      assert.isNull(outcome.failure_point)
      assert.match(outcome.steps[2]?.detail ?? "", /could not \(The page did not answer in time\):/)
    })
  }

  it("a browser that stops earlier than the forms leaves open what they could not tell", async () => {
    const outcome = await outcomeWith({ namelessFields: true }, saying({ cart: no("cart", "add_to_cart_failed") }))
    assert.strictEqual(line(outcome), "discovery selection cart! checkout? payment-")
    assert.deepStrictEqual(told(outcome).blockers, [
      "cart warning add_to_cart_failed",
      "checkout warning checkout_form_unrecognized"
    ])
    assert.include(outcome.blockers[0]?.detail, "In a browser: said the browser")
  })

  it("a browser that comes further is the verdict", async () => {
    const browser = saying({ cart: passed("in it", null), checkout: no("checkout", "captcha_required") })
    const outcome = await outcomeWith({ scriptButton: true }, browser)
    assert.strictEqual(line(outcome), "discovery selection cart! checkoutx payment-")
    assert.strictEqual(outcome.failure_point?.blocker, "captcha_required")
  })

  it("a browser that writes another address than the shop's country has is not refused by the shop", async () => {
    const refused = saying({ cart: passed("in it", null), checkout: no("checkout", "address_rejected") })
    const there = await outcomeWith({ scriptButton: true }, refused)
    assert.strictEqual(there.failure_point?.blocker, "address_rejected", "a shop of dollars is at home where we are")
    const abroad = await outcomeWith({ scriptButton: true, currency: "ZAR" }, refused)
    assert.isNull(abroad.failure_point)
    assert.strictEqual(line(abroad), "discovery selection cart! checkout? payment-")
    assert.match(abroad.steps[3]?.detail ?? "", /does not take the test's address, and nothing says/)
  })

  it("nor is a shop said to have no way to pay that may offer none in another country", async () => {
    const done = { cart: passed("in it", null), checkout: passed("through", null) }
    const unpaid = saying({ ...done, payment: no("payment", "no_payment_method") })
    const there = await outcomeWith({ scriptButton: true }, unpaid)
    assert.strictEqual(there.failure_point?.blocker, "no_payment_method", "a shop of dollars is at home where we are")
    const abroad = await outcomeWith({ scriptButton: true, currency: "ZAR" }, unpaid)
    assert.strictEqual(line(abroad), "discovery selection cart! checkout payment?")
    assert.match(abroad.steps[4]?.detail ?? "", /No way to pay is offered at the test's address/)
  })

  it("of two that could not tell of the same step, the browser says why", async () => {
    const why = unknown("The browser met a question.")
    const outcome = await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const address = '<label>Street <input name="street"></label><label>Email <input name="email"></label>'
          const pages = { "/checkout": `<form method="post" action="/sent">${address}<button>Continue</button></form>` }
          const { domain } = yield* StepShop.open({ pages })
          const browser = saying({ cart: passed("in it", null), checkout: why })
          return yield* testOf(domain, "full_flow", {}, PageReadingHere.layer, browser)
        })
      )
    )
    assert.strictEqual(line(outcome), "discovery! selection! cart checkout? payment-")
    assert.include(outcome.steps[3]?.detail, "The browser met a question.")
  })

  it("a browser of ours that ended meanwhile ends the test, unless the shop was told of without it", async () => {
    const ended = saying({ cart: unknown("The page or the browser ended.") }, true)
    const run = (settings: HtmlShopSettings) => outcomeWith(settings, ended).then(line, String)
    assert.match(await run({ scriptButton: true }), /SCANNER_UNAVAILABLE|The scanner cannot do this now/)
    assert.strictEqual(await run({}), "discovery selection cart checkout payment")
    const told = saying({ cart: no("cart", "out_of_stock") }, true)
    assert.strictEqual((await outcomeWith({ scriptButton: true }, told)).failure_point?.blocker, "out_of_stock")
  })
})
