import { assert, describe, it } from "@effect/vitest"
import { problemLine } from "../../../src/domain/protocol/Problems.ts"
import { judgeUcp, ucpReleases } from "../../../src/domain/protocol/Ucp.ts"
import { type Profile, profileOf } from "../../shops/UcpProfiles.ts"

const site = new URL("https://shop.example/.well-known/ucp")
const base = "https://shop.example"
const profile = (release: (typeof ucpReleases)[number]): Profile =>
  profileOf(release, { base, transports: ["mcp", "rest"] })

const judged = (value: unknown) => {
  const found = judgeUcp(value, site)
  if (found === undefined) return assert.fail("no profile")
  return {
    ...found,
    lines: found.problems.map((problem) => `${problem.isFatal ? "fatal" : "note"} ${problemLine(problem)}`)
  }
}

describe("a valid profile", () => {
  for (const release of ucpReleases) {
    it(`of ${release} has no problems, and its shopping service can be called over both transports`, () => {
      const found = judged(profile(release))
      assert.deepStrictEqual(found.lines, [])
      assert.isTrue(found.isValid)
      assert.deepStrictEqual([found.version, found.release], [release, release])
      assert.deepStrictEqual(
        found.callable.map(({ endpoint, transport }) => [transport, endpoint.href]),
        [
          ["mcp", "https://shop.example/ucp/mcp"],
          ["rest", "https://shop.example/ucp/rest"]
        ]
      )
      assert.deepStrictEqual(found.capabilities.slice(0, 2), ["dev.ucp.shopping.checkout", "dev.ucp.shopping.cart"])
      assert.deepStrictEqual(found.paymentHandlers, ["com.example.cards"])
    })
  }
})

describe("the shape of one release under the version of another", () => {
  it("2026-01-11 as 2026-08-25 is refused, with what changed", () => {
    const wrong = profile("2026-01-11")
    wrong.ucp.version = "2026-08-25"
    const found = judged(wrong)
    assert.isFalse(found.isValid)
    assert.includeMembers(found.lines, [
      'fatal ucp.services["dev.ucp.shopping"]: must be a list: objects are of 2026-01-11',
      "fatal ucp.capabilities: must be an object",
      "fatal ucp.payment_handlers: is missing: it must be there even if empty",
      "note signing_keys: clients of 2026-08-25 read keys: these keys are not found"
    ])
  })
  it("2026-08-25 as 2026-01-11 is refused", () => {
    const wrong = profile("2026-08-25")
    wrong.ucp.version = "2026-01-11"
    const found = judged(wrong)
    assert.isFalse(found.isValid)
    assert.includeMembers(found.lines, [
      'fatal ucp.services["dev.ucp.shopping"]: must be an object: lists came with 2026-01-23',
      "fatal ucp.capabilities: must be a list",
      "note keys: belongs to 2026-08-25; this release reads signing_keys"
    ])
  })
  it("the lists of the first release are accepted under 2026-01-23, with a note", () => {
    const old = profile("2026-01-11")
    old.ucp.version = "2026-01-23"
    const found = judged(old)
    assert.isTrue(found.isValid)
    assert.deepStrictEqual(found.lines, [
      "note ucp.capabilities: 2026-01-23 has maps by name; the lists of 2026-01-11 were accepted"
    ])
    assert.strictEqual(found.callable.length, 2)
  })
})

describe("the version", () => {
  const withVersion = (version: unknown) => {
    const some = profile("2026-08-25")
    some.ucp.version = version
    return judged(some)
  }
  it("a newer one is judged by the newest release known, and says so", () => {
    const found = withVersion("2027-03-01")
    assert.isTrue(found.isValid)
    assert.strictEqual(found.release, "2026-08-25")
    assert.include(
      found.lines,
      "note ucp.version: 2027-03-01 is newer than every release known here: judged by 2026-08-25"
    )
  })
  it("one between two releases is judged by the earlier", () => {
    assert.include(
      withVersion("2026-09-01").lines,
      "note ucp.version: 2026-09-01 is newer than every release known here: judged by 2026-08-25"
    )
    assert.strictEqual(withVersion("2026-05-01").release, "2026-04-08")
  })
  it("a missing or malformed one is fatal", () => {
    assert.include(withVersion(undefined).lines, "fatal ucp.version: is missing")
    assert.include(withVersion("v1").lines, 'fatal ucp.version: must be a date such as 2026-08-25, not "v1"')
    assert.include(withVersion(20260825).lines, "fatal ucp.version: must be a text")
    assert.isNull(withVersion("v1").version)
  })
})

describe("what is wrong with a profile of 2026-08-25", () => {
  const wrong = (change: (some: Profile) => void): ReadonlyArray<string> => {
    const some = profile("2026-08-25")
    change(some)
    return judged(some).lines
  }
  const service = (some: Profile) => some.ucp.services["dev.ucp.shopping"][0]
  const capability = (some: Profile) => some.ucp.capabilities["dev.ucp.shopping.checkout"][0]
  const at = 'ucp.services["dev.ucp.shopping"][0]'

  const cases: ReadonlyArray<readonly [string, (some: Profile) => void, string]> = [
    [
      "an endpoint without TLS",
      (some) => (service(some).endpoint = "http://shop.example/ucp"),
      `fatal ${at}.endpoint: must use https`
    ],
    ["no endpoint", (some) => delete service(some).endpoint, `fatal ${at}.endpoint: is missing: nobody can call it`],
    [
      "a relative endpoint",
      (some) => (service(some).endpoint = "/ucp"),
      `fatal ${at}.endpoint: must be an absolute URL`
    ],
    [
      "credentials in it",
      (some) => (service(some).endpoint = "https://a:b@shop.example/"),
      `fatal ${at}.endpoint: must not carry credentials`
    ],
    [
      "a user name in it",
      (some) => (service(some).endpoint = "https://a@shop.example/"),
      `fatal ${at}.endpoint: must not carry credentials`
    ],
    [
      "a password in it",
      (some) => (service(some).endpoint = "https://:b@shop.example/"),
      `fatal ${at}.endpoint: must not carry credentials`
    ],
    [
      "an unknown transport",
      (some) => (service(some).transport = "soap"),
      `fatal ${at}.transport: must be one of rest, mcp, a2a, embedded`
    ],
    ["no services", (some) => delete some.ucp.services, "fatal ucp.services: is missing"],
    ["empty services", (some) => (some.ucp.services = {}), "note ucp.services: declares no service that can be called"],
    [
      "no payment handlers",
      (some) => delete some.ucp.payment_handlers,
      "fatal ucp.payment_handlers: is missing: it must be there even if empty"
    ],
    [
      "a foreign schema",
      (some) => (capability(some).schema = "https://elsewhere.example/checkout.json"),
      'note ucp.capabilities["dev.ucp.shopping.checkout"][0].schema: is served by elsewhere.example, which does not own dev.ucp.shopping.checkout'
    ],
    [
      "a look-alike host",
      (some) => (capability(some).schema = "https://ucp.dev.elsewhere.example/checkout.json"),
      'note ucp.capabilities["dev.ucp.shopping.checkout"][0].schema: is served by ucp.dev.elsewhere.example, which does not own dev.ucp.shopping.checkout'
    ],
    [
      "a capability without schema",
      (some) => delete capability(some).schema,
      'note ucp.capabilities["dev.ucp.shopping.checkout"][0].schema: is missing'
    ],
    [
      "a bad parent",
      (some) => (capability(some).extends = []),
      'fatal ucp.capabilities["dev.ucp.shopping.checkout"][0].extends: must be a name or a list of names'
    ],
    ["a key without id", (some) => delete some.keys[0].kid, "fatal keys[0].kid: is missing"],
    ["a private key", (some) => (some.keys[0].d = "secret"), "fatal keys[0]: publishes the private part of a key (d)"],
    ["half a key", (some) => delete some.keys[0].y, "note keys[0]: a key of type EC needs y"],
    ["a key of another algorithm", (some) => (some.keys[0].alg = "EdDSA"), "note keys[0].alg: must be ES256 for P-256"],
    ["keys that are no list", (some) => (some.keys = {}), "fatal keys: must be a list"],
    [
      "another version of the service",
      (some) => {
        for (const entry of some.ucp.services["dev.ucp.shopping"]) entry.version = "2026-04-08"
      },
      'note ucp.services["dev.ucp.shopping"]: has no entry of version 2026-08-25, which the profile declares'
    ],
    [
      "a supported version that leads nowhere",
      (some) => (some.ucp.supported_versions = { "2026-04-08": "old" }),
      'fatal ucp.supported_versions["2026-04-08"]: must be the URL of a profile'
    ],
    ["a status of nobody", (some) => (some.ucp.status = "fine"), "fatal ucp.status: must be success or error"],
    [
      "a name that is no domain",
      (some) => (some.ucp.services["Shopping"] = []),
      "note ucp.services.Shopping: is no reversed domain name"
    ]
  ]
  for (const [name, change, line] of cases) it(name, () => assert.include(wrong(change), line))

  it("names of 2026-08-25 may have hyphens and leading digits, those of April may not", () => {
    const named = (release: "2026-04-08" | "2026-08-25") => {
      const some = profile(release)
      some.ucp.capabilities["com.2example-shop.gift"] = [
        { version: release, schema: "https://2example-shop.com/gift.json" }
      ]
      return judged(some).lines
    }
    assert.deepStrictEqual(named("2026-08-25"), [])
    assert.deepStrictEqual(named("2026-04-08"), [
      'note ucp.capabilities["com.2example-shop.gift"]: is no reversed domain name'
    ])
  })
  it("a vendor's own capability is served from its own domain, also below a public suffix of two labels", () => {
    assert.deepStrictEqual(
      wrong((some) => {
        some.ucp.capabilities["uk.co.example.loyalty"] = [
          { version: "2026-08-25", schema: "https://schemas.example.co.uk/l.json" }
        ]
      }),
      []
    )
  })
})

describe("what is no profile", () => {
  for (const value of [null, 1, "ucp", [], {}, { ucp: "1.0" }, { ucp: [] }]) {
    it(JSON.stringify(value), () => assert.isUndefined(judgeUcp(value, site)))
  }
  it("a site without TLS may have such endpoints of its own, and only those", () => {
    const local = new URL("http://127.0.0.1:7742/.well-known/ucp")
    const own = profileOf("2026-08-25", { base: "http://127.0.0.1:7742", transports: ["rest"] })
    assert.isTrue(judgeUcp(own, local)?.isValid)
    const other = profileOf("2026-08-25", { base: "http://127.0.0.1:7743", transports: ["rest"] })
    assert.isFalse(judgeUcp(other, local)?.isValid)
  })
  it("a profile of thousands of entries is read to a bound", () => {
    const some = profile("2026-08-25")
    some.ucp.services = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`com.example.s${at}`, [{}]]))
    const found = judged(some)
    assert.isFalse(found.isValid)
    assert.strictEqual(found.problems.length, 100)
  })
})
