import { assert, describe, it } from "vitest"
import { isReviewPage, soundsLikeDeed } from "#domain/Deeds.ts"

const url = (path: string, host = "shop.example") => new URL(path, `https://${host}`)

describe("a platform's page on which an order is looked at", () => {
  it("may be looked at when the platform's page before it leads there, though its address sounds like the deed", () => {
    assert.isTrue(soundsLikeDeed(url("/checkout/confirm")))
    for (const from of ["/account/register", "/checkout/register", "/checkout/cart", "/de/checkout/register"])
      assert.isTrue(isReviewPage(url(from), url("/checkout/confirm")), from)
    assert.isTrue(isReviewPage(url("/en/checkout/register"), url("/en/checkout/confirm?redirected=1")))
  })

  it("may not from anywhere else, at another host, or with something that orders", () => {
    for (const from of ["/", "/cart", "/checkout", "/checkout/order"])
      assert.isFalse(isReviewPage(url(from), url("/checkout/confirm")), from)
    assert.isFalse(isReviewPage(url("/checkout/register", "other.example"), url("/checkout/confirm")))
    for (const to of ["/order/confirm", "/checkout/confirm/pay", "/checkout/order", "/checkout/confirm?place_order=1"])
      assert.isFalse(isReviewPage(url("/checkout/register"), url(to)), to)
  })
})
