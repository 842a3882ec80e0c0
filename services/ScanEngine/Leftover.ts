import { Effect } from "effect"
import type { PageFacts } from "#domain/page/PageFacts.ts"
import { categoriesOf } from "#domain/scan/Categories.ts"
import { beyond } from "#domain/scan/Listed.ts"
import type { DocumentFacts, SearchFacts } from "#domain/scan/SiteFacts.ts"
import { queryFor, searchTemplate, showsProduct } from "#domain/scan/SiteSearch.ts"
import { isPage, type Page, type Sight } from "#domain/scan/Sight.ts"
import type { Visit } from "../SiteVisits.ts"
import { look, noReading } from "./Looking.ts"
import { lookAtProduct, productsAmong, type Shopped } from "./Shopping.ts"

/** What is looked at last, with the requests that are left: a product again when the first was none, its Markdown, the search. */
export const useLeftover = Effect.fnUntraced(function* (
  visit: Visit,
  requests: number,
  seen: {
    readonly shopped: Shopped
    readonly home: PageFacts | undefined
    readonly platform: string | undefined
    readonly origin: string
    readonly nowhere: ReadonlyArray<Sight>
  }
) {
  const { home, nowhere, origin, platform, shopped } = seen
  const left = () => requests - visit.requests().length
  // A home page that shows no product may still lead to what lists them.
  const ways = shopped.tried.length > 0 || home === undefined ? [] : categoriesOf(home, new URL(origin)).slice(0, 1)
  const candidates = [...shopped.candidates, ...ways.map(({ href }) => href)]
  const again =
    shopped.products.length > 0
      ? []
      : yield* Effect.forEach(
          candidates.slice(0, Math.max(0, Math.min(2, left() - 1))),
          (url) => lookAtProduct(visit, url, nowhere),
          { concurrency: 2 }
        )
  const looked = [...shopped.tried, ...again]
  // What was tried may be a list of products, which leads to them.
  const lists = productsAmong(looked).length > 0 ? [] : looked.filter(isPage)
  const listed = new Set(
    home === undefined ? [] : lists.flatMap(({ page }) => beyond(origin, page, home)).map(({ href }) => href)
  )
  const further = yield* Effect.forEach(
    [...listed].slice(0, Math.min(2, Math.max(left() - 1, Math.min(1, left())))),
    (url) => lookAtProduct(visit, url, nowhere),
    { concurrency: 2 }
  )
  const tried = [...looked, ...further]
  const products = productsAmong(tried)
  const [product] = products
  const found = searchTemplate(home, platform, origin)
  const [search, markdown] = yield* Effect.all(
    [
      left() >= 1 ? trySearch(visit, found, product, shopped) : Effect.succeed({ ...untried, ...found }),
      left() >= 2 && product !== undefined ? askMarkdown(visit, product.url) : Effect.succeed(undefined)
    ],
    { concurrency: 2 }
  )
  return { tried, products, search, markdown }
})

const untried: SearchFacts = {
  template: undefined,
  declaredBy: undefined,
  query: undefined,
  sight: undefined,
  isFound: undefined
}

/** One search for a product that is known to be there: what a buyer would ask, so that it is no crawling. */
const trySearch = Effect.fnUntraced(function* (
  visit: Visit,
  found: ReturnType<typeof searchTemplate>,
  product: Page | undefined,
  { catalogue }: Shopped
) {
  const name = product?.page.products[0]?.name ?? product?.page.heading ?? catalogue?.items?.[0]?.name
  const url = product?.url ?? catalogue?.items?.[0]?.url
  const query = name === undefined ? undefined : queryFor(name)
  if (found === undefined || name === undefined || url === undefined || query === undefined) {
    return { ...untried, ...found } satisfies SearchFacts
  }
  const { read, sight } = yield* look(
    visit,
    { url: found.template.replace("{q}", encodeURIComponent(query)) },
    ({ text }) => Effect.sync(() => showsProduct(text, { url, name, query })),
    noReading
  )
  return { ...found, query, sight, isFound: read } satisfies SearchFacts
})

const askMarkdown = Effect.fnUntraced(function* (visit: Visit, url: string) {
  const { sight } = yield* look(visit, { url, accept: "text/markdown,text/html;q=0.8", obeysRobots: true })
  const isValid = /^text\/(?:x-)?markdown\b/i.test(sight.contentType)
  const varies = /\baccept\b(?!-)/i.test(sight.headers.get("vary") ?? "")
  const detail = isValid
    ? `A page of a product answers as Markdown${varies ? "" : ", without Vary: Accept"}.`
    : "A page of a product answers Markdown to nobody who asks for it."
  return { sight, isValid, detail } satisfies DocumentFacts
})
