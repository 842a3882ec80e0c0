import { knownCurrencies, networkName } from "./Asset.ts"
import { isObject, quoted, textOr } from "./Encoding.ts"
import type { Challenge, Means, Offer, Payable, Payment } from "./Means.ts"
import { formatDecimal, parseDecimal } from "./Micros.ts"
import { PaymentError } from "./PaymentError.ts"
import { operation, type Transport } from "./Transport.ts"
import { TurnpikeError } from "./TurnpikeError.ts"

export interface WalletOptions {
  readonly wallet: string
  readonly transport: Transport
  readonly networks: ReadonlyArray<string>
}

/** Pays from a wallet of a Turnpike: the price is held there, and the answer is a proof to show. */
export const walletMeans = (options: WalletOptions): Means => {
  const { networks, transport, wallet } = options
  const pay = operation(transport, ["POST", "/v1/x402/pay", "idempotent"])
  // The key is sent here and nowhere else, whatever a 402 says.
  const payUrl = `${transport.baseUrl}/v1/x402/pay`

  const read = ({ body, method, url }: Challenge): Payable => {
    const request = body?.["payment_request_id"]
    const micros = parseDecimal(body?.["price"])
    if (body === undefined || typeof request !== "string" || request.length > 200 || micros === undefined) {
      throw new PaymentError("INVALID_CHALLENGE", "The 402 does not say what to pay to a Turnpike wallet, and how much")
    }
    const { currency, network } = body
    if (typeof currency !== "string" || !knownCurrencies.includes(currency)) {
      throw new PaymentError("NO_PAYABLE_OFFER", `The currency is not known: ${quoted(currency)}`)
    }
    if (typeof network !== "string" || !networks.includes(networkName(network))) {
      throw new PaymentError("NO_PAYABLE_OFFER", `The network is not allowed: ${quoted(network)}`)
    }
    const asked = body["pay_url"]
    if (typeof asked !== "string" || !URL.canParse(asked) || new URL(asked).href !== new URL(payUrl).href) {
      throw new PaymentError("FOREIGN_PAY_URL", `The 402 wants to be paid at ${quoted(asked)}, not at ${payUrl}`)
    }
    const receiver = quoted(body["receiver"])
    if (receiver === "") throw new PaymentError("INVALID_CHALLENGE", "The 402 does not say who is paid")
    const [first] = Array.isArray(body["accepts"]) ? body["accepts"] : []
    const { asset, description, resource } = isObject(first) ? first : {}
    // What is shown is what is asked for: the Turnpike knows what the request is for, and this 402 may be somebody else's.
    const terms = {
      receiver,
      gateway_url: textOr(resource, undefined),
      network: networkName(network),
      currency,
      asset: textOr(asset, undefined),
      description: textOr(description, undefined)
    }
    const offer: Offer = {
      url,
      gatewayUrl: terms.gateway_url,
      method,
      amount: formatDecimal(micros),
      currency,
      network: terms.network,
      payTo: receiver,
      asset: terms.asset,
      description: terms.description
    }
    // The API takes no maximum of nothing.
    const max_amount = formatDecimal(micros > 0n ? micros : 1n)
    const payload = { payment_request_id: request, from_wallet_id: wallet, max_amount, terms }
    return { offer, micros, pay: async (signal) => proofIn(await askedFor(payload, signal), micros, terms) }
  }

  const askedFor = async (payload: object, signal: AbortSignal | undefined) => {
    try {
      return await pay({ payload }, { signal, idempotencyKey: undefined })
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
  if (proof === undefined || micros === undefined || micros > asked || answer.currency !== terms["currency"] || !isSo) {
    throw new PaymentError("PAY_REFUSED", "The answer to the payment is not a proof of it, and is not used")
  }
  return { headers: { "x-payment-proof": proof }, paymentId: textOr(answer.id, undefined), micros }
}
