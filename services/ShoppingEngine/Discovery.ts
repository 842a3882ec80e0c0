import { Effect } from "effect"
import { openingOf } from "#domain/page/Document.ts"
import type { PageFacts } from "#domain/page/PageFacts.ts"
import { asksPlace, waitingRoom } from "#domain/page/Walls.ts"
import type { PlatformId } from "#domain/page/Platform.ts"
import { looksLikeProduct } from "#domain/page/ProductUrl.ts"
import { type Offered, rarestWords } from "#domain/ProductChoice.ts"
import { isMarkup, robotsAllows, robotsOf, robotsVerdict } from "#domain/Robots.ts"
import { bareHost } from "#domain/scan/SiteAddress.ts"
import type { Blocker } from "#domain/ShoppingTest.ts"
import { budgetOf, lookAt } from "../ScanEngine/protocols/Look.ts"
import * as Ucp from "../ScanEngine/protocols/UcpClient.ts"
import { probeUcp } from "../ScanEngine/protocols/UcpProbe.ts"
import { agentName } from "../SiteVisits/Vantages.ts"
import { isGood, pageIn, type PageSeen, pageFor, wallOf } from "./ApiRail.ts"
import * as Catalogue from "./Catalogue.ts"
import { categoriesOf, ofSite } from "#domain/scan/Categories.ts"
import type { Errand } from "./Errand.ts"
import { evidenceOf, failed, passed, refusedBy, snippet, unanswered, unknown, warning } from "./Outcomes.ts"
import { nothing, troubled } from "./NothingFound.ts"
import { proven } from "./Proving.ts"
import type { StepOutcome } from "./Rail.ts"
import * as Sitemaps from "./Sitemaps.ts"
import { refusalOf, type SiteOutcome } from "../SiteVisits.ts"

/** What is known of a shop before anything is chosen. */
export interface Storefront {
  readonly errand: Errand
  readonly home: PageSeen
  readonly platform: PlatformId | null
  /** By the platform's interface or a UCP service. */
  readonly offers: ReadonlyArray<Offered>
  /** Addresses that look like products, in order, all of this site and allowed to us. */
  readonly productUrls: ReadonlyArray<URL>
  readonly ucp: UcpService | undefined
  /** Where the merchant is, as somebody said. */
  readonly country?: string | null
}

/** A UCP service that answers calls, and the payment handlers that its profile declares. */
export interface UcpService {
  readonly client: Ucp.UcpClient
  readonly handlers: ReadonlyArray<string>
}

export interface Discovered {
  readonly outcome: StepOutcome
  /** Undefined when the step did not pass; `home` is kept for a browser to try. */
  readonly front: Storefront | undefined
  readonly home: PageSeen | undefined
  readonly platform: PlatformId | null
  /** What robots.txt says to us of an address. */
  readonly allows: (url: URL) => boolean
}

/** A path that no shop has. */
const canaryPath = "/turnpike-no-such-page-b1946ac9"
const maxCategories = 3
const maxProductUrls = 40

const stopped = (outcome: StepOutcome): Discovered => ({
  outcome,
  front: undefined,
  home: undefined,
  platform: null,
  allows: () => false
})

/** The home page, or why it is no shop's door. */
const door = Effect.fnUntraced(function* (errand: Errand) {
  const outcome = yield* errand.look(errand.site.home, { obeysRobots: "named" })
  if (outcome._tag === "NoAnswer") {
    const refusal = refusalOf(errand.site.domain, outcome)
    return refusal === undefined ? unanswered("discovery", outcome) : yield* Effect.fail(refusal)
  }
  const refused = refusedBy("discovery", outcome)
  if (refused !== undefined) return refused
  const { status } = outcome
  const seen = evidenceOf(outcome)
  if (status === 401) return failed("discovery", "account_required", "The home page asks for a login.", seen)
  if (status === 403) {
    return failed("discovery", "bot_challenge", "The home page answers our agent with 403.", seen)
  }
  if (status < 200 || status >= 300) {
    return failed("discovery", "site_unreachable", `The home page answers ${status}.`, seen)
  }
  const page = yield* pageIn(errand, outcome)
  if (!isGood(page)) return page
  const geo = page.facts.walls.find((wall) => wall.kind === "geo" && !asksPlace(wall))
  if (geo !== undefined) {
    return failed("discovery", "geo_restricted", `The home page says: ${geo.marker}.`, snippet(geo.marker))
  }
  const line = waitingRoom(page.facts)
  if (line !== undefined)
    return unknown(`The home page lets its visitors wait ("${line}"), and a test does not wait with them.`, line)
  return page
})

/** robots.txt as it speaks to us. One that nobody could get is judged by RFC 9309: a server in trouble forbids everything. */
const rules = Effect.fnUntraced(function* (errand: Errand) {
  const outcome = yield* errand.look("/robots.txt")
  if (outcome._tag === "NoAnswer" || outcome.challenge !== undefined || outcome.status === 429) {
    // The home page will meet the same.
    return { robots: robotsOf(404, ""), outcome }
  }
  const isPage = outcome.status < 300 && isMarkup(openingOf(outcome.document, 4096))
  return { robots: isPage ? robotsOf(404, "") : robotsOf(outcome.status, outcome.text), outcome }
})

/** Products that pages link: the home page first, then a few that look like categories. */
const linked = Effect.fnUntraced(function* (errand: Errand, home: PageSeen, platform: PlatformId | null) {
  const productsOf = ({ answer, facts }: PageSeen) =>
    ofSite(
      facts.links.map(({ href }) => href).filter((href) => looksLikeProduct(href, platform)),
      answer.url
    )
  const direct = productsOf(home)
  if (direct.length > 0) return { found: direct, wall: undefined }
  const categories = categoriesOf(home.facts, home.answer.url)
  let wall: StepOutcome | undefined
  for (const category of categories.slice(0, maxCategories)) {
    const seen = yield* pageFor("discovery", errand, category)
    const found = isGood(seen) ? productsOf(seen) : []
    if (found.length > 0) return { found, wall: undefined }
    if (isGood(seen) && seen.answer.redirects.length > 0) wall ??= wallOf("discovery", seen)
  }
  return { found: [], wall }
})

/** A UCP service that answers calls; undefined when there is none. */
const ucpOf = Effect.fnUntraced(function* (
  errand: Errand,
  home: PageSeen,
  site: { readonly platform: PlatformId | null; readonly hasSoftNotFound: boolean }
) {
  const look = yield* lookAt(errand, "/.well-known/ucp")
  if (look._tag !== "Json") return undefined
  const surroundings = { visit: errand, home, ...site, isRetail: true }
  const { access, profile } = yield* probeUcp(surroundings, look, budgetOf(2))
  if (access === undefined) return undefined
  return { client: yield* Ucp.make(errand, access), handlers: profile?.paymentHandlers ?? [] } satisfies UcpService
})

/** What a UCP service sells: of everything, or else of what the home page is about. */
const inCatalogue = Effect.fnUntraced(function* (ucp: Ucp.UcpClient, base: URL, heading: string) {
  for (const query of ["", ...rarestWords(heading, [])]) {
    const found = yield* Catalogue.searched(ucp, base, query)
    if (found.length > 0) return found
  }
  return []
})

/** Why robots.txt keeps us from the home page: by what it says, or as the server is in trouble. */
const keptOut = ({ rule, under }: ReturnType<typeof robotsVerdict>, said: SiteOutcome): StepOutcome => {
  const seen = said._tag === "Answered" ? evidenceOf(said) : null
  if (rule !== null) {
    const whom = under === "*" || under === null ? "every agent" : agentName
    const detail = `robots.txt keeps ${whom} from the home page: Disallow: ${rule.pattern}.`
    return failed("discovery", "robots_disallowed", detail, seen)
  }
  const status = said._tag === "Answered" ? said.status : "nothing"
  return status === 503
    ? failed("discovery", "site_unreachable", "robots.txt answers 503: the site is not at home now.", seen)
    : failed(
        "discovery",
        "robots_disallowed",
        `robots.txt answers ${status}, which says "Disallow: /" to agents.`,
        seen
      )
}

/** Finds the shop and what it sells. */
export const discover = Effect.fnUntraced(function* (errand: Errand) {
  const { outcome: rulesAnswer, robots } = yield* rules(errand)
  const verdict = robotsVerdict(robots, agentName, "/")
  if (!verdict.isAllowed) return stopped(keptOut(verdict, rulesAnswer))
  const home = yield* door(errand)
  if (!isGood(home)) return stopped(home)
  const { answer, facts } = home
  const base = answer.url
  const { document, headers, setCookies } = answer
  const signs = { metas: facts.metas, headers, setCookies }
  const platform = (yield* Effect.orElseSucceed(errand.pages.platform(document, signs), () => null))?.id ?? null
  const warnings: Array<Blocker> = []
  if (bareHost(base.host) !== bareHost(errand.site.home.host)) {
    const detail = `${errand.site.home.host} redirects to ${base.host}.`
    warnings.push(warning("discovery", "redirects_across_hosts", detail, snippet(base.href)))
  }
  const canary = yield* errand.look(canaryPath)
  const hasSoftNotFound = canary._tag === "Answered" && canary.status >= 200 && canary.status < 300

  const sitemap = yield* Sitemaps.read(errand, robots, base, platform)
  if (sitemap.isMissing) {
    const detail = "Neither robots.txt nor /sitemap.xml leads to a sitemap."
    warnings.push(warning("discovery", "sitemap_missing", detail, sitemap.evidence))
  }
  const fromPlatform = yield* Catalogue.listed(errand, platform, base)
  const inSitemap = ofSite(sitemap.products, base)
  const isKnown = inSitemap.length > 0 || fromPlatform.length > 0
  const byLinks = isKnown ? { found: inSitemap, wall: undefined } : yield* linked(errand, home, platform)
  const named = byLinks.found
  const ucp = yield* ucpOf(errand, home, { platform, hasSoftNotFound })
  const fromUcp = ucp === undefined ? [] : yield* inCatalogue(ucp.client, base, facts.headings[0]?.text ?? "")
  const allowed = (url: URL) => robotsAllows(robots, agentName, url.pathname + url.search)
  const isNameless = named.length === 0 && fromPlatform.length === 0 && fromUcp.length === 0
  const tried = isNameless ? yield* proven(errand, home, sitemap, allowed) : undefined
  const urls = tried?.found ?? named
  const open = yield* openOf(urls, allowed)
  const offers = fromUcp.length > 0 ? fromUcp : fromPlatform

  if (offers.length === 0 && open.length === 0) {
    return {
      ...stopped(nothing(urls, home, warnings, troubled(errand), byLinks.wall ?? tried?.refused)),
      home,
      platform,
      allows: allowed
    }
  }
  const what = [
    ...(offers.length > 0
      ? [`${offers.length} products by ${fromUcp.length > 0 ? "UCP" : "the platform's interface"}`]
      : []),
    ...(open.length > 0
      ? [
          `${open.length} product addresses ${tried !== undefined ? "by looking at pages" : inSitemap.length > 0 ? "in the sitemap" : "by links"}`
        ]
      : [])
  ].join(" and ")
  const evidence = snippet(open[0]?.href ?? offers[0]?.candidate.name)
  const front: Storefront = { errand, home, platform, offers, productUrls: open.slice(0, maxProductUrls), ucp }
  return {
    outcome: passed(`Found ${what}.`, evidence, warnings),
    front,
    home,
    platform,
    allows: allowed
  } satisfies Discovered
})

/** Those that robots.txt lets us read. Whoever else has work gets a turn after each: the file may have a rule for each of them. */
const openOf = Effect.fnUntraced(function* (urls: ReadonlyArray<URL>, allowed: (url: URL) => boolean) {
  const open: Array<URL> = []
  for (const url of urls) {
    if (allowed(url)) open.push(url)
    yield* Effect.yieldNow
  }
  return open
})

/** The products that a browser saw on the home page. */
export const shownProducts = ({ links }: PageFacts, url: URL, platform: PlatformId | null): ReadonlyArray<URL> =>
  ofSite(
    links.map(({ href }) => href).filter((href) => looksLikeProduct(href, platform)),
    url
  )
