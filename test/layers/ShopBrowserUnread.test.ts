import { gzipSync } from "node:zlib"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { mustStay } from "#layers/ShopBrowser/OrderLock.ts"
import { sentText } from "#layers/ShopBrowser/SentText.ts"
import { ShopBrowser } from "#services/ShopBrowser.ts"
import * as Fixture from "../shops/Fixture.ts"
import * as Harness from "./ShopBrowserHarness.ts"

const { missing } = Harness
const listed: Array<string> = []

const bytes = (text: string) => new TextEncoder().encode(text)
const packed = gzipSync("action=place_order")

describe("what a page sends", () => {
  it("is read as text, whatever language it is in", () => {
    assert.strictEqual(sentText(new Uint8Array(), {}), "")
    assert.strictEqual(sentText(bytes('{"plz":"東京\t"}\r\n'), {}), '{"plz":"東京\t"}\r\n')
    assert.strictEqual(sentText(bytes("a=1"), { "Content-Encoding": "identity" }), "a=1")
  })

  it("cannot be read when it is packed, said or unsaid, or is no text", () => {
    assert.isUndefined(sentText(bytes("a=1"), { "content-encoding": "gzip" }))
    assert.isUndefined(sentText(bytes("a=1"), { "Content-Encoding": "br" }))
    assert.isUndefined(sentText(packed, {}))
    assert.isUndefined(sentText(new Uint8Array([8, 1, 18, 3, 97, 98, 99]), {}))
    assert.isUndefined(sentText(new Uint8Array([0x70, 0xff]), {}))
  })

  it("cannot be read when it is more than a form holds: everybody else of the process would wait for it", () => {
    const part = 'Content-Disposition: form-data; name="a"\r\n\r\n1\r\n--x\r\n'
    for (const many of ["a&".repeat(1001), "a\n".repeat(1001), part.repeat(1001), "a".repeat(2_000_001)])
      assert.isUndefined(sentText(bytes(many), {}), many.slice(0, 60))
    for (const enough of [`${"a=1&".repeat(999)}b`, part.repeat(1000), `{${"\n".repeat(5000)}"a":"&"}`])
      assert.strictEqual(sentText(bytes(enough), {}), enough)
  })

  it("is read beside a file, which is no text, among the parts of a form", () => {
    const head =
      'Content-Disposition: form-data; name="a"\r\n\r\n1\r\n--x\r\nContent-Disposition: form-data; name="f"\r\n\r\n'
    assert.include(sentText(Buffer.concat([bytes(head), packed]), {}) ?? "", 'name="a"')
  })
})

describe("what cannot be read", () => {
  const stays = (method: string, address: string, body: string | undefined) =>
    mustStay({ method, url: new URL(address), body, isDocument: false })

  it("is never sent, as it may order; a look is", () => {
    assert.isTrue(stays("POST", "https://shop.example/api", undefined))
    assert.isTrue(stays("PUT", "https://shop.example/recaptcha/api2/reload", undefined))
    assert.isFalse(stays("GET", "https://shop.example/api", undefined))
    assert.isFalse(stays("POST", "https://shop.example/api", ""))
  })

  it("is sent to who tells people from programs: without them a form would do nothing, and they take no orders", () => {
    for (const address of [
      "https://www.google.com/recaptcha/api2/reload?k=1",
      "https://api.hcaptcha.com/getcaptcha/1",
      "https://challenges.cloudflare.com/cdn-cgi/challenge-platform/1"
    ])
      assert.isFalse(stays("POST", address, undefined), address)
    for (const address of [
      "https://hcaptcha.com.shop.example/order",
      "https://nothcaptcha.com/",
      "https://www.google.com/checkout/1"
    ])
      assert.isTrue(stays("POST", address, undefined), address)
  })
})

/** A shop that keeps its cart in the browser, and tells an address of it in a packed body. Counts what comes there. */
const shopOf = Effect.fnUntraced(function* (told: string) {
  const came: Array<string> = []
  const fixture = yield* Fixture.open((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://shop")
    if (request.method === "POST") came.push(pathname)
    const add = `<h1>Blue mug</h1><p>$12.00</p><button id="add">Add to cart</button><script>
      const packed = new Uint8Array(${JSON.stringify([...packed])})
      const headers = { "content-encoding": "gzip" }
      add.onclick = () => { localStorage.mug = "1"; fetch("${told}", { method: "POST", headers, body: packed }).catch(() => {}) }
    </script>`
    const line = '<ul><li>Blue mug <b>$12.00</b> <button>Remove</button></li></ul><a href="/checkout">Checkout</a>'
    const cart = `<main id="cart"></main><script>cart.innerHTML = localStorage.mug ? ${JSON.stringify(line)} : "Your cart is empty"</script>`
    const body = pathname === "/p/mug" ? add : pathname === "/cart" ? cart : ""
    response
      .setHeader("content-type", "text/html")
      .end(`<!doctype html><html lang="en"><title>Shop</title><a href="/cart">Cart</a>${body}</html>`)
  })
  listed.push(fixture.domain)
  const { rail } = yield* Harness.open(yield* ShopBrowser, fixture.url)
  const cart = yield* Harness.patient(rail).cart(Harness.mugOf(fixture.url, null))
  return { came, cart }
})

if (missing !== undefined) {
  it("packed bodies were not tried: this machine has no browser", () => assert.match(missing ?? "", /no browser/))
} else {
  layer(Harness.layer({ allowHosts: listed }))("a control that sends what cannot be read", (it) => {
    it.effect("may order by it, which is no fault of the shop", () =>
      Effect.gen(function* () {
        const { came, cart } = yield* shopOf("/api/add")
        assert.deepStrictEqual([came, cart.status, cart.blockers], [[], "unknown", []], cart.detail)
        assert.match(cart.detail, /may be an order, so it was stopped/)
      })
    )

    it.effect("to who only watches fills the cart as any other", () =>
      Effect.gen(function* () {
        const { came, cart } = yield* shopOf("/cdn-cgi/rum")
        assert.deepStrictEqual([came, cart.status], [[], "passed"], cart.detail)
      })
    )
  })
}
