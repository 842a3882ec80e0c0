import type { PageFacts } from "../page/PageFacts.ts"
import { policyLinks } from "../page/PolicyLinks.ts"
import type { Answer } from "../Rubric.ts"
import { fix } from "./Fixes.ts"
import { typesOf } from "./ShopSigns.ts"
import type { DocumentFacts, SiteFacts } from "./SiteFacts.ts"
import { evidence, isAnswered, isFine, isMissing, isPage, isSettled, whyUnseen } from "./Sight.ts"

/** How an agent finds what there is, and who sells it. */
export const findingAnswers = (facts: SiteFacts): ReadonlyArray<Answer> => [
  sitemapProducts(facts),
  productFeed(facts),
  searchUsable(facts),
  organizationIdentity(facts),
  llmsTxt(facts),
  markdownNegotiation(facts)
]

const noShop = ({ shop }: SiteFacts) => ({
  status: "not_applicable" as const,
  message: `There are no products: ${shop.because}.`,
  evidence: null,
  fix: null
})

const sitemapProducts = (facts: SiteFacts): Answer => {
  const id = "sitemap_products"
  const { home, platform, robots, shop, sitemap } = facts
  if (shop.answer === "no") return { id, ...noShop(facts) }
  const seen = evidence(sitemap.sight, sitemap.proven)
  if (sitemap.isRead) {
    if (sitemap.products > 0 || sitemap.proven !== undefined) {
      const count = sitemap.products > 0 ? `${sitemap.products} of ${sitemap.locations}` : `${sitemap.locations}`
      const since =
        sitemap.newest === undefined ? "" : `, the newest changed on ${sitemap.newest.toISOString().slice(0, 10)}`
      const message = `The sitemap has pages of products (${count} addresses${since}).`
      return { id, status: "pass", message, evidence: seen, fix: null }
    }
    const message =
      sitemap.locations === 0 ? "The sitemap is empty." : "No address in the sitemap could be told to be a product's."
    return { id, status: "warn", message, evidence: seen, fix: fix(id, platform?.name) }
  }
  // A robots.txt that was not seen may name another.
  const isKnown = robots.state === "rules" || robots.state === "none"
  if (isMissing(sitemap.sight) && shop.answer === "yes" && isKnown) {
    const message = `There is no sitemap at ${new URL(sitemap.sight?.url ?? home.url).pathname}, where one is looked for.`
    return { id, status: "fail", message, evidence: seen, fix: fix(id, platform?.name) }
  }
  if (isFine(sitemap.sight) && shop.answer === "yes" && !/\.gz$/i.test(sitemap.sight.url)) {
    const message = `What answers as a sitemap is none${sitemap.problem === undefined ? "" : `: ${sitemap.problem}`}.`
    const opening = evidence(sitemap.sight, sitemap.sight.opening)
    return { id, status: "fail", message, evidence: opening, fix: fix(id, platform?.name) }
  }
  const message = `The sitemap was not seen: ${whyUnseen(sitemap.sight)}.`
  return { id, status: "unknown", message, evidence: seen, fix: null }
}

const feedLink = (page: PageFacts) =>
  page.headLinks.find(
    ({ href, rel, type }) =>
      /product|catalog|feed\.xml|google[-_]?shopping/i.test(`${href} ${rel}`) &&
      type !== null &&
      /xml|json|csv/i.test(type)
  )

const productFeed = (facts: SiteFacts): Answer => {
  const id = "product_feed"
  const { catalogue, home, platform, products, protocols, shop } = facts
  if (shop.answer === "no") return { id, ...noShop(facts) }
  if ((catalogue?.items?.length ?? 0) > 0) {
    const message = `The catalogue answers (${catalogue?.source}).`
    return { id, status: "pass", message, evidence: evidence(catalogue?.sight), fix: null }
  }
  const feed = [home, ...products].flatMap((sight) => (isPage(sight) ? [feedLink(sight.page)] : [])).find(Boolean)
  if (feed !== undefined) {
    return { id, status: "pass", message: "A product feed is linked.", evidence: evidence(home, feed.href), fix: null }
  }
  const tool = protocols.tools.find((name) => /catalog|search.*product|product.*search/i.test(name))
  if (tool !== undefined) {
    return { id, status: "pass", message: `Products can be asked for over UCP (${tool}).`, evidence: null, fix: null }
  }
  if (catalogue !== undefined && isSettled(catalogue.sight)) {
    const isEmpty = catalogue.items?.length === 0
    const message = isEmpty
      ? `The catalogue answers without a product (${catalogue.source}).`
      : `The platform's public catalogue is closed (${catalogue.source}).`
    const status = isEmpty ? "warn" : "fail"
    return { id, status, message, evidence: evidence(catalogue.sight), fix: fix(id, platform?.name) }
  }
  const message =
    catalogue === undefined
      ? "No public catalogue or feed was found. A feed that is handed to channels privately cannot be seen."
      : `The catalogue was not seen: ${whyUnseen(catalogue.sight)}.`
  return { id, status: "unknown", message, evidence: evidence(catalogue?.sight), fix: null }
}

const searchUsable = (facts: SiteFacts): Answer => {
  const id = "search_usable"
  const { home, platform, search, shop } = facts
  if (shop.answer === "no") return { id, ...noShop(facts) }
  if (search.template === undefined) {
    if (shop.answer === "yes" && isPage(home) && home.page.clientOnly === null) {
      const message = "The home page has neither a search form nor a SearchAction."
      return { id, status: "warn", share: 0, message, evidence: evidence(home), fix: fix(id, platform?.name) }
    }
    return { id, status: "unknown", message: "No search was seen.", evidence: evidence(home), fix: null }
  }
  if (search.isFound === true) {
    const message = `A search for “${search.query}” returns the product (${search.declaredBy}).`
    return { id, status: "pass", message, evidence: evidence(search.sight), fix: null }
  }
  if (search.isFound === false && isFine(search.sight)) {
    const message = `A search for “${search.query}” does not show the product without scripts (${search.declaredBy}).`
    return { id, status: "warn", message, evidence: evidence(search.sight), fix: fix(id, platform?.name) }
  }
  const why = search.query === undefined ? "no product is known to look for" : whyUnseen(search.sight)
  const message = `There is a search (${search.declaredBy}), which was not proved: ${why}.`
  return { id, status: "unknown", message, evidence: evidence(search.sight ?? home), fix: null }
}

/** An organization or one of its kinds, such as `ClothingStore`. */
const organisations = /(?:Organization|Store|Business|Corporation|Restaurant|^Brand|^Person)$/
const organizationIdentity = ({ home, products, shop }: SiteFacts): Answer => {
  const id = "organization_identity"
  const pages = [home, ...products].filter(isPage).filter(({ page }) => page.clientOnly === null)
  if (pages.length === 0) {
    const isApi = shop.answer === "no" && isFine(home)
    const message = isApi ? "The site answers no page." : "No page that can be read without scripts was seen."
    return { id, status: isApi ? "not_applicable" : "unknown", message, evidence: evidence(home), fix: null }
  }
  const links = pages.map(({ page }) => policyLinks(page))
  const node = pages
    .flatMap(({ page }) => page.jsonLd)
    .find((node) => typesOf([node]).some((type) => organisations.test(type)))
  const missing = [
    ...(node === undefined ? ["an Organization in JSON-LD"] : []),
    ...(["contact", "terms", "privacy"] as const).flatMap((what) =>
      links.some((found) => found.has(what)) ? [] : [`a link to ${what}`]
    )
  ]
  if (missing.length === 0) {
    const message = "The seller is named, with contact, terms and privacy."
    return { id, status: "pass", message, evidence: evidence(home), fix: null }
  }
  const message = `Missing: ${missing.join(", ")}.`
  if (missing.length === 4 && shop.answer === "no") {
    const status = "not_applicable"
    return { id, status, message: `It sells nothing. ${message}`, evidence: evidence(home), fix: null }
  }
  if (missing.length === 4) return { id, status: "fail", message, evidence: evidence(home), fix: fix(id) }
  return { id, status: "warn", share: (4 - missing.length) / 4, message, evidence: evidence(home), fix: fix(id) }
}

/** An optional document: not having it costs its points and is no fault. */
const optional = (
  id: "llms_txt" | "markdown_negotiation",
  { detail, isValid, sight }: DocumentFacts,
  absent: string
): Answer => {
  if (isValid) return { id, status: "pass", message: detail, evidence: evidence(sight, sight?.opening), fix: null }
  const isAbsent = isMissing(sight) || (isAnswered(sight) && sight.status === 406)
  if (!isAnswered(sight) || (sight.status >= 400 && !isAbsent)) {
    const message = `It was not seen: ${whyUnseen(sight)}.`
    return { id, status: "unknown", message, evidence: evidence(sight), fix: null }
  }
  const message = isAbsent ? absent : detail
  return { id, status: "warn", share: 0, message, evidence: evidence(sight), fix: fix(id) }
}

const llmsTxt = ({ llms }: SiteFacts) => optional("llms_txt", llms, "There is no llms.txt.")

const markdownNegotiation = ({ home, markdown, shop }: SiteFacts): Answer => {
  const id = "markdown_negotiation"
  const link = isPage(home) ? home.page.headLinks.find(({ type }) => type === "text/markdown") : undefined
  if (link !== undefined && markdown?.isValid !== true) {
    const message = "The home page links a version in Markdown."
    return { id, status: "pass", message, evidence: evidence(home, link.href), fix: null }
  }
  if (markdown === undefined) {
    const message =
      shop.answer === "no" ? "There is no page of a product to ask for." : "No page of a product was seen."
    const status = shop.answer === "no" ? "not_applicable" : "unknown"
    return { id, status, message, evidence: null, fix: null }
  }
  return optional(id, markdown, "There is no version in Markdown.")
}
