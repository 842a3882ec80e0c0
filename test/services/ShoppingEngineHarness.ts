import { Duration, Effect, Layer, type Scope } from "effect"
import { assert } from "vitest"
import type { TestOutcome, TestType } from "#domain/ShoppingTest.ts"
import { Deployment } from "#services/Deployment.ts"
import type { PageReading } from "#services/PageReading.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { ShopBrowser } from "#services/ShopBrowser.ts"
import { ShoppingEngine } from "#services/ShoppingEngine.ts"
import { ShoppingPolicy } from "#services/ShoppingEngine/Policy.ts"
import { SiteVisits } from "#services/SiteVisits.ts"
import * as PageReadingHere from "./PageReadingHere.ts"

const deployment = {
  environment: "sandbox",
  publicUrl: "https://turnpike.test",
  scannerUrl: "https://scanner.turnpike.test"
} as const

const noBrowser = Layer.succeed(ShopBrowser, {
  missing: Effect.succeed("no Chromium in this test"),
  open: () => Effect.die("there is no browser")
})

/** The engine over real visits, without a browser if none is given; only this host may be visited although it is private. */
const engine = (
  domain: string,
  policy: Partial<ShoppingPolicy>,
  pages: Layer.Layer<PageReading>,
  browser: Layer.Layer<ShopBrowser>
) =>
  ShoppingEngine.layer.pipe(
    Layer.provideMerge(SiteVisits.layer),
    Layer.provide([
      browser,
      pages,
      Layer.succeed(Deployment, deployment),
      Layer.succeed(PublicHttpPolicy, { ...PublicHttpPolicy.defaultValue(), allowHosts: [domain] }),
      Layer.succeed(ShoppingPolicy, { ...ShoppingPolicy.defaultValue(), pace: Duration.millis(1), ...policy })
    ])
  )

/** A test of a listed fixture, in real time. */
export const testOf = (
  domain: string,
  type: TestType = "full_flow",
  policy: Partial<ShoppingPolicy> = {},
  pages: Layer.Layer<PageReading> = PageReadingHere.layer,
  browser: Layer.Layer<ShopBrowser> = noBrowser
) =>
  Effect.provide(
    Effect.gen(function* () {
      const visits = yield* SiteVisits
      const { test } = yield* ShoppingEngine
      return yield* test(visits.locate(domain), type)
    }),
    engine(domain, policy, pages, browser)
  )

/** The steps with their rails and states, and the blockers, as lines. */
export const told = ({ blockers, steps }: TestOutcome) => ({
  steps: steps.map(({ rail, status, step }) => `${step} ${status}${rail === null ? "" : ` ${rail}`}`),
  blockers: blockers.map(({ id, severity, step }) => `${step} ${severity} ${id}`)
})

/** An outcome without what two tests of the same shop may differ in: how long things took. */
export const timeless = (outcome: TestOutcome) => ({
  ...outcome,
  test_duration_ms: 0,
  steps: outcome.steps.map((step) => ({ ...step, duration_ms: 0 })),
  requests: outcome.requests.map((request) => ({ ...request, ms: 0 }))
})

interface Counting {
  readonly domain: string
  readonly orders: () => number
  readonly items: () => number
  readonly asked: ReadonlyArray<string>
}
export type Opening = Effect.Effect<Counting, never, Scope.Scope>

/** A test of a shop; whatever it finds, nothing is ordered and nothing is left in a cart. */
export const outcomeOf = (shop: Opening, type: TestType = "full_flow") =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const fixture = yield* shop
        const outcome = yield* testOf(fixture.domain, type)
        assert.strictEqual(fixture.orders(), 0, "an order was placed")
        assert.strictEqual(fixture.items(), 0, "something is left in a cart")
        return outcome
      })
    )
  )

/** How far a run came, in one line: after a step `!` is degraded, `x` failed, `?` unknown, `-` skipped. */
export const line = (outcome: TestOutcome) => {
  const marks = { passed: "", degraded: "!", failed: "x", unknown: "?", skipped: "-" }
  return outcome.steps.map(({ status, step }) => `${step}${marks[status]}`).join(" ")
}
