import { Clock, Duration, Effect } from "effect"
import { assert, describe, it } from "vitest"
import { open as openFixture } from "../shops/Fixture.ts"
import * as HtmlShop from "../shops/HtmlShop.ts"
import * as Shopify from "../shops/Shopify.ts"
import * as UcpShop from "../shops/UcpShop.ts"
import * as Woo from "../shops/Woo.ts"
import { line, type Opening, outcomeOf, testOf, timeless, told } from "./ShoppingEngineHarness.ts"

describe("a test", () => {
  it("takes the best rail of the shop", async () => {
    const rails = async (shop: Opening) => [...new Set((await outcomeOf(shop)).steps.map(({ rail }) => rail))]
    assert.deepStrictEqual(await rails(Shopify.open()), ["platform_api"])
    assert.deepStrictEqual(await rails(Woo.open()), ["platform_api"])
    assert.deepStrictEqual(await rails(HtmlShop.open()), ["html_form"])
  })

  it("chooses the cheapest suitable product in stock, and names it", async () => {
    const { product } = await outcomeOf(Shopify.open(), "search")
    assert.deepInclude(product, { name: "Linen Field Notebook", sku: "TP-102", price: "12.50", currency: "USD" })
  })

  it("runs the steps of its type and no more", async () => {
    const types = ["browse", "search", "add_to_cart", "checkout", "full_flow"] as const
    for (const [index, type] of types.entries()) {
      const outcome = await outcomeOf(HtmlShop.open(), type)
      assert.deepStrictEqual([outcome.steps.length, outcome.status, outcome.success_rate], [index + 1, "passed", 100])
      const carts = outcome.requests.filter(({ method }) => method === "POST")
      assert.strictEqual(carts.length > 0, index >= 2, `${type} sends ${carts.length} forms`)
    }
  })

  it("of the same shop is the same, but for the time it takes", async () => {
    const [first, second] = await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const { domain } = yield* Shopify.open()
          return [timeless(yield* testOf(domain)), timeless(yield* testOf(domain))] as const
        })
      )
    )
    assert.deepStrictEqual(
      {
        ...first,
        requests: first.requests.map(({ method, url }) => `${method} ${url}`),
        steps: told({ ...first }).steps
      },
      {
        ...second,
        requests: second.requests.map(({ method, url }) => `${method} ${url}`),
        steps: told({ ...second }).steps
      }
    )
  })

  it("never sends what places an order, and never follows a form there", async () => {
    const asked = await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const shops = [
            yield* Shopify.open(),
            yield* Woo.open(),
            yield* HtmlShop.open({ onePage: true, payment: "deferred" })
          ]
          for (const { domain } of shops) yield* testOf(domain)
          return shops.flatMap((shop) => shop.asked)
        })
      )
    )
    assert.deepStrictEqual(
      asked.filter((one) => /POST .*(?:checkout$|place-order|complete)/.test(one)),
      []
    )
    assert.isAbove(asked.length, 30)
  })

  it("lasts as long as it did, also when the time is set back meanwhile", async () => {
    const real = Clock.Clock.defaultValue()
    let hours = 0
    const goingBack: Clock.Clock = Object.assign(Object.create(real), {
      currentTimeMillis: Effect.map(real.currentTimeMillis, (now) => now - ++hours * 3_600_000)
    })
    const shopping = Effect.flatMap(Woo.open(), ({ domain }) => testOf(domain))
    const outcome = await Effect.runPromise(Effect.scoped(Effect.provideService(shopping, Clock.Clock, goingBack)))
    assert.isAbove(outcome.test_duration_ms, 0)
    assert.isAbove(Math.max(...outcome.steps.map(({ duration_ms }) => duration_ms)), 0)
  })

  it("keeps to its pace and its budget; what it could not ask is unknown", async () => {
    const limits = {
      browse: { requests: 3, duration: Duration.seconds(20) },
      search: { requests: 9, duration: Duration.seconds(20) },
      add_to_cart: { requests: 11, duration: Duration.seconds(20) },
      checkout: { requests: 11, duration: Duration.seconds(20) },
      full_flow: { requests: 11, duration: Duration.seconds(20) }
    }
    const [outcome, items, took] = await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const shop = yield* Woo.open()
          const outcome = yield* testOf(shop.domain, "full_flow", { limits, pace: Duration.millis(50) })
          return [outcome, shop.items(), outcome.test_duration_ms] as const
        })
      )
    )
    assert.strictEqual(line(outcome), "discovery selection cart checkout? payment-")
    assert.isNull(outcome.failure_point)
    assert.strictEqual(items, 0, "there is room left to empty the cart")
    assert.isAtLeast(took, 50 * (outcome.requests.length - 1))
  })
})

const releases = ["2026-01-11", "2026-01-23", "2026-04-08", "2026-08-25"] as const

describe("a shop that speaks UCP", () => {
  for (const release of releases) {
    for (const transport of ["mcp", "rest"] as const) {
      it(`is bought from over ${transport} of ${release} up to the order, which is not placed, and everything is cancelled`, async () => {
        const [outcome, orders, open] = await Effect.runPromise(
          Effect.scoped(
            Effect.gen(function* () {
              const shop = yield* UcpShop.open({ release, transports: [transport] })
              const outcome = yield* testOf(shop.domain)
              return [outcome, shop.selling.orders(), shop.selling.open()] as const
            })
          )
        )
        assert.deepStrictEqual([orders, open], [0, 0])
        assert.deepStrictEqual(
          [...new Set(outcome.steps.map(({ rail }) => rail))],
          ["ucp"],
          JSON.stringify(outcome.steps)
        )
        assert.strictEqual(outcome.status, "passed", JSON.stringify(outcome.steps))
      })
    }
  }
})

describe("a UCP service that makes an order of a checkout which nobody completed", () => {
  it("is found out, and told what to cancel", async () => {
    const [outcome, orders] = await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const shop = yield* UcpShop.open({ release: "2026-08-25", transports: ["mcp"], fault: "orders_at_once" })
          return [yield* testOf(shop.domain), shop.selling.orders()] as const
        })
      )
    )
    assert.strictEqual(orders, 1)
    assert.strictEqual(outcome.failure_point?.blocker, "order_taken", JSON.stringify(outcome.steps))
    assert.include(outcome.failure_point?.detail, "reference ORD-1")
  })
})

describe("a UCP service that does not say how a checkout can be paid", () => {
  it("leaves that open, and no browser is told of, which would see no more", async () => {
    const outcome = await Effect.runPromise(
      Effect.scoped(
        Effect.flatMap(
          UcpShop.open({ release: "2026-08-25", transports: ["mcp"], fault: "pays_unsaid" }),
          ({ domain }) => testOf(domain)
        )
      )
    )
    const { detail, status } = outcome.steps.at(-1) ?? {}
    assert.deepStrictEqual([status, detail], ["unknown", "The checkout does not say how it can be paid."])
  })
})

/** A site that answers everything with this. */
const hostile = (text: string, type: string, status = 200) =>
  openFixture((_, response) => {
    response.writeHead(status, { "content-type": type }).end(text)
  })

const hostileOutcome = (site: ReturnType<typeof hostile>, policy: Parameters<typeof testOf>[2] = {}) =>
  Effect.runPromise(Effect.scoped(Effect.flatMap(site, ({ domain }) => testOf(domain, "full_flow", policy))))

describe("a site that refuses connections", () => {
  it("is asked twice and ends as unreachable, also when there is no pause between the two", async () => {
    const closed = await Effect.runPromise(
      Effect.scoped(
        Effect.map(
          openFixture(() => {}),
          ({ domain }) => domain
        )
      )
    )
    const outcome = await Effect.runPromise(testOf(closed, "browse", { pace: Duration.zero }))
    assert.include(told(outcome).blockers, "discovery blocking site_unreachable")
  })
})

describe("a hostile site", () => {
  const home = '<html><a href="/products/a">A</a></html>'
  const sites: Record<string, ReturnType<typeof hostile>> = {
    "answers everything with one page": hostile(home, "text/html"),
    "answers everything with deep JSON": hostile("[".repeat(200_000), "application/json"),
    "is a million of links": hostile('<a href="/products/a1">x</a>'.repeat(80_000), "text/html"),
    "is a form without end": hostile(
      `<form method=post action=/products/x><button>Add to cart</button>${"<input name=a>".repeat(50_000)}`,
      "text/html"
    ),
    "states a price of a thousand digits": hostile(
      `<script type="application/ld+json">{"@type":"Product","name":"x","offers":{"price":"${"9".repeat(1000)}","priceCurrency":"USD"}}</script>${home}`,
      "text/html"
    ),
    "redirects for ever": openFixture((request, response) => {
      response.writeHead(302, { location: `${request.url}x` }).end()
    })
  }
  for (const [name, site] of Object.entries(sites)) {
    it(`that ${name} ends in an outcome within the budget`, async () => {
      const outcome = await hostileOutcome(site)
      assert.notStrictEqual(outcome.status, "passed")
      assert.isAtMost(outcome.requests.length, 92)
      assert.isBelow(JSON.stringify({ ...outcome, requests: [] }).length, 40_000)
    })
  }

  it("that leads a form on to its orders by a redirect that keeps the method is not followed", async () => {
    const asked = await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const shop = yield* openFixture((request, response) => {
            const isForm = request.method === "POST"
            response.writeHead(isForm ? 307 : 200, { location: "/orders", "content-type": "text/html" })
            response.end(
              `<h1>Mug</h1><p>$5.00</p><a href="/products/mug">Mug</a><form method="post" action="/cart/add"><input type="hidden" name="id" value="1"><button>Add to cart</button></form>`
            )
          })
          yield* testOf(shop.domain)
          return shop.asked
        })
      )
    )
    assert.include(asked, "POST /cart/add")
    assert.notInclude(asked, "POST /orders")
  })
})
