import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Candidate } from "#domain/ProductChoice.ts"
import { ShopBrowser } from "#services/ShopBrowser.ts"
import { failed, orderUncertain, passed, unknown } from "#services/ShoppingEngine/Outcomes.ts"
import type { Rail, StepOutcome } from "#services/ShoppingEngine/Rail.ts"
import * as StepShop from "../shops/StepShop.ts"
import { jsonLd } from "../shops/Storefront.ts"
import * as PageReadingHere from "./PageReadingHere.ts"
import { line, testOf, told } from "./ShoppingEngineHarness.ts"

const names = ["Mug", "Bowl", "Plate", "Jug"]
const productOf = (name: string, at: number) =>
  `${jsonLd({ "@type": "Product", name, offers: { price: `1${at}.00`, priceCurrency: "USD" } })}<p>USD 1${at}.00</p><button onclick="add()">Add to cart</button>`
const shop = (count: number) => ({
  home: names
    .slice(0, count)
    .map((name) => `<a href="/products/${name}">${name}</a>`)
    .join(""),
  pages: Object.fromEntries(names.map((name, at) => [`/products/${name}`, productOf(name, at)]))
})

const gone = failed("cart", "out_of_stock", "The page says that none is left.")

/** A test of a shop of so many products, whose carts only a browser can fill, and what it was asked to put there. */
const tested = (count: number, cartOf: (name: string) => StepOutcome) =>
  Effect.scoped(
    Effect.gen(function* () {
      const asked: Array<string> = []
      const rail: Rail = {
        name: "browser",
        cart: ({ name }: Candidate) =>
          Effect.sync(() => {
            asked.push(name)
            return { ...cartOf(name), price: null }
          }),
        checkout: Effect.succeed({ ...passed("through", null), total: null }),
        payment: Effect.succeed({ ...passed("offered", null), methods: [] }),
        cleanUp: Effect.void
      }
      const show = () => Effect.succeed({ failure: "nothing is shown" })
      const browser = Layer.succeed(ShopBrowser, {
        missing: Effect.succeed(undefined),
        open: () => Effect.succeed({ rail: () => rail, show, later: show(), requests: () => [], isBroken: () => false })
      })
      const { domain } = yield* StepShop.open(shop(count))
      return { asked, outcome: yield* testOf(domain, "full_flow", {}, PageReadingHere.layer, browser) }
    })
  )

describe("a product of which only its cart tells that none is left", () => {
  it.live("is left for the next, and stays a warning", () =>
    Effect.gen(function* () {
      const { asked, outcome } = yield* tested(2, (name) => (name === "Mug" ? gone : passed("in it", null)))
      assert.deepStrictEqual(asked, ["Mug", "Bowl"])
      assert.strictEqual(outcome.product?.name, "Bowl")
      assert.strictEqual(line(outcome), "discovery! selection! cart! checkout payment")
      assert.include(told(outcome).blockers, "cart warning out_of_stock")
      assert.match(outcome.blockers.find(({ id }) => id === "out_of_stock")?.detail ?? "", /^"Mug" was chosen before/)
    })
  )

  it.live("is the verdict where there is no other, or where three are sold out", () =>
    Effect.gen(function* () {
      for (const [count, all] of [
        [1, ["Mug"]],
        [4, ["Mug", "Bowl", "Plate"]]
      ] as const) {
        const { asked, outcome } = yield* tested(count, () => gone)
        assert.deepStrictEqual(asked, [...all])
        assert.strictEqual(outcome.product?.name, "Mug")
        assert.deepInclude(outcome.failure_point ?? {}, { step: "cart", blocker: "out_of_stock" })
      }
    })
  )

  it.live("is the verdict where the next cannot be tried, unless that may have been ordered", () =>
    Effect.gen(function* () {
      const open = yield* tested(2, (name) => (name === "Mug" ? gone : unknown("It took too long.")))
      assert.deepInclude(open.outcome.failure_point ?? {}, { step: "cart", blocker: "out_of_stock" })
      const doubt = unknown("It answers nothing.", null, [orderUncertain("cart", null)])
      const { outcome } = yield* tested(2, (name) => (name === "Mug" ? gone : doubt))
      assert.include(told(outcome).blockers, "cart warning order_uncertain")
      assert.strictEqual(outcome.product?.name, "Bowl")
    })
  )
})
