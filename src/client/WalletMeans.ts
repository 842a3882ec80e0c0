import { currencyOf, knownCurrencies, networkName } from "./Asset.ts"
import { type Json, quoted, readHeader, textOr, isText } from "./Encoding.ts"
import type { Challenge, Means, Offer, Payable, Payment } from "./Means.ts"
import { formatDecimal, parseDecimal, parseMicros } from "./Micros.ts"
import { PaymentError } from "./PaymentError.ts"
import { operation, type Transport } from "./Transport.ts"
import { TurnpikeError } from "./TurnpikeError.ts"

export interface WalletOptions {
  readonly wallet: string
  readonly transport: Transport
  readonly networks: ReadonlyArray<string>
}

const payPath = "/v1/x402/pay"

/** Pays from a wallet of a Turnpike: the price is held there, and the answer is a proof to show. */
export const walletMeans = (options: WalletOptions): Means => {
  const { networks, transport, wallet } = options
  const { baseUrl } = transport
  const pay = operation(transport, ["POST", payPath, "key"])
  // The key is sent here and nowhere else, whatever a 402 says.
  const payUrl = baseUrl + payPath

  const read = ({ body: sent, headers, method, url }: Challenge): Payable => {
    const body = sent ?? bodyIn(headers, baseUrl)
    const by = sent ? "payment_request_id" : "url"
    const request = body?.[by]
    const micros = parseDecimal(body?.["price"])
    const receiver = quoted(body?.["receiver"])
    if (!body || !isText(request) || request.length > 4096 || micros === undefined || !receiver) {
      throw new PaymentError("INVALID_CHALLENGE", "The 402 does not say what to pay to whom")
    }
    const { currency, network } = body
    if (!isText(currency) || !knownCurrencies.includes(currency)) {
      throw new PaymentError("NO_PAYABLE_OFFER", `The currency is not known: ${quoted(currency)}`)
    }
    if (!isText(network) || !networks.includes(networkName(network))) {
      throw new PaymentError("NO_PAYABLE_OFFER", `The network is not allowed: ${quoted(network)}`)
    }
    const asked = body["pay_url"]
    if (hrefOf(asked) !== payUrl) {
      throw new PaymentError("FOREIGN_PAY_URL", `The 402 wants to be paid at ${quoted(asked)}, not at ${payUrl}`)
    }
    const { asset, description, resource } = firstOf(body["accepts"])
    // What is shown is what is asked for: the Turnpike knows what the request is for, and this 402 may be somebody else's.
    const terms = {
      receiver,
      gateway_url: textOr(resource, undefined),
      network: networkName(network),
      currency,
      asset: textOr(asset, undefined),
      description: textOr(description, undefined)
    }
    const { gateway_url: gatewayUrl, receiver: payTo, ...shown } = terms
    const offer: Offer = { ...shown, url, gatewayUrl, method, amount: formatDecimal(micros), payTo }
    // The API takes no maximum of nothing.
    const max_amount = formatDecimal(micros > 0n ? micros : 1n)
    const payload = { [by]: request, from_wallet_id: wallet, max_amount, terms }
    return { offer, micros, pay: async (signal) => proofIn(await askedFor(payload, signal), micros, terms) }
  }

  const askedFor = async (payload: object, signal: AbortSignal | undefined) => {
    try {
      return await pay({ payload }, { signal })
    } catch (error) {
      if (!(error instanceof TurnpikeError)) throw error
      throw new PaymentError("PAY_REFUSED", `The wallet did not pay: ${error.message}`, {
        details: { ...error.details, code: error.code },
        cause: error
      })
    }
  }

  return { read, believed: new URL(payUrl).origin }
}

/** In full; undefined when it is none. Browsers before the end of 2023 have no `URL.canParse`. */
const hrefOf = (address: unknown): string | undefined => {
  try {
    return new URL(textOr(address, "")).href
  } catch {
    return undefined
  }
}

const firstOf = (list: unknown): Json => Object(Array.isArray(list) ? list[0] : undefined)

/** What the body of a 402 says, from its header: an answer to HEAD has no other. It names no payment request, but the endpoint. */
const bodyIn = (headers: Headers, baseUrl: string): Json | undefined => {
  const required = readHeader(headers.get("payment-required"))
  const { amount, asset, network, payTo: receiver } = firstOf(required?.["accepts"])
  const { description, url } = Object(required?.["resource"])
  const micros = parseMicros(amount)
  const price = micros === undefined ? undefined : formatDecimal(micros)
  const accepts = [{ asset, description, resource: url }]
  const pay_url = textOr(url, "").startsWith(`${baseUrl}/`) ? baseUrl + payPath : url
  return required && { price, currency: currencyOf(textOr(asset, "")), network, receiver, url, pay_url, accepts }
}

/** The proof, if it is of what was asked for: a Turnpike that does not know `terms` would have paid whatever the request is for. */
const proofIn = (paid: unknown, asked: bigint, terms: { readonly [name: string]: string | undefined }): Payment => {
  const answer = Object(paid)
  const micros = parseDecimal(answer.amount)
  const proof = /^[!-~]{1,1000}$/.exec(textOr(answer.proof, ""))?.[0]
  const of = Object(answer.terms)
  // A 402 may shorten the description.
  const isSo = Object.entries(terms).every(
    ([name, wanted]) =>
      wanted === undefined || (name === "description" ? textOr(of[name], "").startsWith(wanted) : of[name] === wanted)
  )
  if (!proof || micros === undefined || micros > asked || answer.currency !== terms["currency"] || !isSo) {
    throw new PaymentError("PAY_REFUSED", "The answer to the payment is no proof of it")
  }
  return { headers: { "x-payment-proof": proof }, paymentId: textOr(answer.id, undefined), micros }
}
