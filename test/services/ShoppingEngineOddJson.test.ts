import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fixture from "../shops/Fixture.ts"
import { send, sendJson } from "../shops/Storefront.ts"
import { testOf } from "./ShoppingEngineHarness.ts"

const home = `<!doctype html><html lang="en"><head><title>Mugs</title><script>Shopify.theme = {}; Shopify.shop = "x"</script></head><body><a href="/products/mug">Mug</a></body></html>`

describe("a shop whose JSON holds half a character", () => {
  it.live("is tested as any other, where its products are called by one", () =>
    Effect.gen(function* () {
      const { domain } = yield* Fixture.open((request, response) => {
        const { pathname } = new URL(request.url ?? "/", "http://shop")
        const variants = [{ id: 1, title: "Default Title", price: "12.00", available: true }]
        if (pathname === "/") return send(response, 200, home)
        if (pathname !== "/products.json") return send(response, 404, "Not found")
        return sendJson(response, 200, { products: [{ title: "Mug \ud83d", handle: "mug-\ud83d", variants }] })
      })
      const { steps } = yield* testOf(domain, "browse")
      assert.deepStrictEqual(
        steps.map(({ status, step }) => [step, status]),
        [["discovery", "degraded"]],
        JSON.stringify(steps)
      )
    }).pipe(Effect.scoped)
  )
})
