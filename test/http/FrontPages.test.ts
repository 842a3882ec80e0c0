import { assert, describe, it } from "vitest"
import { dashboardPage, dashboardPlaces, homePage } from "#http/FrontPages.ts"
import { described } from "./Description.ts"

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
