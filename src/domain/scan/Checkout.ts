import { guestMarks } from "../page/Accounts.ts"
import { addToCart } from "../page/AddToCart.ts"
import { checkoutFields } from "../page/CheckoutFields.ts"
import type { PageControl, PageFacts } from "../page/PageFacts.ts"
import { paymentOffer } from "../page/PaymentOffer.ts"
import { totalIn } from "../page/Total.ts"
import type { Answer, QuestionId } from "../Rubric.ts"
import { fix } from "./Fixes.ts"
import { accountMark } from "./Operation.ts"
import type { SiteFacts } from "./SiteFacts.ts"
import { evidence, isPage, isSettled, type Page, type Sight, whyUnseen } from "./Sight.ts"

/** How far an agent comes in cart and checkout, as far as looking at them tells without putting anything in. */
export const checkoutAnswers = (facts: SiteFacts): ReadonlyArray<Answer> => {
  if (facts.shop.answer === "no") {
    const message = `There is no checkout: ${facts.shop.because}.`
    return ids.map((id) => ({ id, status: "not_applicable", message, evidence: null, fix: null }))
  }
  return [
    cartApi(facts),
    guestCheckout(facts),
    paymentMethods(facts),
    noCaptcha(facts),
    formRecognizable(facts),
    totalBeforePayment(facts)
  ]
}
const ids = [
  "cart_api",
  "guest_checkout",
  "payment_methods",
  "no_captcha",
  "form_recognizable",
  "total_before_payment"
] as const satisfies ReadonlyArray<QuestionId>

const cartApi = ({ cartApi: api, platform, products, protocols }: SiteFacts): Answer => {
  const id = "cart_api"
  if (api?.isOpen === true) {
    const message = `The cart of ${platform?.name} answers (${api.path}).`
    return { id, status: "pass", message, evidence: evidence(api.sight, api.sight.opening), fix: null }
  }
  const tool = protocols.tools.find((name) => /^create_(?:cart|checkout)$/.test(name))
  if (tool !== undefined) {
    return { id, status: "pass", message: `A cart can be made over UCP (${tool}).`, evidence: null, fix: null }
  }
  const form = products.find(({ page }) => addToCart(page)?.kind === "form")
  if (form !== undefined) {
    const message = "A product goes into the cart by a form that needs no scripts."
    return { id, status: "pass", message, evidence: evidence(form), fix: null }
  }
  if (api !== undefined && isSettled(api.sight)) {
    const message = `The cart of ${platform?.name} does not answer as it should (${api.path}).`
    return {
      id,
      status: "fail",
      message,
      evidence: evidence(api.sight, api.sight.opening),
      fix: fix(id, platform?.name)
    }
  }
  if (platform !== undefined && api === undefined) {
    const message = `The platform is known (${platform.name}); its cart cannot be proved without putting something in.`
    return {
      id,
      status: "warn",
      message,
      evidence: evidence(products[0], platform.marker),
      fix: fix(id, platform.name)
    }
  }
  const why = api === undefined ? "no known platform and no form without scripts was seen" : whyUnseen(api.sight)
  return {
    id,
    status: "unknown",
    message: `The cart was not proved: ${why}.`,
    evidence: evidence(api?.sight),
    fix: null
  }
}

/** What every delivery needs, and the tokens that ask for it. */
const fieldGroups = [
  ["email", ["email"]],
  ["name", ["name", "given-name", "family-name"]],
  ["street", ["street-address", "address-line1"]],
  ["postal code or city", ["postal-code", "address-level2"]],
  ["country", ["country"]]
] as const

const controlsOf = (page: PageFacts): ReadonlyArray<PageControl> => [
  ...page.forms.filter(({ role }) => role !== "search").flatMap((form) => form.controls),
  ...page.controls
]

/** What a person fills in or chooses: neither hidden nor a button. */
const fieldsOf = (page: PageFacts) =>
  controlsOf(page).filter(
    ({ tag, type }) => tag !== "button" && !["hidden", "submit", "button", "search", "image", "reset"].includes(type)
  )

/** Which groups can be told, and which of them by their autofill token. */
const groupsOf = (page: PageFacts) => {
  const found = checkoutFields(fieldsOf(page))
  const marked = new Set(fieldsOf(page).flatMap(({ autocomplete }) => (autocomplete ?? "").toLowerCase().split(/\s+/)))
  const isMarked = (token: string) => marked.has(token) || (token === "country" && marked.has("country-name"))
  return {
    marked: fieldGroups.filter(([, tokens]) => tokens.some(isMarked)).map(([name]) => name),
    named: fieldGroups.filter(([, tokens]) => tokens.some((token) => found.has(token))).map(([name]) => name)
  }
}

/** The checkout's own page with fields of an address on it; a page of the empty cart shows none. */
const checkoutForm = ({ checkout }: SiteFacts): Page | undefined => {
  if (!isPage(checkout) || accountMark(checkout) !== undefined) return undefined
  return fieldsOf(checkout.page).length >= 3 && isCheckoutPath.test(new URL(checkout.url).pathname)
    ? checkout
    : undefined
}

const isCheckoutPath = /check-?out|kasse|pago|caisse|finalizar|order|bestell/i

/** A checkout that was seen neither with a form nor as a wall. */
const unseenCheckout = ({ checkout }: SiteFacts): string => {
  if (checkout === undefined || checkout.status === null || checkout.challenge !== null) return whyUnseen(checkout)
  if (checkout.status >= 300 && checkout.status < 400) return "it leads back while the cart is empty"
  if (checkout.status >= 400) return `it answers ${checkout.status}`
  if (isPage(checkout) && checkout.page.clientOnly !== null) return "it is empty before its scripts run"
  if (isPage(checkout) && accountMark(checkout) !== undefined) return "it is only for those who have an account"
  return "it is not shown for an empty cart; a shopping test puts something in"
}

const unknown = (id: QuestionId, message: string, sight: Sight | undefined): Answer => ({
  id,
  status: "unknown",
  message,
  evidence: evidence(sight),
  fix: null
})

const guestCheckout = (facts: SiteFacts): Answer => {
  const id = "guest_checkout"
  const { cart, checkout, platform, protocols } = facts
  const tool = protocols.tools.find((name) => name === "create_checkout")
  if (tool !== undefined) {
    return {
      id,
      status: "pass",
      message: "A checkout can be made over UCP without an identity.",
      evidence: null,
      fix: null
    }
  }
  const pages = [cart, checkout].filter(isPage)
  const says = pages.find(({ page }) => guestMarks(page).length > 0)
  if (says !== undefined) {
    const message = "The checkout offers to go on as a guest."
    return { id, status: "pass", message, evidence: evidence(says, guestMarks(says.page)[0]), fix: null }
  }
  const wall = pages.find((sight) => accountMark(sight) !== undefined)
  if (wall !== undefined) {
    const message = `${new URL(wall.asked).pathname} asks for an account and does not offer to go on as a guest.`
    return { id, status: "fail", message, evidence: evidence(wall, accountMark(wall)), fix: fix(id, platform?.name) }
  }
  const form = checkoutForm(facts)
  if (form === undefined) return unknown(id, `The checkout was not seen: ${unseenCheckout(facts)}.`, checkout)
  const wantsPassword = fieldsOf(form.page).some(({ required, type }) => type === "password" && required)
  return wantsPassword
    ? {
        id,
        status: "fail",
        message: "The checkout requires a password.",
        evidence: evidence(form),
        fix: fix(id, platform?.name)
      }
    : {
        id,
        status: "pass",
        message: "The checkout asks for an address, not for an account.",
        evidence: evidence(form),
        fix: null
      }
}
const paymentMethods = (facts: SiteFacts): Answer => {
  const id = "payment_methods"
  const { cart, checkout, home, platform, products, protocols } = facts
  const [handler] = protocols.handlers
  if (handler !== undefined) {
    const message = `UCP declares payment handlers: ${protocols.handlers.slice(0, 5).join(", ")}.`
    return { id, status: "pass", message, evidence: null, fix: null }
  }
  const offers = [checkout, cart, ...products, home]
    .filter(isPage)
    .map((sight) => ({ sight, ...paymentOffer(sight.page) }))
  // What the till itself says there is wins over what any page merely loads.
  const said = offers.find(({ isStated, sight }) => isStated && (sight === checkout || sight === cart))
  if (said?.none !== undefined) return noPayment(facts, said.sight, said.none)
  const marks = (said === undefined ? offers : [said]).flatMap(({ methods, sight }) =>
    methods.map((mark) => ({ ...mark, sight }))
  )
  const of = (kind: "agent" | "deferred" | "human") => marks.find((mark) => mark.class === kind)
  const names = [...new Set(marks.map((mark) => mark.method))].slice(0, 8).join(", ")
  const found = of("agent") ?? of("deferred") ?? of("human")
  if (found === undefined) {
    const why = checkoutForm(facts) === undefined ? `The checkout was not seen: ${unseenCheckout(facts)}.` : ""
    return unknown(id, `No page shows how to pay. ${why}`.trim(), checkout)
  }
  const seen = evidence(found.sight, found.marker)
  if (found.class === "agent") {
    return { id, status: "pass", message: `A program can pay here: ${names}.`, evidence: seen, fix: null }
  }
  // Marks stand on pages before the checkout, too; only a checkout that lists methods shows that there is nothing else.
  if (checkoutForm(facts)?.page.payments.length === 0 || checkoutForm(facts) === undefined) {
    return unknown(id, `Marks of ${names} were seen; a checkout that lists what it takes was not.`, found.sight)
  }
  if (found.class === "deferred") {
    const message = `It can only be paid later, outside: ${names}.`
    return { id, status: "warn", message, evidence: seen, fix: fix(id, platform?.name) }
  }
  const message = `Every method that is shown needs a person: ${names}.`
  return { id, status: "fail", message, evidence: seen, fix: fix(id, platform?.name) }
}

/** While the cart is empty, only a checkout that shows its form means it. */
const noPayment = (facts: SiteFacts, sight: Page, words: string): Answer => {
  const id = "payment_methods"
  const { pathname } = new URL(sight.url)
  if (sight !== checkoutForm(facts)) {
    return unknown(id, `${pathname} says "${words}", which may be because the cart is empty.`, sight)
  }
  const message = `The checkout says "${words}".`
  return { id, status: "fail", message, evidence: evidence(sight, words), fix: fix(id, facts.platform?.name) }
}

const noCaptcha = (facts: SiteFacts): Answer => {
  const id = "no_captcha"
  const { cart, checkout, platform } = facts
  const pages = [checkout, cart, ...facts.products].filter(isPage)
  const found = pages.flatMap((sight) => sight.page.captchas.map((captcha) => ({ ...captcha, sight })))
  const visible = found.find((captcha) => captcha.visible)
  if (visible !== undefined) {
    const message = `A captcha has to be solved (${visible.vendor}) on ${new URL(visible.sight.url).pathname}.`
    const seen = evidence(visible.sight, visible.marker)
    return { id, status: "fail", message, evidence: seen, fix: fix(id, platform?.name) }
  }
  const walled = [checkout, cart].find((sight) => sight !== undefined && sight.challenge !== null)
  if (walled !== undefined) {
    const message = `A wall stands before ${new URL(walled.asked).pathname} (${walled.challenge?.vendor}).`
    const seen = evidence(walled, walled.challenge?.marker)
    return { id, status: "fail", message, evidence: seen, fix: fix(id, platform?.name) }
  }
  const form = checkoutForm(facts)
  if (form === undefined) return unknown(id, `The checkout was not seen: ${unseenCheckout(facts)}.`, checkout)
  const [watcher] = found
  const message =
    watcher === undefined ? "Cart and checkout have no captcha." : `A captcha only watches (${watcher.vendor}).`
  return { id, status: "pass", message, evidence: evidence(form, watcher?.marker), fix: null }
}

const formRecognizable = (facts: SiteFacts): Answer => {
  const id = "form_recognizable"
  const form = checkoutForm(facts)
  if (form === undefined) {
    return unknown(id, `The checkout's form was not seen: ${unseenCheckout(facts)}.`, facts.checkout)
  }
  const { marked, named } = groupsOf(form.page)
  const seen = evidence(form, marked.join(", "))
  if (marked.length >= 4) {
    return {
      id,
      status: "pass",
      message: `Fields carry autofill tokens: ${marked.join(", ")}.`,
      evidence: seen,
      fix: null
    }
  }
  if (named.length >= 2) {
    const message = `Fields can be told by their names (${named.join(", ")}), ${marked.length} of 5 by autofill tokens.`
    return { id, status: "warn", message, evidence: seen, fix: fix(id) }
  }
  const message = "The fields of the checkout have neither autofill tokens nor names that tell what they are."
  return { id, status: "fail", message, evidence: seen, fix: fix(id) }
}

const extras = /shipping|delivery|versand|livraison|env[ií]o|entrega|spedizion|verzend|tax|vat|mwst|iva\b|tva\b|btw\b/i

const totalBeforePayment = (facts: SiteFacts): Answer => {
  const id = "total_before_payment"
  const form = checkoutForm(facts)
  if (form === undefined) {
    return unknown(id, `The checkout was not seen: ${unseenCheckout(facts)}.`, facts.checkout)
  }
  const { visibleText } = form.page
  const total = totalIn(visibleText)
  if (total !== null && extras.test(visibleText)) {
    const message = "The checkout shows shipping or tax and the total before payment."
    return { id, status: "pass", message, evidence: evidence(form, `Total ${total}`), fix: null }
  }
  return unknown(id, "The total is not shown for an empty cart; a shopping test puts something in.", form)
}
