import { Context, Duration, Effect, Layer, Option, Scope } from "effect"
import type { DomainNotAllowed } from "#domain/MerchantDomain.ts"
import { ScannerUnavailable } from "#domain/ScannerRefusal.ts"
import { choose, type Offered } from "#domain/ProductChoice.ts"
import { isProductPage } from "#domain/scan/Operation.ts"
import { rubricVersion } from "#domain/Rubric.ts"
import { type Blocker, type Step, stepsOf, type TestOutcome, type TestType } from "#domain/ShoppingTest.ts"
import { type StepTried, verdictOf } from "#domain/ShoppingVerdict.ts"
import { PageReading } from "./PageReading.ts"
import { unlessBusy } from "./PageReading/UnlessBusy.ts"
import { monotonicMillis } from "./RealTime.ts"
import { type BrowserVisit, ShopBrowser } from "./ShopBrowser.ts"
import { buy } from "./ShoppingEngine/Buying.ts"
import { categoriesOf, discover, type Discovered, shownProducts, type Storefront } from "./ShoppingEngine/Discovery.ts"
import * as Errands from "./ShoppingEngine/Errand.ts"
import { ageGate, oneAddress } from "./ShoppingEngine/NothingFound.ts"
import { guesses } from "./ShoppingEngine/Proving.ts"
import { ShoppingPolicy } from "./ShoppingEngine/Policy.ts"
import { failed, passed, snippet, unknown, warning } from "./ShoppingEngine/Outcomes.ts"
import type { StepOutcome } from "./ShoppingEngine/Rail.ts"
import { offeredBy, select, type Selected } from "./ShoppingEngine/Selection.ts"
import { type Site, SiteVisits } from "./SiteVisits.ts"

/** How many pages a browser shows where plain pages were empty. */
const maxShown = 3
/** Seconds in which a browser that ended is there again. */
const browserRetry = 30

type Browser = { readonly visit: BrowserVisit } | { readonly missing: string }

const forced = (outcome: StepOutcome): ReadonlyArray<Blocker> =>
  outcome.blockers.map((blocker) => ({ ...blocker, severity: "warning" }))

const needsBrowser = (outcome: StepOutcome): boolean =>
  outcome.status === "failed" && outcome.blockers.at(-1)?.id === "javascript_wall"

/** Where nothing of a shop's pages says that scripts are needed, a browser is asked all the same before the shop is blamed. */
const mayNeedBrowser = ({ blockers, status }: StepOutcome): boolean =>
  status === "failed" && /^(?:no_products_found|no_structured_data)$/.test(blockers.at(-1)?.id ?? "")

const asksBrowser = (outcome: StepOutcome): boolean => needsBrowser(outcome) || mayNeedBrowser(outcome)

/** What was found only by a browser, of what had failed without. */
const onlyShown = (outcome: StepOutcome, step: Step): ReadonlyArray<Blocker> =>
  needsBrowser(outcome)
    ? forced(outcome)
    : [...outcome.blockers.slice(0, -1), warning(step, "javascript_wall", `Only scripts show it: ${outcome.detail}`)]

const blind = (outcome: StepOutcome, missing: string): StepOutcome => {
  const detail = `Only a browser can tell, and there is none here (${missing}): ${outcome.detail}`
  return unknown(detail, outcome.evidence, forced(outcome))
}

/** The first page of a product among those that a browser may show, where no address tells which is one. */
const provenShown = Effect.fnUntraced(function* (
  urls: ReadonlyArray<URL>,
  errand: Errands.Errand,
  visit: BrowserVisit
) {
  for (const url of urls.slice(0, maxShown)) {
    const shown = yield* visit.show(url)
    if ("failure" in shown || shown.status >= 400) continue
    const page = yield* Effect.option(errand.pages.page(shown.html, shown.url))
    if (Option.isSome(page) && isProductPage(page.value)) return [url]
  }
  return []
})

/** The products that the first page of several links which has any. */
const listedShown = Effect.fnUntraced(function* (
  urls: ReadonlyArray<URL>,
  errand: Errands.Errand,
  visit: BrowserVisit,
  platform: Discovered["platform"]
) {
  for (const url of urls.slice(0, maxShown)) {
    const shown = yield* visit.show(url)
    if ("failure" in shown || shown.status >= 400) continue
    const page = yield* Effect.option(errand.pages.page(shown.html, shown.url))
    const named = Option.isNone(page) ? [] : shownProducts(page.value, shown.url, platform)
    if (named.length > 0) return named
  }
  return []
})

/** Looks at the home page with a browser, and at a few that list products, where it is empty without. */
const discoverShown = Effect.fnUntraced(function* (found: Discovered, errand: Errands.Errand, browser: Browser) {
  const { home, outcome, platform } = found
  if (home === undefined || !asksBrowser(outcome)) return found
  if ("missing" in browser && mayNeedBrowser(outcome)) return found
  if ("missing" in browser) return { ...found, outcome: blind(outcome, browser.missing) }
  const shown = yield* browser.visit.show(home.answer.url)
  if ("failure" in shown) return { ...found, outcome: blind(outcome, shown.failure) }
  const page = yield* Effect.result(errand.pages.page(shown.html, shown.url))
  if (page._tag === "Failure") return { ...found, outcome: blind(outcome, page.failure.message) }
  const named = shownProducts(page.success, shown.url, platform).filter(found.allows)
  const possible = guesses(shown.url.origin, page.success, { listed: [], locations: [] }).filter(found.allows)
  const listed =
    named.length > 0
      ? named
      : yield* listedShown(categoriesOf(page.success, shown.url), errand, browser.visit, platform)
  const allowed = listed.filter(found.allows)
  const productUrls = allowed.length > 0 ? allowed : yield* provenShown(possible, errand, browser.visit)
  if (productUrls.length === 0) {
    const gate = ageGate(page.success) ?? oneAddress(page.success)
    if (gate !== undefined) return { ...found, outcome: unknown(gate, snippet(page.success.visibleText)) }
    if (mayNeedBrowser(outcome)) return found
    const detail = "Neither a sitemap nor the links that a browser shows lead to a product."
    return { ...found, outcome: failed("discovery", "no_products_found", detail, snippet(shown.html)) }
  }
  const front: Storefront = { errand, home, platform, offers: [], productUrls, ucp: undefined }
  const detail = `Found ${productUrls.length} product addresses, but only with a browser.`
  return { ...found, front, outcome: passed(detail, snippet(productUrls[0]?.href), onlyShown(outcome, "discovery")) }
})

/** Looks at product pages with a browser, where they are empty without. */
const selectShown = Effect.fnUntraced(function* (front: Storefront, selected: Selected, browser: Browser) {
  const { outcome } = selected
  if (!asksBrowser(outcome)) return selected
  if ("missing" in browser && mayNeedBrowser(outcome)) return selected
  if ("missing" in browser) return { ...selected, outcome: blind(outcome, browser.missing) }
  const offers: Array<Offered> = []
  for (const url of front.productUrls.slice(0, maxShown)) {
    const shown = yield* browser.visit.show(url)
    if ("failure" in shown) continue
    const page = yield* Effect.option(front.errand.pages.page(shown.html, shown.url))
    const offered = Option.isNone(page) ? undefined : offeredBy(shown.url, page.value)
    if (offered !== undefined) offers.push(offered)
  }
  const { chosen } = choose(offers)
  if (chosen === undefined) return selected
  const { name, price } = chosen.candidate
  const detail = `Chose "${name}" for ${price}, which only a browser shows.`
  return {
    chosen,
    outcome: passed(detail, snippet(chosen.candidate.url?.href), onlyShown(outcome, "selection"))
  } satisfies Selected
})

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
        const tried: Array<StepTried> = [found.tried]
        const { front, platform } = found.done
        if (front === undefined || planned.length < 2) return { tried, chosen: undefined, platform }
        const selected = yield* timed(
          "selection",
          Effect.flatMap(select(front), (selected: Selected) =>
            asksBrowser(selected.outcome)
              ? Effect.flatMap(browser, (opened): Effect.Effect<Selected> => selectShown(front, selected, opened))
              : Effect.succeed(selected)
          ),
          ({ chosen, outcome }) => railOf(outcome, chosen ?? front.offers[0])
        )
        tried.push(selected.tried)
        const { chosen } = selected.done
        if (chosen === undefined || planned.length < 3) return { tried, chosen, platform }
        const rail = Effect.map(browser, (opened) => ("missing" in opened ? opened : { rail: opened.visit.rail }))
        tried.push(...(yield* buy({ ...front, country }, chosen, planned.slice(2), rail)))
        return { tried, chosen, platform }
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
