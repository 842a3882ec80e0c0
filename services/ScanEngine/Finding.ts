import { Effect } from "effect"
import { readLlmsTxt } from "#domain/page/LlmsTxt.ts"
import { isProductSitemap } from "#domain/page/ProductUrl.ts"
import type { Sitemap } from "#domain/page/Sitemap.ts"
import { addressAt } from "#domain/scan/SiteAddress.ts"
import type { DocumentFacts } from "#domain/scan/SiteFacts.ts"
import type { Sight } from "#domain/scan/Sight.ts"
import { PageReading } from "../PageReading.ts"
import type { Visit } from "../SiteVisits.ts"
import { look } from "./Looking.ts"
import type { RobotsRead } from "./Meeting.ts"

/** A site's documents for finding things, asked for beside each other once its home page is known. */
export interface Documents {
  readonly nowhere: ReadonlyArray<Sight>
  readonly llms: DocumentFacts
  readonly sitemap: SitemapSeen
}

export interface SitemapSeen {
  readonly sight: Sight
  readonly read: Sitemap | undefined
  /** Of an index, the part that is most likely about products. */
  readonly part: string | undefined
  /** By its address it lists products. */
  readonly isOfProducts: boolean
}

/** Paths that nobody has; always the same, so that two scans are alike. */
const nowherePaths = ["/turnpike-scanner-no-such-page-4b1d", "/.well-known/turnpike-scanner-no-such-document-4b1d"]

/** These are asked for by who reads robots.txt, so that is obeyed. */
export const findDocuments = Effect.fnUntraced(function* (
  visit: Visit,
  origin: string,
  robots: RobotsRead,
  platform: string | null
) {
  const ask = (path: string) => ({ url: new URL(path, origin), obeysRobots: true })
  const document = (path: string) => ({ ...ask(path), isDocument: true })
  const [first, second, llms, sitemap] = yield* Effect.all(
    [
      // A page that answers everything is compared with others, so one is read whole.
      look(visit, ask(nowherePaths[0] ?? "")),
      look(visit, document(nowherePaths[1] ?? "")),
      look(visit, document("/llms.txt"), ({ text }) => Effect.sync(() => readLlmsTxt(text))),
      askSitemap(visit, sitemapOf(robots, origin), platform)
    ],
    { concurrency: 4 }
  )
  return {
    nowhere: [first.sight, second.sight],
    llms: llmsFacts(llms.sight, llms.read),
    sitemap
  } satisfies Documents
})

/** The first that robots.txt names, else where sitemaps are by custom. */
const sitemapOf = ({ robots }: RobotsRead, origin: string): URL => {
  const named = robots.sitemaps.flatMap((address) => URL.parse(address, origin) ?? [])
  const own = named.flatMap(({ href }) => addressAt(origin, href) ?? [])
  return own.find(({ href }) => isProductSitemap(href)) ?? own[0] ?? named[0] ?? new URL("/sitemap.xml", origin)
}

/** Asks for a sitemap or for a part of one. */
export const askSitemap = (
  visit: Visit,
  url: URL | string,
  platform: string | null
): Effect.Effect<SitemapSeen, never, PageReading> =>
  Effect.map(
    look(visit, { url, accept: "application/xml,text/xml;q=0.9,*/*;q=0.5", obeysRobots: true }, ({ document }) =>
      Effect.flatMap(PageReading, (pages) => pages.sitemap(document, platform))
    ),
    ({ read, sight }): SitemapSeen => ({
      sight,
      read,
      part: read?.kind === "index" ? (read.locs.find(isProductSitemap) ?? read.locs[0]) : undefined,
      isOfProducts: isProductSitemap(String(url))
    })
  )

const llmsFacts = (sight: Sight, read: ReturnType<typeof readLlmsTxt> | undefined): DocumentFacts => {
  if (read === undefined) return { sight, isValid: false, detail: "What answers as llms.txt is no text for models." }
  const isValid = read.isConforming && read.links.length > 0
  const detail = isValid
    ? `llms.txt has a heading and ${read.links.length} links.`
    : `llms.txt has ${read.isConforming ? "no links" : "no heading"}.`
  return { sight, isValid, detail }
}
