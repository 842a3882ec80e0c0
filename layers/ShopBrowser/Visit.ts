import { Effect } from "effect"
import type { BrowserVisit, ShownPage } from "#services/ShopBrowser.ts"
import * as BrowserRail from "./BrowserRail.ts"
import type { Doubt } from "./CheckoutWalk.ts"
import type { BrowserFailed } from "./Chromium.ts"
import { htmlOf } from "./Drawn.ts"
import type { Tab } from "./Tab.ts"

/** The page of a tab as it stands after something, which says its status. */
const standing = (tab: Tab, after: Effect.Effect<number, BrowserFailed>) => {
  const load = Effect.gen(function* () {
    const status = yield* after
    const html = yield* htmlOf(tab.page)
    const shown: ShownPage = { url: new URL(tab.page.url()), status, html }
    return shown
  })
  return BrowserRail.bounded(load, ({ detail }) => ({ failure: detail }))
}

const shownIn = (tab: Tab, url: URL): Effect.Effect<ShownPage | { readonly failure: string }> => {
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return Effect.succeed({ failure: "Only pages of the web are shown." })
  }
  return standing(tab, tab.goTo(url))
}

/** The visit of a tab. `doubts` makes what each checkout is in doubt with. */
export const visitOf = (tab: Tab, doubts?: () => Doubt): BrowserVisit => ({
  show: (url) => shownIn(tab, url),
  later: standing(tab, Effect.as(tab.rest, 200)),
  rail: (shopper) => BrowserRail.make(tab, shopper, doubts),
  requests: tab.requests,
  isBroken: tab.isBroken
})
