import { randomBytes } from "node:crypto"
import type { Hex, PrivateKeyAccount } from "viem"

/** The parts of an offer that a payment is made from. */
export interface Offer {
  readonly scheme: string
  readonly network: string
  readonly amount: string
  readonly asset: Hex
  readonly payTo: Hex
  readonly maxTimeoutSeconds: number
  readonly extra: Readonly<Record<string, unknown>>
}

/** The first offer of an endpoint, from its 402. */
export const quoted = async (url: string): Promise<Offer> => {
  const response = await fetch(url)
  await response.arrayBuffer()
  return decoded(response.headers.get("payment-required")).accepts[0]
}

/** The JSON in a header of x402. */
export const decoded = (header: string | null) => JSON.parse(Buffer.from(header ?? "", "base64").toString())

export const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64")

/** What is signed. */
export interface Authorization {
  readonly from: Hex
  readonly to: Hex
  readonly value: string
  readonly validAfter: string
  readonly validBefore: string
  readonly nonce: Hex
}

const transferWithAuthorization = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" }
  ]
} as const

/** What somebody signs who says the one thing and means another. */
export interface Deviation {
  /** In the offer that the payment says it accepts, and in what is signed. */
  readonly offer?: Partial<Offer>
  readonly signed?: Partial<Authorization>
  /** After the signature was made. */
  readonly forged?: Partial<Authorization>
  readonly domain?: { readonly chainId?: number; readonly verifyingContract?: Hex }
  readonly signature?: (signature: Hex) => Hex
}

/** The payload of a payment of this offer, as clients make it unless the deviation says otherwise. */
export const payload = async (account: PrivateKeyAccount, offer: Offer, deviation: Deviation = {}) => {
  const accepted = { ...offer, ...deviation.offer }
  const authorization: Authorization = {
    from: account.address,
    to: accepted.payTo,
    value: accepted.amount,
    validAfter: "0",
    validBefore: String(Math.floor(Date.now() / 1000) + accepted.maxTimeoutSeconds),
    nonce: `0x${randomBytes(32).toString("hex")}`,
    ...deviation.signed
  }
  const { nonce, from, to, validAfter, validBefore, value } = authorization
  const signature = await account.signTypedData({
    domain: {
      name: String(offer.extra["name"]),
      version: String(offer.extra["version"]),
      chainId: 84532,
      verifyingContract: accepted.asset,
      ...deviation.domain
    },
    types: transferWithAuthorization,
    primaryType: "TransferWithAuthorization",
    message: {
      from,
      to,
      nonce,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore)
    }
  })
  return {
    accepted,
    payload: {
      signature: deviation.signature?.(signature) ?? signature,
      authorization: { ...authorization, ...deviation.forged }
    }
  }
}

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The other signature of the same words that every elliptic curve library takes for good. */
export const highS = (signature: Hex): Hex => {
  const [r, s, v] = [signature.slice(2, 66), BigInt(`0x${signature.slice(66, 130)}`), signature.slice(130)]
  return `0x${r}${(order - s).toString(16).padStart(64, "0")}${v === "1b" ? "1c" : "1b"}`
}
