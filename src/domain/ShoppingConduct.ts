import { Option, Schema } from "effect"
import { isOrderingField, soundsLikeDeed, takesOrders } from "./Deeds.ts"
import { addToCart } from "./page/AddToCart.ts"
import type { PageControl, PageForm } from "./page/PageFacts.ts"

/** A request of a test as its conduct is judged. */
export interface Intent {
  readonly method: string
  readonly url: URL
  readonly body: string | undefined
}

/** Calls that change a cart or a checkout and no more. `body` looks into what is sent where the path alone does not tell. */
interface Allowed {
  readonly method: string
  readonly path: RegExp
  readonly body?: (body: string) => boolean
}

/** What a test says to a Vendure shop. Its shop API has one address for everything, so the documents themselves are the list. */
const orderParts =
  "__typename ... on Order { id code totalWithTax currencyCode lines { id quantity linePriceWithTax } }"
const refusal = "... on ErrorResult { errorCode message }"
export const vendureDocuments = {
  products:
    "query Products { products(options: { take: 20 }) { items { id name slug variants { id name sku priceWithTax currencyCode stockLevel } } } }",
  cart: "query Cart { activeOrder { id code totalWithTax shippingWithTax currencyCode lines { id quantity linePriceWithTax productVariant { id } } } }",
  add: `mutation Add($id: ID!) { addItemToOrder(productVariantId: $id, quantity: 1) { ${orderParts} ${refusal} } }`,
  customer: `mutation Customer($input: CreateCustomerInput!) { setCustomerForOrder(input: $input) { ${orderParts} ${refusal} } }`,
  address: `mutation Address($input: CreateAddressInput!) { setOrderShippingAddress(input: $input) { ${orderParts} ${refusal} } }`,
  shippingMethods: "query Shipping { eligibleShippingMethods { id name priceWithTax } }",
  shipping: `mutation Ship($id: [ID!]!) { setOrderShippingMethod(shippingMethodId: $id) { ${orderParts} ${refusal} } }`,
  paymentMethods: "query Payment { eligiblePaymentMethods { code name isEligible } }",
  empty: `mutation Empty { removeAllOrderLines { ${orderParts} ${refusal} } }`
} as const
const vendureTexts: ReadonlySet<string> = new Set(Object.values(vendureDocuments))

/** What a test asks an EverShop cart. Its store has one address for all questions; this one changes nothing. */
export const everShopCart =
  "query Cart { myCart { currency grandTotal { value } shippingMethodName availableShippingMethods { providerCode code name } availablePaymentMethods { code name } } }"

const GraphQlBody = Schema.fromJsonString(Schema.Struct({ query: Schema.String }))
const asks = (body: string, isOurs: (query: string) => boolean): boolean =>
  Option.exists(Schema.decodeUnknownOption(GraphQlBody)(body), ({ query }) => isOurs(query))
const isVendureDocument = (body: string): boolean => asks(body, (query) => vendureTexts.has(query))
const isEverShopCart = (body: string): boolean => asks(body, (query) => query === everShopCart)

/** Tools of a UCP service that a test may call. `complete_checkout` is not among them. */
export const ucpTools: ReadonlySet<string> = new Set([
  "search_catalog",
  "lookup_catalog",
  "get_product",
  "create_cart",
  "get_cart",
  "update_cart",
  "cancel_cart",
  "create_checkout",
  "get_checkout",
  "update_checkout",
  "cancel_checkout"
])
const RpcBody = Schema.fromJsonString(
  Schema.Struct({
    method: Schema.String,
    params: Schema.optionalKey(Schema.Struct({ name: Schema.optionalKey(Schema.String) }))
  })
)
const rpcMethods: ReadonlySet<string> = new Set(["initialize", "notifications/initialized", "ping", "tools/list"])
const isHarmlessRpc = (body: string): boolean =>
  Option.exists(
    Schema.decodeUnknownOption(RpcBody)(body),
    ({ method, params }) =>
      rpcMethods.has(method) || (method === "tools/call" && params?.name !== undefined && ucpTools.has(params.name))
  )

const allowed = (method: string, path: RegExp, body?: Allowed["body"]): Allowed =>
  body === undefined ? { method, path } : { method, path, body }

/** Every call with an effect that a test may make by itself. Whatever is not here is not sent. */
const writes: ReadonlyArray<Allowed> = [
  // Shopify
  allowed("POST", /^\/cart\/(?:add|clear)\.js$/),
  // WooCommerce Store API. Its `checkout` places orders.
  allowed("POST", /\/wc\/store\/v1\/cart\/(?:add-item|update-customer|select-shipping-rate)$/),
  allowed("DELETE", /\/wc\/store\/v1\/cart\/items$/),
  // Magento guest carts. Their `order` and `payment-information` place orders.
  allowed("POST", /^\/rest\/(?:[\w-]+\/)?V1\/guest-carts$/),
  allowed(
    "POST",
    /^\/rest\/(?:[\w-]+\/)?V1\/guest-carts\/[\w-]+\/(?:items|estimate-shipping-methods|shipping-information)$/
  ),
  allowed("DELETE", /^\/rest\/(?:[\w-]+\/)?V1\/guest-carts\/[\w-]+\/items\/\d+$/),
  // BigCommerce storefront. Its `orders` places them.
  allowed("POST", /^\/api\/storefront\/carts$/),
  allowed("POST", /^\/api\/storefront\/checkouts\/[\w-]+\/(?:consignments|billing-address)$/),
  allowed("DELETE", /^\/api\/storefront\/carts\/[\w-]+$/),
  // EverShop. Its `/api/orders` places them.
  allowed("POST", /^\/api\/cart\/mine\/items$/),
  allowed("POST", /^\/api\/carts\/[\w-]+\/(?:contacts|addresses|shippingMethods)$/),
  allowed("DELETE", /^\/api\/cart\/mine\/items\/[\w-]+$/),
  allowed("POST", /^\/api\/graphql$/, isEverShopCart),
  // Vendure
  allowed("POST", /^\/shop-api\/?$/, isVendureDocument),
  // UCP over REST. `complete` places the order.
  allowed("POST", /\/checkout-sessions$/),
  allowed("PUT", /\/checkout-sessions\/[^/]+$/),
  allowed("POST", /\/checkout-sessions\/[^/]+\/cancel$/),
  allowed("POST", /\/carts$/),
  allowed("PUT", /\/carts\/[^/]+$/),
  allowed("POST", /\/carts\/[^/]+\/cancel$/),
  allowed("POST", /\/catalog\/search$/),
  // UCP over MCP, at any address
  allowed("POST", /^\//, isHarmlessRpc)
]

/**
 * Whether a test may send this by itself. Looks are free except at addresses that sound like deeds; everything else must be on the
 * list. No entry of the list places an order: that is what tests of this file state.
 */
export const mayAsk = ({ body, method, url }: Intent): boolean => {
  if (method === "GET" || method === "OPTIONS") return !soundsLikeDeed(url)
  return writes.some(
    (entry) =>
      entry.method === method &&
      entry.path.test(url.pathname) &&
      (entry.body === undefined || (body !== undefined && entry.body(body)))
  )
}

/** Words of buttons that order or pay, in the languages of most shops. */
const ordering =
  /\b(?:place|submit|complete|confirm|finish|finali[sz]e|send|review)\b.*\b(?:order|purchase|payment)\b|\border\s+(?:now|with)\b|^\s*(?:order|pay|purchase|confirm|complete|submit)\s*$|\bpay\b(?!ment)|\bpurchase\b|\bsubscribe\b|\bcheckout with\b|\bbuy with\b|kostenpflichtig|zahlungspflichtig|jetzt (?:kaufen|bestellen|bezahlen)|bestellung|bestellen|bezahlen|commander|payer|valider la commande|realizar pedido|finalizar (?:compra|pedido)|confirmar|pagar|comprar ahora|comprar agora|effettua ordine|paga\b|acquista ora|afrekenen|betaal/i

/** Whether a button of this name may place an order or pay. The browser rail must not press it either. */
export const mayOrder = (label: string): boolean => ordering.test(label)

const goesOn =
  /^(?:continue|next|save|proceed|go|update|calculate|estimate|apply|use|deliver|ship|weiter|fortfahren|continuer|suivant|continuar|siguiente|avanti|continua|verder|volgende|próximo)\b/i
const guest =
  /\bguest\b|without (?:an )?(?:account|regist)|als gast|gastbestellung|invité|sans compte|invitado|sin cuenta|ospite|convidado|zonder account/i
const emptying = /\b(?:empty|clear|remove|delete)\b|^\s*[x×]\s*$|leeren|entfernen|vider|supprimer|vaciar|eliminar/i

/** For what a test submits a form. */
export type FormPurpose = "add_to_cart" | "guest" | "go_on" | "empty_cart"
const words = { guest, go_on: goesOn, empty_cart: emptying } as const

/** Whether the form, or the words of its button, say that it does this. */
const serves = (form: PageForm, label: string, purpose: FormPurpose): boolean =>
  purpose === "add_to_cart"
    ? addToCart({ forms: [form], controls: [], links: [] }) !== undefined
    : words[purpose].test(label)

const paymentField = /card|cvc|cvv|iban|account[-_]?number|payment|expir/i
const isPayment = ({ autocomplete, id, name, type }: PageControl): boolean =>
  type !== "hidden" &&
  type !== "submit" &&
  (/^cc-/.test(autocomplete ?? "") || paymentField.test(`${name ?? ""} ${id ?? ""}`))

/** Whether a form asks how to pay. Such a form is read, never sent. */
export const asksToPay = (form: PageForm): boolean => form.controls.some(isPayment)

const asksPassword = (form: PageForm): boolean => form.controls.some(({ type }) => type === "password")

/** Whether what a form sends unseen, or its pressed button sends, says that it orders. */
const sendsOrder = (form: PageForm, button: PageControl | undefined): boolean =>
  form.controls.some(
    (control) =>
      (control.type === "hidden" || control === button) && isOrderingField(control.name ?? "", control.value ?? "")
  )

/** Where a form goes when this button is pressed. */
export const actionOf = (form: PageForm, button: PageControl | undefined): string => button?.formAction ?? form.action

const goesToOrder = (address: string): boolean => {
  const url = URL.parse(address)
  return url === null || takesOrders(url)
}

/**
 * Whether a test may submit this form with this button: the button's words name the purpose and none of them orders, the form holds
 * neither a password nor anything of payment nor a field that orders, and its address does not sound like ordering. "Continue to
 * payment" passes, "Pay" does not.
 */
export const maySubmit = (form: PageForm, label: string, purpose: FormPurpose, button?: PageControl): boolean => {
  const said = label.replace(/\s+/g, " ").trim()
  const isContinue = /^(?:continue|proceed|go) to (?:payment|shipping|delivery)(?: method)?s?$/i.test(said)
  return (
    serves(form, said, purpose) &&
    (isContinue || !mayOrder(said)) &&
    !asksToPay(form) &&
    !asksPassword(form) &&
    !sendsOrder(form, button) &&
    !goesToOrder(actionOf(form, button))
  )
}
