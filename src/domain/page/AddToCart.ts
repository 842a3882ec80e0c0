import { choiceFirst } from "../ChoiceWords.ts"
import type { PageControl, PageFacts, PageForm, PageLink } from "./PageFacts.ts"

/** What puts a product into a cart, and what pressing it would send. */
export interface AddToCart {
  /** `button`: it stands in no form, so only a script can act on it. `link`: an address that adds when it is opened. */
  readonly kind: "form" | "button" | "link"
  readonly form: PageForm | null
  readonly control: PageControl | null
  readonly method: "GET" | "POST"
  /** Null for a button that stands in no form. */
  readonly action: string | null
  readonly enctype: string
  /** In the order of the form, with an empty quantity as 1 and the button itself last. */
  readonly fields: ReadonlyArray<readonly [name: string, value: string]>
  /** What has to be chosen first: required and empty, or choices of which none is made. */
  readonly choices: ReadonlyArray<PageControl>
  /** The button is there but cannot be pressed: sold out, or waiting for a choice. */
  readonly isDisabled: boolean
  readonly marker: string
}

const addWords =
  /\badd(?: \w+){0,3} to (?:my |your |the )?(?:shopping )?(?:cart|bag|basket|trolley)\b|\badd to order\b|\b(?:buy|order|purchase)(?: it)? now\b|^(?:buy|purchase|order|pre[- ]?order(?: now)?|add)$|(?:in|zum) (?:den |die )?(?:warenkorb|einkaufswagen|einkaufstasche|korb)|jetzt (?:kaufen|vorbestellen)|^kaufen$|ajouter (?:au|dans le|à mon) panier|^(?:acheter|précommander)|mettre au panier|(?:añadir|agregar|anadir) (?:al? |a la |a mi )?(?:carrito|carro|cesta|bolsa)|^comprar|(?:adicionar|colocar|pôr|adicione) (?:ao?|à|n[oa]) (?:carrinho|cesto|saco|sacola)|aggiungi al? (?:carrello|borsa)|^acquista|(?:in|aan) (?:mijn |de )?(?:winkelwagen|winkelmand|winkelmandje)|toevoegen aan (?:winkel|mand)|lägg (?:i|till i) (?:varukorg|kundvagn|korg)|^köp(?: nu)?$|(?:læg|tilføj) (?:i|til) (?:indkøbs)?kurv|^køb(?: nu)?$|legg (?:i|til i) handle(?:kurv|vogn)|^kjøp(?: nå)?$|(?:lisää|siirrä) (?:osto)?(?:skoriin|koriin)|dodaj do koszyka|^do koszyka|(?:přidat )?do košíku|vložit do košíku|(?:pridať |vložiť )?do košíka|kosárba|adaug[aă] [iî]n co[sș]|(?:добавить )?в корзину|^купить|(?:додати )?(?:до|в|у) кошик[ау]?|^купити|sepete ekle|καλάθι|カートに(?:入れる|追加)|買い物かご|(?:加入|添加到)购物车|加入購物車|加到购物袋|立即购买|장바구니|카트에 (?:추가|담기)|구매하기|أضف (?:إلى|الى) (?:السلة|عربة)|הוס(?:ף|פה) לסל|thêm vào giỏ|(?:tambah(?:kan)? ke|masukkan) keranjang|ใส่ตะกร้า|कार्ट में/iu
const otherWords =
  /wish ?list|compar|favou?rit|notify|back in stock|merk(?:zettel|liste)|save for later|gift registry|sample|swatch|newsletter|quote|remove|coupon|voucher|vergleich|liste d'envies|deseos/i
const soldOut =
  /sold out|out of stock|ausverkauft|nicht (?:auf lager|verfügbar)|épuisé|rupture de stock|agotado|sin stock|esgotado|esaurito|uitverkocht|slutsåld|udsolgt|wyprzedane|vyprodáno|нет в наличии|売り切れ|品切れ|售罄|품절|unavailable/i
const addPaths =
  /\/cart\/add(?:\.js)?(?:[/?]|$)|\/checkout\/cart\/add|[?&](?:add-to-cart|add_to_cart|addtocart)=|cart\.php\?.*action=add|\/(?:add-?to-?cart|addtocart|add_to_cart|cart-add|addproduct)\b|route=checkout\/cart[/.]add|Cart-AddProduct|\/basket\/add|\/(?:cart|basket|panier|carrito|warenkorb|koszyk|korzina|carrello|winkelwagen)\/(?:items?|lines?|add|insert|line-item\/add)\b|\/api\/cart\/mine\/items/i
const addNames =
  /^(?:add-to-cart|add_to_cart|addtocart|addtobasket|add-to-basket|product-addtocart-button|button-cart|add-to-cart-button)$/i
const cartPages = /^(?:\/[a-z]{2}(?:-[a-z]{2})?)?\/(?:cart|basket|bag|panier|carrito|warenkorb|carrello)\/?$/i

/** Whether an address is known to put something into a cart, and no more. */
export const addsByAddress = (address: string): boolean => addPaths.test(address)

/** Whether words say that pressing them puts something into a cart, and not that it is bought there and then. */
export const addsByWords = (text: string): boolean =>
  addWords.test(text) && !otherWords.test(text) && !atOnce.test(text)
const atOnce = /\b(?:buy|order|purchase)\b|kaufen|acheter|comprar|acquista/i

const buttonTypes: ReadonlySet<string> = new Set(["submit", "button", "image"])
const isButton = (control: PageControl) => buttonTypes.has(control.type)
const namesAdd = (control: PageControl) => addNames.test(control.name ?? "") || addNames.test(control.id ?? "")

/** How surely pressing this adds: 0 for something else. */
const certainty = (control: PageControl) => {
  const label = control.label ?? control.value ?? ""
  if (!isButton(control) || otherWords.test(label)) return 0
  if (addWords.test(label)) return namesAdd(control) ? 4 : 3
  if (namesAdd(control)) return 3
  return soldOut.test(label) ? 1 : 0
}

const isQuantity = (control: PageControl) =>
  /^(?:qty|quantity|menge|quantite|cantidad|quantidade|amount|product_qty)\b|\[?(?:qty|quantity)\]?$/i.test(
    control.name ?? ""
  )

const hasChoice = (control: PageControl) => control.tag !== "select" || (control.value ?? "") !== ""

/** Whether the browser would send it when `pressed` is the button. */
const isSent = (control: PageControl, pressed: PageControl | null) => {
  if (control.name === null || control.disabled) return false
  if (isButton(control) || control.type === "reset") return control === pressed
  if (control.type === "radio" || control.type === "checkbox") return control.checked
  return control.type !== "file"
}

const valueOf = (control: PageControl) => {
  if (isQuantity(control) && (control.value ?? "") === "") return "1"
  return control.value ?? (control.type === "checkbox" || control.type === "radio" ? "on" : "")
}

/** What a form sends when this button of it is pressed. */
const submittedFields = (form: PageForm, pressed: PageControl | null): AddToCart["fields"] => {
  const sent = form.controls.filter((control) => isSent(control, pressed) && control !== pressed)
  const fields = sent.map((control) => [control.name ?? "", valueOf(control)] as const)
  return pressed?.name && !pressed.disabled ? [...fields, [pressed.name, pressed.value ?? ""]] : fields
}

/** Controls of a form that have to be filled or chosen before it can be sent. */
const openChoices = (form: PageForm): ReadonlyArray<PageControl> => {
  const radios = new Map<string, boolean>()
  for (const control of form.controls) {
    if (control.type !== "radio" || control.name === null || control.disabled) continue
    radios.set(control.name, (radios.get(control.name) ?? false) || control.checked)
  }
  const seen = new Set<string>()
  return form.controls.filter((control) => {
    if (control.disabled || control.type === "hidden" || isButton(control) || isQuantity(control)) return false
    if (control.type === "radio") {
      const isOpen = control.name !== null && radios.get(control.name) === false && !seen.has(control.name)
      if (isOpen) seen.add(control.name ?? "")
      return isOpen
    }
    if (control.tag === "select") return !hasChoice(control) && control.options.length > 1
    return control.required && (control.type === "checkbox" ? !control.checked : (control.value ?? "") === "")
  })
}

/** Whether the button's own words say that there is none left. That it is disabled may only mean that a script or a choice enables it. */
export const saysSoldOut = ({ marker }: Pick<AddToCart, "marker">): boolean => soldOut.test(marker)

const byForm = (form: PageForm, control: PageControl | null, marker: string): AddToCart => ({
  kind: "form",
  form,
  control,
  method: form.method,
  action: form.action,
  enctype: form.enctype,
  fields: submittedFields(form, control),
  choices: openChoices(form),
  isDisabled: control?.disabled === true || (control !== null && soldOut.test(control.label ?? "")),
  marker
})

interface Candidate {
  readonly sure: number
  readonly found: AddToCart
}

/** A form that adds, and how surely. */
export const inForm = (form: PageForm): Candidate | undefined => {
  const path = URL.parse(form.action)?.pathname ?? ""
  const adds = addPaths.test(form.action) ? 3 : 0
  // A cart's own page has buttons that order; they add nothing.
  if (adds === 0 && (form.role === "search" || /\/(?:search|login|newsletter|contact|wishlist|compare)\b/i.test(path)))
    return undefined
  const pressable = form.controls.filter(isButton)
  // What nobody sees nobody presses: it waits for a script, or for programs that press everything.
  if (pressable.length > 0 && pressable.every(({ isHidden }) => isHidden === true)) return undefined
  const buttons = pressable.map((control) => ({ control, sure: control.isHidden === true ? 0 : certainty(control) }))
  const best = buttons.reduce<(typeof buttons)[number] | undefined>(
    (one, other) => (other.sure > (one?.sure ?? 0) ? other : one),
    undefined
  )
  if (best !== undefined) {
    const sure = best.sure + adds + (form.method === "POST" ? 1 : 0) - (cartPages.test(path) ? 1 : 0)
    return best.sure + adds < 2
      ? undefined
      : { sure, found: byForm(form, best.control, best.control.label ?? "button") }
  }
  if (adds === 0) return undefined
  const submit = form.controls.find((control) => isButton(control) && control.type !== "button") ?? null
  return { sure: adds, found: byForm(form, submit, form.action.slice(0, 200)) }
}

const alone = (control: PageControl): Candidate | undefined => {
  const sure = certainty(control)
  if (sure < 2 || control.isHidden === true) return undefined
  const found: AddToCart = {
    kind: "button",
    form: null,
    control,
    method: "POST",
    action: null,
    enctype: "",
    fields: [],
    choices: [],
    isDisabled: control.disabled,
    marker: control.label ?? control.id ?? "button"
  }
  return { sure: sure - 1, found }
}

/** A link that adds when it is opened. */
export const byLink = (link: PageLink): Candidate | undefined => {
  if (!addPaths.test(link.href) || otherWords.test(link.text)) return undefined
  const found: AddToCart = {
    kind: "link",
    form: null,
    control: null,
    method: "GET",
    action: link.href,
    enctype: "",
    fields: [],
    choices: [],
    isDisabled: false,
    marker: link.text === "" ? link.href.slice(0, 200) : link.text
  }
  return { sure: 2, found }
}

/** What puts into a cart what a page is about; undefined where all that adds belongs to things that have pages of their own. */
export const addsOwn = (facts: Pick<PageFacts, "forms" | "controls" | "links">): AddToCart | undefined => {
  const found = addToCart(facts)
  return found?.control?.isOfOther === true ? undefined : found
}

/**
 * What puts the page's product into a cart: a form before a button that only scripts act on, and that before a link. Undefined
 * when the page has nothing of the kind.
 */
export const addToCart = (facts: Pick<PageFacts, "forms" | "controls" | "links">): AddToCart | undefined => {
  const candidates = [
    ...facts.forms.map(inForm),
    ...facts.controls.slice(0, 500).map(alone),
    ...facts.links.slice(0, 1_000).map(byLink)
  ]
  const bestOf = (some: typeof candidates) =>
    some.reduce((one, other) => (other !== undefined && other.sure > (one?.sure ?? 0) ? other : one), undefined)
  return (bestOf(candidates.filter((one) => one?.found.control?.isOfOther !== true)) ?? bestOf(candidates))?.found
}

/** Whether a button asks for a choice where it would add: it, or its twin for small screens. Lists of products have one for each. */
export const asksChoiceFirst = ({ controls, forms }: Pick<PageFacts, "controls" | "forms">): boolean => {
  const asked = [...forms.flatMap((form) => form.controls), ...controls].flatMap(({ label, type }) => {
    const words = (label ?? "").trim().toLowerCase()
    return (type === "button" || type === "submit") && choiceFirst.test(words) ? [words] : []
  })
  return asked.length > 0 && new Set(asked).size === asked.length
}
