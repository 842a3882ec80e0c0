import { Context, Duration, Effect, Layer, Scope } from "effect"
import type { DomainNotAllowed } from "#domain/MerchantDomain.ts"
import { ScannerUnavailable } from "#domain/ScannerRefusal.ts"
import type { Offered } from "#domain/ProductChoice.ts"
import { rubricVersion } from "#domain/Rubric.ts"
import { type Step, stepsOf, type TestOutcome, type TestType } from "#domain/ShoppingTest.ts"
import { type StepTried, verdictOf } from "#domain/ShoppingVerdict.ts"
import { PageReading } from "./PageReading.ts"
import { unlessBusy } from "./PageReading/UnlessBusy.ts"
import { monotonicMillis } from "./RealTime.ts"
import { type BrowserVisit, ShopBrowser } from "./ShopBrowser.ts"
import { buy, mayHaveOrdered } from "./ShoppingEngine/Buying.ts"
import { discover, type Discovered, type Storefront } from "./ShoppingEngine/Discovery.ts"
import * as Errands from "./ShoppingEngine/Errand.ts"
import { ShoppingPolicy } from "./ShoppingEngine/Policy.ts"
import type { StepOutcome } from "./ShoppingEngine/Rail.ts"
import { insteadOf, isSoldOut, mostChoices, without } from "./ShoppingEngine/SecondChoice.ts"
import { select, type Selected } from "./ShoppingEngine/Selection.ts"
import { asksBrowser, type Browser, discoverShown, selectShown } from "./ShoppingEngine/Shown.ts"
import { type Site, SiteVisits } from "./SiteVisits.ts"

/** Seconds in which a browser that ended is there again. */
const browserRetry = 30

/** Shops at a site as an agent would, up to the order, which it never places, and says how far it came. Keeps nothing. */
export class ShoppingEngine extends Context.Service<
  ShoppingEngine,
  {
    /** `country` is where the merchant was said to be. */
    test(
      site: Site,
      type: TestType,
      country?: string | null
    ): Effect.Effect<TestOutcome, DomainNotAllowed | ScannerUnavailable>
  }
>()("turnpike/services/ShoppingEngine") {
  static readonly layer = Layer.effect(
    ShoppingEngine,
    Effect.gen(function* () {
      const visits = yield* SiteVisits
      const browsers = yield* ShopBrowser
      const pages = yield* PageReading
      const { limits, pace, perRequest, reserve } = yield* ShoppingPolicy

      const open = (site: Site, errand: Errands.Errand): Effect.Effect<Browser, never, Scope.Scope> =>
        Effect.gen(function* () {
          const missing = yield* browsers.missing
          return missing === undefined ? { visit: yield* browsers.open(site, errand) } : { missing }
        })

      const timed = Effect.fnUntraced(function* <A extends { readonly outcome: StepOutcome }, E>(
        step: Step,
        run: Effect.Effect<A, E>,
        rail: (done: A) => StepTried["rail"]
      ) {
        const began = yield* monotonicMillis
        const done = yield* run
        const durationMs = (yield* monotonicMillis) - began
        const { blockers, detail, evidence, status } = done.outcome
        const tried: StepTried = { step, rail: rail(done), status, durationMs, detail, evidence, blockers }
        return { done, tried }
      })

      const steps = Effect.fnUntraced(function* (
        errand: Errands.Errand,
        planned: ReadonlyArray<Step>,
        browser: Effect.Effect<Browser>,
        country: string | null
      ) {
        const found = yield* timed(
          "discovery",
          Effect.flatMap(discover(errand), (found: Discovered) =>
            asksBrowser(found.outcome)
              ? Effect.flatMap(browser, (opened): Effect.Effect<Discovered> => discoverShown(found, errand, opened))
              : Effect.succeed(found)
          ),
          ({ front, outcome }) => railOf(outcome, front?.offers[0])
        )
        const { front, platform } = found.done
        if (front === undefined || planned.length < 2) return { tried: [found.tried], chosen: undefined, platform }
        const choose = (from: Storefront) =>
          timed(
            "selection",
            Effect.flatMap(select(from), (selected: Selected) =>
              asksBrowser(selected.outcome)
                ? Effect.flatMap(browser, (opened): Effect.Effect<Selected> => selectShown(from, selected, opened))
                : Effect.succeed(selected)
            ),
            ({ chosen, outcome }) => railOf(outcome, chosen ?? from.offers[0])
          )
        const selected = yield* choose(front)
        const { chosen } = selected.done
        if (chosen === undefined || planned.length < 3)
          return { tried: [found.tried, selected.tried], chosen, platform }
        const rail = Effect.map(browser, (opened) => ("missing" in opened ? opened : { rail: opened.visit.rail }))
        const bought = yield* buy({ ...front, country }, chosen, planned.slice(2), rail)
        let [left, last] = [without(front, chosen), bought]
        for (let choices = 1; choices < mostChoices && isSoldOut(last) && left !== undefined; choices++) {
          const other = yield* choose(left)
          const next = other.done.chosen
          if (next === undefined) break
          last = yield* buy({ ...left, country }, next, planned.slice(2), rail)
          if (last[0]?.status === "passed" || mayHaveOrdered(last))
            return { tried: [found.tried, other.tried, ...insteadOf(chosen, last)], chosen: next, platform }
          left = without(left, next)
        }
        return { tried: [found.tried, selected.tried, ...bought], chosen, platform }
      })

      const shop = Effect.fnUntraced(function* (
        site: Site,
        type: TestType,
        country: string | null,
        pages: PageReading["Service"]
      ) {
        const began = yield* monotonicMillis
        const { requests, duration } = limits[type]
        const visit = yield* visits.open(site, {
          requests: requests + reserve.requests,
          duration: Duration.sum(duration, reserve.duration),
          reserveBytes: reserve.bytes,
          perRequest,
          pace,
          concurrency: 1
        })
        const errand = Errands.make(visit, { requests, duration, reserve: reserve.duration }, pages)
        const planned = stepsOf(type)
        const shown: Array<BrowserVisit> = []
        const opening = Effect.tap(open(site, errand), (opened) =>
          Effect.sync(() => "visit" in opened && shown.push(opened.visit))
        )
        const scope = yield* Effect.scope
        const browser = yield* Effect.cached(Effect.provideService(opening, Scope.Scope, scope))
        const { chosen, platform, tried } = yield* steps(errand, planned, browser, country)
        // Nobody pays for what a browser of ours could not tell. What a shop has to look into is told all the same.
        const isOrderLikely = tried.some(({ blockers }) => blockers.some(({ id }) => id === "order_uncertain"))
        if (tried.at(-1)?.status === "unknown" && !isOrderLikely && shown.some((one) => one.isBroken()))
          return yield* new ScannerUnavailable({ reason: "Failed", retry_after: browserRetry })
        return {
          ...verdictOf(planned, tried),
          product: productOf(chosen),
          platform,
          requests: [...visit.requests(), ...shown.flatMap((one) => one.requests())],
          vantage: visit.vantage,
          rubric_version: rubricVersion,
          test_duration_ms: Math.round((yield* monotonicMillis) - began)
        } satisfies TestOutcome
      }, Effect.scoped)

      const test = Effect.fn("ShoppingEngine.test")((site: Site, type: TestType, country: string | null = null) =>
        unlessBusy(pages, (heeding) => shop(site, type, country, heeding))
      )

      return ShoppingEngine.of({ test })
    })
  )
}

/** Which interface of the shop a step of looking went over. */
const railOf = (outcome: StepOutcome, offered: Offered | undefined): StepTried["rail"] => {
  if (outcome.blockers.some(({ id }) => id === "javascript_wall") && outcome.status === "passed") return "browser"
  if (offered?.source === "ucp") return "ucp"
  return offered?.source === "platform" ? "platform_api" : "html_form"
}

const productOf = (offered: Offered | undefined): TestOutcome["product"] => {
  if (offered === undefined) return null
  const { currency, name, price, sku, url, variant } = offered.candidate
  return { name, url: url?.href ?? null, sku, price, currency, variant }
}
