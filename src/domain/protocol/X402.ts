// x402 versions 2 (headers) and 1 (bodies), scheme `exact`.
import { formatDecimal } from "../Money.ts"
import type { Endpoint } from "../Endpoint.ts"
import { assetOf, caip2, type Network } from "../Network.ts"

/** How long a signed authorisation may stay valid: above the longest origin timeout. */
const maxTimeoutSeconds = 300

const v1Networks: Record<Network, string> = {
  "base-mainnet": "base",
  "base-sepolia": "base-sepolia",
  "solana-mainnet": "solana",
  "solana-devnet": "solana-devnet"
}

/** Long descriptions would push the header beyond what proxies on the way accept. */
const shortened = (text: string): string => [...text].slice(0, 200).join("")

const asset = (endpoint: Endpoint) => {
  const known = assetOf(endpoint.network, endpoint.currency)
  return { address: endpoint.assetAddress ?? known.address, extra: { name: known.name, version: known.version } }
}

/** Base64 of JSON, as every header of x402 is written. */
export const encodeHeader = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64")

/** The value of `PAYMENT-REQUIRED` (version 2). */
export const paymentRequiredHeader = (endpoint: Endpoint, price: bigint, error: string): string => {
  const { address, extra } = asset(endpoint)
  return encodeHeader({
    x402Version: 2,
    error,
    resource: {
      url: endpoint.gatewayUrl,
      description: shortened(endpoint.description ?? endpoint.name),
      mimeType: "application/json"
    },
    accepts: [
      {
        scheme: "exact",
        network: caip2[endpoint.network],
        amount: String(price),
        asset: address,
        payTo: endpoint.paymentAddress,
        maxTimeoutSeconds,
        extra
      }
    ]
  })
}

/** The one entry of `accepts` in a version 1 body. */
export const paymentRequirements = (endpoint: Endpoint, price: bigint) => {
  const { address, extra } = asset(endpoint)
  return {
    scheme: "exact",
    network: v1Networks[endpoint.network],
    maxAmountRequired: String(price),
    resource: endpoint.gatewayUrl,
    description: shortened(endpoint.description ?? endpoint.name),
    mimeType: "application/json",
    payTo: endpoint.paymentAddress,
    maxTimeoutSeconds,
    asset: address,
    extra
  }
}

/** What became of a payment: the value of `PAYMENT-RESPONSE`, and of `X-PAYMENT-RESPONSE` in version 1. */
export const settlementHeaders = (payment: {
  readonly id: string
  readonly network: Network
  readonly payer: string
  /** Micro-units; undefined while the answer already streams and the price is still being settled. */
  readonly charged: bigint | undefined
}): readonly [v2: string, v1: string] => {
  const rest = {
    payer: payment.payer,
    ...(payment.charged === undefined ? {} : { amount: String(payment.charged) })
  }
  const settled = (network: string) => encodeHeader({ success: true, transaction: payment.id, network, ...rest })
  return [settled(caip2[payment.network]), settled(v1Networks[payment.network])]
}

/** A 402 whose parts never change; only the payment request's id is new each time. */
export interface PreparedQuote {
  readonly header: string
  readonly before: string
  readonly after: string
}

/** Prepares the 402 of an endpoint at a price: a version 1 body that also carries the fields of the native flow. */
export const prepareQuote = (
  endpoint: Endpoint,
  price: bigint,
  options: { readonly error: string; readonly expiresIn: number; readonly payUrl: string }
): PreparedQuote => {
  const { error, expiresIn, payUrl } = options
  const before = JSON.stringify({
    x402Version: 1,
    error,
    code: "PAYMENT_REQUIRED",
    accepts: [paymentRequirements(endpoint, price)],
    price: formatDecimal(price),
    currency: endpoint.currency,
    network: endpoint.network,
    receiver: endpoint.paymentAddress
  })
  const after = JSON.stringify({ expires_in: expiresIn, pay_url: payUrl })
  return {
    header: paymentRequiredHeader(endpoint, price, error),
    before: `${before.slice(0, -1)},"payment_request_id":"`,
    after: `",${after.slice(1)}`
  }
}
