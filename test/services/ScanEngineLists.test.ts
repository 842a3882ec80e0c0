import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fixture from "../shops/Fixture.ts"
import { page, send } from "../shops/Storefront.ts"
import { scanOf } from "./ScanEngineHarness.ts"

describe("a scan of a shop whose pages tell only by what they list where its products are", () => {
  it.live("goes on to them", () =>
    Effect.gen(function* () {
      const pages: Readonly<Record<string, string>> = {
        "/": '<a href="/lamps-and-lights.html">Lamps</a>',
        "/lamps-and-lights.html": '<a href="/brass-desk-lamp.html">Brass desk lamp</a>',
        "/brass-desk-lamp.html":
          '<p>$59.90</p><form method="post" action="/cart/add"><input type="hidden" name="id" value="1"><button>Add to cart</button></form>'
      }
      const { domain } = yield* Fixture.open((request, response, base) => {
        const { pathname } = new URL(request.url ?? "/", base)
        const body = pages[pathname]
        const links = pathname === "/" ? "" : '<a href="/lamps-and-lights.html">Lamps</a>'
        send(response, body === undefined ? 404 : 200, page(base, "Brass", `${links}${body ?? ""}`))
      })
      const { checks, requests } = yield* scanOf(domain)
      assert.isTrue(requests.some(({ url }) => url.endsWith("/brass-desk-lamp.html")))
      assert.strictEqual(checks.find(({ id }) => id === "product_json_ld")?.status, "fail", "it is judged as a product")
    }).pipe(Effect.scoped)
  )
})
