import { assert, describe, it } from "@effect/vitest"
import { judgeUcp, releaseOf, ucpReleases } from "../../../src/domain/protocol/Ucp.ts"
import { ucpAgentProfile } from "../../../src/domain/protocol/UcpAgentProfile.ts"

describe("our own profile of UCP", () => {
  for (const release of ucpReleases) {
    it(`of ${release} has the shape of its release; only endpoints are missing, as nobody calls us`, () => {
      const judged = judgeUcp(ucpAgentProfile(release), new URL("https://turnpike.test/"))
      const others = judged?.problems.filter(({ path }) => !path.endsWith(".endpoint") && path !== "ucp.services")
      assert.deepStrictEqual([judged?.version, others], [release, []])
      assert.isTrue(judged?.capabilities.includes("dev.ucp.shopping.checkout"))
    })
  }
  it("a shop is shown the one of its release, or of the last before it", () => {
    assert.deepStrictEqual(["2026-04-08", "2026-05-01", "2027-01-01", "2025-01-01"].map(releaseOf), [
      "2026-04-08",
      "2026-04-08",
      "2026-08-25",
      "2026-01-11"
    ])
  })
})
