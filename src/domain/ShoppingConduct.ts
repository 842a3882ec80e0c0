import { Option, Schema } from "effect"
import { soundsLikeDeed } from "./Deeds.ts"

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
const ucpTools: ReadonlySet<string> = new Set([
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
