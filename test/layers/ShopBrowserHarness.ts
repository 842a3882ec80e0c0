import { setTimeout as pause } from "node:timers/promises"
import { Duration, Effect, Layer } from "effect"
import * as PageReadingLayer from "#layers/PageReading.ts"
import * as ShopBrowserLayer from "#layers/ShopBrowser.ts"
import { FlowTime } from "#layers/ShopBrowser/BrowserRail.ts"
import { program } from "#layers/ShopBrowser/Program.ts"
import { commandLine, parentOf, processes } from "#layers/EmbeddedPostgres/Processes.ts"
import { Deployment } from "#services/Deployment.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { ShopBrowser } from "#services/ShopBrowser.ts"
import { shoppers, type TestShopper } from "#domain/TestShopper.ts"
import type { Candidate, Rail } from "#services/ShoppingEngine/Rail.ts"
import type { Visit } from "#services/SiteVisits.ts"
import * as Fixture from "../shops/Fixture.ts"
import { scriptShop, type ScriptShopOptions } from "../shops/ScriptShop.ts"

const found = Effect.runSync(program)
/** Why this machine has no browser, as the service says it; undefined when it has one. */
export const missing = "missing" in found ? found.missing : undefined

const deployment = {
  environment: "sandbox",
  publicUrl: "http://turnpike.test",
  scannerUrl: "http://scanner.turnpike.test"
} as const

/** A browser that may visit these pairs. */
export const layer = (rules: Partial<PublicHttpPolicy>) =>
  ShopBrowserLayer.layer.pipe(
    Layer.provide(PageReadingLayer.layer),
    Layer.provide(Layer.succeed(PublicHttpPolicy, { ...PublicHttpPolicy.defaultValue(), ...rules })),
    Layer.provide(Layer.succeed(Deployment, deployment))
  )

/** A rail with time for a machine that does much else besides. */
export const patient = (rail: Rail): Rail => {
  const time = Effect.provideService(FlowTime, Duration.seconds(60))
  return { ...rail, cart: (candidate) => time(rail.cart(candidate)), checkout: time(rail.checkout) }
}

export const userAgent = "TurnpikeTest/1.0 (+http://turnpike.test/bot)"

/** Who we say we are; a browser needs no more of a visit. */
const visitOf = (home: URL): Visit => ({
  site: { domain: home.host, home },
  vantage: { user_agent: userAgent, network: "test" },
  profiles: "http://turnpike.test/ucp/agents",
  ask: () => Effect.die("The browser asks by itself"),
  reached: () => home,
  letGo: () => undefined,
  requests: () => [],
  challenge: () => undefined,
  cookies: () => "",
  remaining: Effect.die("The browser has its own time")
})

/** A browser of a test's own, over these rules. */
export const browserOf = (rules: Partial<PublicHttpPolicy>) =>
  Effect.map(Layer.build(Layer.fresh(layer(rules))), (context) => Effect.provideContext(ShopBrowser, context)).pipe(
    Effect.flatten
  )

/** A visit of a shop in dollars, and on it the rail of somebody who lives there. */
export const open = (browser: ShopBrowser["Service"], url: string, shopper: TestShopper = shoppers.US) => {
  const home = new URL(url)
  return Effect.map(browser.open({ domain: home.host, home }, visitOf(home)), (visit) => ({
    ...visit,
    rail: visit.rail(shopper)
  }))
}

/** A shop of scripts, and a visit of it by this browser. `listed` are the pairs that it may visit. */
export const shopIn = Effect.fnUntraced(function* (
  browser: ShopBrowser["Service"],
  listed: Array<string>,
  options: ScriptShopOptions
) {
  const { log, pages } = scriptShop(options)
  const fixture = yield* Fixture.open(pages)
  listed.push(fixture.domain)
  const visit = yield* open(browser, fixture.url)
  return { ...visit, browser, fixture, log, mug: mugOf(fixture.url) }
})

/** A shop of scripts, and a browser of its own. */
export const shopOf = Effect.fnUntraced(function* (options: ScriptShopOptions = {}) {
  const listed: Array<string> = []
  return yield* shopIn(yield* browserOf({ allowHosts: listed }), listed, options)
})

export const mugOf = (url: string, variant: string | null = "L"): Candidate => ({
  name: "Blue mug",
  url: new URL("/p/mug", url),
  sku: null,
  platformId: null,
  variant,
  price: "12.00",
  currency: "USD"
})

/** The browsers that this process has started and that live. */
export const chromiums = (parent = process.pid): ReadonlyArray<number> =>
  processes().filter(
    (pid) => parentOf(pid) === parent && commandLine(pid).some((word) => word.startsWith("--turnpike-home="))
  )

/** Waits until something is so. The test's own time is the limit. */
export const gone = (so: () => boolean) =>
  Effect.promise(async () => {
    while (!so()) await pause(25)
  })
