import { Context, Effect, Layer } from "effect"
import type { DomainNotAllowed } from "#domain/MerchantDomain.ts"
import type { TestOutcome, TestType } from "#domain/ShoppingTest.ts"
import { ShoppingEngine } from "#services/ShoppingEngine.ts"
import { ShoppingTests } from "#services/ShoppingTests.ts"
import { platform as scanner, policy, visits } from "./ScansHarness.ts"

/** What shopping comes to unless a test says otherwise. */
export const outcome = (changed: Partial<TestOutcome> = {}): TestOutcome => ({
  status: "partial",
  success_rate: 50,
  steps: (["passed", "failed"] as const).map((status, place) => ({
    step: place === 0 ? "discovery" : "selection",
    status,
    rail: null,
    duration_ms: 1,
    detail: "",
    evidence: null
  })),
  blockers: [],
  failure_point: null,
  product: null,
  platform: null,
  recommendations: [],
  requests: [],
  vantage: { user_agent: "Test/1", network: "test" },
  rubric_version: "2026-11.1",
  test_duration_ms: 5,
  ...changed
})

/** How shops behave, and what was tried. A test changes it. */
export class Shops extends Context.Service<
  Shops,
  {
    tested: Array<string>
    test: (domain: string, type: TestType) => Effect.Effect<TestOutcome, DomainNotAllowed>
  }
>()("turnpike/test/services/ShoppingTestsHarness/Shops") {
  static readonly layer = Layer.sync(Shops, () => ({ tested: [], test: () => Effect.succeed(outcome()) }))
}

const shoppingEngine = Layer.effect(
  ShoppingEngine,
  Effect.map(Shops, (stage) => ({
    test: ({ domain }, type) =>
      Effect.suspend(() => {
        stage.tested.push(`${domain} ${type}`)
        return stage.test(domain, type)
      })
  }))
)
/** Tests and scans, and engines that do as a test says. */
export const platform = ShoppingTests.layer.pipe(
  Layer.provide([visits, shoppingEngine, policy({})]),
  Layer.provideMerge(Layer.merge(Shops.layer, scanner()))
)
