import { assert, describe, it } from "vitest"
import { type Blocker, stepsOf } from "#domain/ShoppingTest.ts"
import { type StepTried, verdictOf } from "#domain/ShoppingVerdict.ts"

const steps = stepsOf("full_flow")
const blocker = (step: Blocker["step"], severity: Blocker["severity"], id: Blocker["id"]): Blocker => ({
  id,
  severity,
  step,
  detail: `${id} at ${step}`,
  evidence: null
})
/** The first steps of a full run, which end like this. */
const run = (passed: number, last?: StepTried["status"], blockers: ReadonlyArray<Blocker> = []) =>
  verdictOf(
    steps,
    steps.slice(0, passed + (last === undefined ? 0 : 1)).map((step, index) => ({
      step,
      rail: "html_form",
      status: index < passed ? "passed" : (last ?? "passed"),
      durationMs: 1,
      detail: step,
      evidence: null,
      blockers: blockers.filter((one) => one.step === step)
    }))
  )

describe("the verdict", () => {
  it("is passed with all steps, partial with some, failed with a failure before anything", () => {
    const of = ({ status, success_rate }: ReturnType<typeof run>) => [status, success_rate]
    assert.deepStrictEqual(of(run(5)), ["passed", 100])
    assert.deepStrictEqual(of(run(2, "failed")), ["partial", 40])
    assert.deepStrictEqual(of(run(0, "failed")), ["failed", 0])
  })

  it("has one decimal where the steps do not divide", () => {
    const three = stepsOf("add_to_cart")
    const tried = { rail: null, status: "passed", durationMs: 0, detail: "", evidence: null, blockers: [] } as const
    assert.strictEqual(verdictOf(three, [{ ...tried, step: "discovery" }]).success_rate, 33.3)
  })

  it("counts a step that could not be tried neither as completed nor as a failure", () => {
    const verdict = run(2, "unknown")
    assert.deepStrictEqual([verdict.status, verdict.success_rate, verdict.failure_point], ["partial", 40, null])
    assert.deepStrictEqual(
      verdict.steps.map(({ status }) => status),
      ["passed", "passed", "unknown", "skipped", "skipped"]
    )
    assert.strictEqual(run(0, "unknown").status, "partial")
  })

  it("names the first blocking one as the failure point, and its remedy first", () => {
    const warned = blocker("selection", "warning", "price_mismatch")
    const login = blocker("checkout", "blocking", "account_required")
    const verdict = run(3, "failed", [warned, login])
    assert.deepInclude(verdict.failure_point, { step: "checkout", blocker: "account_required" })
    assert.strictEqual(verdict.steps[1]?.status, "degraded")
    assert.lengthOf(verdict.recommendations, 2)
    assert.include(verdict.recommendations[0], "guests")
  })

  it("keeps at most 300 characters of evidence, and one blocker of each kind and step", () => {
    const long = { ...blocker("discovery", "blocking", "no_products_found"), evidence: "x".repeat(1000) }
    const { blockers } = run(0, "failed", [long, long])
    assert.deepStrictEqual(
      blockers.map(({ evidence }) => evidence?.length),
      [300]
    )
  })
})
