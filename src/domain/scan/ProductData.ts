import { addToCart } from "../page/AddToCart.ts"
import type { PageControl, StatedOffer, StatedProduct } from "../page/PageFacts.ts"
import { sameAmount } from "../page/Price.ts"
import { policyLinks } from "../page/PolicyLinks.ts"
import { priceVerdict } from "../page/PriceShown.ts"
import type { Answer, QuestionId } from "../Rubric.ts"
import { fix } from "./Fixes.ts"
import { typesOf } from "./ShopSigns.ts"
import type { SiteFacts } from "./SiteFacts.ts"
import { evidence, isFine, isPage, type Page, whyUnseen } from "./Sight.ts"

/** What the pages of products say of them in data. */
export const productAnswers = (facts: SiteFacts): ReadonlyArray<Answer> => {
  const { products, shop, tried } = facts
  if (shop.answer === "no") {
    return ids.map((id) => ({ id, ...notApplicable, message: `There are no products: ${shop.because}.` }))
  }
  // The page that states its product best is judged, so that one odd page does not stand for the shop.
  const page = products.toSorted((a, b) => rank(b) - rank(a))[0]
  if (page === undefined) {
    const message = `No page of a product was seen: ${whyNone(facts)}.`
    return ids.map((id) => ({ id, status: "unknown", message, evidence: evidence(tried[0] ?? facts.home), fix: null }))
  }
  const stated = best(page)
  if (stated === undefined && page.page.clientOnly !== null) {
    const message = "The page is empty before its scripts run; what they may add was not seen."
    return ids.map((id) => ({ id, status: "unknown", message, evidence: evidence(page), fix: null }))
  }
  return [
    productJsonLd(facts, page, stated),
    offerClarity(facts, page, stated),
    priceConsistent(facts, page, stated),
    shippingReturns(facts, page, stated),
    variantsExpressed(facts, page, stated)
  ]
}

const ids = [
  "product_json_ld",
  "offer_clarity",
  "price_consistent",
  "shipping_returns",
  "variants_expressed"
] as const satisfies ReadonlyArray<QuestionId>
const notApplicable = { status: "not_applicable", evidence: null, fix: null } as const

const whyNone = ({ home, tried }: SiteFacts) => {
  const [first] = tried
  if (first === undefined && !isFine(home)) return whyUnseen(home)
  if (first === undefined && home.isTruncated) return "nothing led to one up to where the home page was read"
  if (first === undefined) return "no link and no sitemap led to one"
  return whyUnseen(first)
}

const best = ({ page }: Page): StatedProduct | undefined => page.products[0]
const rank = (page: Page) => {
  const product = best(page)
  if (product === undefined) return 0
  return (product.format === "json-ld" ? 10 : 1) + present(product).length + (product.offers.length > 0 ? 1 : 0)
}

const wanted = [
  ["name", (product: StatedProduct) => product.name],
  ["image", (product: StatedProduct) => product.image],
  ["description", (product: StatedProduct) => product.description],
  ["sku or gtin", (product: StatedProduct) => product.sku ?? product.gtin],
  ["brand", (product: StatedProduct) => product.brand]
] as const
const present = (product: StatedProduct) => wanted.filter(([, of]) => of(product) !== null).map(([name]) => name)

/** Other formats than JSON-LD count half. */
const weightOf = (product: StatedProduct) => (product.format === "json-ld" ? 1 : 0.5)
const formatNames = {
  "json-ld": "JSON-LD",
  microdata: "microdata",
  rdfa: "RDFa",
  opengraph: "OpenGraph"
} as const

const productJsonLd = ({ platform }: SiteFacts, page: Page, product: StatedProduct | undefined): Answer => {
  const id = "product_json_ld"
  const toFix = fix(id, platform?.name)
  const [broken] = page.page.brokenBlocks
  if (product === undefined || (product.format !== "json-ld" && broken !== undefined)) {
    const message =
      broken === undefined
        ? "The product's page states no product in JSON-LD, microdata, RDFa or OpenGraph."
        : "A JSON-LD block of the product's page is not JSON."
    return { id, status: "fail", message, evidence: evidence(page, broken ?? page.page.title), fix: toFix }
  }
  const has = present(product)
  const missing = wanted.map(([name]) => name).filter((name) => !has.includes(name))
  const share = (weightOf(product) * has.length) / wanted.length
  const seen = evidence(page, `${formatNames[product.format]}: ${product.name ?? "without a name"}`)
  if (product.format === "json-ld" && missing.length === 0) {
    return { id, status: "pass", message: "JSON-LD states the product whole.", evidence: seen, fix: null }
  }
  const lacking = missing.length === 0 ? "" : `, without ${missing.join(", ")}`
  const message = `The product is stated in ${formatNames[product.format]}${lacking}.`
  return { id, status: "warn", share, message, evidence: seen, fix: toFix }
}

const iso4217 = /^[A-Z]{3}$/
/** What is said of the price: of what can be bought before what is sold out, as the first size of a product often is. */
export const firstOffer = (product: StatedProduct): StatedOffer | undefined =>
  product.offers.find((offer) => offer.price !== null && offer.availability === "InStock") ??
  product.offers.find((offer) => offer.price !== null) ??
  product.offers[0]

const offerClarity = ({ now, platform }: SiteFacts, page: Page, product: StatedProduct | undefined): Answer => {
  const id = "offer_clarity"
  const toFix = fix(id, platform?.name)
  const offer = product === undefined ? undefined : firstOffer(product)
  if (product === undefined || offer === undefined) {
    const message = "The product's page states no price, currency and availability in data."
    return { id, status: "fail", message, evidence: evidence(page, product?.name), fix: toFix }
  }
  const wrong = [
    ...(offer.price === null
      ? [offer.rawPrice === null ? "no price" : `a price that is no number: ${offer.rawPrice}`]
      : []),
    ...(offer.currency !== null && iso4217.test(offer.currency) ? [] : ["no currency of three letters"]),
    ...(offer.availability === null ? ["no availability"] : [])
  ]
  const until = offer.priceValidUntil === null ? NaN : Date.parse(offer.priceValidUntil)
  const isPast = until + 86_400_000 < now.getTime()
  const notes = isPast ? [`a price that was valid until ${offer.priceValidUntil}`] : []
  const seen = evidence(page, `${offer.rawPrice ?? "?"} ${offer.currency ?? "?"} ${offer.availability ?? "?"}`)
  if (wrong.length === 0 && notes.length === 0 && product.format === "json-ld") {
    return { id, status: "pass", message: "Price, currency and availability are stated.", evidence: seen, fix: null }
  }
  if (wrong.length === 3) {
    return { id, status: "fail", message: `The offer has ${wrong.join(", ")}.`, evidence: seen, fix: toFix }
  }
  const share = Math.max(0, weightOf(product) * (1 - wrong.length / 3 - notes.length / 6))
  const problems = [...wrong, ...notes].join(", ")
  const where = product.format === "json-ld" ? "" : ` in ${formatNames[product.format]} only`
  const message = `The offer is stated${where}${problems === "" ? "" : `, with ${problems}`}.`
  return { id, status: "warn", share, message, evidence: seen, fix: toFix }
}

const priceConsistent = (facts: SiteFacts, page: Page, product: StatedProduct | undefined): Answer => {
  const id = "price_consistent"
  const stated = (product?.offers ?? []).filter((offer) => offer.price !== null)
  const [first] = stated
  if (first === undefined) {
    const message = "No price is stated in data, so there is nothing to compare."
    return { id, status: "unknown", message, evidence: evidence(page), fix: null }
  }
  const verdicts = stated.map(({ currency, price }) => priceVerdict(page.page, price, currency))
  const isListed = (facts.catalogue?.items ?? []).some(
    (item) =>
      item.url !== undefined &&
      samePath(item.url, page.url) &&
      stated.some(({ price }) => price !== null && item.price !== undefined && sameAmount(price, item.price))
  )
  const shown = [...new Set(page.page.prices.map(({ raw }) => raw))].slice(0, 5).join(", ")
  const seen = evidence(page, `stated ${first.price} ${first.currency ?? ""}; shown ${shown || "none"}`)
  if (verdicts.includes("equal") || isListed) {
    const message = "The price in the data is the price that is shown."
    return { id, status: "pass", message, evidence: seen, fix: null }
  }
  if (verdicts.includes("unknown") || page.isTruncated) {
    const message = "Which of the prices on the page is the product's cannot be told."
    return { id, status: "unknown", message, evidence: seen, fix: null }
  }
  const message = `The data states ${first.price}, and the page shows ${shown}.`
  return { id, status: "fail", message, evidence: seen, fix: fix(id) }
}
const samePath = (a: string, b: string) => {
  const [left, right] = [URL.parse(a, b), URL.parse(b)]
  return left !== null && right !== null && left.pathname === right.pathname
}

const policyNode = (page: Page, type: string) =>
  page.page.jsonLd.some((node) => {
    const types = typesOf([node])
    return types.includes(type) || (type === "MerchantReturnPolicy" && node["hasMerchantReturnPolicy"] !== undefined)
  })

const shippingReturns = (facts: SiteFacts, page: Page, product: StatedProduct | undefined): Answer => {
  const id = "shipping_returns"
  const pages = [page, facts.home].filter(isPage)
  const stated = {
    shipping: product?.hasShipping === true || pages.some((seen) => policyNode(seen, "OfferShippingDetails")),
    returns: product?.hasReturns === true || pages.some((seen) => policyNode(seen, "MerchantReturnPolicy"))
  }
  const linked = (what: "shipping" | "returns") =>
    pages.map((seen) => policyLinks(seen.page).get(what)).find((href) => href !== undefined)
  if (stated.shipping && stated.returns) {
    const message = "Shipping and returns are stated in data."
    return { id, status: "pass", message, evidence: evidence(page), fix: null }
  }
  const kinds = ["shipping", "returns"] as const
  const found = kinds.map((what): number => (stated[what] ? 0.5 : linked(what) === undefined ? 0 : 0.25))
  const share = found.reduce((total, part) => total + part, 0)
  const words = kinds.map((what) =>
    stated[what] ? `${what} in data` : linked(what) === undefined ? `${what} nowhere` : `${what} as a link`
  )
  const message = `Stated: ${words.join(", ")}.`
  const seen = evidence(page, linked("returns") ?? linked("shipping"))
  return share === 0
    ? {
        id,
        status: "fail",
        message: "Neither data nor links tell of shipping and returns.",
        evidence: seen,
        fix: fix(id)
      }
    : { id, status: "warn", share, message, evidence: seen, fix: fix(id) }
}

const variantField =
  /size|colou?r|variant|option|attribute|swatch|gr[öo](?:ß|ss)e|farbe|taille|talla|tama[ñn]o|misura|maat/i

/** Choices that are made of every product alike. */
const otherField =
  /sort|currency|country|language|locale|ship|delivery|deliver|versand|liefer|subscri|frequency|plan|pay|gift|store|region|per_?page|newsletter|consent/i

/** What the page lets one choose of this product: two or more of the same, in the form that adds it where there is one. */
const choiceOn = ({ page }: Page): PageControl | undefined => {
  const adding = addToCart(page)?.form
  const controls = [...(adding ?? { controls: page.forms.flatMap((form) => form.controls) }).controls, ...page.controls]
  const values = (name: string | null) =>
    new Set(controls.filter((one) => one.type === "radio" && one.name === name).map(({ value }) => value)).size
  return controls.find((control) => {
    const { id, label, name, options, tag, type } = control
    const told = `${name ?? ""} ${id ?? ""} ${tag === "select" ? (label ?? "") : ""}`
    const isChoice =
      tag === "select" ? new Set(options.map(({ value }) => value).filter(Boolean)).size > 1 : type === "radio"
    return isChoice && (tag === "select" || values(name) > 1) && variantField.test(told) && !otherField.test(told)
  })
}

const variantsExpressed = (facts: SiteFacts, page: Page, product: StatedProduct | undefined): Answer => {
  const id = "variants_expressed"
  if (product !== undefined && product.variants > 0) {
    return { id, status: "pass", message: "The data states the variants.", evidence: evidence(page), fix: null }
  }
  const listed = facts.catalogue?.items?.find((item) => item.url !== undefined && samePath(item.url, page.url))
  if (listed !== undefined && listed.variants > 1) {
    const message = `The catalogue states the variants (${facts.catalogue?.source}).`
    return { id, status: "pass", message, evidence: evidence(facts.catalogue?.sight), fix: null }
  }
  const choice = choiceOn(page)
  if (choice === undefined) {
    const message = "The product has no variants to choose from."
    return { id, ...notApplicable, message, evidence: evidence(page) }
  }
  const message = `The page lets one choose (${choice.label ?? choice.name}), and the data states no variants.`
  return { id, status: "fail", message, evidence: evidence(page, choice.name), fix: fix(id, facts.platform?.name) }
}
