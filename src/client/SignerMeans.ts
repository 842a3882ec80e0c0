import { type Asset, isAddress, networkName, sameAddress } from "./Asset.ts"
import { isObject, type Json, quoted, randomHex, readHeader, textOr, writeHeader, isText } from "./Encoding.ts"
import type { Challenge, Means, Payable, Payment } from "./Means.ts"
import { formatDecimal, parseMicros } from "./Micros.ts"
import { PaymentError } from "./PaymentError.ts"
import { now, orAborted } from "./Time.ts"

/** What is signed: an EIP-3009 `TransferWithAuthorization` as EIP-712 typed data. */
export interface TransferAuthorization {
  readonly domain: {
    readonly name: string
    readonly version: string
    readonly chainId: number
    readonly verifyingContract: `0x${string}`
  }
  readonly types: typeof types
  readonly primaryType: "TransferWithAuthorization"
  readonly message: {
    readonly from: `0x${string}`
    readonly to: `0x${string}`
    readonly value: bigint
    readonly validAfter: bigint
    readonly validBefore: bigint
    readonly nonce: `0x${string}`
  }
}

/** A key that signs typed data without showing itself; an account of viem is one. */
export interface Signer {
  readonly address: `0x${string}`
  signTypedData(data: TransferAuthorization): PromiseLike<`0x${string}`>
}

export interface SignerOptions {
  readonly signer: Signer
  readonly assets: ReadonlyArray<Asset>
  readonly networks: ReadonlyArray<string>
  readonly believed: string | undefined
}

const field = <const Name extends string, const Type extends string>(name: Name, type: Type) =>
  ({ name, type }) as const

const types = {
  TransferWithAuthorization: [
    field("from", "address"),
    field("to", "address"),
    field("value", "uint256"),
    field("validAfter", "uint256"),
    field("validBefore", "uint256"),
    field("nonce", "bytes32")
  ]
} as const

/** How long a signature is good for at most, whatever the server asks: until then it may be settled. */
const longestSeconds = 600

/** How many offers of one 402 are looked at. */
const mostOffers = 32

interface Accepted {
  readonly offer: Json
  readonly asset: Asset
  readonly micros: bigint
  readonly payTo: `0x${string}`
  readonly seconds: number
}

/** Pays with a key of the caller's own: x402 version 2, scheme `exact` on EVM chains. */
export const signerMeans = (options: SignerOptions): Means => {
  const { assets, believed, networks, signer } = options

  /** The offer as it can be paid here, or why it cannot. */
  const judge = (offer: unknown): Accepted | string => {
    if (!isObject(offer)) return "no object"
    const { amount, asset: token, maxTimeoutSeconds: seconds, network, payTo, scheme } = offer
    const { assetTransferMethod = "eip3009", paymentFlow = "authorization" } = Object(offer["extra"])
    if (scheme !== "exact" || assetTransferMethod !== "eip3009" || paymentFlow !== "authorization") {
      return `scheme: ${quoted(scheme)}`
    }
    if (!isText(network) || !networks.includes(networkName(network))) {
      return `network: ${quoted(network)}`
    }
    const asset = assets.find((known) => known.network === network && sameAddress(known.address, textOr(token, "")))
    if (!asset) return `asset: ${quoted(token)}`
    const micros = parseMicros(amount)
    if (micros === undefined) return `amount: ${quoted(amount)}`
    if (!isAddress(payTo)) return `payTo: ${quoted(payTo)}`
    if (typeof seconds !== "number" || !(seconds >= 1)) return "maxTimeoutSeconds"
    return { offer, asset, micros, payTo, seconds: Math.min(Math.floor(seconds), longestSeconds) }
  }

  const read = ({ headers, method, url }: Challenge, most: bigint): Payable => {
    const required = readHeader(headers.get("payment-required"))
    const accepts = required?.["accepts"]
    if (required?.["x402Version"] !== 2 || !Array.isArray(accepts)) {
      throw new PaymentError("INVALID_CHALLENGE", "The 402 is none of x402 version 2")
    }
    const judged = accepts.slice(0, mostOffers).map(judge)
    const payable = judged.flatMap((one) => (isText(one) ? [] : [one]))
    const accepted = payable.find(({ micros }) => micros <= most) ?? payable[0]
    if (!accepted) {
      throw new PaymentError("NO_PAYABLE_OFFER", `The 402 offers nothing that can be paid: ${judged.join("; ")}`, {
        details: { reasons: judged }
      })
    }
    const { asset, micros, payTo } = accepted
    return {
      offer: {
        url,
        gatewayUrl: undefined,
        method,
        amount: formatDecimal(micros),
        currency: asset.currency,
        network: networkName(asset.network),
        payTo,
        asset: asset.address,
        description: textOr(Object(required["resource"]).description, undefined)
      },
      micros,
      pay: (signal) => sign(accepted, required, signal)
    }
  }

  const sign = async (accepted: Accepted, required: Json, signal: AbortSignal | undefined): Promise<Payment> => {
    const { asset, micros, payTo, seconds } = accepted
    if (!isAddress(signer.address)) throw new PaymentError("PAY_REFUSED", "The signer has no address")
    const message = {
      from: lower(signer.address),
      to: lower(payTo),
      value: micros,
      validAfter: 0n,
      validBefore: BigInt(Math.floor(now() / 1000) + seconds),
      nonce: `0x${randomHex(32)}`
    } as const
    const domain = {
      name: asset.name,
      version: asset.version,
      chainId: Number(asset.network.replace("eip155:", "")),
      verifyingContract: lower(asset.address)
    }
    const data = { domain, types, primaryType: "TransferWithAuthorization", message } as const
    const signing = Promise.resolve(data).then((data) => signer.signTypedData(data))
    const signature = await orAborted(signing, signal).catch((cause: unknown) => {
      signal?.throwIfAborted()
      throw new PaymentError("PAY_REFUSED", "The signer did not sign", { cause })
    })
    if (!/^0x([0-9a-fA-F]{2}){1,4096}$/.test(textOr(signature, ""))) {
      throw new PaymentError("PAY_REFUSED", "The signature is no hex")
    }
    const validBefore = String(message.validBefore)
    const proof = {
      x402Version: 2,
      resource: required["resource"],
      accepted: accepted.offer,
      payload: { signature, authorization: { ...message, value: String(micros), validAfter: "0", validBefore } },
      extensions: required["extensions"]
    }
    return { headers: { "payment-signature": writeHeader(proof) }, paymentId: undefined, micros }
  }

  return { read, believed }
}

/** Badly checksummed addresses are echoed to the server as they came, and signed in a form that every library takes. */
const lower = (address: string): `0x${string}` => `0x${address.slice(2).toLowerCase()}`
