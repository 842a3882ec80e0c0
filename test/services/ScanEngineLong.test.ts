import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fixture from "../shops/Fixture.ts"
import { send } from "../shops/Storefront.ts"
import { scanOf } from "./ScanEngineHarness.ts"

const shop = Fixture.open((request, response) => {
  const home = `<!doctype html><html lang="en"><title>Blue</title><h1>Blue</h1><p>${"Made by hand. ".repeat(50)}</p><p hidden>${"x".repeat(3_300_000)}</p><a href="/products/kettle">Kettle</a><a href="/cart">Cart</a></html>`
  return request.url === "/" ? send(response, 200, home) : send(response, 404, "Not found")
})

describe("a scan of a home page that is longer than is read", () => {
  it.live("does not know whether anything is for sale behind that, and says how little that is", () =>
    Effect.gen(function* () {
      const { checks, confidence, readiness_score } = yield* scanOf((yield* shop).domain)
      const products = checks.filter(({ id }) => /^(?:product|offer|price|shipping|variants)_/.test(id))
      assert.isAbove(products.length, 4)
      assert.deepStrictEqual([...new Set(products.map(({ status }) => status))], ["unknown"])
      assert.strictEqual(confidence, "low")
      assert.isNull(readiness_score)
    }).pipe(Effect.scoped)
  )
})
