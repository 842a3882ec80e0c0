import { Effect, Option, Schema } from "effect"
import type { JsonLdNode, PageFacts } from "#domain/page/PageFacts.ts"
import type { Candidate } from "#domain/ProductChoice.ts"
import type { Blocker } from "#domain/ShoppingTest.ts"
import type { Storefront } from "./Discovery.ts"
import { evidenceOf, snippet, warning } from "./Outcomes.ts"

/** What the shop's own search made of a product that it has. */
export interface Searched {
  readonly detail: string
  readonly warnings: ReadonlyArray<Blocker>
}

const Action = Schema.Struct({
  potentialAction: Schema.Union([Schema.Unknown, Schema.Array(Schema.Unknown)])
})
const Template = Schema.Union([
  Schema.Struct({ target: Schema.String }),
  Schema.Struct({ target: Schema.Struct({ urlTemplate: Schema.String }) })
])

/** Where the words go in an address, and the longest address that is read. */
const placeholder = /\{[^{}]*\}/
const longestTemplate = 2_000

const templateIn = (node: JsonLdNode): string | undefined => {
  if (!Schema.is(Action)(node)) return undefined
  const actions = Array.isArray(node.potentialAction) ? node.potentialAction.slice(0, 10) : [node.potentialAction]
  for (const action of actions) {
    if (!Schema.is(Template)(action)) continue
    const template = typeof action.target === "string" ? action.target : action.target.urlTemplate
    if (template.length <= longestTemplate && placeholder.test(template)) return template
  }
  return undefined
}

const queryField = /^(?:q|s|search|query|keyword|keywords|term|text|searchterm)$/i

/** Where the shop's own search answers: by the address it declares, or by its form. */
const searchAddress = (facts: PageFacts, query: string): URL | undefined => {
  const base = new URL(facts.url)
  for (const node of facts.jsonLd) {
    const template = templateIn(node)
    const url =
      template === undefined
        ? null
        : URL.parse(
            template.replace(placeholder, () => encodeURIComponent(query)),
            base.href
          )
    if (url !== null && url.host === base.host) return url
  }
  for (const form of facts.forms) {
    const field = form.controls.find(({ name, type }) => type === "search" || queryField.test(name ?? ""))
    const url = URL.parse(form.action)
    if (form.method !== "GET" || field?.name === undefined || field.name === null || url?.host !== base.host) continue
    for (const { name, type, value } of form.controls) {
      if (type === "hidden" && name !== null) url.searchParams.set(name, value ?? "")
    }
    url.searchParams.set(field.name, query)
    return url
  }
  return undefined
}

const missed = (detail: string, evidence: string | null): Searched => ({
  detail,
  warnings: [warning("selection", "search_unusable", detail, evidence)]
})

/** What a search says that found nothing. Pages show what was looked at before all the same. */
const saysNone =
  /\breturn(?:s|ed) no results|\b(?:no|0) (?:search )?(?:results|products|items|matches) (?:were |was )?(?:found|match)|\bno (?:search )?results\b|keine (?:ergebnisse|treffer|produkte gefunden)|aucun (?:résultat|produit)|sin resultados|no se (?:han )?encontr|nessun (?:risultato|prodotto)|nenhum resultado|geen (?:resultaten|producten)/i

const names = (text: string, { name, url }: Candidate): boolean =>
  text.toLowerCase().includes(name.toLowerCase()) || (url !== undefined && text.includes(url.pathname))

/** Whether a page's text names what was searched for, beside the query that it repeats. */
const shows = (text: string, candidate: Candidate, query: string): boolean =>
  candidate.name.toLowerCase() !== query.toLowerCase() && names(text, candidate)

/** Whether one of a page's links is called like it, or ends like its address: shops have several for one product. */
const links = ({ links }: PageFacts, { name, url }: Candidate): boolean => {
  const end = url?.pathname.split("/").findLast((part) => part !== "")
  return links.some(
    ({ href, text }) =>
      text.toLowerCase() === name.toLowerCase() ||
      (end !== undefined && URL.parse(href)?.pathname.split("/").includes(end) === true)
  )
}

/** Asks the shop's own search for what was chosen, by its rarest words. robots.txt often keeps search pages from agents: that is obeyed. */
export const find = Effect.fnUntraced(function* (
  front: Storefront,
  candidate: Candidate,
  words: ReadonlyArray<string>
) {
  const { errand, home, platform } = front
  const query = words.join(" ")
  if (query === "") return { detail: "Its name has no words to search for.", warnings: [] } satisfies Searched
  const url =
    platform === "shopify"
      ? new URL(`/search/suggest.json?q=${encodeURIComponent(query)}&resources[type]=product`, home.answer.url)
      : searchAddress(home.facts, query)
  if (url === undefined && home.facts.isCut)
    return { detail: "Up to where the home page was read, it has no search.", warnings: [] } satisfies Searched
  if (url === undefined) {
    return missed("The home page has no search that answers a GET request.", snippet(home.facts.title))
  }
  const outcome = yield* errand.look(url, { obeysRobots: true })
  if (outcome._tag === "NoAnswer") {
    const isOurs = outcome.reason === "robots" || outcome.reason === "budget" || outcome.reason === "deadline"
    const detail = `Its own search was not asked: ${outcome.detail}.`
    return isOurs
      ? ({ detail, warnings: [] } satisfies Searched)
      : missed(`Its own search did not answer: ${outcome.detail}.`, null)
  }
  if (outcome.challenge !== undefined || outcome.status === 429 || outcome.status >= 500) {
    return { detail: "Its own search could not be judged.", warnings: [] } satisfies Searched
  }
  const isJson = /json/.test(outcome.contentType)
  const page = yield* Effect.option(errand.pages.page(isJson ? "" : outcome.document, outcome.url))
  if (Option.isNone(page)) return { detail: "Its own search could not be judged.", warnings: [] } satisfies Searched
  const facts = page.value
  const found = isJson
    ? names(outcome.text, candidate)
    : !saysNone.test(facts.visibleText) && (shows(facts.visibleText, candidate, query) || links(facts, candidate))
  if (outcome.status === 200 && found) {
    return { detail: `Its own search finds it by "${query}".`, warnings: [] } satisfies Searched
  }
  return missed(`Its own search for "${query}" answers ${outcome.status} and does not show it.`, evidenceOf(outcome))
})
