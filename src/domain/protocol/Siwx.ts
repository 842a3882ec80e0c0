// Sign-in-with-x: a caller proves its address before the quote. EIP-4361 texts on EVM chains, their likeness on Solana.
import { createHmac, timingSafeEqual } from "node:crypto"
import { DateTime } from "effect"
import type { Endpoint } from "../Endpoint.ts"
import { caip2, chainIdOf, decodeBase58, type Network, parseAddress } from "../Network.ts"
import type { TokenKey } from "../PaymentToken.ts"
import { isSignedBy, type Recover, textDigest } from "./Eip712.ts"
import { addressBytes, isSignedBy as isSignatureOf } from "./SolanaKeys.ts"
import { readHeader } from "./X402Payload.ts"

/** How long a signed text proves an address (milliseconds). */
const signInLife = 300_000

/** What a caller is asked to sign; everything but `nonce` is also said elsewhere. */
export interface SignIn {
  readonly domain: string
  readonly uri: string
  readonly version: "1"
  readonly nonce: string
  readonly issuedAt: string
  readonly expirationTime: string
  readonly resources: readonly [string]
}

/** Times in years of four digits: five minutes after the last moment that a date can have there is none any more. */
const asWeWrite = /^\d{4}-/
/** As many bytes as characters. */
const nonceOfOurs = /^[0-9a-f]{32}$/

const isoTime = (milliseconds: number): string => DateTime.formatIso(DateTime.makeUnsafe(milliseconds))

/** What to sign for this endpoint from this moment on (milliseconds). The nonce is a seal of it, so nothing is stored. */
export const signInFor = (key: TokenKey, { gatewayUrl }: Pick<Endpoint, "gatewayUrl">, from: number): SignIn => {
  const issuedAt = isoTime(from)
  const nonce = createHmac("sha256", key)
    .update(`sign-in-with-x\n${gatewayUrl}\n${issuedAt}`)
    .digest("hex")
    .slice(0, 32)
  return {
    domain: new URL(gatewayUrl).host,
    uri: gatewayUrl,
    version: "1",
    nonce,
    issuedAt,
    expirationTime: isoTime(from + signInLife),
    resources: [gatewayUrl]
  }
}

const typeOf = (network: Network) => (chainIdOf(network) === undefined ? "ed25519" : "eip191")
/** Short, because the header that it is in must be: the fields are those of the standard. */
const schema = {
  type: "object",
  required: ["domain", "address", "uri", "version", "chainId", "type", "nonce", "issuedAt", "signature"]
}

/** The value of `extensions["sign-in-with-x"]` in a 402. */
export const signInExtension = (info: SignIn, network: Network) => ({
  info,
  supportedChains: [{ chainId: caip2[network], type: typeOf(network) }],
  schema
})

/** The text that is signed, to the byte. */
export const signInText = (info: SignIn, network: Network, address: string): string => {
  const chainId = chainIdOf(network)
  return [
    `${info.domain} wants you to sign in with your ${chainId === undefined ? "Solana" : "Ethereum"} account:`,
    address,
    // EIP-4361 keeps the lines around a statement that is not there.
    ...(chainId === undefined ? [""] : ["", ""]),
    `URI: ${info.uri}`,
    `Version: ${info.version}`,
    `Chain ID: ${chainId ?? caip2[network].slice("solana:".length)}`,
    `Nonce: ${info.nonce}`,
    `Issued At: ${info.issuedAt}`,
    `Expiration Time: ${info.expirationTime}`,
    "Resources:",
    ...info.resources.map((resource) => `- ${resource}`)
  ].join("\n")
}

export type SignInRefusal =
  | "invalid_siwx_header"
  | "invalid_siwx_unsupported_chain"
  | "invalid_siwx_nonce"
  | "invalid_siwx_expired"
  | "invalid_siwx_signature"

export type SignedIn =
  | { readonly _tag: "SignedIn"; readonly address: string }
  | { readonly _tag: "Refused"; readonly reason: SignInRefusal }

const refused = (reason: SignInRefusal): SignedIn => ({ _tag: "Refused", reason })

/** Whose address the `sign-in-with-x` header proves, for this endpoint. `now` in milliseconds. */
export const signedIn = (
  header: string,
  endpoint: Pick<Endpoint, "gatewayUrl" | "network">,
  context: { readonly key: TokenKey; readonly now: number; readonly recover: Recover }
): SignedIn => {
  const fields = readHeader(header)
  const { address, issuedAt, nonce, signature } = fields ?? {}
  const from = typeof issuedAt === "string" && asWeWrite.test(issuedAt) ? Date.parse(issuedAt) : Number.NaN
  if (fields === undefined || typeof address !== "string" || typeof signature !== "string" || Number.isNaN(from)) {
    return refused("invalid_siwx_header")
  }
  const { network } = endpoint
  if (fields.chainId !== caip2[network]) return refused("invalid_siwx_unsupported_chain")
  const info = signInFor(context.key, endpoint, from)
  const isOurs =
    typeof nonce === "string" &&
    nonceOfOurs.test(nonce) &&
    timingSafeEqual(Buffer.from(nonce), Buffer.from(info.nonce)) &&
    issuedAt === info.issuedAt
  if (!isOurs) return refused("invalid_siwx_nonce")
  if (context.now > from + signInLife) return refused("invalid_siwx_expired")
  const canonical = parseAddress(network, address)
  if (canonical === undefined) return refused("invalid_siwx_header")
  const message = signInText(info, network, address)
  const signed =
    chainIdOf(network) === undefined
      ? isSignedByKey(canonical, message, signature)
      : isSignedBy(context.recover, canonical, textDigest(message), signature)
  return signed ? { _tag: "SignedIn", address: canonical } : refused("invalid_siwx_signature")
}

const isSignedByKey = (address: string, message: string, signature: string): boolean => {
  const key = addressBytes(address)
  const bytes = signature.length > 90 ? undefined : decodeBase58(signature)
  return key !== undefined && bytes?.length === 64 && isSignatureOf(key, Buffer.from(message), bytes)
}
