import type { JsonLdNode, PageFacts } from "../page/PageFacts.ts"
import { addressAt } from "./SiteAddress.ts"

/** Where a site's search is asked, `{q}` for the query, and what says so. */
export interface SearchTemplate {
  readonly template: string
  readonly declaredBy: string
}

/** The platform's own answer in data is the surest, then what the site declares, then its form. */
export const searchTemplate = (
  home: PageFacts | undefined,
  platform: string | undefined,
  origin: string
): SearchTemplate | undefined => {
  if (platform === "shopify") {
    const template = `${origin}/search/suggest.json?q={q}&resources[type]=product&resources[limit]=10`
    return { template, declaredBy: "Shopify's predictive search" }
  }
  return home === undefined ? undefined : (declared(home, origin) ?? form(home, origin))
}

const declared = ({ jsonLd, url }: PageFacts, origin: string): SearchTemplate | undefined => {
  for (const action of jsonLd.flatMap(actionsOf)) {
    const target = action["target"]
    const targets = [target]
      .flat()
      .map((one) => (typeof one === "string" ? one : isNode(one) ? one["urlTemplate"] : ""))
    const text = targets.find((one) => typeof one === "string" && /\{[^}]{1,60}\}/.test(one))
    if (typeof text !== "string") continue
    const stated = URL.parse(text.replace(/\{[^}]{1,60}\}/, placeholder), url)
    const template = stated === null ? undefined : addressAt(origin, stated.href)
    if (template !== undefined)
      return { template: template.href.replace(placeholder, "{q}"), declaredBy: "SearchAction" }
  }
  return undefined
}
/** Stands for the query while an address is parsed. */
const placeholder = "query-goes-here"

const isNode = (value: unknown): value is JsonLdNode => typeof value === "object" && value !== null
const actionsOf = (node: JsonLdNode): ReadonlyArray<JsonLdNode> => {
  const actions = [node, ...[node["potentialAction"]].flat()].filter(isNode)
  return actions.filter((action) => [action["@type"]].flat().includes("SearchAction"))
}

const form = ({ forms }: PageFacts, origin: string): SearchTemplate | undefined => {
  for (const { action, controls, method, role } of forms) {
    const url = URL.canParse(action) ? addressAt(origin, action) : undefined
    if (method !== "GET" || url === undefined) continue
    const isSearch = role === "search" || /search|suche|recherche|buscar|busca|cerca|zoek/i.test(url.pathname)
    const field = controls.find(
      ({ name, type }) =>
        name !== null && (type === "search" || (/^(?:text|search)$/.test(type) && (isSearch || queryName.test(name))))
    )
    if (field?.name == null) continue
    const hidden = controls.filter(({ name, type }) => type === "hidden" && name !== null)
    for (const { name, value } of hidden.slice(0, 10)) url.searchParams.set(name ?? "", value ?? "")
    url.searchParams.set(field.name, placeholder)
    return { template: url.href.replace(placeholder, "{q}"), declaredBy: "the search form" }
  }
  return undefined
}
const queryName = /^(?:q|s|query|search|keywords?|search_?query|term|text)$/i

/** What to look for so that this product should be found: its two longest words, in their order. */
export const queryFor = (name: string): string | undefined => {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length >= 3)
  const longest = words.toSorted((a, b) => b.length - a.length).slice(0, 2)
  return longest.length === 0
    ? undefined
    : words
        .filter((word) => longest.includes(word))
        .slice(0, 2)
        .join(" ")
}

/** Whether an answer of the search shows the product: its address or its whole name. */
export const showsProduct = (
  answer: string,
  product: { readonly url: string; readonly name: string; readonly query: string }
): boolean => {
  const path = URL.parse(product.url)?.pathname ?? product.url
  // JSON may write its slashes with backslashes.
  const text = answer.toLowerCase().replaceAll("\\/", "/")
  const name = product.name.toLowerCase()
  // The page repeats the query, which may be the whole name.
  const isTold = name !== product.query.toLowerCase() && text.includes(name)
  return isTold || text.includes(path.replace(/\/$/, "").toLowerCase())
}
