import { namesPaying } from "../Deeds.ts"
import type { PageControl, PageForm, PagePayment, PaymentMark } from "./PageFacts.ts"
import { clipped } from "./PageText.ts"
import type { PageElement, PageTree } from "./PageTree.ts"

/** What shows that a method is offered: an address of its scripts, a mark in the source, or a choice in a form. */
interface Fingerprint {
  readonly method: string
  readonly class: PaymentMark["class"]
  /** In the source of the page. */
  readonly source?: RegExp
  /** In the value, id or label of a payment choice of a form. */
  readonly choice?: RegExp
}

/** The order is the order of the answer. */
export const paymentFingerprints: ReadonlyArray<Fingerprint> = [
  { method: "x402", class: "agent", source: /x402Version|\bPAYMENT-REQUIRED\b/, choice: /\bx402\b|\busdc\b/i },
  {
    method: "shop_pay",
    class: "agent",
    source:
      /shopify-accelerated-checkout|shop-pay-button|cdn\.shopify\.com\/shopifycloud\/(?:portable-wallets|shop-js)|(?:^|[/"'.])shop\.app\//i,
    choice: /shop[ _-]?pay\b/i
  },
  { method: "link", class: "agent", source: /(?<![\w-])link\.com\/|express-checkout-element/i },
  { method: "stripe", class: "agent", source: /js\.stripe\.com\//i, choice: /\bstripe\b/i },
  {
    method: "adyen",
    class: "agent",
    source: /checkoutshopper-(?:live|test)[\w-]{0,30}\.adyen\.com/i,
    choice: /\badyen\b/i
  },
  { method: "braintree", class: "agent", source: /js\.braintreegateway\.com/i, choice: /\bbraintree\b/i },
  { method: "checkout_com", class: "agent", source: /(?:cdn|js)\.checkout\.com\/|frames\.checkout\.com/i },
  { method: "square", class: "agent", source: /(?:web|sandbox\.web)\.squarecdn\.com/i, choice: /\bsquare\b/i },
  { method: "mollie", class: "agent", source: /js\.mollie\.com/i, choice: /\bmollie\b/i },
  {
    method: "mercado_pago",
    class: "agent",
    source: /sdk\.mercadopago\.com|mercadopago\.(?:com|js)/i,
    choice: /mercado ?pago/i
  },
  {
    method: "card",
    class: "agent",
    choice:
      /credit ?card|debit ?card|kreditkarte|carte (?:bancaire|de crédit)|tarjeta|cart[ãa]o|carta di credito|creditcard|kreditkort|bankkort|betalkort|(?:luotto|pankki)kort|karta (?:kredytowa|płatnicza)|(?:platební|platobná|kreditní) kart|platební kartou|(?:bank|hitel)kártya|(?:kredi|banka) kart|card bancar|(?:банковск|кредитн|банківськ|кредитн)\p{L}{1,4} карт|(?:πιστωτικ|χρεωστικ|τραπεζικ)\p{L}{1,3} κάρτα|クレジット|信用卡|银行卡|銀行卡|신용\s?카드|체크\s?카드|بطاقة (?:ال)?(?:ائتمان|بنك|مصرف)|כרטיס אשראי|کارت بانکی|thẻ (?:tín dụng|ngân hàng)|บัตร(?:เครดิต|เดบิต)|(?:क्रेडिट|डेबिट) कार्ड|\bcc[ _-]?number\b|\bvisa\b|mastercard/iu
  },
  { method: "pix", class: "deferred", choice: /\bpix\b/i },
  {
    method: "cash_on_delivery",
    class: "deferred",
    choice:
      /cash on delivery|\bcod\b|nachnahme|contre[- ]remboursement|contra ?reembolso|contrassegno|onder rembours|pobrani(?:e|em)|postförskott|postiennakko|efterkrav|etterkrav|dobírk|dobierk|utánvét|ramburs|kapıda öde|налож[её]нн|при (?:получении|отриманні)|αντικαταβολή|代引|代金引換|货到付款|貨到付款|착불|عند (?:ال)?(?:استلام|تسليم|توصيل)|khi nhận hàng|ปลายทาง|डिलीवरी पर/iu
  },
  {
    method: "bank_transfer",
    class: "deferred",
    choice:
      /bank[ _-]?(?:wire|transfer)|(?:wire|money) transfer|\bbacs\b|vorkasse|überweisung|banktransfer|virement|transferencia|bonifico|overschrijving|banköverföring|bankoverf|tilisiirto|przelew|bankov\p{L}{1,3} p[řr]evod|átutalás|havale|transfer bancar|банковск\p{L}{1,3} перевод|τραπεζική (?:κατάθεση|μεταφορά)|銀行振込|银行转账|銀行轉帳|무통장|계좌\s?이체|تحويل بنكي|העברה בנקאית|chuyển khoản|โอนเงิน|बैंक ट्रांसफर|\bsepa\b/iu
  },
  { method: "cheque", class: "deferred", choice: /\bcheque\b|\bcheck(?: |_)?money(?: |_)?order\b|checkmo|\bchèque\b/i },
  {
    method: "invoice",
    class: "deferred",
    choice: /\binvoice\b|purchase ?order|auf rechnung|kauf auf rechnung|sur facture|op rekening|\bfaktura\b/i
  },
  {
    method: "paypal",
    class: "human",
    source: /paypal(?:objects)?\.com\/(?:sdk\/js|api|tagmanager|webapps)|paypal-button/i,
    choice: /\bpay ?pal\b|ppcp/i
  },
  {
    method: "apple_pay",
    class: "human",
    source: /ApplePaySession|(?<![\w-])apple-pay-button|applepay\.cdn-apple\.com/,
    choice: /apple[ _-]?pay\b/i
  },
  {
    method: "google_pay",
    class: "human",
    source: /pay\.google\.com\/gp\/p\/js\/pay\.js|google-pay-button/i,
    choice: /google[ _-]?pay\b|\bgpay\b/i
  },
  {
    method: "amazon_pay",
    class: "human",
    source: /payments-amazon\.com/i,
    choice: /amazon[ _-]?pay/i
  },
  {
    method: "klarna",
    class: "human",
    source: /(?:x|js|cdn)\.klarna(?:cdn)?\.(?:com|net)|klarna-placement|klarna-payments/i,
    choice: /\bklarna\b/i
  },
  {
    method: "afterpay",
    class: "human",
    source: /(?:portal|js|static)\.(?:after|clear)pay\.co|squarecdn\.com\/afterpay|<(?:after|square)pay?-placement/i,
    choice: /\b(?:afterpay|clearpay)\b/i
  },
  { method: "blik", class: "human", choice: /\bblik\b/i },
  { method: "ideal", class: "human", choice: /\bideal\b/i },
  { method: "bancontact", class: "human", choice: /\bbancontact\b/i },
  { method: "przelewy24", class: "human", choice: /\bprzelewy ?24\b|\bp24\b/i },
  { method: "swish", class: "human", choice: /\bswish\b/i },
  { method: "mobilepay", class: "human", choice: /\bmobile ?pay\b/i },
  { method: "vipps", class: "human", choice: /\bvipps\b/i },
  { method: "twint", class: "human", choice: /\btwint\b/i },
  { method: "affirm", class: "human", source: /cdn\d?(?:-sandbox)?\.affirm\.com/i, choice: /\baffirm\b/i },
  { method: "bitpay", class: "human", source: /bitpay\.com\/bitpay/i, choice: /\bbitpay\b/i },
  { method: "coinbase_commerce", class: "human", source: /commerce\.coinbase\.com/i, choice: /coinbase|\bbitcoin\b/i }
]

/** Who carries out methods of others beside cards: in `mollie_wc_gateway_ideal` and `braintree_paypal` the method is what counts. */
const providers: ReadonlySet<string> = new Set(["stripe", "adyen", "braintree", "square", "mollie"])
export const isProvider = ({ method }: Pick<PaymentMark, "method">): boolean => providers.has(method)

/** The method that is named; a provider where nothing else is, and undefined where nothing is known. */
export const methodNamed = (words: string): Fingerprint | undefined => {
  const named = paymentFingerprints.filter(({ choice }) => choice?.test(words))
  return named.find((known) => !isProvider(known)) ?? named[0]
}

const isChoice = (control: PageControl) =>
  /pay|zahl|bezahl|betal/i.test(`${control.name ?? ""} ${control.id ?? ""}`) ||
  namesPaying(`${control.name ?? ""} ${control.id ?? ""}`) ||
  /^cc-/.test(control.autocomplete ?? "")

/**
 * What the choices of payment say: of radio buttons, checkboxes and lists that are about paying. Of a group of radio buttons all are, where
 * one is: Shopify's have "PayPal" in their names, and "creditCards".
 */
const choicesOf = (controls: ReadonlyArray<PageControl>): ReadonlyArray<string> => {
  const asked = controls.filter(
    (control) => isChoice(control) && control.type !== "submit" && control.type !== "button"
  )
  const isAsked = new Set(asked)
  const groups = new Set(asked.flatMap(({ name, type }) => (type === "radio" && name !== null ? [name] : [])))
  return controls
    .filter((control) => isAsked.has(control) || (control.type === "radio" && groups.has(control.name ?? "")))
    .flatMap((control) => [
      `${control.name ?? ""} ${control.value ?? ""} ${control.id ?? ""} ${control.label ?? ""} ${control.autocomplete ?? ""}`,
      ...control.options.map((option) => `${option.value} ${option.text}`)
    ])
    .map((text) => text.slice(0, 500).replace(/_/g, " "))
    .slice(0, 500)
}

const beside = (source: string, at: number, length: number) =>
  clipped(source.slice(Math.max(0, at - 20), at + length + 40).replace(/\s+/g, " "), 160)

/** Elements that act for nobody: a style only looks like a button, a preconnect loads nothing, an address is somebody else's page. */
const inert: ReadonlySet<string> = new Set(["style", "meta", "title", "textarea", "base", "img", "source", "picture"])
const inertAttributes: ReadonlySet<string> = new Set(["style", "alt", "title", "placeholder", "content", "srcset"])
const isLoaded = (element: PageElement) => {
  if (element.tag !== "link") return true
  const rel = element.attributes.get("rel")?.toLowerCase() ?? ""
  return rel === "modulepreload" || (rel === "preload" && element.attributes.get("as")?.toLowerCase() === "script")
}

const attributesOf = ({ attributes, tag }: PageElement) =>
  [...attributes]
    .filter(([name]) => !inertAttributes.has(name) && !(name === "href" && (tag === "a" || tag === "area")))
    .map(([name, value]) => ` ${name}="${value}"`)
    .join("")

/** A script without its comments. What looks like one within a line, such as an address or a type of media, stays. */
const uncommented = (script: string) => {
  const kept: Array<string> = []
  let from = 0
  for (const open of script.matchAll(/(?:^|[\s;{}(,])(?:\/\*|\/\/)/g)) {
    if (open.index < from) continue
    const isBlock = open[0].endsWith("*")
    const end = script.indexOf(isBlock ? "*/" : "\n", open.index + open[0].length)
    kept.push(script.slice(from, open.index))
    from = end < 0 ? script.length : end + (isBlock ? 2 : 0)
    if (end < 0) break
  }
  return kept.join(" ") + script.slice(from)
}

/** What of a page's source can act: its elements and scripts, without text, styles, comments and templates. */
const actingSource = (tree: PageTree): string => {
  const parts: Array<string> = []
  for (let index = 0; index < tree.elements.length; index++) {
    const element = tree.elements[index]
    if (element === undefined) break
    if (element.tag === "template") index = element.end - 1
    else if (!inert.has(element.tag) && isLoaded(element)) {
      parts.push(`<${element.tag}${attributesOf(element)}>`)
      if (element.tag === "script") parts.push(uncommented(tree.html.slice(element.sourceFrom, element.sourceTo)))
    }
  }
  return parts.join("\n")
}

/** What a page says it can be paid with: the choices its forms offer, and marks in its source. */
export const readPayments = (
  tree: PageTree,
  forms: ReadonlyArray<PageForm>,
  controls: ReadonlyArray<PageControl>
): ReadonlyArray<PagePayment> => {
  const choices = choicesOf([...controls, ...forms.flatMap((form) => form.controls)])
  const acting = actingSource(tree)
  return paymentFingerprints.flatMap(({ method, class: kind, source, choice }): ReadonlyArray<PagePayment> => {
    const isNamed = (text: string) =>
      choice?.test(text) && (!isProvider({ method }) || methodNamed(text)?.method === method)
    const chosen = choices.find(isNamed)
    if (chosen !== undefined) {
      return [{ method, class: kind, marker: clipped(chosen.replace(/\s+/g, " ").trim(), 160), by: "choice" }]
    }
    const found = source?.exec(acting)
    const marker = found && beside(acting, found.index, found[0].length)
    return marker ? [{ method, class: kind, marker, by: "source" }] : []
  })
}
