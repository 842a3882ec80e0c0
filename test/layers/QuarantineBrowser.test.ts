import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { startedAt } from "#layers/EmbeddedPostgres/Processes.ts"
import * as Fixture from "../shops/Fixture.ts"
import { quarantineOf, quarantines } from "./Quarantine/Harness.ts"
import { gone, missing, mugOf, open, shopIn, userAgent } from "./ShopBrowserHarness.ts"

const shopOf = Effect.fnUntraced(function* () {
  const listed: Array<string> = []
  const { browser } = yield* quarantineOf({}, { allowHosts: listed })
  return yield* shopIn(browser, listed, {})
})
const endIt = Effect.gen(function* () {
  const pids = quarantines()
  for (const pid of pids) process.kill(pid, "SIGKILL")
  yield* gone(() => pids.every((pid) => startedAt(pid) === undefined))
})

const fields =
  '<label>Email <input type="email" autocomplete="email"></label><label>Name <input autocomplete="name"></label><label>Street <input autocomplete="street-address"></label>'
const listedSteps = '<ol class="steps"><li aria-current="step">Address</li><li>Payment</li></ol>'

/** A shop whose checkout takes what is sent and never answers; `sent` is then called. */
const silentShop = Effect.fnUntraced(function* (sent: () => void) {
  const fixture = yield* Fixture.open((request, response) => {
    const html = (body: string) =>
      void response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html><main>${body}</main>`)
    if (request.method === "POST" && request.url === "/api/submit") return sent()
    if (request.url === "/p/mug")
      return html(
        `<h1>Blue mug</h1><p>$12.00</p><button onclick="fetch('/api/cart', { method: 'POST' })">Add to cart</button>`
      )
    if (request.url === "/checkout")
      return html(
        `${listedSteps}${fields}<p>Total: $12.00</p><button onclick="fetch('/api/submit', { method: 'POST' })">Continue</button>`
      )
    return html('<ul><li>Blue mug <b>$12.00</b> <button>Remove</button></li></ul><a href="/checkout">Checkout</a>')
  })
  const { browser } = yield* quarantineOf({}, { allowHosts: [fixture.domain] })
  const { rail } = yield* open(browser, fixture.url)
  return { rail, mug: mugOf(fixture.url, null) }
})

if (missing !== undefined) {
  it("was not tried: this machine has no browser", () => assert.match(missing ?? "", /no browser/))
} else {
  describe("a browser that another process drives", () => {
    it.live("goes through a shop, and tells what it asked, as whom", () =>
      Effect.gen(function* () {
        const { mug, rail, requests, show } = yield* shopOf()
        const shown = yield* show(mug.url ?? new URL("about:blank"))
        assert.isTrue("html" in shown && shown.html.includes("Blue mug") && shown.url.href === mug.url?.href)
        const cart = yield* rail.cart(mug)
        assert.deepInclude(cart, { status: "passed", price: "12.00" }, cart.detail)
        const checkout = yield* rail.checkout
        assert.strictEqual(checkout.status, "passed", checkout.detail)
        const payment = yield* rail.payment
        assert.isNotEmpty(payment.methods, payment.detail)
        yield* rail.cleanUp
        assert.isNotEmpty(requests())
        assert.isTrue(requests().every(({ user_agent }) => user_agent === userAgent))
      }).pipe(Effect.scoped)
    )

    it.live("says nothing of a site when that process ends, and is there again for the next", () =>
      Effect.gen(function* () {
        const { browser, fixture, isBroken, mug, rail, show } = yield* shopOf()
        assert.isFalse(isBroken())
        const showing = yield* Effect.forkChild(rail.cart(mug))
        yield* endIt
        assert.deepInclude(yield* Fiber.join(showing), { status: "unknown", blockers: [], price: null })
        assert.isTrue(isBroken())
        assert.deepEqual(yield* show(new URL(fixture.url)), { failure: "The browser of this server ended." })
        assert.deepInclude(yield* rail.checkout, { status: "unknown", blockers: [] })
        const next = yield* open(browser, fixture.url)
        assert.isTrue("html" in (yield* next.show(new URL("/p/mug", fixture.url))) && !next.isBroken())
      }).pipe(Effect.scoped)
    )

    it.live("tells of a checkout that may have ordered, when that process ends before it is known", () =>
      Effect.gen(function* () {
        const { promise, resolve } = Promise.withResolvers<void>()
        const { mug, rail } = yield* silentShop(resolve)
        assert.strictEqual((yield* rail.cart(mug)).status, "passed")
        const checkout = yield* Effect.forkChild(rail.checkout)
        yield* Effect.promise(() => promise)
        yield* endIt
        const done = yield* Fiber.join(checkout)
        assert.deepEqual(
          done.blockers.map(({ id, severity }) => [id, severity]),
          [["order_uncertain", "warning"]]
        )
      }).pipe(Effect.scoped)
    )

    it.live("closes what nobody waited for until it was open", () =>
      Effect.gen(function* () {
        const { browser, pages } = yield* quarantineOf({
          program: new URL("Quarantine/OddProgram.ts", import.meta.url)
        })
        const asked = Effect.map(pages.page("asked", new URL("http://shop.example/")), ({ title }) => title)
        const opening = yield* Effect.forkChild(Effect.scoped(open(browser, "http://shop.example/")))
        while ((yield* asked) !== "open") yield* Effect.yieldNow
        const heard = yield* Effect.forkChild(
          Effect.repeat(asked, { until: (calls) => calls === "open close" }).pipe(Effect.timeout("1 minute"))
        )
        yield* Effect.forkChild(Fiber.interrupt(opening))
        assert.strictEqual(yield* Fiber.join(heard), "open close")
      }).pipe(Effect.scoped)
    )

    it.live("closes what nobody visits any more", () =>
      Effect.gen(function* () {
        const listed: Array<string> = []
        const { browser } = yield* quarantineOf({}, { allowHosts: listed })
        // More than may be open at once.
        for (let visit = 0; visit < 4; visit++) {
          yield* Effect.scoped(
            Effect.gen(function* () {
              const { fixture, show } = yield* shopIn(browser, listed, {})
              assert.isTrue("html" in (yield* show(new URL("/p/mug", fixture.url))))
            })
          )
        }
      }).pipe(Effect.scoped)
    )
  })
}
