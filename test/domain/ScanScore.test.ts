import { assert, describe, it } from "vitest"
import { type Answer, groupWeights, type QuestionId, questionIds, rubric } from "#domain/Rubric.ts"
import { kindOf, score } from "#domain/ScanScore.ts"

const answer = (id: QuestionId, status: Answer["status"], more: Partial<Answer> = {}): Answer => ({
  id,
  status,
  message: status,
  evidence: null,
  fix: status === "fail" || status === "warn" ? `mend ${id}` : null,
  ...more
})

/** Every question answered alike, but for those that are named. */
const all = (status: Answer["status"], but: Partial<Record<QuestionId, Answer["status"] | Answer>> = {}) =>
  questionIds.map((id) => {
    const other = but[id] ?? status
    return typeof other === "string" ? answer(id, other) : other
  })
const judged = (answers: ReadonlyArray<Answer>, gates: Parameters<typeof score>[0]["gates"] = []) =>
  score({ answers, gates, kind: "shop" })
const walled = { id: "agents_challenged", message: "a wall" } as const
const disallowed = { id: "robots_disallow_agents", message: "robots" } as const

describe("the score of a scan", () => {
  it("is 100 where everything passed and 0 where everything failed", () => {
    assert.deepInclude(judged(all("pass")), {
      readiness_score: 100,
      band: "ready",
      confidence: "high",
      score_range: { low: 100, high: 100 },
      recommendations: []
    })
    assert.deepInclude(judged(all("fail")), { readiness_score: 0, band: "not_ready", data_score: 0, protocol_score: 0 })
    assert.strictEqual(judged(all("warn")).readiness_score, 50)
  })

  it("gives a question its points, half of them, none, or the share that its answer says", () => {
    const { checks } = judged([
      answer("ucp_profile", "pass"),
      answer("acp", "warn"),
      answer("nlweb", "fail"),
      answer("product_json_ld", "warn", { share: 0.8 })
    ])
    const points = (id: QuestionId) => checks.find((check) => check.id === id)?.points
    assert.deepStrictEqual(
      [points("ucp_profile"), points("acp"), points("nlweb"), points("product_json_ld"), points("a2a_card")],
      [24, 7, 0, 19.2, null]
    )
  })

  it("counts neither what is unknown nor what does not apply", () => {
    for (const status of ["unknown", "not_applicable"] as const) {
      const { checks, data_score } = judged(all("pass", { product_json_ld: status, offer_clarity: "fail" }))
      assert.strictEqual(checks.find(({ id }) => id === "product_json_ld")?.points, null)
      // 18 of the 76 points that are left.
      assert.strictEqual(data_score, Math.round((100 * (76 - 18)) / 76))
    }
  })

  it("leaves out a group of which nothing is known, and is null when nothing is", () => {
    const only = questionIds.map((id) => answer(id, rubric[id].group === "checkout" ? "not_applicable" : "pass"))
    assert.deepInclude(judged(only), { readiness_score: 100, checkout_score: null })
    assert.deepInclude(judged(all("unknown")), {
      readiness_score: null,
      band: null,
      confidence: null,
      score_range: null
    })
  })

  it("has no score of a group of which less than a third was seen, and is then less sure", () => {
    const checkout = questionIds.filter((id) => rubric[id].group === "checkout")
    const seen = (...ids: ReadonlyArray<QuestionId>) =>
      judged(
        all("pass").map((one) => (checkout.includes(one.id) && !ids.includes(one.id) ? answer(one.id, "unknown") : one))
      )
    const cartOnly = seen("cart_api")
    assert.deepInclude(cartOnly, { checkout_score: null, readiness_score: 100, confidence: "medium" })
    assert.deepStrictEqual(cartOnly.score_range, { low: 80, high: 100 })
    assert.strictEqual(seen("cart_api", "no_captcha").checkout_score, 100)
    const both = all("pass").map((one) =>
      rubric[one.id].group === "data" || (checkout.includes(one.id) && one.id !== "cart_api")
        ? answer(one.id, "unknown")
        : one
    )
    assert.strictEqual(judged(both).confidence, "low")
  })

  it("is none where neither data nor checkout was seen, or one group alone, but for a closed gate", () => {
    const only = (...groups: ReadonlyArray<string>) =>
      questionIds.map((id) => answer(id, groups.includes(rubric[id].group) ? "pass" : "unknown"))
    for (const answers of [only("accessibility", "protocol"), only("accessibility"), only("data")]) {
      const found = judged(answers)
      assert.deepInclude(found, { readiness_score: null, band: null, confidence: "low" })
      assert.strictEqual(found.score_range?.high, 100, "what it may be is still told")
    }
    for (const group of ["data", "checkout"])
      assert.strictEqual(judged(only("accessibility", group)).readiness_score, 100)
    assert.deepInclude(judged(only("accessibility"), [walled]), { readiness_score: 30, band: "not_ready" })
  })

  it("stays within what is possible, and still says what to mend, where a group has no score", () => {
    const checkout = questionIds.filter((id) => rubric[id].group === "checkout")
    const answers = all("pass").map((one) =>
      one.id === "cart_api" ? answer(one.id, "fail") : checkout.includes(one.id) ? answer(one.id, "unknown") : one
    )
    const found = judged(answers)
    assert.deepInclude(found, { checkout_score: null, readiness_score: 95, score_range: { low: 75, high: 95 } })
    assert.deepInclude(found.recommendations[0] ?? {}, { check: "cart_api", gain: 5 })
  })

  it("says how far it may be off: everything unknown failed, or passed", () => {
    const { readiness_score, score_range } = judged(all("pass", { guest_checkout: "unknown", ucp_profile: "unknown" }))
    assert.strictEqual(readiness_score, 100)
    assert.deepStrictEqual(score_range, { low: Math.round(100 - 25 * 0.25 - 24 * 0.2), high: 100 })
  })

  it("is of low confidence when 40 % of what applies is unknown", () => {
    const unknownGroups = (...groups: ReadonlyArray<string>) =>
      judged(questionIds.map((id) => answer(id, groups.includes(rubric[id].group) ? "unknown" : "pass"))).confidence
    assert.strictEqual(unknownGroups(), "high")
    assert.strictEqual(unknownGroups("protocol"), "medium")
    assert.strictEqual(unknownGroups("protocol", "checkout"), "low")
    const noShop = questionIds.map((id) => answer(id, rubric[id].group === "accessibility" ? "pass" : "not_applicable"))
    assert.strictEqual(judged(noShop).confidence, "high")
  })

  it("is capped by a closed gate, which is told with its cap", () => {
    assert.deepInclude(judged(all("pass", { agents_not_challenged: "fail" }), [walled]), {
      readiness_score: 30,
      band: "not_ready",
      gates: [{ ...walled, cap: 30 }]
    })
    assert.strictEqual(judged(all("pass"), [disallowed]).readiness_score, 35)
    assert.strictEqual(judged(all("pass"), [walled, disallowed]).readiness_score, 30)
    assert.strictEqual(judged(all("fail"), [walled]).readiness_score, 0)
  })

  it("may be as low as the cap of a gate that was not seen", () => {
    assert.deepInclude(judged(all("pass", { agents_not_challenged: "unknown" })), {
      readiness_score: 100,
      score_range: { low: 30, high: 100 }
    })
  })

  it("has a band by its least score", () => {
    const bandAt = (share: number) => judged(questionIds.map((id) => answer(id, "warn", { share }))).band
    assert.deepStrictEqual([0.8, 0.79, 0.6, 0.59, 0.4, 0.39].map(bandAt), [
      "ready",
      "mostly_ready",
      "mostly_ready",
      "partly_ready",
      "partly_ready",
      "not_ready"
    ])
  })

  it("weighs a service's protocols more than a shop's, and a category more than what was found", () => {
    const answers = all("pass", {})
      .filter(({ id }) => rubric[id].group !== "protocol")
      .concat(questionIds.filter((id) => rubric[id].group === "protocol").map((id) => answer(id, "fail")))
    assert.strictEqual(score({ answers, gates: [], kind: "shop" }).readiness_score, 80)
    assert.strictEqual(score({ answers, gates: [], kind: "service" }).readiness_score, 70)
    assert.strictEqual(kindOf(null, "retail"), "shop")
    assert.strictEqual(kindOf(null, "api_provider"), "service")
    assert.strictEqual(kindOf("saas", "retail"), "service")
    assert.strictEqual(kindOf("restaurant", "content"), "shop")
    for (const weights of Object.values(groupWeights)) {
      assert.closeTo(
        Object.values(weights).reduce((sum, weight) => sum + weight, 0),
        1,
        1e-9
      )
    }
  })

  it("recommends first what gives most, and what opens a gate before everything", () => {
    const answers = all("pass", { guest_checkout: "fail", content_signals: "fail", product_json_ld: "warn" })
    const { recommendations } = judged(answers)
    assert.deepStrictEqual(
      recommendations.map(({ check, gain, priority }) => [check, gain, priority]),
      [
        ["guest_checkout", 6.3, "high"],
        ["product_json_ld", 3.6, "medium"],
        ["content_signals", 0.4, "low"]
      ]
    )
    const behind = judged(all("pass", { agents_not_challenged: "fail", guest_checkout: "fail" }), [walled])
    assert.deepInclude(behind.recommendations[0], { check: "agents_not_challenged", priority: "high" })
    assert.isAbove(behind.recommendations[0]?.gain ?? 0, 60)
  })

  it("recommends nothing for what is unknown, has no points or has no fix", () => {
    const answers = all("pass", {
      guest_checkout: "unknown",
      same_for_browsers: "fail",
      acp: answer("acp", "fail", { fix: null })
    })
    assert.deepStrictEqual(judged(answers).recommendations, [])
  })
})
