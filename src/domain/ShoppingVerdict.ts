import { roundTo } from "./Economics.ts"
import type { Blocker, BlockerId, ShopRail, Step, StepResult, TestOutcome } from "./ShoppingTest.ts"

/** A step that was tried. */
export interface StepTried {
  readonly step: Step
  readonly rail: ShopRail | null
  readonly status: "passed" | "failed" | "unknown"
  readonly durationMs: number
  readonly detail: string
  readonly evidence: string | null
  readonly blockers: ReadonlyArray<Blocker>
}

/** What a merchant can do about a blocker. */
const remedies: Readonly<Record<BlockerId, string>> = {
  no_structured_data:
    "State name, price, currency and availability of every product in schema.org JSON-LD on its page, or open the platform's product interface.",
  captcha_required:
    "Let verified agents through without a captcha, and ask it of others after a failed payment at the earliest.",
  account_required: "Let guests check out: offer a way on without an account before the address is asked for.",
  javascript_wall:
    "Serve products, the form that adds to the cart and the checkout in the page's HTML, so that they work before any script has run.",
  unsupported_payment_method:
    "Offer a method that needs no person at the device, such as a card form, an agent payment handler or an invoice.",
  robots_disallowed:
    "Allow shopping agents on the home page and on product pages in robots.txt; cart and checkout may stay disallowed.",
  bot_challenge:
    "Exempt shopping agents that name themselves, or that sign their requests, from the bot defence on pages that anybody may see.",
  site_unreachable: "Make the site answer from data centres within a few seconds.",
  rate_limited: "Allow a shopper's pace of a few requests per second, and say in Retry-After when to come back.",
  geo_restricted: "Show the catalogue in every country, and ask for the country only when it decides over shipping.",
  no_products_found: "Link products from the home page in plain HTML, and list them in a sitemap.",
  sitemap_missing: "Publish a sitemap with all product pages and name it in robots.txt.",
  redirects_across_hosts:
    "Serve the shop at the domain that is advertised, or redirect only once to the canonical host.",
  out_of_stock: "Keep at least one product available for sale, and state availability where it is listed.",
  price_mismatch: "Generate the structured price and the visible price from the same source.",
  search_unusable: "Offer a search that answers a GET request with the matching products in HTML or JSON.",
  variant_ambiguous:
    "State every variant with its own price and availability (ProductGroup with hasVariant, or an offer for each).",
  add_to_cart_failed: "Make the form or interface that adds to the cart say truthfully whether the item is in it.",
  variant_required:
    "Put variants into the form as a select or radio buttons, and refuse with the name of the choice that is missing.",
  price_changed_in_cart: "Charge in the cart what the product page states.",
  minimum_order: "State the minimum order on product pages and in the structured data.",
  checkout_form_unrecognized:
    "Give the checkout's fields labels and autocomplete tokens (email, name, street-address, postal-code, country).",
  address_rejected: "Accept valid postal addresses, and say which field is wrong.",
  no_shipping_option: "Offer a way of shipping to the addresses that the shop accepts.",
  labels_missing: "Give every field of the checkout a label and an autocomplete token.",
  total_unknown_before_payment: "Show shipping, tax and the total before a payment method is asked for.",
  no_payment_method: "Activate at least one payment method for guests.",
  three_ds_likely:
    "Offer a method with delegated authentication beside cards, so that a payment does not wait for a person.",
  only_deferred_payment: "Offer a method by which an agent can pay at once.",
  order_taken:
    "Cancel the order of the test's shopper, and let the last button of the checkout say that it orders, so that no agent presses it by mistake.",
  order_uncertain:
    "Look for an order of the test's shopper and cancel it, and let every page of the checkout say which step comes next."
}

const maxEvidence = 300
const clipped = (text: string | null, length: number) => (text === null ? null : text.slice(0, length).toWellFormed())

const bounded = (blocker: Blocker): Blocker => ({
  ...blocker,
  detail: blocker.detail.slice(0, 500).toWellFormed(),
  evidence: clipped(blocker.evidence, maxEvidence)
})

const stepStatus = ({ blockers, status }: StepTried): StepResult["status"] =>
  status === "passed" && blockers.length > 0 ? "degraded" : status

const resultOf = (tried: StepTried): StepResult => ({
  step: tried.step,
  status: stepStatus(tried),
  rail: tried.rail,
  duration_ms: Math.max(0, Math.round(tried.durationMs)),
  detail: tried.detail.slice(0, 500).toWellFormed(),
  evidence: clipped(tried.evidence, maxEvidence)
})

const skipped = (step: Step, after: StepTried | undefined): StepResult => ({
  step,
  status: "skipped",
  rail: null,
  duration_ms: 0,
  detail:
    after === undefined
      ? "Not tried."
      : `Not tried: ${after.step} ${after.status === "failed" ? "failed" : "could not be tried here"}.`,
  evidence: null
})

/** One of each id and step, the blocking before a warning of the same name; in the order of the steps. */
const unique = (blockers: ReadonlyArray<Blocker>): ReadonlyArray<Blocker> => {
  const kept = new Map<string, Blocker>()
  for (const blocker of blockers) {
    const key = `${blocker.step} ${blocker.id}`
    const known = kept.get(key)
    if (known === undefined || (known.severity === "warning" && blocker.severity === "blocking")) kept.set(key, blocker)
  }
  return [...kept.values()]
}

/** The part of a test's outcome that follows from its steps. */
export type Verdict = Pick<
  TestOutcome,
  "status" | "success_rate" | "steps" | "blockers" | "failure_point" | "recommendations"
>

/**
 * Sums up a run. `tried` is a beginning of `planned`; only its last step may not have passed.
 *
 * `success_rate` is the share of planned steps that were completed, so 100 means all of them. A step that could not be tried here ends
 * the run without a failure point: it is not completed, and it is no failure either. So `passed` is all, `failed` is a failure before
 * anything was completed, and everything else is `partial`.
 */
export const verdictOf = (planned: ReadonlyArray<Step>, tried: ReadonlyArray<StepTried>): Verdict => {
  const completed = tried.filter(({ status }) => status === "passed").length
  const last = tried.at(-1)
  const failed = last?.status === "failed" ? last : undefined
  const blockers = unique(tried.flatMap((step) => step.blockers)).map(bounded)
  const blocking = blockers.find(({ severity, step }) => severity === "blocking" && step === failed?.step)
  const remedied = [
    ...blockers.filter(({ severity }) => severity === "blocking"),
    ...blockers.filter(({ severity }) => severity === "warning")
  ]
  return {
    status: completed === planned.length ? "passed" : failed !== undefined && completed === 0 ? "failed" : "partial",
    success_rate: roundTo((100 * completed) / planned.length, 1),
    steps: planned.map((step, index) => {
      const done = tried[index]
      return done === undefined ? skipped(step, last) : resultOf(done)
    }),
    blockers,
    failure_point:
      failed === undefined || blocking === undefined
        ? null
        : { step: failed.step, blocker: blocking.id, detail: blocking.detail },
    recommendations: [...new Set(remedied.map(({ id }) => remedies[id]))]
  }
}
