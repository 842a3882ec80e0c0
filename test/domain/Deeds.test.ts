import { assert, describe, it } from "vitest"
import { isAsideAddress, isReviewPage, soundsLikeDeed, takesOrders } from "#domain/Deeds.ts"
import { cpuTime } from "./CpuTime.ts"

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

describe("an address that a page made up", () => {
  it("says by its words what is done there", () => {
    for (const path of ["/kaufvorgang-abschluss", "/auftragsabschluss.html", "/bestell_abschicken/abschluss"])
      assert.isTrue(takesOrders(url(path)), path)
    for (const path of ["/newsletter/", "/filiale-reservieren", "/store-hold"])
      assert.isTrue(isAsideAddress(url(path)), path)
    assert.isFalse(isAsideAddress(url("/cart/add")))
  })

  it.each([
    ["", "bestell"],
    ["", "auftrags"],
    ["", "kauf"],
    ["filial", "reservi"]
  ])("is judged in no time, however long: %s%s…", (first, word) => {
    const long = url(`/${first}${word.repeat(40_000 / word.length)}!`)
    const before = cpuTime()
    assert.isFalse(takesOrders(long) || isAsideAddress(long))
    assert.isBelow(cpuTime() - before, 250)
  })
})
