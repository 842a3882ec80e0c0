import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { dashboardPage, dashboardPlaces, homePage } from "#http/FrontPages.ts"
import { described } from "./Description.ts"
import * as Harness from "./PlatformHarness.ts"
import { ask, entrance } from "./PlatformHarness.ts"

const publicUrl = "https://example.com/turnpike"

describe("the pages where visitors arrive", () => {
  it("the one in place of a dashboard names operations that there are", () => {
    const known = described.map(({ method, path }) => `${method.toUpperCase()} ${path}`)
    const page = dashboardPage(publicUrl)
    for (const [, operation] of dashboardPlaces) {
      assert.include(known, operation)
      assert.include(page, `<code>${operation}</code>`)
    }
  })

  it("the home page says whether the money is real", () => {
    assert.include(homePage(publicUrl, "sandbox"), "test money")
    assert.notInclude(homePage(publicUrl, "live"), "test money")
  })
})

layer(Harness.layer(), { excludeTestServices: true, timeout: "60 seconds" })("every page of ours", (it) => {
  const pages = ["/", "/dashboard", "/docs", "/docs/errors", "/docs/scanner"]

  it.effect("lets its own icon be shown, for which Firefox asks the policy of the page", () =>
    Effect.gen(function* () {
      const { base } = yield* entrance
      for (const path of pages) {
        const { headers } = yield* ask(base + path)
        assert.match(headers.get("content-security-policy") ?? "", /; img-src 'self'[; ]/, path)
      }
    })
  )

  it.effect("is set in the size of letters that its reader's browser is set to", () =>
    Effect.gen(function* () {
      const { base } = yield* entrance
      for (const path of pages.filter((path) => path !== "/docs")) {
        assert.match((yield* ask(base + path)).text, /body ?\{ ?font: ?1rem\//, path)
      }
    })
  )
})
