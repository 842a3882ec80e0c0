/** What orders, pays or ends something, in the words of addresses. */
const deed =
  /(?:place|submit|confirm|complete|finali[sz]e|process|pay)[-_/]?(?:the[-_])?(?:order|purchase|payment|checkout)|(?:order|checkout|payment)[-_/](?:place|submit|confirm|complete|finali[sz]e|process|success|pay)\b|one[-_]?click|buy[-_]?now|logout|delete|unsubscribe/i

/** Addresses at which a shop takes orders or money, whatever their button is called. */
const orderPath = /\/(?:orders?|purchases?|pay|charges?|complete)\/?$|\/store\/v\d\/checkout\/?$/i

/** Fields in which a shop that has one address for everything says what is to be done, and what it then says. */
const commanding = /^(?:action|act|do|cmd|command|op|operation|task|route|method|mode|event|dispatch|(?:wc-)?ajax)$/i
const command = /^(?:order|pay|purchase|buy)$/i

/** Names of fields and buttons that only a form that orders has. */
const orderingName =
  /^(?:place|submit|confirm|complete|finali[sz]e|process)[-_]?(?:the[-_]?)?(?:order|purchase|payment|checkout)(?:[-_](?:now|button|submit|nonce))?$|^woocommerce[-_]process[-_]checkout[-_]nonce$|^(?:pay|buy|purchase|order)[-_]?now$|^one[-_]?click$/i

/** Whether a field, or a parameter of an address, says that something is ordered. */
export const isOrderingField = (name: string, value: string): boolean =>
  orderingName.test(name) ||
  (commanding.test(name) && (deed.test(value.slice(0, 500)) || command.test(value))) ||
  (/^wc-ajax$/i.test(name) && value === "checkout")

/** As a shop reads it: with its escapes decoded, where they can be. */
const decoded = (path: string): string => {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Whether a look at an address may do something, in shops that mistake GET for a deed. */
export const soundsLikeDeed = (url: URL): boolean =>
  deed.test(decoded(url.pathname)) || [...url.searchParams].some(([name, value]) => isOrderingField(name, value))

/** Whether something sent to an address may order, by the address alone. */
export const takesOrders = (url: URL): boolean => soundsLikeDeed(url) || orderPath.test(decoded(url.pathname))

/** Calls by name: GraphQL, whole or persisted, and tools. */
const naming = /\bmutation\b|"(?:operationName|operations|method)"/
const orderingCall =
  /(?:place|submit|complete|confirm|finali[sz]e|process)_?(?:order|purchase|payment|checkout)|(?:order|checkout|payment)_?(?:place|submit|complete|confirm|finali[sz]e|process)|create_?order|order_?create|addPaymentToOrder/i
const orderingMember = /"(?:action|operation|command|type|event)"\s{0,5}:\s{0,5}"([^"]{1,100})"/g

/** How much of a body is looked at. */
const longestBody = 200_000

/** Whether what is sent says that it orders, whatever its address. */
export const saysOrder = (body: string): boolean => {
  const text = body.slice(0, longestBody)
  if (naming.test(text) && orderingCall.test(text)) return true
  if (/^\s*[[{]/.test(text)) {
    return [...text.matchAll(orderingMember)].some(([, value]) => deed.test(value ?? ""))
  }
  return [...new URLSearchParams(text)].some(([name, value]) => isOrderingField(name, value))
}
