import { Result } from "effect"
import { assert, describe, it } from "vitest"
import { homeOf, merchantDomain } from "#domain/MerchantDomain.ts"

const rules = {
  allowHosts: ["127.0.0.1:7742", "shop.example:7742", "localhost:8443", "127.0.0.1:4020"],
  allowLoopback: true,
  ownHosts: ["turnpike.io", "api.turnpike.io:8443", "127.0.0.1:4020"]
}
const read = (text: string) => {
  const result = merchantDomain(text, rules)
  return Result.isSuccess(result) ? result.success : `refused: ${result.failure}`
}

describe("the domain of a merchant", () => {
  it.each([
    ["shop.com", "shop.com"],
    ["  Shop.COM. ", "shop.com"],
    ["https://Shop.Example.com:443/x?y", "shop.example.com"],
    ["http://user:secret@shop.com:8080#part", "shop.com"],
    ["//shop.com/a", "shop.com"],
    ["shop.com:8080/a", "shop.com"],
    ["shop.com?x=https://other.com/", "shop.com"],
    ["https://shop.com@other.com/", "other.com"],
    ["bücher.de", "xn--bcher-kva.de"],
    ["XN--BCHER-KVA.de", "xn--bcher-kva.de"],
    ["ｓｈｏｐ。com", "shop.com"],
    ["github.io", "github.io"],
    ["a-b.co.uk", "a-b.co.uk"]
  ])("of %j is %j", (text, domain) => assert.strictEqual(read(text), domain))

  it.each(["127.0.0.1:7742", "http://127.0.0.1:7742/", "shop.example:7742", "SHOP.example:7742", "localhost:8443"])(
    "is the pair itself where the deployment lists it: %j",
    (text) => assert.strictEqual(read(text), (text.match(/[\w.]+:\d+/)?.[0] ?? "").toLowerCase())
  )

  it.each([
    ["127.1:7742", "IpAddress"],
    ["0x7f.1:7742", "IpAddress"],
    ["127.0.0.1", "IpAddress"],
    ["127.0.0.1:7743", "IpAddress"],
    ["2130706433", "IpAddress"],
    ["0177.0.0.1", "IpAddress"],
    ["1.1.1.1", "IpAddress"],
    ["１２７.０.０.１", "IpAddress"],
    ["[::1]", "IpAddress"],
    ["::1", "IpAddress"],
    ["::ffff:10.0.0.1", "IpAddress"],
    ["[::ffff:7f00:1]:80", "IpAddress"],
    ["fe80::1%eth0", "IpAddress"],
    ["169.254.169.254.", "IpAddress"],
    ["intranet", "SingleLabel"],
    ["com", "SingleLabel"],
    ["localhost", "ReservedName"],
    ["localhost:80", "ReservedName"],
    ["shop.localhost", "ReservedName"],
    ["shop.test", "ReservedName"],
    ["shop.example", "ReservedName"],
    ["shop.example:7743", "ReservedName"],
    ["shop.invalid", "ReservedName"],
    ["printer.local", "ReservedName"],
    ["shopabc.onion", "ReservedName"],
    ["metadata.google.internal", "ReservedName"],
    ["nas.home.arpa", "ReservedName"],
    ["1.0.0.127.in-addr.arpa", "ReservedName"],
    ["turnpike.io", "OwnHost"],
    ["https://TURNPIKE.io.:9999/v1", "OwnHost"],
    ["api.turnpike.io", "OwnHost"],
    ["127.0.0.1:4020", "OwnHost"],
    ["", "NotADomain"],
    [".", "NotADomain"],
    ["shop..com", "NotADomain"],
    ["-shop.com", "NotADomain"],
    ["shop_1.com", "NotADomain"],
    ["shop com", "NotADomain"],
    ["sh\u0000op.com", "NotADomain"],
    ["shop%2ecom", "NotADomain"],
    ["shop.com\\@127.0.0.1", "NotADomain"],
    ["shop.123", "NotADomain"],
    ["shop.com:99999", "NotADomain"],
    ["ftp://shop.com", "NotADomain"],
    ["file:///etc/passwd", "NotADomain"],
    ["javascript:alert(1)", "NotADomain"],
    [`${"a".repeat(64)}.com`, "NotADomain"],
    [`${"abc.".repeat(70)}com`, "TooLong"],
    ["a".repeat(2049), "TooLong"]
  ])("is not found in %j: %s", (text, reason) => assert.strictEqual(read(text), `refused: ${reason}`))

  it("begins at its https home, and a listed pair at http unless its port speaks TLS by custom", () => {
    assert.deepStrictEqual(
      ["shop.com", "127.0.0.1:7742", "shop.example:443", "localhost:8443", "shop.example:80"].map(
        (d) => homeOf(d).href
      ),
      [
        "https://shop.com/",
        "http://127.0.0.1:7742/",
        "https://shop.example/",
        "https://localhost:8443/",
        "http://shop.example/"
      ]
    )
  })
})
