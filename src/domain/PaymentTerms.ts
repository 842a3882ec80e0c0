import { Schema } from "effect"
import type { Endpoint } from "./Endpoint.ts"
import { Currency } from "./Money.ts"
import { assetOf, Network, parseAddress } from "./Network.ts"

/** Whom a call is paid to, and for what, as a 402 says it. An endpoint without a description is described by its name. */
export const PaymentTerms = Schema.Struct({
  receiver: Schema.String,
  network: Network,
  currency: Currency,
  asset: Schema.String,
  gateway_url: Schema.String,
  description: Schema.String
}).annotate({ identifier: "PaymentTerms" })
export type PaymentTerms = typeof PaymentTerms.Type

const Text = Schema.String.check(Schema.isMaxCodePoints(4096))

/** What the payer was shown of it, by whoever showed it. */
export const ExpectedTerms = Schema.Struct({
  receiver: Schema.optionalKey(Text),
  network: Schema.optionalKey(Network),
  currency: Schema.optionalKey(Currency),
  asset: Schema.optionalKey(Text),
  gateway_url: Schema.optionalKey(Text),
  description: Schema.optionalKey(Text)
}).annotate({ identifier: "ExpectedTerms" })
export type ExpectedTerms = typeof ExpectedTerms.Type

/** In order of precedence. */
const names = ["receiver", "gateway_url", "network", "currency", "asset", "description"] as const

/** The payer was shown something else than what it would pay. */
export class PaymentTermsDiffer extends Schema.TaggedError<PaymentTermsDiffer>()(
  "PAYMENT_TERMS_DIFFER",
  { field: Schema.Literals(names), expected: Schema.String, actual: Schema.String },
  { httpApiStatus: 422, title: "The payment would not be what the payer was shown" }
) {}

export const termsOf = (endpoint: Endpoint): PaymentTerms => ({
  receiver: endpoint.paymentAddress,
  network: endpoint.network,
  currency: endpoint.currency,
  asset: endpoint.assetAddress ?? assetOf(endpoint.network, endpoint.currency).address,
  gateway_url: endpoint.gatewayUrl,
  description: endpoint.description ?? endpoint.name
})

/** The first of what was expected that is not so; undefined when all of it is. A 402 may shorten a description. */
export const differing = (expected: ExpectedTerms, terms: PaymentTerms): PaymentTermsDiffer | undefined => {
  const canonical = (text: string) => parseAddress(terms.network, text) ?? text
  for (const field of names) {
    const wanted = expected[field]
    const actual = terms[field]
    const isSo =
      wanted === undefined ||
      (field === "description" ? actual.startsWith(wanted) : canonical(wanted) === canonical(actual))
    if (!isSo) return new PaymentTermsDiffer({ field, expected: wanted, actual })
  }
  return undefined
}
