import { assert, it } from "@effect/vitest"
import { isShipping } from "#domain/ShippingWords.ts"

it("a choice of shipping is told by its words, and being written to by post is none", () => {
  assert.isTrue(isShipping("Post"))
  assert.isTrue(isShipping("Post", "delivery"))
  assert.isTrue(isShipping("2.50", "shipping_method"))
  assert.isTrue(isShipping("Fixed Flat Rate") && isShipping("Best Way Table Rate"), "as Magento calls them")
  assert.isFalse(isShipping("Post", "contact_by"))
  assert.isFalse(isShipping("By post", "marketing-consent"))
  assert.isFalse(isShipping("Cash on delivery"))
  assert.isFalse(isShipping("Deliver to this address"))
})
