import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { ucpReleases } from "../../src/domain/protocol/Ucp.ts"
import * as UcpShop from "../shops/UcpShop.ts"
import { look } from "./ProtocolsHarness.ts"

const judged = ["ucp_profile", "ucp_functional", "mcp_server"] as const

describe("a shop that speaks UCP", () => {
  for (const release of ucpReleases) {
    it.live(`in release ${release} over MCP: confirmed by one call, and its MCP server with it`, () =>
      Effect.gen(function* () {
        const shop = yield* UcpShop.open({ release })
        const seen = yield* look(shop)
        assert.deepStrictEqual(judged.map(seen.status), ["pass", "pass", "pass"])
        assert.deepStrictEqual([seen.protocol("ucp"), seen.protocol("mcp")], ["confirmed", "confirmed"])
        assert.deepStrictEqual(seen.problems("ucp"), [])
        const { ucp } = seen.findings
        assert.deepStrictEqual(
          [ucp?.version, ucp?.transport, ucp?.endpoint.pathname, ucp?.tools.includes("create_checkout")],
          [release, "mcp", "/ucp/mcp", true]
        )
        assert.deepStrictEqual(seen.findings.paymentHandlers, ["com.example.cards"])
        assert.deepStrictEqual(
          seen.asked.filter((line) => line.startsWith("POST")),
          ["POST /ucp/mcp"]
        )
      })
    )
    it.live(`in release ${release} over REST: an unknown session is answered in UCP`, () =>
      Effect.gen(function* () {
        const shop = yield* UcpShop.open({ release, transports: ["rest"] })
        const seen = yield* look(shop)
        assert.deepStrictEqual(judged.map(seen.status), ["pass", "pass", "fail"])
        const { ucp } = seen.findings
        assert.deepStrictEqual([ucp?.transport, ucp?.tools.length], ["rest", 8])
      })
    )
  }
  it.live("answers that come as a stream of events are read", () =>
    Effect.gen(function* () {
      const seen = yield* look(yield* UcpShop.open({ release: "2026-08-25", streams: true }))
      assert.deepStrictEqual(judged.map(seen.status), ["pass", "pass", "pass"])
    })
  )
  it.live("of Shopify's making is credited to the platform", () =>
    Effect.gen(function* () {
      const seen = yield* look(yield* UcpShop.open({ release: "2026-08-25" }), { platform: "shopify" })
      assert.deepStrictEqual([seen.protocol("ucp"), seen.protocol("mcp")], ["platform_enabled", "platform_enabled"])
      assert.deepStrictEqual(judged.map(seen.status), ["pass", "pass", "pass"])
    })
  )
})

describe("a shop whose UCP is broken", () => {
  const cases: ReadonlyArray<{
    readonly fault: UcpShop.UcpFault
    readonly statuses: readonly [string, string]
    readonly protocol: string
    readonly says: string
  }> = [
    { fault: "stub", statuses: ["pass", "fail"], protocol: "eligible", says: "answered 501 with not JSON" },
    { fault: "page", statuses: ["pass", "fail"], protocol: "eligible", says: "answered 200 with HTML, not JSON" },
    {
      fault: "catch_all",
      statuses: ["fail", "fail"],
      protocol: "not_detected",
      says: "/.well-known/ucp answered 200 with a page."
    },
    {
      fault: "no_profile",
      statuses: ["fail", "fail"],
      protocol: "not_detected",
      says: "/.well-known/ucp answered 404."
    },
    {
      fault: "wrong_keys",
      statuses: ["warn", "pass"],
      protocol: "confirmed",
      says: "signing_keys: clients of 2026-08-25 read keys"
    },
    {
      fault: "foreign_schema",
      statuses: ["warn", "pass"],
      protocol: "confirmed",
      says: "is served by schemas.elsewhere.example"
    },
    {
      fault: "newer",
      statuses: ["warn", "pass"],
      protocol: "confirmed",
      says: "Version 2027-03-01, judged by release 2026-08-25"
    },
    {
      fault: "malformed_version",
      statuses: ["fail", "pass"],
      protocol: "confirmed",
      says: 'must be a date such as 2026-08-25, not "v1"'
    },
    { fault: "plain_endpoint", statuses: ["fail", "fail"], protocol: "eligible", says: "endpoint: must use https" },
    {
      fault: "oversized",
      statuses: ["fail", "fail"],
      protocol: "not_detected",
      says: "is longer than 1000000 characters"
    },
    { fault: "deep", statuses: ["fail", "fail"], protocol: "not_detected", says: "is nested deeper than 64 levels" },
    {
      fault: "wants_session",
      statuses: ["pass", "warn 0.5"],
      protocol: "eligible",
      says: "refuses tools/list: -32000"
    },
    { fault: "wants_token", statuses: ["pass", "warn 0.5"], protocol: "eligible", says: "asks for credentials" },
    { fault: "busy", statuses: ["pass", "unknown"], protocol: "eligible", says: "answered 429, as a wall does" }
  ]
  for (const { fault, protocol, says, statuses } of cases) {
    it.live(fault, () =>
      Effect.gen(function* () {
        const seen = yield* look(yield* UcpShop.open({ release: "2026-08-25", transports: ["mcp"], fault }))
        assert.deepStrictEqual([seen.status("ucp_profile"), seen.status("ucp_functional")], statuses)
        assert.strictEqual(seen.protocol("ucp"), protocol)
        assert.include(`${seen.message("ucp_profile")} ${seen.message("ucp_functional")}`, says)
        for (const { evidence, fix, status } of seen.findings.answers) {
          if (status === "fail") assert.isNotNull(fix)
          assert.isAtMost(evidence?.snippet?.length ?? 0, 300)
        }
      })
    )
  }
  it.live("over MCP, but works over REST: half of it counts", () =>
    Effect.gen(function* () {
      const shop = yield* UcpShop.open({ release: "2026-08-25", also: { "/ucp/mcp": () => ({ not: "rpc" }) } })
      const seen = yield* look(shop)
      assert.strictEqual(seen.status("ucp_functional"), "warn")
      assert.strictEqual(seen.findings.ucp?.transport, "rest")
    })
  )
  it.live("its profile's endpoint at a private address is refused and never asked", () =>
    Effect.gen(function* () {
      const other = yield* UcpShop.open({ release: "2026-08-25" })
      const profile = (base: string) => ({
        ucp: {
          version: "2026-08-25",
          services: {
            "dev.ucp.shopping": [{ version: "2026-08-25", transport: "mcp", endpoint: base.replace("http", "https") }]
          },
          payment_handlers: {}
        }
      })
      const shop = yield* UcpShop.open({
        release: "2026-08-25",
        also: { "/.well-known/ucp": () => profile(other.url) }
      })
      const seen = yield* look(shop)
      assert.deepStrictEqual(judged.map(seen.status), ["pass", "fail", "fail"])
      assert.include(seen.message("ucp_functional"), "its address is not public")
      assert.deepStrictEqual(other.asked, [])
    })
  )
})

describe("a visit that cannot ask", () => {
  it.live("leaves everything that it did not see unknown", () =>
    Effect.gen(function* () {
      const seen = yield* look(yield* UcpShop.open({ release: "2026-08-25" }), {}, { requests: 0 })
      const fails = seen.findings.answers.filter(({ status }) => status === "fail")
      assert.deepStrictEqual(fails, [])
      assert.deepStrictEqual(judged.map(seen.status), ["unknown", "unknown", "unknown"])
      assert.deepStrictEqual(seen.asked, [])
    })
  )
  it.live("in time leaves it unknown too", () =>
    Effect.gen(function* () {
      const seen = yield* look(yield* UcpShop.open({ release: "2026-08-25" }), {}, { duration: Duration.zero })
      assert.deepStrictEqual(judged.map(seen.status), ["unknown", "unknown", "unknown"])
    })
  )
})
