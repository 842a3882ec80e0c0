import { accountWall } from "../page/Accounts.ts"
import { addsOwn, addToCart, asksChoiceFirst } from "../page/AddToCart.ts"
import { productsAdded } from "../page/ProductsAdded.ts"
import type { PageFacts, StatedProduct } from "../page/PageFacts.ts"
import { folded } from "../page/PageText.ts"
import type { Answer } from "../Rubric.ts"
import { fix } from "./Fixes.ts"
import type { SiteFacts } from "./SiteFacts.ts"
import { evidence, isAnswered, isPage, type Page, type Sight, whyUnseen } from "./Sight.ts"

/** Whether an agent that reads HTML can work the pages: without scripts, by names, without a wall before the cart. */
export const operationAnswers = (facts: SiteFacts): ReadonlyArray<Answer> => [
  worksWithoutJavaScript(facts),
  operableStructure(facts),
  noWalls(facts)
]

const leastText = 400
/** A price that is no shipping limit, saving or rate. */
const hasPrice = (page: PageFacts): boolean => page.prices.some((price) => !price.isAside)

/**
 * A page of one product: it states one, or has both a price and something that puts it into the cart. One from which several can be put
 * there is a list, unless one of the formats states a single product; and one whose products all have a page of their own is a list.
 */
export const isProductPage = (page: PageFacts): boolean => {
  const stated = page.products.filter(
    (product) => product.name !== null && (product.format !== "opengraph" || hasOffer(product))
  )
  if (!isOfOne(stated) && productsAdded(page).size > 1) return false
  if (stated.length > 0 && stated.every(({ name }) => isOnlyLinked(page, lower(name ?? "")))) return false
  return (
    stated.length > 0 ||
    (hasPrice(page) && addsOwn(page) !== undefined && page.headings.some(({ level }) => level === 1)) ||
    (hasPrice(page) && asksChoiceFirst(page) && isTitled(page))
  )
}
/** Whether a page's title begins with one of its headings. */
const isTitled = ({ headings, title }: PageFacts): boolean =>
  headings.some(({ text }) => text !== "" && lower(title ?? "").startsWith(lower(text)))
const lower = (text: string): string => folded(text).toLowerCase()
const pathOf = (address: string): string => URL.parse(address)?.pathname ?? address

/** Whether a page links another one by a product's name and is not about it itself: it lists the product, if only that one. */
const isOnlyLinked = ({ heading, links, title, url }: PageFacts, name: string): boolean =>
  ![heading, title].some((about) => lower(about ?? "").includes(name)) &&
  links.some(({ href, text }) => lower(text) === name && pathOf(href) !== pathOf(url))

const isOfOne = (stated: ReadonlyArray<StatedProduct>) =>
  Object.values(Object.groupBy(stated, ({ format }) => format)).some(
    (products) => new Set(products?.map(({ name }) => name)).size === 1
  )
const hasOffer = (product: StatedProduct) => product.offers.some((offer) => offer.rawPrice !== null)

/** The page to judge by: a product's, or the home page of a site that sells none. */
const sample = ({ home, products, shop, tried }: SiteFacts): Sight | undefined =>
  products[0] ?? (shop.answer === "no" ? home : (tried.find(isPage) ?? tried[0]))

const worksWithoutJavaScript = (facts: SiteFacts): Answer => {
  const id = "works_without_javascript"
  const { home, platform, products, shop } = facts
  const [product] = products
  if (product !== undefined) return productWithoutScripts(facts, product)
  const empty = [...facts.tried, home].find((sight): sight is Page => isPage(sight) && sight.page.clientOnly !== null)
  if (empty !== undefined) {
    const message = "The page has nothing to read before its scripts have run."
    const seen = evidence(empty, empty.page.clientOnly?.marker)
    return { id, status: "fail", message, evidence: seen, fix: fix(id, platform?.name) }
  }
  if (shop.answer !== "no" || !isAnswered(home)) {
    const message = `No page of a product was seen: ${whyUnseen(facts.tried[0] ?? (isAnswered(home) ? undefined : home))}.`
    return { id, status: "unknown", message, evidence: evidence(facts.tried[0] ?? home), fix: null }
  }
  if (!isPage(home)) {
    const message = "The site answers no page to read."
    return { id, status: "not_applicable", message, evidence: evidence(home), fix: null }
  }
  const message = `The home page has ${home.page.visibleLength} characters of text without scripts.`
  return { id, status: "pass", message, evidence: evidence(home), fix: null }
}

const productWithoutScripts = ({ platform }: SiteFacts, sight: Page): Answer => {
  const id = "works_without_javascript"
  const { page } = sight
  if (page.clientOnly !== null) {
    const message = "The product's page has nothing to read before its scripts have run."
    return {
      id,
      status: "fail",
      message,
      evidence: evidence(sight, page.clientOnly.marker),
      fix: fix(id, platform?.name)
    }
  }
  const missing = [
    ...(page.title === null && page.headings.length === 0 ? ["a title"] : []),
    ...(hasPrice(page) ? [] : ["a price"]),
    ...(page.visibleLength >= leastText ? [] : [`text (${page.visibleLength} of ${leastText} characters)`]),
    ...(addToCart(page) === undefined ? ["an add-to-cart control"] : [])
  ]
  if (missing.length === 0) {
    const message = "A product's page shows title, price, text and an add-to-cart control without scripts."
    return { id, status: "pass", message, evidence: evidence(sight), fix: null }
  }
  const message = `Without scripts a product's page does not show ${missing.join(", ")}.`
  const share = (4 - missing.length) / 4
  return { id, status: "warn", share, message, evidence: evidence(sight, page.title), fix: fix(id, platform?.name) }
}

const operableStructure = (facts: SiteFacts): Answer => {
  const id = "operable_structure"
  const sight = sample(facts) ?? facts.home
  if (!isPage(sight) || sight.page.clientOnly !== null) {
    const isApi = facts.shop.answer === "no" && isAnswered(sight) && sight.page === undefined
    const message = isApi
      ? "The site answers no page to operate."
      : `No page that can be judged without scripts was seen${isPage(sight) ? "" : `: ${whyUnseen(sight)}`}.`
    return { id, status: isApi ? "not_applicable" : "unknown", message, evidence: evidence(sight), fix: null }
  }
  const { page } = sight
  const controls = [...page.forms.flatMap((form) => form.controls), ...page.controls].filter(
    ({ type }) => type !== "hidden"
  )
  const named = controls.filter(({ label, value }) => (label ?? value ?? "") !== "").length
  const share = controls.length === 0 ? 1 : named / controls.length
  const wrong = [
    ...(share < 0.9 ? [`${controls.length - named} of ${controls.length} fields and buttons have no name`] : []),
    ...(page.headings.some(({ level }) => level === 1) ? [] : ["there is no h1"]),
    ...(page.landmarks.length > 0 ? [] : ["there are no landmarks such as main and nav"]),
    ...(page.lang === null ? ["the language is not stated"] : [])
  ]
  if (wrong.length === 0) {
    const message = "Fields and buttons have names, and the page has headings and landmarks."
    return { id, status: "pass", message, evidence: evidence(sight), fix: null }
  }
  const status = share < 0.5 && controls.length >= 4 ? "fail" : "warn"
  return { id, status, message: `${capital(wrong.join("; "))}.`, evidence: evidence(sight), fix: fix(id) }
}
const capital = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`

/** What shows that only those with an account get on. */
export const accountMark = (sight: Page): string | undefined => accountWall(sight.page, new URL(sight.url))

/** Whether one needs an account to buy; null where that was not seen. */
export const requiresAccount = ({ cart, checkout, shop, tried }: SiteFacts): boolean | null => {
  if (shop.answer !== "yes") return null
  if ([...tried, cart, checkout].filter(isPage).some((sight) => accountMark(sight) !== undefined)) return true
  return isPage(checkout) && checkout.page.clientOnly === null ? false : null
}

const noWalls = (facts: SiteFacts): Answer => {
  const id = "no_walls"
  const { cart, home, platform, products, shop, tried } = facts
  const toFix = fix(id, platform?.name)
  if (shop.answer === "no") {
    return { id, status: "not_applicable", message: "It sells nothing to people.", evidence: null, fix: null }
  }
  const asked = [home, ...tried, cart].filter(isPage)
  const sent = asked.find((sight) => accountMark(sight) !== undefined)
  if (sent !== undefined) {
    const message = `${new URL(sent.asked).pathname} asks for an account.`
    return { id, status: "fail", message, evidence: evidence(sent, accountMark(sent)), fix: toFix }
  }
  const walls = asked.flatMap((sight) =>
    sight.page.walls.flatMap((wall) => (wall.kind === "cookie" ? [] : [{ ...wall, sight }]))
  )
  const [first] = walls
  if (first !== undefined) {
    const message = `The page asks for ${words[first.kind]} before it may be used; its text can be read all the same.`
    return { id, status: "warn", message, evidence: evidence(first.sight, first.marker), fix: toFix }
  }
  if (products.length === 0) {
    const message = `No page of a product was seen: ${whyUnseen(tried[0])}.`
    return { id, status: "unknown", message, evidence: evidence(tried[0] ?? home), fix: null }
  }
  const message = "Products and cart can be seen without an account."
  return { id, status: "pass", message, evidence: evidence(cart ?? products[0]), fix: null }
}
const words = {
  age: "the visitor's age",
  geo: "the visitor's country",
  account: "an account",
  cookie: "consent"
} as const
