import { addToCart, inForm } from "./AddToCart.ts"
import { checkoutFields } from "./CheckoutFields.ts"
import type { PageFacts, PageForm } from "./PageFacts.ts"
import { attributeOf, clipped, hasWord, sourceOf, within } from "./PageText.ts"
import type { PageElement, PageTree } from "./PageTree.ts"

type Found = PageFacts["captchas"][number]

/** What else of the page tells whether a captcha stands in a buyer's way. */
export type Around = Pick<PageFacts, "forms" | "controls" | "links" | "url">

interface Looked {
  readonly tree: PageTree
  readonly around: Around
  /** The forms by the index of their elements. */
  readonly forms: ReadonlyMap<number, PageForm>
  /** Whether something on the page adds to the cart: its other forms are not on the way then. */
  readonly hasWay: () => boolean
}

/** A widget that somebody has to solve, by the class of its element. */
const widgets: ReadonlyArray<readonly [vendor: string, className: string]> = [
  ["recaptcha", "g-recaptcha"],
  ["hcaptcha", "h-captcha"],
  ["turnstile", "cf-turnstile"],
  ["friendly_captcha", "frc-captcha"],
  ["arkose", "arkose-captcha"],
  ["geetest", "geetest_holder"],
  ["mtcaptcha", "mtcaptcha"],
  ["yandex_smartcaptcha", "smart-captcha"]
]

/** A script that only watches, unless there is a widget too. */
const scripts: ReadonlyArray<readonly [vendor: string, address: RegExp]> = [
  ["recaptcha", /(?:google|gstatic|recaptcha)\.(?:com|net)\/recaptcha\//i],
  ["hcaptcha", /hcaptcha\.com\/(?:1\/)?api\.js|newassets\.hcaptcha\.com/i],
  ["turnstile", /challenges\.cloudflare\.com\/turnstile/i],
  ["arkose", /(?:arkoselabs|funcaptcha)\.com/i],
  ["geetest", /(?:static|api)\.geetest\.com/i],
  ["friendly_captcha", /friendly-?(?:challenge|captcha)/i],
  ["yandex_smartcaptcha", /smartcaptcha\.yandexcloud/i]
]

const inScript = /grecaptcha\.(?:enterprise\.)?execute|hcaptcha\.execute|turnstile\.render|recaptcha\/api\.js\?render=/

/** Forms that nobody passes through to buy. */
const aside =
  /newsletter|subscri|contact|kontakt|review|comment|bewertung|avis|search|login|log-in|signin|sign-in|register|signup|password|notify|question|enquir|inquir|anfrage|feedback|call-?back|(?<![a-z])ask/i

/** A box that opens beside what is bought. */
const asideBox = /newsletter|subscri|pop-?up|modal|footer|review|klaviyo|mailchimp/i
const said = (element: PageElement, names: ReadonlyArray<string>) =>
  names.map((name) => attributeOf(element, name, 300) ?? "").join(" ")

const isAsideBox = (element: PageElement) =>
  element.tag === "footer" || element.tag === "dialog" || asideBox.test(said(element, ["id", "class"]))

/** A newsletter's form is short. */
const fieldsLooked = 200

/** A form that asks for an address of mail and nothing else, as for a newsletter. */
const asksMailOnly = (tree: PageTree, form: PageElement) => {
  const fields = within(tree, form, fieldsLooked).filter(
    ({ attributes, tag }) =>
      (tag === "input" && !/^(?:hidden|submit|button|image|checkbox)$/i.test(attributes.get("type") ?? "")) ||
      tag === "select" ||
      (tag === "textarea" && !/captcha/i.test(attributes.get("name") ?? ""))
  )
  const [first] = fields
  return first !== undefined && fields.length === 1 && /e-?mail/i.test(said(first, ["type", "name", "id"]))
}

const cartPage =
  /\/(?:(?:shopping-?)?cart|basket|bag|warenkorb|panier|carrito|carrello|carrinho|winkelwagen|winkelmand|koszyk|korzina)(?:\.\w{2,5})?\/?$/i
const checkoutPath = /check-?out|\/(?:order|payment|pay|shipping|onepage|kasse|commande)s?(?:[/.?]|$)/i

/** Whether a buyer has to send this form: it adds, it belongs to the checkout, or it asks for nothing but the captcha. */
const isOnWay = (form: PageForm) => {
  if (inForm(form) !== undefined || (form.hasAction && checkoutPath.test(form.action))) return true
  const asked = checkoutFields(form.controls)
  if (asked.has("street-address") || asked.has("address-line1") || asked.has("postal-code")) return true
  return form.controls.every(
    ({ name, type }) => /^(?:hidden|submit|button|image)$/.test(type) || /captcha|turnstile/i.test(name ?? "")
  )
}

const isInAsideBox = (tree: PageTree, element: PageElement) => {
  for (let at = element.parent; at >= 0; at = tree.elements[at]?.parent ?? -1) {
    const around = tree.elements[at]
    if (around !== undefined && around.tag !== "body" && around.tag !== "html" && isAsideBox(around)) return true
  }
  return false
}

/** Of the form it stands in, or else of the boxes around it; a checkout may well be in a box. */
const isAside = ({ around, forms, hasWay, tree }: Looked, element: PageElement) => {
  const form = element.form < 0 ? undefined : tree.elements[element.form]
  if (form === undefined) return isInAsideBox(tree, element)
  if (aside.test(said(form, ["action", "id", "class", "name"])) || asksMailOnly(tree, form)) {
    return !/check-?out/i.test(attributeOf(form, "action", 300) ?? "")
  }
  const read = forms.get(form.index)
  if (read === undefined || isOnWay(read)) return false
  const isCart = cartPage.test(new URL(around.url).pathname)
  if (!isCart && checkoutPath.test(around.url)) return false
  return isInAsideBox(tree, form) || isCart || hasWay()
}

const isInvisible = (element: PageElement) =>
  element.isHidden ||
  element.tag === "button" ||
  element.tag === "input" ||
  /invisible/i.test(attributeOf(element, "data-size", 50) ?? "") ||
  /interaction-only|execute/i.test(attributeOf(element, "data-appearance", 50) ?? "") ||
  /invisible/i.test(attributeOf(element, "data-badge", 50) ?? "")

const widgetOf = (looked: Looked, element: PageElement): Found | undefined => {
  const className = element.attributes.get("class")
  if (className === undefined) return undefined
  const found = widgets.find(([, name]) => hasWord(className, name))
  if (found === undefined) return undefined
  return { vendor: found[0], visible: !isInvisible(element) && !isAside(looked, element), marker: `class ${found[1]}` }
}

const frameOf = (looked: Looked, element: PageElement): Found | undefined => {
  const src = element.tag === "iframe" ? attributeOf(element, "src") : undefined
  if (src === undefined) return undefined
  const found = scripts.find(([, address]) => address.test(src))
  if (found === undefined) return undefined
  const visible = !/size=invisible/i.test(src) && !isInvisible(element) && !isAside(looked, element)
  return { vendor: found[0], visible, marker: clipped(`iframe ${src}`, 200) }
}

/** A picture of letters beside a field that asks for them. */
const pictureOf = (looked: Looked, element: PageElement): Found | undefined => {
  const src = element.tag === "img" ? attributeOf(element, "src", 500) : undefined
  if (src === undefined || !/captcha/i.test(src)) return undefined
  const visible = !element.isHidden && !isAside(looked, element)
  return { vendor: "image", visible, marker: clipped(`img ${src}`, 200) }
}

const scriptOf = (tree: PageTree, element: PageElement): Found | undefined => {
  if (element.tag !== "script") return undefined
  const src = attributeOf(element, "src", 1_000)
  if (src !== undefined) {
    const found = scripts.find(([, address]) => address.test(src))
    return found && { vendor: found[0], visible: false, marker: clipped(`script ${src}`, 200) }
  }
  const said = inScript.exec(sourceOf(tree, element, 200_000))?.[0]
  if (said === undefined) return undefined
  return {
    vendor: said.startsWith("h") ? "hcaptcha" : said.startsWith("t") ? "turnstile" : "recaptcha",
    visible: false,
    marker: said
  }
}

const mostLooked = 200

/**
 * The captchas on a page: a widget stands for its vendor before a script does; a visible one before one that only watches. One of a form
 * beside the way to an order is not visible to a buyer.
 */
export const readCaptchas = (tree: PageTree, around: Around): ReadonlyArray<Found> => {
  const elements = tree.elements.filter(({ tag }) => tag === "form")
  const forms = new Map(around.forms.map((form, at) => [elements[at]?.index ?? -1, form]))
  let way: boolean | undefined
  const hasWay = () => (way ??= addToCart(around) !== undefined)
  const page: Looked = { tree, around, forms, hasWay }
  const byVendor = new Map<string, Found>()
  let looked = 0
  for (const element of tree.elements) {
    const found =
      widgetOf(page, element) ?? scriptOf(tree, element) ?? frameOf(page, element) ?? pictureOf(page, element)
    if (found !== undefined && looked++ >= mostLooked) break
    const known = found && byVendor.get(found.vendor)
    if (found !== undefined && (known === undefined || (found.visible && !known.visible))) {
      byVendor.set(found.vendor, found)
    }
  }
  return [...byVendor.values()]
}
