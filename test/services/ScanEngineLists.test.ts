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

  it.live("goes on to a category where the home page shows no product, and judges one that wants a choice first", () =>
    Effect.gen(function* () {
      const choices =
        "<h2>Desk lamp</h2><p>From $59.90</p><button>S</button><button>L</button><button disabled>Select variant</button>"
      const pages: Readonly<Record<string, readonly [title: string, body: string]>> = {
        "/": ["Brass", '<a href="/en/categories/lamps">Lamps</a>'],
        "/en/categories/lamps": ["Lamps | Brass", '<a href="/en/products/desk-lamp">Desk lamp $59.90</a>'],
        "/en/products/desk-lamp": ["Desk lamp | Brass", choices]
      }
      const { domain } = yield* Fixture.open((request, response, base) => {
        const [title, body] = pages[new URL(request.url ?? "/", base).pathname] ?? []
        const html = `<!doctype html><html lang="en"><title>${title}</title><a href="/en/cart">Cart (0)</a><a href="/en/categories/lamps">Lamps</a>${body}</html>`
        send(response, title === undefined ? 404 : 200, html)
      })
      const { checks } = yield* scanOf(domain)
      const judged = checks.find(({ id }) => id === "product_json_ld")
      assert.deepInclude(judged ?? {}, { status: "fail" })
      assert.match(judged?.evidence?.url ?? "", /\/products\/desk-lamp$/)
    }).pipe(Effect.scoped)
  )
})
