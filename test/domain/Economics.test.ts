import { assert, describe, it } from "vitest"
import { agentShare, agentUplift, baselines, failureRateOf, project, roundTo } from "#domain/Economics.ts"
import { MerchantCategory, Region } from "#domain/Scan.ts"

describe("what agents that fail cost a shop", () => {
  it("is visits, conversions and revenue of its category, as anybody can do it again by the inputs", () => {
    const retail = project("retail", null, 0.4)
    // 100,000 x 1 % = 1,000 visits; x 2.5 % x 0.4 = 10 conversions; x 150 USD.
    assert.strictEqual(retail.estimated_monthly_agent_visits, 1000)
    assert.strictEqual(retail.estimated_lost_conversions, 10)
    assert.strictEqual(retail.estimated_lost_revenue_usd, 1500)
    for (const category of MerchantCategory.literals) {
      for (const region of [null, ...Region.literals]) {
        const { economics: e, ...estimates } = project(category, region, 0.6)
        const visits = Math.round(e.monthly_sessions * e.agent_share)
        const conversions = visits * e.conversion_rate * e.uplift * e.failure_rate
        assert.deepStrictEqual(estimates, {
          estimated_monthly_agent_visits: visits,
          estimated_lost_conversions: Math.round(roundTo(conversions, 9)),
          estimated_lost_revenue_usd: roundTo(conversions * e.average_order_value_usd * e.region_factor, 2)
        })
      }
    }
  })

  it("takes the revenue of the conversions before they are rounded", () => {
    // 400 visits x 4.6 % x 0.2 = 3.68 conversions, 4 when rounded; 3.68 x 40 USD.
    const { estimated_lost_conversions, estimated_lost_revenue_usd } = project("restaurant", "north_america", 0.2)
    assert.deepStrictEqual([estimated_lost_conversions, estimated_lost_revenue_usd], [4, 147.2])
  })

  it("follows the region's order values", () => {
    const lost = (region: Region | null) => project("retail", region, 1).estimated_lost_revenue_usd
    assert.deepStrictEqual(
      [lost(null), lost("latam"), lost("europe"), lost("mena"), lost("apac")],
      [3750, 3750, 3262.5, 3262.5, 2737.5]
    )
  })

  it("rounds halves up, though binary fractions fall short of them", () => {
    assert.deepStrictEqual(
      [roundTo(1.005, 2), roundTo(2.675, 2), roundTo(0.5, 0), roundTo(33.35, 1)],
      [1.01, 2.68, 1, 33.4]
    )
  })

  it("names the standing and the source of every figure", () => {
    for (const { basis, standing } of [...Object.values(baselines)]) {
      assert.isAbove(basis.length, 20)
      assert.include(["published", "assumed"], standing)
    }
    assert.deepStrictEqual([agentShare.value, agentUplift.value], [0.01, 1])
  })
})

describe("the failure rate", () => {
  const rateOf = (...statuses: ReadonlyArray<"passed" | "degraded" | "failed" | "skipped" | "unknown">) =>
    failureRateOf(statuses.map((status) => ({ status })))

  it("is the share of steps that an agent did not complete", () => {
    assert.strictEqual(rateOf("passed", "degraded", "failed", "skipped", "skipped"), 0.6)
    assert.strictEqual(rateOf("passed", "passed", "passed", "passed", "passed"), 0)
    assert.strictEqual(rateOf("failed", "skipped"), 1)
  })

  it("is that of the rounded success rate", () => {
    assert.closeTo(rateOf("passed", "passed", "failed"), 0.333, 1e-9)
  })

  it("counts nothing against a shop where a step could only not be tried here", () => {
    assert.strictEqual(rateOf("passed", "passed", "unknown", "skipped", "skipped"), 0)
  })
})
