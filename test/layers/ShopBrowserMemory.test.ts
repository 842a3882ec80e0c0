import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { MemoryPolicy } from "#layers/ShopBrowser/Memory.ts"
import { MostLoaded } from "#layers/ShopBrowser/Tab.ts"
import { chromiums, gone, missing, mugOf, open, patient, shopIn, shopOf, browserOf } from "./ShopBrowserHarness.ts"

const little = { most: 500_000_000, every: Duration.millis(50) }

/** Takes memory that no limit of scripts counts. */
const greedy = `const kept = []; setInterval(() => { for (let i = 0; i < 4; i++) kept.push(new Uint8Array(20e6).fill(1)) }, 10)`
const flooding = `setInterval(() => { for (let i = 0; i < 200; i++) fetch("/api/cart?" + Math.random()).catch(() => {}) }, 5)`

if (missing !== undefined) {
  it("was not tried: this machine has no browser", () => assert.match(missing ?? "", /no browser/))
} else {
  describe("a shop whose pages are made of many scripts", () => {
    it.live("is gone through, without what is only asked for ahead", () =>
      Effect.gen(function* () {
        const shop = yield* shopOf({ parts: 40 })
        const rail = patient(shop.rail)
        assert.strictEqual((yield* rail.cart(shop.mug)).status, "passed")
        assert.strictEqual((yield* rail.checkout).status, "passed")
        assert.isEmpty(shop.fixture.asked.filter((asked) => asked.includes("/ahead/")))
      }).pipe(Effect.scoped)
    )

    it.live("is not blamed where they are more than a test loads", () =>
      Effect.gen(function* () {
        const shop = yield* shopOf({ parts: 40 })
        const cart = yield* patient(shop.rail).cart(shop.mug)
        assert.deepStrictEqual([cart.status, cart.blockers], ["unknown", []])
        assert.match(cart.detail, /more than a test loads/)
        assert.isAtMost(shop.fixture.asked.length, 60)
      }).pipe(Effect.scoped, Effect.provideService(MostLoaded, 60))
    )
  })

  describe("a browser's memory", () => {
    it.live("is bounded: a page that takes more ends, and nobody else's", () =>
      Effect.gen(function* () {
        const listed: Array<string> = []
        const browser = yield* browserOf({ allowHosts: listed })
        const other = yield* shopIn(browser, listed, {})
        yield* other.show(new URL("/p/mug", other.fixture.url))
        const shop = yield* shopIn(browser, listed, { script: greedy })
        const cart = yield* shop.rail.cart(mugOf(shop.fixture.url))
        assert.deepInclude(cart, { status: "unknown", blockers: [] })
        assert.match(cart.detail, /took more than a browser gives/)
        assert.isFalse(shop.isBroken(), "the site is what ended it")
        assert.lengthOf(chromiums(), 1)
        const shown = yield* other.show(new URL("/cart", other.fixture.url))
        assert.isTrue("html" in shown && !other.isBroken())
      }).pipe(Effect.scoped, Effect.provideService(MemoryPolicy, little))
    )

    it.live("is not for a page that asks without end: it ends, and the browser stays", () =>
      Effect.gen(function* () {
        const listed: Array<string> = []
        const shop = yield* shopIn(yield* browserOf({ allowHosts: listed }), listed, { script: flooding })
        assert.strictEqual((yield* shop.rail.cart(mugOf(shop.fixture.url))).status, "unknown")
        assert.isBelow(shop.fixture.asked.length, 2_100)
        assert.isFalse(shop.isBroken())
      }).pipe(Effect.scoped)
    )

    it.live("a visit knows when the browser itself has ended", () =>
      Effect.gen(function* () {
        const listed: Array<string> = []
        const shop = yield* shopIn(yield* browserOf({ allowHosts: listed }), listed, {})
        assert.isFalse(shop.isBroken())
        for (const pid of chromiums()) process.kill(pid, "SIGKILL")
        yield* gone(() => shop.isBroken())
        assert.strictEqual((yield* shop.rail.cart(mugOf(shop.fixture.url))).status, "unknown")
        assert.isFalse((yield* open(shop.browser, shop.fixture.url)).isBroken(), "the next one gets another")
      }).pipe(Effect.scoped)
    )
  })
}
