import { Context, type Effect, type Scope } from "effect"
import type { RequestMade } from "#domain/Scan.ts"
import type { TestShopper } from "#domain/TestShopper.ts"
import type { Rail } from "./ShoppingEngine/Rail.ts"
import type { Site, Visit } from "./SiteVisits.ts"

/** What a browser shows of a page when its scripts have run. */
export interface ShownPage {
  readonly url: URL
  readonly status: number
  readonly html: string
}

/** A shop in a browser of its own: a rail, and pages as people see them. */
export interface BrowserVisit {
  show(url: URL): Effect.Effect<ShownPage | { readonly failure: string }>
  /** The page that was shown last, a second later and when it is quiet. */
  readonly later: Effect.Effect<ShownPage | { readonly failure: string }>
  /** The rail on which this person shops. */
  readonly rail: (shopper: TestShopper) => Rail
  /** What its pages and their scripts asked so far, as far as a record has room. */
  readonly requests: () => ReadonlyArray<RequestMade>
  /** The browser itself could not be had or has ended, which is our own trouble, and says nothing about the site. */
  readonly isBroken: () => boolean
}

/** A browser, where there is one. Everything it sends passes the same guard as our own requests. */
export class ShopBrowser extends Context.Service<
  ShopBrowser,
  {
    /** Why there is none; undefined when there is. */
    readonly missing: Effect.Effect<string | undefined>
    /** One context of its own, gone with the scope. When none can be had, every answer says so. `visit` says who we are. */
    open(site: Site, visit: Visit): Effect.Effect<BrowserVisit, never, Scope.Scope>
  }
>()("turnpike/services/ShopBrowser") {}
