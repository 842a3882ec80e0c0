import { Effect, Schema } from "effect"
import { isExtraControl } from "#domain/AsideForm.ts"
import { saysNothing } from "#domain/AsideWords.ts"
import { subscribing } from "#domain/FormConduct.ts"
import { addToCart } from "#domain/page/AddToCart.ts"
import type { PageControl, PageFacts } from "#domain/page/PageFacts.ts"
import { priceVerdict } from "#domain/page/PriceShown.ts"
import { pricesForAccounts } from "#domain/page/Walls.ts"
import { type Candidate, choose, type Choice, type Offered, rarestWords, samePrice } from "#domain/ProductChoice.ts"
import { bestOffer, offeredBy, shownPrice } from "#domain/ProductOffered.ts"
import type { Blocker } from "#domain/ShoppingTest.ts"
import { isGood, type PageSeen, pageFor } from "./ApiRail.ts"
import type { Storefront } from "./Discovery.ts"
import type { SiteAnswer } from "../SiteVisits.ts"
import { fewLinks } from "./NothingFound.ts"
import { failed, passed, snippet, unknown, warning } from "./Outcomes.ts"
import type { StepOutcome } from "./Rail.ts"
import * as ShopSearch from "./ShopSearch.ts"
import { turnedAway } from "./TurnedAway.ts"

/** How many product pages are compared where no interface lists products. */
const maxPages = 6
/** And how many, while all that were looked at are sold out. */
const maxSoldOut = 12

export interface Selected {
  readonly outcome: StepOutcome
  readonly chosen: Offered | undefined
}

const stopped = (outcome: StepOutcome): Selected => ({ outcome, chosen: undefined })

/** Product pages as far as they are needed, with what they offer. */
const fromPages = Effect.fnUntraced(function* ({ errand, productUrls }: Storefront) {
  const offers: Array<Offered> = []
  const pages: Array<PageSeen> = []
  const missing: Array<SiteAnswer> = []
  let refused: StepOutcome | undefined
  for (const [index, url] of productUrls.slice(0, maxSoldOut).entries()) {
    const isEnough = offers.length === 0 || offers.some(({ isAvailable }) => isAvailable !== false)
    if (index >= maxPages && isEnough) break
    const seen = yield* pageFor("selection", errand, url, { obeysRobots: true })
    if (!isGood(seen)) {
      refused ??= seen
      continue
    }
    if (seen.answer.status >= 400) {
      missing.push(seen.answer)
      continue
    }
    pages.push(seen)
    const offered = offeredBy(seen.answer.url, seen.facts)
    if (offered !== undefined) offers.push(offered)
  }
  return { offers, pages, refused: refused ?? turnedAway("selection", missing) }
})

/**
 * What stands before every page alike: a question of consent, of a region, in whatever language. Ours not to answer. Pages of a shop that
 * are alike for what they lack, as a script fills them or their products are gone, still lead about in the shop.
 */
const sameBefore = (pages: ReadonlyArray<PageSeen>, { home, productUrls }: Storefront): StepOutcome | undefined => {
  const [first] = pages
  const text = first?.facts.visibleText ?? ""
  if (first === undefined || text === "" || pages.some(({ facts }) => facts.visibleText !== text)) return undefined
  const { links } = first.facts
  const isBeforeHome = text === home.facts.visibleText
  if (!isBeforeHome && (pages.length === 1 || links.length > fewLinks)) return undefined
  const products = new Set(productUrls.map(({ href }) => href))
  if (links.some(({ href }) => products.has(href))) return undefined
  const what =
    pages.length === 1
      ? "The page of the product shows the same text as the home page"
      : "All pages of products show the same text"
  return unknown(`${what}, so that something stands before the shop which a test does not answer.`, snippet(text))
}

const byTime =
  /^\s{0,2}(?:[€£$¥]|[A-Z]{3})?\s{0,2}(?:(?:\/|per|an?|every|pro|je|par|al|por|per\sil|alla)\s{0,2}(?:day|week|month|mo\b|quarter|year|woche|monat|jahr|mois|semaine|an\b|mes\b|semana|año|mese|settimana|anno|maand|jaar|mês)|(?:weekly|monthly|yearly|wöchentlich|monatlich|jährlich)\b)/i

/** Whether all that a page sells is paid again and again. */
const sellsByTime = ({ prices, visibleText }: PageFacts): boolean =>
  prices.length > 0 &&
  prices.every(({ at, raw }) => byTime.test(visibleText.slice(at + raw.length, at + raw.length + 40)))

/** Why nothing can be chosen. */
const unchosen = (
  { excluded, soldOut, unpriced }: Choice,
  front: Storefront,
  pages: ReadonlyArray<PageSeen>,
  refused: StepOutcome | undefined
): StepOutcome => {
  const [first] = soldOut
  const [nameless] = unpriced
  const known = front.productUrls.length
  if (first !== undefined && pages.length > 0 && known > maxSoldOut) {
    const detail = `The first ${soldOut.length} of ${known} products are out of stock; the others were not looked at.`
    return unknown(detail, snippet(first.candidate.name), [warning("selection", "out_of_stock", detail)])
  }
  if (first !== undefined) {
    const detail =
      soldOut.length === 1
        ? "The only product that could be looked at is out of stock."
        : `All ${soldOut.length} products that could be looked at are out of stock.`
    return failed("selection", "out_of_stock", detail, snippet(first.candidate.name))
  }
  // Ours to refuse: it says nothing about the shop.
  if (excluded > 0 && nameless === undefined) {
    const what =
      excluded === 1
        ? "the only product that was read is a gift card, a subscription"
        : `all ${excluded} products that were read are gift cards, subscriptions`
    const detail = `Could not be tried from here: ${what} or age-restricted, which a test does not buy.`
    return unknown(detail)
  }
  const empty = pages.find(({ facts }) => facts.clientOnly !== null || facts.products.length === 0)
  const marker = empty?.facts.clientOnly?.marker
  if (marker !== undefined) {
    const detail = `Product pages are empty before their scripts have run: ${marker}.`
    return failed("selection", "javascript_wall", detail, snippet(marker))
  }
  const long = nameless === undefined ? pages.find(({ facts }) => facts.isCut) : undefined
  if (long !== undefined) {
    const detail = `${long.answer.url.pathname} is longer than we read, and up to there nothing gives name, price and currency.`
    return unknown(detail, snippet(long.facts.visibleText))
  }
  const [forAccounts] = pages.flatMap(({ facts }) => pricesForAccounts(facts) ?? [])
  if (forAccounts !== undefined) {
    const detail = "The pages of products tell their prices only to whoever has logged in."
    return failed("selection", "account_required", detail, snippet(forAccounts))
  }
  const same = nameless === undefined ? sameBefore(pages, front) : undefined
  if (same !== undefined) return same
  const [again] = pages.flatMap(({ facts }) => (sellsByTime(facts) ? (subscribing(facts) ?? []) : []))
  if (again !== undefined) {
    const detail = `The pages of products only offer a subscription, by "${again}", and a test subscribes to nothing.`
    return unknown(detail, snippet(again))
  }
  if (nameless !== undefined || pages.length > 0) {
    const detail =
      nameless === undefined && pages.every(({ facts }) => shownPrice(facts) !== undefined)
        ? "The pages that were read show a price, and have neither structured data nor a button that adds to a cart."
        : "Neither structured data nor an interface nor the text of the pages gives name, price and currency."
    return failed(
      "selection",
      "no_structured_data",
      detail,
      snippet(nameless?.candidate.name ?? pages[0]?.facts.visibleText)
    )
  }
  if (refused !== undefined) return refused
  return failed("selection", "no_products_found", "No product page could be read.")
}

const Currency = Schema.Struct({ currency: Schema.String })

/** Completes what an interface does not say by the product's page: the currency. */
const completed = Effect.fnUntraced(function* (front: Storefront, candidate: Candidate, page: PageSeen | undefined) {
  if (candidate.currency !== null) return candidate
  const stated = page?.facts.products.flatMap(({ offers }) => offers).find(({ currency }) => currency !== null)
  if (stated !== undefined) return { ...candidate, currency: stated.currency }
  if (front.platform !== "shopify") return candidate
  const said = yield* front.errand.json(Currency, { url: "/cart.js" })
  return "_tag" in said || said.value === undefined ? candidate : { ...candidate, currency: said.value.currency }
})

/** Whether a choice is of what is bought, and none of what is offered beside it. */
const isOfProduct = (control: PageControl): boolean => {
  const shown = control.options.find(({ selected }) => selected) ?? control.options[0]
  const isChoice = control.tag === "select" || control.type === "radio"
  return isChoice && !isExtraControl(control) && !(shown !== undefined && saysNothing(shown.text))
}

/** What the product's page says otherwise than it, or its platform, states. */
const contradictions = (offered: Offered, { facts }: PageSeen): ReadonlyArray<Blocker> => {
  const { currency, price } = offered.candidate
  const stated = facts.products[0] === undefined ? undefined : bestOffer(facts.products[0].offers)
  const found: Array<Blocker> = []
  const seen = snippet(facts.visibleText.slice(facts.headingAt ?? 0))
  if (offered.source !== "structured" && samePrice(stated?.price ?? null, price) === false) {
    const detail = `The interface states ${price}, the page's structured data ${stated?.price}.`
    found.push(warning("selection", "price_mismatch", detail, seen))
  } else if (!facts.isCut && priceVerdict(facts, price, currency) === "different") {
    const detail = `Stated is ${price} ${currency ?? ""}, and the page shows another price.`
    found.push(warning("selection", "price_mismatch", detail, seen))
  }
  if (offered.source === "text") {
    const detail = "Only the text of the page tells the price; no structured data does."
    found.push(warning("selection", "no_structured_data", detail, seen))
  }
  const choices = addToCart(facts)?.choices.filter(isOfProduct) ?? []
  if (choices.length > 0 && offered.variants <= 1 && (facts.products[0]?.variants ?? 0) <= 1) {
    const names = choices.map(({ label, name }) => label ?? name ?? "a choice").join(", ")
    const detail = `The page asks for ${names}, and states no variants with their prices.`
    found.push(warning("selection", "variant_ambiguous", detail, snippet(names)))
  }
  return found
}

/** Chooses what is bought, always the same of the same shop, and reads it as a buyer would. */
export const select = Effect.fnUntraced(function* (front: Storefront) {
  const read =
    front.offers.length > 0 ? { offers: front.offers, pages: [], refused: undefined } : yield* fromPages(front)
  const choice = choose(read.offers)
  if (choice.chosen === undefined) return stopped(unchosen(choice, front, read.pages, read.refused))
  const { candidate } = choice.chosen
  const page = yield* pageOf(front, candidate, read.pages)
  if (page !== undefined && !isGood(page)) return stopped(page)
  const whole = yield* completed(front, candidate, page)
  const offered: Offered = { ...choice.chosen, candidate: whole }
  if (whole.currency === null) {
    const detail = "No page and no interface says in which currency the price is."
    return stopped(failed("selection", "no_structured_data", detail, snippet(whole.name)))
  }
  const titles = read.offers.map((one) => one.candidate.name)
  const search =
    offered.source === "ucp"
      ? { detail: "The UCP service's own search found it.", warnings: [] }
      : yield* ShopSearch.find(front, whole, rarestWords(whole.name, titles))
  const warnings = [...(page === undefined ? [] : contradictions(offered, page)), ...search.warnings]
  const detail = `Chose "${whole.name}" for ${whole.price} ${whole.currency} of ${read.offers.length === 1 ? "one product" : `${read.offers.length} products`}. ${search.detail}`
  const evidence = snippet(page === undefined ? whole.name : page.answer.url.href)
  return { outcome: passed(detail, evidence, warnings), chosen: offered } satisfies Selected
})

/** The page of what was chosen: one that was read, or a look at it. One that is missing says nothing where an interface sells. */
const pageOf = Effect.fnUntraced(function* (front: Storefront, { url }: Candidate, pages: ReadonlyArray<PageSeen>) {
  const known = pages.find(({ answer }) => answer.url.href === url?.href)
  if (known !== undefined || url === undefined) return known
  const seen = yield* pageFor("selection", front.errand, url, { obeysRobots: true })
  if (!isGood(seen)) return seen
  return seen.answer.status >= 400 ? undefined : seen
})
