import { Effect } from "effect"
import type { Candidate, Offered } from "#domain/ProductChoice.ts"
import type { Blocker, BlockerId, ShopRail, Step } from "#domain/ShoppingTest.ts"
import type { StepTried } from "#domain/ShoppingVerdict.ts"
import { type ShopperChosen, shopperOf, type TestShopper } from "#domain/TestShopper.ts"
import { monotonicMillis } from "../RealTime.ts"
import * as BigCommerceRail from "./BigCommerceRail.ts"
import type { Storefront } from "./Discovery.ts"
import * as EverShopRail from "./EverShopRail.ts"
import * as FormRail from "./FormRail.ts"
import * as MagentoRail from "./MagentoRail.ts"
import { unknown } from "./Outcomes.ts"
import type { Rail, StepOutcome } from "./Rail.ts"
import * as ShopifyRail from "./ShopifyRail.ts"
import * as UcpRail from "./UcpRail.ts"
import * as VendureRail from "./VendureRail.ts"
import * as WooRail from "./WooRail.ts"

/** Steps on a rail, in order; only the last may not have passed. */
type Attempt = ReadonlyArray<StepTried>

/** A browser's rail for a shopper, or why there is none. */
export type BrowserRail = { readonly rail: (shopper: TestShopper) => Rail } | { readonly missing: string }

/**
 * What stops one way of asking and may not stop another: the thing itself is there. The last of the ways is a browser, so without its
 * word nothing is known.
 */
const elsewhere: ReadonlySet<BlockerId> = new Set([
  "javascript_wall",
  "checkout_form_unrecognized",
  "variant_required",
  "add_to_cart_failed"
])
/** At a cart's interface a login or a wall concerns the interface alone. */
const elsewhereOfInterfaces: ReadonlySet<BlockerId> = new Set(["account_required", "captcha_required"])

const isInterface = (rail: ShopRail | null): boolean => rail === "ucp" || rail === "platform_api"

const blockersOf = (tried: StepTried | undefined): ReadonlyArray<Blocker> =>
  tried?.blockers.filter(({ severity }) => severity === "blocking") ?? []

/** Whether a failure speaks of the rail alone, and not of the shop. */
const isOfRail = (last: StepTried): boolean =>
  blockersOf(last).every(
    ({ id }) => elsewhere.has(id) || (last.step === "cart" && isInterface(last.rail) && elsewhereOfInterfaces.has(id))
  )

/** Whether another rail may come further. */
const mayGoOn = (attempt: Attempt): boolean => {
  const last = attempt.at(-1)
  return last === undefined || last.status === "unknown" || (last.status === "failed" && isOfRail(last))
}

const platformRail = (
  front: Storefront,
  { candidate, source }: Offered,
  { shopper }: ShopperChosen
): Rail | undefined => {
  const { errand, platform } = front
  const { currency, platformId, sku } = candidate
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
const railsOf = (front: Storefront, offered: Offered, chosen: ShopperChosen): ReadonlyArray<Rail> => {
  const { candidate, source } = offered
  const { shopper } = chosen
  const platform = platformRail(front, offered, chosen)
  const forms = FormRail.make(front.errand, shopper, candidate.currency)
  // Carts that only a script empties are emptied by the platform's interface, which has the same cart.
  const cleanUp = platform === undefined ? forms.cleanUp : Effect.andThen(forms.cleanUp, platform.cleanUp)
  return [
    ...(front.ucp !== undefined && source === "ucp"
      ? [UcpRail.make(front.ucp.client, shopper, front.ucp.handlers)]
      : []),
    ...(platform === undefined ? [] : [platform]),
    ...(candidate.url === undefined ? [] : [{ ...forms, cleanUp }])
  ]
}

const stepOn = (rail: Rail, step: Step, candidate: Candidate): Effect.Effect<StepOutcome> =>
  step === "cart" ? rail.cart(candidate) : step === "checkout" ? rail.checkout : rail.payment

/** What may have been refused for where we said that we live. */
const refusals: ReadonlySet<BlockerId> = new Set(["address_rejected", "no_shipping_option", "no_payment_method"])

/** A checkout that does not take our address is no failure of a shop that may sell to another country: it was not tried there. */
const unlessAbroad = (outcome: StepOutcome, { isAtHome }: ShopperChosen): StepOutcome => {
  const refused = outcome.blockers.find(({ id, severity }) => severity === "blocking" && refusals.has(id))
  if (isAtHome || refused === undefined) return outcome
  const what = refused.id === "no_payment_method" ? "No way to pay is offered at" : "The checkout does not take"
  const detail = `${what} the test's address, and nothing says that the shop sells there.`
  const told = outcome.blockers.map(
    (blocker): Blocker => (refusals.has(blocker.id) ? { ...blocker, severity: "warning", detail } : blocker)
  )
  return unknown(detail, outcome.evidence, told)
}

/** Takes one rail as far as it goes, and puts everything back, also when the test is interrupted. */
const attemptOn = (
  rail: Rail,
  candidate: Candidate,
  planned: ReadonlyArray<Step>,
  shopper: ShopperChosen
): Effect.Effect<Attempt> =>
  Effect.gen(function* () {
    const tried: Array<StepTried> = []
    for (const step of planned) {
      const began = yield* monotonicMillis
      const { blockers, detail, evidence, status } = unlessAbroad(yield* stepOn(rail, step, candidate), shopper)
      const durationMs = (yield* monotonicMillis) - began
      tried.push({ step, rail: rail.name, status, durationMs, detail, evidence, blockers })
      if (blockers.some(({ id }) => id === "order_taken"))
        yield* Effect.logError("A shop took a shopping test as an order", {
          product: candidate.url?.href,
          detail,
          evidence
        })
      if (status !== "passed") break
    }
    return tried
  }).pipe(Effect.ensuring(rail.cleanUp))

const completedIn = (attempt: Attempt): number => attempt.filter(({ status }) => status === "passed").length

/** What merchants call the ways by which we ask. */
const ways: Readonly<Record<ShopRail, string>> = {
  ucp: "By UCP",
  platform_api: "By the platform's interface",
  html_form: "By the forms of the pages, without scripts",
  browser: "In a browser"
}

const asWarning = (blocker: Blocker, rail: ShopRail | null): Blocker => ({
  ...blocker,
  severity: "warning",
  detail: rail === null ? blocker.detail : `${ways[rail]}: ${blocker.detail}`
})

/** What may have become an order is told before everything else. */
export const mayHaveOrdered = (attempt: Attempt): boolean =>
  attempt.some(({ blockers }) => blockers.some(({ id }) => id === "order_taken" || id === "order_uncertain"))

/**
 * The attempt that came furthest; of equals the last, as each was made because what stopped the one before it spoke of that way alone.
 * What stopped others at steps that it passed is a warning there.
 */
const best = (attempts: ReadonlyArray<Attempt>): Attempt => {
  const furthest =
    attempts.find(mayHaveOrdered) ??
    attempts.reduce((one, other) => (completedIn(other) >= completedIn(one) ? other : one))
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

/** A step that only a browser could tell of, and it did not: unknown, and no failure. */
const untold = (attempt: Attempt, why: string): Attempt => {
  const last = attempt.at(-1)
  if (last?.status !== "failed" || !isOfRail(last)) return attempt
  const undecided: StepTried = {
    ...last,
    status: "unknown",
    detail: `Only a browser can tell, and it could not (${why.replace(/\.$/, "")}): ${last.detail}`,
    blockers: last.blockers.map((blocker) => ({ ...blocker, severity: "warning" }))
  }
  return [...attempt.slice(0, -1), undecided]
}

/** What is known after a browser was asked too. It is the best informed, so its failure stands before those of others. */
const withBrowser = (attempts: ReadonlyArray<Attempt>, shown: Attempt): Attempt => {
  if (attempts.length === 0) return shown
  if (mayHaveOrdered(shown)) return best([...attempts, shown])
  const known = best(attempts)
  const last = shown.at(-1)
  const ahead = completedIn(shown) - completedIn(known)
  const isToldLess = ahead === 0 && known.at(-1)?.status === "unknown"
  if (last?.status === "unknown" && ahead <= 0 && !isToldLess) return untold(known, last.detail)
  const all = best([...attempts, shown])
  return ahead < 0 ? untold(all, `it stopped at the ${last?.step}`) : all
}

/** Puts the product into the cart and goes on, over the best rail; where one fails by a cause of its own, over the next. */
export const buy = Effect.fnUntraced(function* (
  front: Storefront,
  offered: Offered,
  planned: ReadonlyArray<Step>,
  browser: Effect.Effect<BrowserRail>
) {
  const attempts: Array<Attempt> = []
  const { currency } = offered.candidate
  const shopper = shopperOf({ currency, country: front.country ?? null, language: front.home.facts.lang })
  for (const rail of railsOf(front, offered, shopper)) {
    const attempt = yield* attemptOn(rail, offered.candidate, planned, shopper)
    attempts.push(attempt)
    if (completedIn(attempt) === planned.length || !mayGoOn(attempt)) return best(attempts)
    // A form of the checkout is sent once, not by every rail anew.
    if (rail.hasSentCheckout?.() === true) return untold(best(attempts), "the same form is not sent again by a browser")
  }
  const opened = offered.candidate.url === undefined ? { missing: "the product has no page" } : yield* browser
  if ("rail" in opened) {
    const shown = yield* attemptOn(opened.rail(shopper.shopper), offered.candidate, planned, shopper)
    return withBrowser(attempts, shown)
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
  return untold(best(attempts), opened.missing)
})
