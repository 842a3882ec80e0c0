import { Effect, Option } from "effect"
import type { PageFacts } from "#domain/page/PageFacts.ts"
import { choose, type Offered } from "#domain/ProductChoice.ts"
import { offeredBy } from "#domain/ProductOffered.ts"
import { beyond, guesses } from "#domain/scan/Listed.ts"
import { isProductPage } from "#domain/scan/Operation.ts"
import type { Blocker, Step } from "#domain/ShoppingTest.ts"
import type { BrowserVisit } from "../ShopBrowser.ts"
import { categoriesOf } from "#domain/scan/Categories.ts"
import { type Discovered, shownProducts, type Storefront } from "./Discovery.ts"
import type { Errand } from "./Errand.ts"
import { ageGate, oneAddress, sellsFromList } from "./NothingFound.ts"
import { failed, passed, snippet, unknown, warning } from "./Outcomes.ts"
import type { StepOutcome } from "./Rail.ts"
import type { Selected } from "./Selection.ts"

/** How many pages a browser shows where plain pages were empty. */
const maxShown = 3
export type Browser = { readonly visit: BrowserVisit } | { readonly missing: string }

const forced = (outcome: StepOutcome): ReadonlyArray<Blocker> =>
  outcome.blockers.map((blocker) => ({ ...blocker, severity: "warning" }))

const needsBrowser = (outcome: StepOutcome): boolean =>
  outcome.status === "failed" && outcome.blockers.at(-1)?.id === "javascript_wall"

/** Where nothing of a shop's pages says that scripts are needed, a browser is asked all the same before the shop is blamed. */
const mayNeedBrowser = ({ blockers, status }: StepOutcome): boolean =>
  status === "failed" && /^(?:no_products_found|no_structured_data)$/.test(blockers.at(-1)?.id ?? "")

export const asksBrowser = (outcome: StepOutcome): boolean => needsBrowser(outcome) || mayNeedBrowser(outcome)

/** What was found only by a browser, of what had failed without. */
const onlyShown = (outcome: StepOutcome, step: Step): ReadonlyArray<Blocker> =>
  needsBrowser(outcome)
    ? forced(outcome)
    : [...outcome.blockers.slice(0, -1), warning(step, "javascript_wall", `Only scripts show it: ${outcome.detail}`)]

const blind = (outcome: StepOutcome, missing: string): StepOutcome => {
  const detail = `Only a browser can tell, and there is none here (${missing}): ${outcome.detail}`
  return unknown(detail, outcome.evidence, forced(outcome))
}

type Find<A> = (page: PageFacts, at: URL) => A | undefined

const foundIn = Effect.fnUntraced(function* <A>(
  shown: Effect.Success<BrowserVisit["later"]>,
  errand: Errand,
  find: Find<A>
) {
  if ("failure" in shown || shown.status >= 400) return undefined
  const page = yield* Effect.option(errand.pages.page(shown.html, shown.url))
  return Option.isNone(page) ? undefined : find(page.value, shown.url)
})

/** What is found on the page that was shown last once its scripts have had time: some draw what they sell, or its price, only then. */
const laterOn = <A>(errand: Errand, visit: BrowserVisit, find: Find<A>) =>
  Effect.flatMap(visit.later, (shown) => foundIn(shown, errand, find))

const foundOn = Effect.fnUntraced(function* <A>(
  url: URL,
  { errand, visit }: { readonly errand: Errand; readonly visit: BrowserVisit },
  find: Find<A>
) {
  const shown = yield* visit.show(url)
  if ("failure" in shown || shown.status >= 400) return undefined
  return (yield* foundIn(shown, errand, find)) ?? (yield* laterOn(errand, visit, find))
})

const someProducts =
  (platform: Discovered["platform"]): Find<ReadonlyArray<URL>> =>
  (page, at) => {
    const products = shownProducts(page, at, platform)
    return products.length > 0 ? products : undefined
  }

/** How many of them, where no address tells which is one. */
const maxProven = 5

/** The first page of a product among those that a browser may show, and what these list, where no address tells which is one. */
const provenShown = Effect.fnUntraced(function* (
  urls: ReadonlyArray<URL>,
  home: PageFacts,
  {
    allows,
    errand,
    visit
  }: { readonly allows: (url: URL) => boolean; readonly errand: Errand; readonly visit: BrowserVisit }
) {
  const queue = [...urls]
  const known = new Set(queue.map(({ href }) => href))
  for (let looked = 0; looked < maxProven; looked++) {
    const url = queue.shift()
    if (url === undefined) break
    let listed: ReadonlyArray<URL> = []
    const found = yield* foundOn(url, { errand, visit }, (page, at) => {
      listed = beyond(at.origin, page, home)
      return isProductPage(page) ? [url] : undefined
    })
    if (found !== undefined) return found
    queue.unshift(...listed.filter((one) => allows(one) && !known.has(one.href)))
    for (const { href } of listed) known.add(href)
  }
  return []
})

/** The products on the first of several pages that has any. */
const listedShown = Effect.fnUntraced(function* (
  urls: ReadonlyArray<URL>,
  errand: Errand,
  visit: BrowserVisit,
  platform: Discovered["platform"]
) {
  for (const url of urls.slice(0, maxShown)) {
    const named = yield* foundOn(url, { errand, visit }, someProducts(platform))
    if (named !== undefined) return named
  }
  return []
})

/** Looks at the home page with a browser, and at a few that list products, where it is empty without. */
export const discoverShown = Effect.fnUntraced(function* (found: Discovered, errand: Errand, browser: Browser) {
  const { home, outcome, platform } = found
  if (home === undefined || !asksBrowser(outcome)) return found
  if ("missing" in browser && mayNeedBrowser(outcome)) return found
  if ("missing" in browser) return { ...found, outcome: blind(outcome, browser.missing) }
  const shown = yield* browser.visit.show(home.answer.url)
  if ("failure" in shown) return { ...found, outcome: blind(outcome, shown.failure) }
  const page = yield* Effect.result(errand.pages.page(shown.html, shown.url))
  if (page._tag === "Failure") return { ...found, outcome: blind(outcome, page.failure.message) }
  const atOnce = shownProducts(page.success, shown.url, platform)
  const named = (
    atOnce.length > 0 ? atOnce : ((yield* laterOn(errand, browser.visit, someProducts(platform))) ?? [])
  ).filter(found.allows)
  const possible = guesses(shown.url.origin, page.success, { listed: [], locations: [] }).filter(found.allows)
  const listed =
    named.length > 0
      ? named
      : yield* listedShown(categoriesOf(page.success, shown.url), errand, browser.visit, platform)
  const allowed = listed.filter(found.allows)
  const productUrls =
    allowed.length > 0
      ? allowed
      : yield* provenShown(possible, page.success, { errand, allows: found.allows, visit: browser.visit })
  if (productUrls.length === 0) {
    const gate = ageGate(page.success) ?? oneAddress(page.success) ?? sellsFromList(page.success)
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
export const selectShown = Effect.fnUntraced(function* (front: Storefront, selected: Selected, browser: Browser) {
  const { outcome } = selected
  if (!asksBrowser(outcome)) return selected
  if ("missing" in browser && mayNeedBrowser(outcome)) return selected
  if ("missing" in browser) return { ...selected, outcome: blind(outcome, browser.missing) }
  const offers: Array<Offered> = []
  for (const url of front.productUrls.slice(0, maxShown)) {
    const offered = yield* foundOn(url, { errand: front.errand, visit: browser.visit }, (page, at) => {
      const offered = offeredBy(at, page)
      return offered?.candidate.price == null ? undefined : offered
    })
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
