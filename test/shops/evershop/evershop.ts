// Scans and tests a real shop that nobody here wrote, before and after its owner set it up: npm run shops:evershop
// Installs it on first use (some 520 MB, a few minutes) under EVERSHOP_DIR, which is not part of this repository.
import { writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { Effect, Layer } from "effect"
import * as PageReading from "#layers/PageReading.ts"
import * as ShopBrowser from "#layers/ShopBrowser.ts"
import { Deployment } from "#services/Deployment.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { ScanEngine } from "#services/ScanEngine.ts"
import { ShoppingEngine } from "#services/ShoppingEngine.ts"
import type { TestOutcome } from "#domain/ShoppingTest.ts"
import { shopperOf } from "#domain/TestShopper.ts"
import { ShopBrowser as Port } from "#services/ShopBrowser.ts"
import { type Site, SiteVisits } from "#services/SiteVisits.ts"
import { report, type Run, sentence } from "./Report.ts"
import { install, open } from "./Shop.ts"

const folder = resolve(process.env["EVERSHOP_DIR"] ?? ".turnpike/evershop")
const port = Number(process.env["EVERSHOP_PORT"] ?? 7742)
const document = join(import.meta.dirname, "../../../docs/evershop.md")

const deployment = {
  environment: "sandbox",
  publicUrl: "http://turnpike.example",
  scannerUrl: "http://turnpike.example"
} as const

/** The engines as a server has them, with leave to visit this one private pair. They keep nothing, so they need no database. */
const engines = (domain: string) =>
  Layer.mergeAll(ScanEngine.layer, ShoppingEngine.layer).pipe(
    Layer.provideMerge(Layer.mergeAll(SiteVisits.layer, ShopBrowser.layer)),
    Layer.provide(PageReading.layer),
    Layer.provide(Layer.succeed(PublicHttpPolicy, { ...PublicHttpPolicy.defaultValue(), allowHosts: [domain] })),
    Layer.provide(Layer.succeed(Deployment, deployment))
  )

/** What an agent with a browser sees of the same purchase, where the test found a better way. */
const inBrowser = Effect.fnUntraced(function* (site: Site, { product, vantage }: TestOutcome) {
  const browser = yield* Port
  const missing = yield* browser.missing
  if (missing !== undefined || product === null || product.url === null) return []
  const nothing = {
    profiles: "",
    ask: () => Effect.die("unused"),
    reached: () => site.home,
    letGo: () => undefined,
    requests: () => [],
    challenge: () => undefined,
    cookies: () => ""
  }
  const visit = yield* browser.open(site, { site, vantage, ...nothing, remaining: Effect.die("unused") })
  const rail = visit.rail(shopperOf({ currency: product.currency }).shopper)
  const candidate = { ...product, url: new URL(product.url), platformId: null }
  const cart = yield* rail.cart(candidate)
  const checkout = yield* rail.checkout
  const payment = yield* rail.payment
  yield* rail.cleanUp
  return [
    { step: "cart", ...cart },
    { step: "checkout", ...checkout },
    { step: "payment", ...payment }
  ]
}, Effect.scoped)

const look = (domain: string) =>
  Effect.gen(function* () {
    const site = (yield* SiteVisits).locate(domain)
    const scan = yield* (yield* ScanEngine).scan(site, { merchant_category: "retail" })
    const test = yield* (yield* ShoppingEngine).test(site, "full_flow")
    const run: Run = { scan, test, browser: yield* inBrowser(site, test) }
    return run
  })

console.log(`Installing the shop in ${folder} (once)`)
await install(folder)
console.log("Building and starting it")
const shop = await open(folder, port)
try {
  const products = await shop.products()
  if (products === 0)
    throw new Error("The shop has no products: its samples were not put in, so there is nothing to scan")
  console.log(`Products: ${products}`)
  const once = async () => {
    const run = await Effect.runPromise(Effect.provide(look(shop.domain), engines(shop.domain)))
    const [discovery] = run.test.steps
    // A shop that shows none of them is not the one that the document is about.
    if (discovery?.status === "failed" || discovery?.status === "unknown")
      throw new Error(`The shop shows none of its ${products} products: ${discovery.detail}`)
    return run
  }
  const before = await once()
  console.log(sentence("As it comes", before))
  await shop.configure()
  const after = await once()
  console.log(sentence("With payment and shipping", after))
  const orders = await shop.orders()
  if (orders !== 0) throw new Error(`${orders} orders were placed`)
  console.log("Orders placed: 0")
  writeFileSync(document, report(before, after, orders))
  console.log("Written: docs/evershop.md")
} finally {
  await shop.close()
}
