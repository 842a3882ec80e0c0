import { Effect, Layer, type Scope } from "effect"
import type { BrowserContext, BrowserContextOptions } from "playwright-core"
import { PageReading } from "#services/PageReading.ts"
import { type BrowserVisit, ShopBrowser, type ShownPage } from "#services/ShopBrowser.ts"
import { unknown } from "#services/ShoppingEngine/Outcomes.ts"
import type { Rail } from "#services/ShoppingEngine/Rail.ts"
import { visitRules } from "#services/SiteVisits/Rules.ts"
import * as BrowserRail from "./ShopBrowser/BrowserRail.ts"
import { BrowserFailed } from "./ShopBrowser/Chromium.ts"
import * as Chromium from "./ShopBrowser/Chromium.ts"
import { htmlOf } from "./ShopBrowser/Drawn.ts"
import { program } from "./ShopBrowser/Program.ts"
import * as Tab from "./ShopBrowser/Tab.ts"

/** The page of a tab as it stands after something, which says its status. */
const standing = (tab: Tab.Tab, after: Effect.Effect<number, BrowserFailed>) => {
  const load = Effect.gen(function* () {
    const status = yield* after
    const html = yield* htmlOf(tab.page)
    const shown: ShownPage = { url: new URL(tab.page.url()), status, html }
    return shown
  })
  return BrowserRail.bounded(load, ({ detail }) => ({ failure: detail }))
}

const shownIn = (tab: Tab.Tab, url: URL): Effect.Effect<ShownPage | { readonly failure: string }> => {
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return Effect.succeed({ failure: "Only pages of the web are shown." })
  }
  return standing(tab, tab.goTo(url))
}

const visitOf = (tab: Tab.Tab): BrowserVisit => ({
  show: (url) => shownIn(tab, url),
  later: standing(tab, Effect.as(tab.rest, 200)),
  rail: (shopper) => BrowserRail.make(tab, shopper),
  requests: tab.requests,
  isBroken: tab.isBroken
})

/** The visit of a browser that cannot be had: every answer says why. */
const without = (reason: string): BrowserVisit => {
  const why = unknown(reason)
  const rail: Rail = {
    name: "browser",
    cart: () => Effect.succeed({ ...why, price: null }),
    checkout: Effect.succeed({ ...why, total: null }),
    payment: Effect.succeed({ ...why, methods: [] }),
    cleanUp: Effect.void
  }
  const failure = Effect.succeed({ failure: reason })
  return { show: () => failure, later: failure, rail: () => rail, requests: () => [], isBroken: () => true }
}

type NewContext = (options: BrowserContextOptions) => Effect.Effect<BrowserContext, BrowserFailed, Scope.Scope>

/**
 * The system's Chromium, where there is one: `TURNPIKE_CHROMIUM` names it, and `off` is none. It starts with the first
 * visit that needs it, and never outlives this process.
 */
export const layer = Layer.effect(
  ShopBrowser,
  Effect.gen(function* () {
    const found = yield* program
    const rules = yield* visitRules
    const pages = yield* PageReading
    const missing = "missing" in found ? found.missing : undefined
    const none: NewContext = () => new BrowserFailed({ reason: "NotStarted", message: missing ?? "" })
    const { open }: { open: NewContext } = "path" in found ? yield* Chromium.make(found.path) : { open: none }
    return ShopBrowser.of({
      missing: Effect.succeed(missing),
      open: (_site, visit) =>
        Tab.open(open, rules, visit.vantage.user_agent, pages).pipe(
          Effect.map(visitOf),
          Effect.catch(({ message }) => Effect.succeed(without(message)))
        )
    })
  })
)
