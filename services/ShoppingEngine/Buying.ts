import { Clock, Effect } from "effect"
import type { Candidate, Offered } from "#domain/ProductChoice.ts"
import type { Blocker, BlockerId, ShopRail, Step } from "#domain/ShoppingTest.ts"
import type { StepTried } from "#domain/ShoppingVerdict.ts"
import { shopperFor } from "#domain/TestShopper.ts"
import * as BigCommerceRail from "./BigCommerceRail.ts"
import type { Storefront } from "./Discovery.ts"
import * as EverShopRail from "./EverShopRail.ts"
import * as FormRail from "./FormRail.ts"
import * as MagentoRail from "./MagentoRail.ts"
import type { Rail, StepOutcome } from "./Rail.ts"
import * as ShopifyRail from "./ShopifyRail.ts"
import * as UcpRail from "./UcpRail.ts"
import * as VendureRail from "./VendureRail.ts"
import * as WooRail from "./WooRail.ts"

/** Steps on a rail, in order; only the last may not have passed. */
type Attempt = ReadonlyArray<StepTried>

/** A browser's rail, or why there is none. */
export type BrowserRail = { readonly rail: Rail } | { readonly missing: string }

/** What stops one rail and may not stop another: the thing itself is there, and this way of asking for it does not work. */
const elsewhere: ReadonlySet<BlockerId> = new Set([
  "javascript_wall",
  "checkout_form_unrecognized",
  "variant_required",
  "add_to_cart_failed"
])
/** At a cart's interface a login or a wall concerns the interface alone. */
const elsewhereOfInterfaces: ReadonlySet<BlockerId> = new Set(["account_required", "captcha_required"])
/** What only a browser can tell, so that without one nothing is known. */
const forBrowsers: ReadonlySet<BlockerId> = new Set([
  "javascript_wall",
  "checkout_form_unrecognized",
  "variant_required"
])

const isInterface = (rail: ShopRail | null): boolean => rail === "ucp" || rail === "platform_api"

const blockersOf = (tried: StepTried | undefined): ReadonlyArray<Blocker> =>
  tried?.blockers.filter(({ severity }) => severity === "blocking") ?? []

/** Whether another rail may come further. */
const mayGoOn = (attempt: Attempt): boolean => {
  const last = attempt.at(-1)
  if (last === undefined || last.status === "unknown") return true
  return (
    last.status === "failed" &&
    blockersOf(last).every(
      ({ id }) => elsewhere.has(id) || (last.step === "cart" && isInterface(last.rail) && elsewhereOfInterfaces.has(id))
    )
  )
}

const platformRail = (front: Storefront, { candidate, source }: Offered): Rail | undefined => {
  const { errand, platform } = front
  const { currency, platformId, sku } = candidate
  const shopper = shopperFor(currency)
  const isKnown = source === "platform" && platformId !== null
  if (platform === "shopify" && isKnown) return ShopifyRail.make(errand, shopper, currency)
  if (platform === "woocommerce" && isKnown) return WooRail.make(errand, shopper)
  if (platform === "vendure" && isKnown) return VendureRail.make(errand, shopper)
  if (platform === "magento" && sku !== null) return MagentoRail.make(errand, shopper, currency)
  if (platform === "evershop" && sku !== null) return EverShopRail.make(errand, shopper)
  if (platform === "bigcommerce" && candidate.url !== undefined) return BigCommerceRail.make(errand, shopper, currency)
  return undefined
}

/** The rails that this shop has without a browser, best first. */
const railsOf = (front: Storefront, offered: Offered): ReadonlyArray<Rail> => {
  const { candidate, source } = offered
  const shopper = shopperFor(candidate.currency)
  const platform = platformRail(front, offered)
  return [
    ...(front.ucp !== undefined && source === "ucp"
      ? [UcpRail.make(front.ucp.client, shopper, front.ucp.handlers)]
      : []),
    ...(platform === undefined ? [] : [platform]),
    ...(candidate.url === undefined ? [] : [FormRail.make(front.errand, shopper, candidate.currency)])
  ]
}

const stepOn = (rail: Rail, step: Step, candidate: Candidate): Effect.Effect<StepOutcome> =>
  step === "cart" ? rail.cart(candidate) : step === "checkout" ? rail.checkout : rail.payment

/** Takes one rail as far as it goes, and puts everything back, also when the test is interrupted. */
const attemptOn = (rail: Rail, candidate: Candidate, planned: ReadonlyArray<Step>): Effect.Effect<Attempt> =>
  Effect.gen(function* () {
    const tried: Array<StepTried> = []
    for (const step of planned) {
      const began = yield* Clock.currentTimeMillis
      const { blockers, detail, evidence, status } = yield* stepOn(rail, step, candidate)
      const durationMs = (yield* Clock.currentTimeMillis) - began
      tried.push({ step, rail: rail.name, status, durationMs, detail, evidence, blockers })
      if (status !== "passed") break
    }
    return tried
  }).pipe(Effect.ensuring(rail.cleanUp))

const completedIn = (attempt: Attempt): number => attempt.filter(({ status }) => status === "passed").length

const asWarning = (blocker: Blocker, rail: ShopRail | null): Blocker => ({
  ...blocker,
  severity: "warning",
  detail: `Over ${rail ?? "this rail"}: ${blocker.detail}`
})

/** The attempt that came furthest, the first of equals; what stopped others at steps that it passed is a warning there. */
const best = (attempts: ReadonlyArray<Attempt>): Attempt => {
  const furthest = attempts.reduce((one, other) => (completedIn(other) > completedIn(one) ? other : one))
  return furthest.map((tried) => {
    if (tried.status !== "passed") return tried
    const others = attempts
      .filter((attempt) => attempt !== furthest)
      .map((attempt) => attempt.at(-1))
      .filter((last) => last?.status === "failed" && last.step === tried.step)
    const warnings = others.flatMap((last) => blockersOf(last).map((blocker) => asWarning(blocker, last?.rail ?? null)))
    return { ...tried, blockers: [...tried.blockers, ...warnings] }
  })
}

/** A step that only a browser could take, where there is none: unknown, and no failure. */
const withoutBrowser = (attempt: Attempt, missing: string): Attempt => {
  const last = attempt.at(-1)
  const blockers = blockersOf(last)
  if (last?.status !== "failed" || !blockers.every(({ id }) => forBrowsers.has(id))) return attempt
  const unknown: StepTried = {
    ...last,
    status: "unknown",
    detail: `Only a browser can tell, and it could not (${missing}): ${last.detail}`,
    blockers: last.blockers.map((blocker) => ({ ...blocker, severity: "warning" }))
  }
  return [...attempt.slice(0, -1), unknown]
}

/** Puts the product into the cart and goes on, over the best rail; where one fails by a cause of its own, over the next. */
export const buy = Effect.fnUntraced(function* (
  front: Storefront,
  offered: Offered,
  planned: ReadonlyArray<Step>,
  browser: Effect.Effect<BrowserRail>
) {
  const attempts: Array<Attempt> = []
  for (const rail of railsOf(front, offered)) {
    const attempt = yield* attemptOn(rail, offered.candidate, planned)
    attempts.push(attempt)
    if (completedIn(attempt) === planned.length || !mayGoOn(attempt)) return best(attempts)
  }
  const opened = offered.candidate.url === undefined ? { missing: "the product has no page" } : yield* browser
  if ("rail" in opened) {
    const shown = yield* attemptOn(opened.rail, offered.candidate, planned)
    attempts.push(shown)
    const last = shown.at(-1)
    return last?.status === "unknown" ? withoutBrowser(best(attempts), last.detail) : best(attempts)
  }
  const [first] = planned
  if (attempts.length === 0 && first !== undefined) {
    const detail = `The shop has no interface that we know, and there is no browser here (${opened.missing}).`
    const none: StepTried = {
      step: first,
      rail: null,
      status: "unknown",
      durationMs: 0,
      detail,
      evidence: null,
      blockers: []
    }
    return [none]
  }
  return withoutBrowser(best(attempts), opened.missing)
})
