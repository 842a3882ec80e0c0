import { assert, describe, it } from "vitest"
import { Cookies } from "#services/SiteVisits/Cookies.ts"

const now = Date.parse("2026-11-22T00:00:00Z")
/** What is sent to each address after `from` has set the cookies. */
const sent = (from: string, lines: ReadonlyArray<string>, ...to: ReadonlyArray<string>) => {
  const jar = new Cookies(100)
  jar.store(new URL(from), lines, now)
  return to.map((url) => jar.header(new URL(url), now))
}

describe("a cookie", () => {
  it("goes back to the host that set it alone, unless it is for the hosts below a name of its own", () => {
    const hosts = ["https://shop.com/", "https://www.shop.com/", "https://a.www.shop.com/", "https://myshop.com/"]
    assert.deepStrictEqual(sent("https://www.shop.com/", ["a=1"], ...hosts), ["", "a=1", "", ""])
    assert.deepStrictEqual(sent("https://www.shop.com/", ["a=1; Domain=.Shop.com"], ...hosts), [
      "a=1",
      "a=1",
      "a=1",
      ""
    ])
    assert.deepStrictEqual(sent("https://www.shop.com/", ["a=1; domain=www.shop.com"], ...hosts), [
      "",
      "a=1",
      "a=1",
      ""
    ])
  })

  it("is never for others: not for another host, a public suffix or an address", () => {
    assert.deepStrictEqual(
      sent("https://shop.com/", ["a=1; Domain=other.com"], "https://other.com/", "https://shop.com/"),
      ["", ""]
    )
    assert.deepStrictEqual(sent("https://shop.com/", ["a=1; Domain=www.shop.com"], "https://www.shop.com/"), [""])
    assert.deepStrictEqual(sent("https://shop.co.uk/", ["a=1; Domain=co.uk"], "https://other.co.uk/"), [""])
    assert.deepStrictEqual(sent("https://a.github.io/", ["a=1; Domain=github.io"], "https://b.github.io/"), [""])
    assert.deepStrictEqual(
      sent("https://github.io/", ["a=1; Domain=github.io"], "https://github.io/", "https://b.github.io/"),
      ["a=1", ""]
    )
    assert.deepStrictEqual(sent("http://127.0.0.1/", ["a=1; Domain=0.0.1"], "http://127.0.0.1/"), [""])
  })

  it("keeps to its path, its port and to safe connections", () => {
    const urls = ["https://shop.com/cart", "https://shop.com/cart/x", "https://shop.com/carts", "https://shop.com/"]
    assert.deepStrictEqual(sent("https://shop.com/", ["a=1; Path=/cart"], ...urls), ["a=1", "a=1", "", ""])
    assert.deepStrictEqual(sent("https://shop.com/cart/add", ["a=1"], ...urls), ["a=1", "a=1", "", ""])
    assert.deepStrictEqual(sent("https://shop.com/", ["a=1; Secure"], "https://shop.com/", "http://shop.com/"), [
      "a=1",
      ""
    ])
    assert.deepStrictEqual(sent("http://shop.com/", ["a=1; Secure"], "https://shop.com/"), [""])
    assert.deepStrictEqual(sent("http://127.0.0.1:1/", ["a=1; Secure"], "http://127.0.0.1:1/", "http://127.0.0.1:2/"), [
      "a=1",
      ""
    ])
  })

  it("ends when it says, is replaced by its name, and comes the longer path first", () => {
    const jar = new Cookies(100)
    const url = new URL("https://shop.com/cart/")
    jar.store(url, ["a=1; Path=/", "b=2; Max-Age=10", "c=3; Expires=Sun, 22 Nov 2026 00:00:10 GMT"], now)
    assert.strictEqual(jar.header(url, now), "b=2; c=3; a=1")
    assert.strictEqual(jar.header(url, now + 10_000), "a=1")
    jar.store(url, ["a=4; Path=/", "b=; Max-Age=0", "c=; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], now)
    assert.strictEqual(jar.header(url, now), "a=4")
  })

  it("that breaks its own promise, or is too large or no text, is not kept", () => {
    const bad = [
      "__Host-a=1; Path=/",
      "__Secure-a=1",
      `a=${"x".repeat(4096)}`,
      "a=b\u0000c",
      "",
      ";",
      "__Host-a=1; Secure; Domain=shop.com; Path=/"
    ]
    assert.deepStrictEqual(sent("https://shop.com/", bad, "https://shop.com/"), [""])
    assert.deepStrictEqual(sent("https://shop.com/", ["__Host-a=1; Secure; Path=/", "plain"], "https://shop.com/"), [
      "__Host-a=1; plain"
    ])
  })
})
