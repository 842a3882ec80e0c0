import { assert, describe, it } from "vitest"
import * as Shopify from "../shops/Shopify.ts"
import { line, outcomeOf } from "./ShoppingEngineHarness.ts"

describe("a test of a Shopify-shaped shop", () => {
  it("leaves nothing in a cart that only scripts empty, and that the forms of its pages filled as well", async () => {
    const outcome = await outcomeOf(Shopify.open({ onlyHumanPayment: true, scriptedCart: true }))
    assert.strictEqual(line(outcome), "discovery selection cart checkout! payment?")
  })

  it("is not blamed for what it sells by subscription alone, which a test does not buy", async () => {
    const outcome = await outcomeOf(Shopify.open({ onlySubscribed: true }))
    assert.deepStrictEqual([line(outcome), outcome.blockers], ["discovery selection cart? checkout- payment-", []])
    assert.include(outcome.steps[2]?.detail, "only be purchased with a selling plan")
  })
})
