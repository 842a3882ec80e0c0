import { Effect } from "effect"
import { listsLaterStep } from "#domain/NextStep.ts"
import type { PageFacts } from "#domain/page/PageFacts.ts"
import { totalIn } from "#domain/page/Total.ts"
import type { Blocker } from "#domain/ShoppingTest.ts"
import {
  failed,
  heldBackAt,
  orderTakenAt,
  orderUncertain,
  passed,
  snippet,
  unknown,
  warning
} from "#services/ShoppingEngine/Outcomes.ts"
import type { CheckoutOutcome, StepOutcome } from "#services/ShoppingEngine/Rail.ts"
import { tickedStill } from "./CartStep.ts"
import { asGuest, enter, guestHeld } from "./CheckoutEntry.ts"
import { walk, type Walker } from "./CheckoutWalk.ts"
import type { Meaning } from "./Fields.ts"
import { captcha, isLogin, type Look, refusal, shownOf } from "./Look.ts"
import { hasOrderButton } from "./PaymentStep.ts"
import type { Progress } from "./Progress.ts"
import { noneSaid } from "./Shipping.ts"
import type { Tab } from "./Tab.ts"

const totalled = (outcome: StepOutcome, total: string | null = null): CheckoutOutcome => ({ ...outcome, total })

const addressParts: ReadonlyArray<Meaning> = [
  "line1",
  "city",
  "postalCode",
  "country",
  "email",
  "fullName",
  "firstName"
]

const noShipping = (said: string): StepOutcome =>
  failed("checkout", "no_shipping_option", `The checkout says: ${said}.`, snippet(said))

const ofShipping = /shipping|delivery|versand|liefer|livraison|env[ií]o|spedizion|consegn|verzend|bezorg|entrega/i

const wantsAgreed = /\b(?:agree|accept)\b.{0,40}\b(?:terms|conditions|polic)|\bagb\b|zustimm|akzeptier/i

/** What a checkout says that does not go on. */
const stoppedBy = (progress: Progress, { text }: Look): StepOutcome | undefined => {
  const { complaint, stuck, unrecognised } = progress
  if (complaint === null && stuck === null) return undefined
  // "A shipping method must be selected" says less than the list that has none.
  const isOfShipping = complaint === null || ofShipping.test(complaint)
  const refused = (complaint === null ? undefined : noneSaid(complaint)) ?? (isOfShipping ? noneSaid(text) : undefined)
  if (refused !== undefined) return noShipping(refused)
  // Ours: what is agreed to is ticked only where the page says that it has to be.
  if (complaint !== null && wantsAgreed.test(complaint))
    return unknown("The checkout wants something agreed to that its page does not mark as required.", complaint)
  const missing = unrecognised.size === 0 ? "" : ` Not recognised: ${[...unrecognised].join(", ")}.`
  const id = unrecognised.size === 0 ? "address_rejected" : "checkout_form_unrecognized"
  if (complaint !== null)
    return failed("checkout", id, `The checkout does not take what was written.${missing}`, complaint)
  const what = `The checkout stays where it is when "${stuck?.name}" is pressed`
  const answer = stuck?.answer ?? null
  if (answer !== null) return failed("checkout", id, `${what}: ${answer}.${missing}`, snippet(text))
  if (missing !== "") return failed("checkout", id, `${what}.${missing}`, snippet(text))
  return unknown(`${what}, and does not say why.`, snippet(text))
}

const written = /^(?:text|email|tel|textarea|select)$/
/** Whether anything is asked beside what is searched for. */
const hasFields = ({ facts }: Look): boolean =>
  [...facts.controls, ...facts.forms.flatMap(({ controls, role }) => (role === "search" ? [] : controls))].some(
    ({ disabled, tag, type }) => !disabled && (written.test(type) || tag === "select" || tag === "textarea")
  )

const verdict = (
  { doubt, hasSent, progress, seen, shipping }: Effect.Success<ReturnType<typeof walk>>,
  shown: PageFacts | undefined
): CheckoutOutcome => {
  const { filled, impossible, shopper, unlabelled } = progress
  const wall = captcha("checkout", seen)
  if (progress.taken === null && wall !== undefined) return totalled(wall)
  if (progress.taken !== null) return totalled(orderTakenAt("checkout", progress.taken, shopper))
  if (doubt.isOpen) {
    const uncertain = orderUncertain("checkout", snippet(seen.text))
    return totalled(unknown("What became of the address that was sent is not known.", snippet(seen.text), [uncertain]))
  }
  if (progress.held !== null) return totalled(heldBackAt(progress.held, seen.text))
  if (progress.ticked !== null) return totalled(tickedStill(progress.ticked))
  if (progress.account !== null) {
    const detail = `The form of "${progress.account}" needs a password of a new account.`
    return totalled(failed("checkout", "account_required", detail, snippet(seen.text)))
  }
  if (progress.aside !== null) return totalled(unknown(progress.aside, snippet(seen.text)))
  const known = addressParts.filter((part) => filled.has(part))
  const page = snippet(seen.text)
  const guests = known.length === 0 ? guestHeld(seen) : undefined
  if (guests !== undefined) return totalled(heldBackAt(guests, seen.text))
  if (known.length === 0 && !hasFields(seen))
    return totalled(unknown(`${seen.url.pathname} has no field, and no way on whose words are known.`, page))
  // A checkout that holds all its steps has fields behind the login that it shows.
  if (known.length === 0 && shown !== undefined && isLogin({ ...seen, facts: shown })) {
    const detail = "The checkout shows a login, and offers no way around it."
    return totalled(failed("checkout", "account_required", detail, page))
  }
  if (known.length === 0) {
    const detail = "No field of the checkout says by autofill token, name or label what belongs into it."
    return totalled(failed("checkout", "checkout_form_unrecognized", detail, page))
  }
  const stopped = stoppedBy(progress, seen)
  if (stopped !== undefined) return totalled(stopped)
  const total = totalIn(seen.text)
  const warnings: Array<Blocker> = []
  if (unlabelled > 0) {
    warnings.push(
      warning("checkout", "labels_missing", `${unlabelled} fields of the checkout have no accessible name.`, page)
    )
  }
  const nowhere = impossible.has("country") && !filled.has("country")
  if (shipping.options.length === 0 && (shipping.none !== undefined || nowhere)) {
    const detail = nowhere
      ? "The list of countries to ship to is empty, so no address can be given."
      : "The checkout offers no way of shipping to a valid address in the country of its currency."
    return totalled(
      failed("checkout", "no_shipping_option", detail, snippet(shipping.none ?? seen.text), warnings),
      total
    )
  }
  if (!progress.hasArrived && (total === null || listsLaterStep(seen.facts)) && !hasOrderButton(seen.facts))
    return totalled(unknown(`What ${seen.url.pathname} asks for next is not known.`, page, warnings))
  if (total === null) {
    const detail = "No total is stated before the payment."
    warnings.push(warning("checkout", "total_unknown_before_payment", detail, page))
  }
  const offered =
    shipping.options.length === 0
      ? "nothing asked about shipping"
      : `shipping: ${shipping.options.slice(0, 5).join("; ")}`
  const sum = total === null ? "" : ` The total is ${total}.`
  const sent = hasSent ? "" : "; nothing was sent"
  return totalled(
    passed(`As a guest, written: ${[...filled].join(", ")}; ${offered}${sent}.${sum}`, page, warnings),
    total
  )
}

/** Goes through the checkout as a guest up to where it asks how to pay. */
export const checkOut = Effect.fnUntraced(function* (tab: Tab, cart: URL, walker: Walker) {
  const { elsewhere, found } = yield* enter(tab, cart)
  if (found === undefined && elsewhere !== undefined) {
    const detail = `The only way found from the cart leads to ${elsewhere.url.host}, which asks to log in there: a way to pay, and no checkout of the shop.`
    return totalled(unknown(detail, snippet(elsewhere.text)))
  }
  if (found === undefined) {
    return totalled(
      unknown("No link, button or usual address leads from the cart to a checkout.", snippet(tab.page.url()))
    )
  }
  const refused = refusal("checkout", found.status, found.seen)
  if (refused !== undefined) return totalled(refused)
  const seen = yield* asGuest(tab, found.seen)
  const wall = captcha("checkout", seen)
  if (wall !== undefined) return totalled(wall)
  if (isLogin(seen) || (found.isAsking && seen.url.href === found.seen.url.href)) {
    const detail = "The checkout leads to a login, and offers no way around it."
    return totalled(failed("checkout", "account_required", detail, snippet(`${seen.url.href} ${seen.text}`)))
  }
  const walked = yield* walk(tab, seen, walker)
  return verdict(walked, yield* shownOf(tab, walked.seen))
})
