import type { PlatformId } from "../page/Platform.ts"
import type { Page, Sight } from "./Sight.ts"

/** Everything that a scan saw of a site, as facts that the questions of the rubric are answered from. */
export interface SiteFacts {
  readonly domain: string
  readonly now: Date
  /** `local` is a host of ours that is listed to be visited without TLS. */
  readonly transport: "tls" | "plain" | "local"
  /** Why `https` did not answer, when only `http` did. */
  readonly tlsFailure: Sight | undefined
  readonly home: Sight
  /** The home page as a browser is answered. */
  readonly browserHome: Sight | undefined
  /** The first wall that was met anywhere. */
  readonly wall: { readonly vendor: string; readonly marker: string } | undefined
  readonly robots: RobotsFacts
  readonly sitemap: SitemapFacts
  /** Answers to paths that cannot exist. */
  readonly nowhere: ReadonlyArray<Sight>
  readonly llms: DocumentFacts
  readonly platform: { readonly name: PlatformId; readonly marker: string } | undefined
  readonly catalogue: CatalogueFacts | undefined
  readonly shop: Shop
  /** What was asked for as pages of products, and of that what proved to be one. */
  readonly tried: ReadonlyArray<Sight>
  readonly products: ReadonlyArray<Page>
  readonly markdown: DocumentFacts | undefined
  readonly cart: Sight | undefined
  readonly cartApi: { readonly path: string; readonly sight: Sight; readonly isOpen: boolean } | undefined
  readonly checkout: Sight | undefined
  readonly search: SearchFacts
  readonly protocols: { readonly handlers: ReadonlyArray<string>; readonly tools: ReadonlyArray<string> }
}

/** Whether it sells things to people, and what shows it. */
export interface Shop {
  readonly answer: "yes" | "no" | "unknown"
  readonly because: string
}

export interface RobotsFacts {
  readonly sight: Sight | undefined
  /** `none`: there is no robots.txt, so all may come. `fault`: a 5xx, on which RFC 9309 has crawlers stay away. */
  readonly state: "rules" | "none" | "fault" | "unknown"
  /** Shopping agents that may not fetch the home page, of `agents`. */
  readonly blockedAtHome: ReadonlyArray<string>
  /** Undefined when no page of a product is known. */
  readonly blockedAtProducts: ReadonlyArray<string> | undefined
  readonly agents: ReadonlyArray<string>
  /** Crawlers for training that a group names. */
  readonly trainingNamed: ReadonlyArray<string>
  readonly contentSignals: ReadonlyArray<string>
}

export interface SitemapFacts {
  /** The first that could be read, or the last that was tried. */
  readonly sight: Sight | undefined
  readonly isRead: boolean
  /** How many addresses it has, and how many of them look like products. */
  readonly locations: number
  readonly products: number
  /** The first product of it that was looked at and is one. */
  readonly proven: string | undefined
  readonly newest: Date | undefined
  readonly problem: string | undefined
}

/** A document that has to have a shape. */
export interface DocumentFacts {
  readonly sight: Sight | undefined
  readonly isValid: boolean
  readonly detail: string
}

export interface CatalogueItem {
  readonly name: string
  readonly url: string | undefined
  readonly price: string | undefined
  readonly variants: number
}

export interface CatalogueFacts {
  readonly source: string
  readonly sight: Sight
  /** Undefined when what was answered is no catalogue. */
  readonly items: ReadonlyArray<CatalogueItem> | undefined
}

export interface SearchFacts {
  /** Where a query goes, as it was found; `{q}` stands for it. */
  readonly template: string | undefined
  readonly declaredBy: string | undefined
  readonly query: string | undefined
  readonly sight: Sight | undefined
  /** Whether the product that was looked for is in the answer; undefined when it was not tried. */
  readonly isFound: boolean | undefined
}
