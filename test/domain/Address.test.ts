import { BlockList } from "node:net"
import { Result } from "effect"
import { assert, describe, it } from "vitest"
import { addressKind, hostKind } from "#domain/Address.ts"
import { type OriginRules, parseOriginUrl, refuseTarget } from "#domain/OriginUrl.ts"

const strict: OriginRules = { allowHosts: [], allowLoopback: false, ownHosts: [] }
const outcome = (url: string, rules: OriginRules = strict) => {
  const result = parseOriginUrl(url, rules)
  return Result.isSuccess(result) ? result.success.origin : result.failure
}

const specialRanges = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4]
] as const

const dotted = (n: number) => [n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255].join(".")
const hexPair = (n: number) => `${(n >>> 16).toString(16)}:${(n & 0xffff).toString(16)}`
const numeric = (address: string) => address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0)

/** The edges of every special range, their neighbours outside, and evenly scattered addresses. */
const sample = [
  ...specialRanges.flatMap(([first, bits]) => {
    const start = numeric(first)
    const size = 2 ** (32 - bits)
    return [start - 1, start, start + size - 1, start + size].map((n) => (n + 2 ** 32) % 2 ** 32)
  }),
  ...Array.from({ length: 20_000 }, (_, i) => (i * 2654435761) % 2 ** 32)
]

describe("an IPv4 address", () => {
  it("is public exactly outside every special range", () => {
    const special = new BlockList()
    for (const [first, bits] of specialRanges) special.addSubnet(first, bits)
    for (const n of sample) {
      const address = dotted(n)
      assert.strictEqual(addressKind(address) === "public", !special.check(address), address)
    }
  })

  it("inside IPv6 is judged as itself, or refused with its range", () => {
    for (const n of sample.slice(0, 2000)) {
      const kind = addressKind(dotted(n))
      for (const prefix of ["::ffff:", "0:0:0:0:0:FFFF:", "64:ff9b::"]) {
        assert.strictEqual(addressKind(prefix + dotted(n)), kind, prefix + dotted(n))
        assert.strictEqual(addressKind(prefix + hexPair(n)), kind, prefix + hexPair(n))
      }
      for (const address of [
        `64:ff9b:1::${dotted(n)}`,
        `2002:${hexPair(n)}::`,
        `2001:0:${hexPair(n)}::1`,
        `::${hexPair(n)}`
      ]) {
        assert.notStrictEqual(addressKind(address), "public", address)
      }
    }
  })

  it("in any spelling but four plain decimal numbers is no address", () => {
    for (const text of [
      "127.1",
      "0x7f.0.0.1",
      "0177.0.0.1",
      "2130706433",
      "1.2.3.256",
      "1.2.3",
      "1.2.3.4.5",
      " 1.2.3.4",
      ""
    ]) {
      assert.strictEqual(addressKind(text), "invalid", text)
    }
  })
})

describe("an IPv6 address", () => {
  it.each([
    ["2606:4700::1111", "public"],
    ["2a00:1450:4001:82a::200e", "public"],
    ["2620:0:ccc::2", "public"],
    ["::1", "loopback"],
    ["0:0:0:0:0:0:0:1", "loopback"],
    ["::ffff:127.0.0.1", "loopback"],
    ["::7f00:1", "loopback"],
    ["::", "special"],
    ["::8.8.8.8", "special"],
    ["64:ff9b:1::808:808", "special"],
    ["64:ff9b::1:808:808", "special"],
    ["100::1", "special"],
    ["2001::1", "special"],
    ["2001:10::1", "special"],
    ["2001:20::1", "special"],
    ["2001:1ff:ffff::", "special"],
    ["2001:200::1", "public"],
    ["2001:db8::1", "special"],
    ["2001:db9::1", "public"],
    ["2002:808:808::1", "special"],
    ["3fff::1", "special"],
    ["3fff:fff:ffff::1", "special"],
    ["3fff:1000::1", "public"],
    ["4000::1", "special"],
    ["5f00::1", "special"],
    ["fc00::1", "special"],
    ["fd12:3456::1", "special"],
    ["fe80::1", "special"],
    ["fe80::1%eth0", "special"],
    ["fec0::1", "special"],
    ["ff02::1", "special"],
    ["1::2::3", "invalid"],
    ["1:2:3:4:5:6:7", "invalid"],
    ["1:2:3:4:5:6:7:8:9", "invalid"],
    ["1:2:3:4:5:6:7:8::", "invalid"],
    ["12345::", "invalid"],
    ["::ffff:1.2.3", "invalid"],
    [":::", "invalid"]
  ])("%s is %s", (text, kind) => {
    assert.strictEqual(addressKind(text), kind)
  })
})

describe("the host of a parsed URL", () => {
  it.each([
    ["http://127.1/", "loopback"],
    ["http://0x7f000001/", "loopback"],
    ["http://2130706433/", "loopback"],
    ["http://0177.0.0.1/", "loopback"],
    ["http://127.0.0.1./", "loopback"],
    ["http://[::ffff:127.0.0.1]/", "loopback"],
    ["http://１２７.０.０.１/", "loopback"],
    ["http://127。0。0。1/", "loopback"],
    ["http://localhost/", "loopback"],
    ["http://LOCALHOST./", "loopback"],
    ["http://a.localhost/", "loopback"],
    ["http://0/", "special"],
    ["http://[64:ff9b::a00:1]/", "special"],
    ["http://[2002:a00:1::]/", "special"],
    ["http://[::1:ffff:808:808]/", "special"],
    ["http://169.254.169.254/", "special"],
    ["http://metadata.google.internal/", "special"],
    ["http://printer.local./", "special"],
    ["http://router.home.arpa/", "special"],
    ["http://nas.lan/", "special"],
    ["http://wiki.intranet/", "special"],
    ["http://postgres/", "special"],
    ["http://8.8.8.8/", "public"],
    ["http://api.example.com/", "name"],
    ["http://localhost.example.com/", "name"]
  ])("%s is %s", (url, kind) => {
    assert.strictEqual(hostKind(new URL(url).hostname), kind)
  })
})

describe("an origin URL", () => {
  it.each([
    ["https://api.example.com/v1", "https://api.example.com"],
    ["http://api.example.com", "http://api.example.com"],
    ["https://API.Example.com:443/", "https://api.example.com"],
    ["https://bücher.example/", "https://xn--bcher-kva.example"],
    [`https://api.example.com/${"a".repeat(2048)}`, "TooLong"],
    ["not a url", "NotAUrl"],
    ["", "NotAUrl"],
    ["https://api.example.com/\r\nX-Admin: 1", "NotAUrl"],
    ["https://api.exam\tple.com/", "NotAUrl"],
    ["https://api.example.com/\n", "NotAUrl"],
    ["https://api.example.com/a b", "https://api.example.com"],
    ["ftp://api.example.com/", "SchemeNotAllowed"],
    ["file:///etc/passwd", "SchemeNotAllowed"],
    ["javascript:alert(1)", "SchemeNotAllowed"],
    ["https://user:pass@api.example.com/", "UserInfo"],
    ["https://user@api.example.com/", "UserInfo"],
    ["https://:pass@api.example.com/", "UserInfo"],
    ["https://api.example.com/#top", "Fragment"],
    ["https://api.example.com/#", "Fragment"],
    ["https://api.example.com:22/", "PortNotAllowed"],
    ["http://api.example.com:6379/", "PortNotAllowed"],
    ["http://10.1.2.3/", "AddressNotPublic"],
    ["https://[::1]/", "AddressNotPublic"],
    ["http://localhost/", "AddressNotPublic"]
  ])("%s gives %s", (url, expected) => {
    assert.strictEqual(outcome(url), expected)
  })

  it("may be private and on any port when exactly that host and port is listed", () => {
    const rules = { ...strict, allowHosts: ["10.1.2.3:8080", "api.example.com:8443"] }
    assert.strictEqual(outcome("http://10.1.2.3:8080/", rules), "http://10.1.2.3:8080")
    assert.strictEqual(outcome("https://api.example.com:8443/", rules), "https://api.example.com:8443")
    assert.strictEqual(outcome("http://10.1.2.3:8081/", rules), "PortNotAllowed")
    assert.strictEqual(outcome("http://10.1.2.3/", rules), "AddressNotPublic")
  })

  it("may be on loopback, on any port, where loopback is allowed, and nowhere else private", () => {
    const rules = { ...strict, allowLoopback: true }
    assert.strictEqual(outcome("http://localhost:3000/", rules), "http://localhost:3000")
    assert.strictEqual(outcome("http://[::1]:3000/", rules), "http://[::1]:3000")
    assert.strictEqual(outcome("http://10.0.0.1/", rules), "AddressNotPublic")
  })

  it("is never where we are reached ourselves, even when listed", () => {
    const rules = {
      allowLoopback: true,
      allowHosts: ["pay.example.com:443"],
      ownHosts: ["pay.example.com", "127.0.0.1:4020", "api.example.com:443"]
    }
    assert.strictEqual(outcome("https://api.example.com/", rules), "OwnHost")
    assert.strictEqual(refuseTarget("127.0.0.1", 443, rules), undefined, "only its port is ours")
    assert.strictEqual(refuseTarget("other.example.com", 4020, rules), "PortNotAllowed", "only on loopback is it ours")
    assert.strictEqual(outcome("https://pay.example.com/", rules), "OwnHost")
    assert.strictEqual(outcome("https://pay.example.com./", rules), "OwnHost")
    for (const host of ["127.0.0.1", "localhost", "127.9.9.9", "[::1]"]) {
      assert.strictEqual(refuseTarget(host, 4020, rules), "OwnHost", host)
      assert.strictEqual(refuseTarget(host, 4021, rules), undefined, host)
    }
  })
})
