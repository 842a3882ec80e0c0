import { fieldsInParts, sentFields } from "./SentFields.ts"

/** What orders, pays or ends something, in the words of addresses. A mere look at them is not taken. */
const deed =
  /bestellung[-_/]?(?:abschlie(?:ss|ß)en|abschicken|absenden|aufgeben|best(?:ae|ä)tigen)|(?:jetzt|zahlungspflichtig|kostenpflichtig)[-_]?(?:kaufen|bestellen)|(?:confirmar|enviar|validar)[-_/]?(?:el[-_])?(?:pedido|compra)|comprar[-_]?(?:ahora|agora)|(?:confirmer|envoyer)[-_/]?(?:la[-_])?commande|acheter[-_]?maintenant|(?:conferma|invia)[-_/]?(?:l[-_])?ordine|acquista[-_]?ora|bestelling[-_/]?(?:plaatsen|bevestigen)|(?:zloz|potwierdz|wyslij)[-_/]?zamowienie|(?:place|submit|confirm|complete|finali[sz]e|process|pay)[-_/]?(?:the[-_])?(?:order|purchase|payment|checkout)|(?:order|checkout|payment)[-_/](?:place|submit|confirm|complete|finali[sz]e|process|success|pay)\b|one[-_]?click|buy[-_]?now|logout|delete|unsubscribe/i

/**
 * Addresses at which a shop takes orders or money, whatever their button is called. In many languages the checkout's page has the same,
 * so a look at them is free.
 */
const orderPath = new RegExp(
  [
    "/wc/store(?:/v\\d)?/checkout/?$",
    "/(?:guest-carts/[^/]+|carts/[^/]+)/payment-information/?$|/orderForm/[^/]+/transaction/?$|/COSummary-Submit/?$",
    "/(?:create|send|make|do|add|new|save|store)[-_]?(?:my[-_]?)?orders?(?:\\.\\w{2,5})?/?$|(?:cart|basket|order|checkout)[-_/](?:submit|finish)/?$",
    "[/,](?:orders?|checkout|payments?)\\.(?:new|create|add|place|submit|complete|confirm|finali[sz]e|pay)(?=,|/?$)",
    "/orders?/(?:new|create|add|express|quick|submit)(?:\\.\\w{2,5})?/?$|/(?:quick|express|instant|fast)[-_]?(?:orders?|buy|checkout|purchase)(?:\\.\\w{2,5})?/?$",
    "/checkout[-_/](?:express|now|instant|one[-_]?page[-_]?order)/?$|/(?:create[-_]?)?checkout[-_]?sessions?/?$|/(?:buy|order|purchase|pay)[-_]?(?:it[-_]?)?now(?:[/.]|$)|/direct[-_]?(?:buy|order|checkout)/?$",
    "/cgi-bin/webscr|/(?:bookings?|reservations?|reserve|reservas?|buchung(?:en)?|book)(?:\\.\\w{2,5})?/?$",
    "/(?:orders?|purchases?|pay|charges?|complete|confirm|finali[sz]e|place|buy)(?:\\.\\w{2,5})?/?$",
    "(?:bestell|auftrags|kauf)[\\w-]{0,40}abschl|abschlu(?:ss|ß)(?:\\.\\w{2,5})?/?$|/(?:bestellung(?:en)?|bestellen|kaufen|bezahlen)(?:\\.\\w{2,5})?/?$",
    "finali[sz](?:ar|er|zar)|realizar[-_/]?(?:el[-_])?pedido|tramitar[-_/]?pedido|/(?:pedidos?|comprar?|pagar)(?:\\.\\w{2,5})?/?$",
    "(?:passer|valider)[-_/]?(?:la[-_]|ma[-_])?commande|/(?:commandes?|commander|acheter|payer|valider)(?:\\.\\w{2,5})?/?$",
    "/(?:ordin[ei]|ordina|acquist[ao]|paga)(?:\\.\\w{2,5})?/?$",
    "/(?:bestelling(?:en)?|afrekenen|betalen|kopen)(?:\\.\\w{2,5})?/?$",
    "/(?:best[aä]ll(?:ning)?|k[oö]p|bestil(?:ling)?|k[oø]b|kj[oø]p|tilaus|osta)(?:\\.\\w{2,5})?/?$",
    "/(?:zam[oó]wieni[ea]|zamow|objednavk[ay]|objednat|rendeles|comand[aă]|siparis|zakaz(?:y|at)?|заказ(?:ы|ать)?|oformit|оформ[\\p{L}-]*)(?:\\.\\w{2,5})?/?$"
  ].join("|"),
  "iu"
)

/** Pages of platforms on which an order is looked at before it is placed, though their addresses sound like the deed. */
const reviewPages: ReadonlyArray<{ readonly platform: string; readonly from: RegExp; readonly page: RegExp }> = [
  {
    platform: "shopware",
    from: /\/(?:checkout\/(?:cart|register|confirm)|account\/(?:register|login))\/?$/i,
    page: /^(?:\/[\w-]{2,10})?\/checkout\/confirm\/?$/i
  },
  // It counts the taxes and leads on to the page on which one pays.
  {
    platform: "odoo",
    from: /\/shop\/(?:cart|checkout|address)\/?$/i,
    page: /^(?:\/[\w-]{2,10})?\/shop\/confirm_order\/?$/i
  }
]

/** Whether an address is such a page, reached by a link or a redirect of the platform's page before it. It may be looked at. */
export const isReviewPage = (from: URL, to: URL): boolean =>
  from.host === to.host &&
  ![...to.searchParams].some(([name, value]) => isOrderingField(name, value)) &&
  reviewPages.some((known) => known.from.test(from.pathname) && known.page.test(to.pathname))

/** The first link of a page that leads to such a page; a button of the same words might order. */
export const reviewLink = (links: ReadonlyArray<{ readonly href: string }>, from: URL): URL | undefined =>
  links.flatMap(({ href }) => URL.parse(href) ?? []).find((url) => isReviewPage(from, url))

/**
 * Where platforms take orders by whatever method: PrestaShop's ways to pay, what costs nothing at Odoo, and OpenCart's ways to pay, which
 * its script asks for by GET.
 */
const orderPage = /\/module\/[^/]+\/validation\/?$|\/shop\/payment\/validate\/?$/i
const orderRoute = /^\/?extension\/(?:[\w-]+\/)?payment\/[\w-]+[/|.]confirm$|^payment\/[\w-]+\/confirm$/i

/** Whether a known platform takes orders at an address, even by a look at it. */
export const ordersByLook = (url: URL): boolean =>
  orderPage.test(decoded(url.pathname)) ||
  orderRoute.test(url.searchParams.get("route") ?? "") ||
  (url.searchParams.get("fc") === "module" && url.searchParams.get("controller") === "validation")

/** Fields in which a shop that has one address for everything says what is to be done, and what it then says. */
const commanding =
  /^_{0,2}(?:a|action|act|do|todo|intent|call|func(?:tion)?|cmd|command|op|operation|task|route|method|mode|event|dispatch|(?:wc-)?ajax)$/i
const command =
  /^(?:(?:(?:create|send|make|quick|new)[-_]?)?order|place|complete|finali[sz]e|woocommerce[-_]checkout|pay|purchase|buy|bestell(?:en|ung)?|kaufen|bezahlen|comprar|pagar|finalizar|commander|payer|ordina|acquista|bestelling|betalen|zakaz|zamow)$/i

/** Names of fields and buttons that only a form that orders has. */
const orderingName =
  /^(?:place|submit|confirm|complete|finali[sz]e|process)[-_]?(?:the[-_]?)?(?:order|purchase|payment|checkout)(?:[-_](?:now|button|submit|nonce))?$|^woocommerce[-_]process[-_]checkout[-_]nonce$|^(?:pay|buy|purchase|order)[-_]?now$|^one[-_]?click$|^(?:jetzt[-_]?)?(?:zahlungspflichtig[-_]?)?(?:bestellen|kaufen|bezahlen)$|^bestellung[-_]?(?:abschicken|absenden|abschliessen)$|^(?:finalizar|confirmar|realizar)(?:[-_]?(?:el[-_])?(?:compra|pedido))?$|^(?:passer|valider|confirmer)[-_]?(?:la[-_])?commande$|^(?:conferma|invia)[-_]?ordine$/i

/** Whether a field, or a parameter of an address, says that something is ordered. */
export const isOrderingField = (name: string, value: string): boolean =>
  orderingName.test(name) ||
  (commanding.test(name) && (deed.test(value.slice(0, 500)) || command.test(value))) ||
  (/^wc-ajax$/i.test(name) && value === "checkout") ||
  // OXID
  (/^fnc$/i.test(name) && value === "execute") ||
  // WordPress without permalinks says the path so.
  (/^rest_route$/i.test(name) && orderPath.test(value.slice(0, 500)))

/** What platforms call the button that orders in their source, whatever is written on it: OpenCart, WooCommerce, others. */
const orderingId = /^(?:button[-_]confirm|place[-_]?order(?:[-_]?(?:button|btn))?|(?:button|btn)[-_]place[-_]?order)$/i

/** Whether a button orders by its id in the page's source. */
export const isOrderingId = (id: string): boolean => orderingId.test(id)

/** As a shop reads it: with its escapes decoded, where they can be. */
const decoded = (path: string): string => {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** The path of an address in its own letters. */
export const decodedPath = (url: URL): string => decoded(url.pathname)

/** Whether a look at an address may do something, in shops that mistake GET for a deed. */
export const soundsLikeDeed = (url: URL): boolean =>
  deed.test(decoded(url.pathname)) ||
  ordersByLook(url) ||
  [...url.searchParams].some(([name, value]) => isOrderingField(name, value))

/** Whether an address is one at which many shops have their checkout's page and some take their orders. */
export const isOrderPath = (url: URL): boolean => orderPath.test(decoded(url.pathname))

/** Where a change holds goods in a store, votes, follows, gives or signs up for letters: nothing that a test needs. */
const aside =
  /(?:^|[/_-])(?:news-?letters?|subscrib(?:e|ers?)|donat(?:e|ions?)|votes?|polls?|helpful|follow|(?:store|shop|filial\w{0,40})[-_]?(?:holds?|reserv\w{0,40})|notify[-_]?me|back[-_]in[-_]stock)(?:[/_.-]|$)/i

/** Whether something sent to an address does what a test leaves aside. */
export const isAsideAddress = (url: URL): boolean => aside.test(url.pathname)

/** What fields are called by which a buyer chooses how to pay. */
const payingName =
  /payment|pay(?:ing)?[-_ ]?(?:method|type|option|mode|way|by|with|via|system|form)|^pay$|zahl(?:ung|ungs|art|weise|methode|mittel)|bezahl|pago(?!d)|paiement|pagamento|r(?:è|e)glement|bet(?:a|aa)l(?:ing|ning|wijze|methode|s(?:ä|a)tt|m(?:å|a)te)?(?!ie)|p[łl]atno[śs][cć]|platb|platebn|pla(?:ć|c)anj|fizet(?:e|é)s|modalitate[-_ ]?(?:de[-_ ]?)?plat|maksutapa|(?:ö|o)deme|оплат|πληρωμ|支払|付款|支付|결제|الدفع|תשלום|پرداخت|thanh toán|ชำระ|भुगतान/iu

/** What such a field offers: ways to pay that are nothing else. Short words count only when they are all that is said. */
const payingValue =
  /nachnahme|vorkasse|vorauskasse|(?:auf|per) rechnung|(?:ü|ue)berweisung|lastschrift|kreditkarte|contra[-_ ]?re+mbolso|contra[-_ ]?entrega|^reembolso|tarjeta de (?:cr|d)|transferencia|boleto|contre[-_ ]?remboursement|virement|carte (?:bancaire|de cr)|(?:à|a) la livraison|bonifico|contrassegno|carta di credito|op rekening|rembours|overschrijving|postf(?:ö|o)rskott|efterkrav|etterkrav|kreditkort|pobrani(?:e|em)|przelew|dob(?:í|i)rk|ut(?:á|a)nv(?:é|e)t|налож[её]нн?|при получении|наличны|kap(?:ı|i)da (?:ö|o)deme|havale|代引|代金引換|货到付款|貨到付款|무통장|عند (?:ال)?(?:استلام|تسليم|توصيل)|نقد[اي]|تحويل بنكي|بطاقة ائتمان|כרטיס אשראי|מזומן|העברה בנקאית|کارت به کارت|در محل|khi nhận hàng|chuyển khoản|thẻ tín dụng|ปลายทาง|โอนเงิน|บัตรเครดิต|cash[-_ ]?on[-_ ]?delivery|pay[-_ ]on[-_ ]delivery|bank[-_ ]?(?:wire|transfer)|wire[-_ ]transfer|credit[-_ ]?card|debit[-_ ]?card|money[-_ ]?order|purchase[-_ ]?order|pay[-_ ]?pal|klarna|^(?:cod|invoice|on[-_ ]?invoice|bacs|cheque|checkmo|cash|rechnung|factuur|faktura|pix|ideal|stripe|sofort)$/iu

/** Whether a name, an id or a label says that how to pay is chosen by it. */
export const namesPaying = (text: string): boolean => payingName.test(text.slice(0, 300))

/** Names of the address for the bill, where a form has it among what is paid: Drupal Commerce asks for it below `payment_information`. */
const forTheBill =
  /pay(?:ment)?[-_\s\w[\]]{0,80}?billing[-_\s]?(?:info\w*|address|profile|details)[-_\s\]]([-_\s\w[\]]{0,200})$/i

/** Whether a field is of the address for the bill, and no way to pay, though it is named below what is about paying. */
export const isOfBill = (name: string): boolean => {
  const within = forTheBill.exec(name.slice(0, 300))?.[1]
  return (
    within !== undefined && /address|copy|same|name/i.test(within) && !/pay|method|gateway|card|number/i.test(within)
  )
}

/** Whether a value or its words are a way to pay. */
export const isWayToPay = (text: string): boolean => payingValue.test(text.slice(0, 300).trim())

/** Calls by name: GraphQL, whole or persisted, and tools. */
const naming = /\bmutation\b|"(?:operationName|operations|method)"/
const orderingCall =
  /(?:place|submit|complete|confirm|finali[sz]e|process)_?(?:order|purchase|payment|checkout)|(?:order|checkout|payment)_?(?:place|submit|complete|confirm|finali[sz]e|process)|create_?(?:my_?)?order|order_?create|addPaymentToOrder|submit_?for_?completion/i
const orderingMember = /"_{0,2}(?:action|intent|operation|command|type|event)"\s{0,5}:\s{0,5}"([^"]{1,100})"/g

/** Calls that WooCommerce takes many of at once. */
const orderingPart = /"path"\s{0,5}:\s{0,5}"[^"]{0,100}wc\\?\/store(?:\\?\/v\d)?\\?\/checkout["?]/

const isJson = /^\s*[[{]/

/** How much of a body is looked at. */
const longestBody = 200_000

/** Whether a text, which is a whole body or a field's value, calls something that orders. */
const callsOrder = (text: string): boolean =>
  (naming.test(text) && orderingCall.test(text)) ||
  (isJson.test(text) &&
    (orderingPart.test(text) || [...text.matchAll(orderingMember)].some(([, value]) => deed.test(value ?? ""))))

/** Whether what is sent says that it orders, whatever its address and however its fields are packed. */
export const saysOrder = (body: string): boolean => {
  const text = body.slice(0, longestBody)
  if (callsOrder(text)) return true
  // A picture may stand before what orders.
  const parts = fieldsInParts(body)
  const fields = parts.length > 0 || isJson.test(text) ? parts : sentFields(text)
  return fields.some(([name, value]) => isOrderingField(name, value) || callsOrder(value.slice(0, longestBody)))
}

/** Whether what a page sends, by a form of any kind, holds a choice of how to pay. */
export const sendsPayment = (body: string): boolean =>
  sentFields(body.slice(0, longestBody)).some(
    ([name, value]) => value !== "" && ((namesPaying(name) && !isOfBill(name)) || isWayToPay(value))
  )

/**
 * Fields and calls by which PrestaShop's checkout says which of its steps is sent: who buys, where that is, how it is shipped. All of them
 * go to its one page, whose address is an order in many languages; its orders go to the pages of the ways to pay.
 */
const stepField =
  /^(?:submitCreate|submitGuestAccount|saveAddress|submitAddress|confirm-addresses|confirmDeliveryOption|processAddress|processCarrier)$/
const stepCall = /^(?:addressForm|selectDeliveryOption)$/

/** Whether what is sent to an address is a known platform's step before the order, by its fields. None of them says how to pay. */
export const isStepBeforeOrder = (url: URL, body: string): boolean =>
  !sendsPayment(body) &&
  ((url.searchParams.has("ajax") && stepCall.test(url.searchParams.get("action") ?? "")) ||
    sentFields(body.slice(0, longestBody)).some(([name, value]) => stepField.test(name) && value !== ""))

/** Whether something sent to an address may order, by the address, unless its fields are those of a known step before that. */
export const takesOrders = (url: URL, body = ""): boolean =>
  soundsLikeDeed(url) || (isOrderPath(url) && !isStepBeforeOrder(url, body))
