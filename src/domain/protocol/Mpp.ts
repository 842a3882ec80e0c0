// MPP, intent `charge`: HTTP's own `WWW-Authenticate: Payment`. What is signed is what x402's `exact` has signed: by the method `evm` an
// EIP-3009 authorisation, by the method `solana` a transfer whose fee we pay.
import { createHmac, timingSafeEqual } from "node:crypto"
import { DateTime } from "effect"
import { chainIdOf, encodeBase58, type Network } from "../Network.ts"
import type { TokenKey } from "../PaymentToken.ts"
import type { Offer } from "./Authorization.ts"
import { keccakText } from "./Eip712.ts"
import { quoteLife } from "./SealedQuote.ts"
import { programs } from "./SolanaKeys.ts"
import { svmMemo } from "./SvmExact.ts"
import { asFields, type Fields, isMppCredential, type MppCredential, readJson } from "./X402Payload.ts"
import { type Asked, offersOf } from "./X402Offers.ts"

export type Method = "evm" | "solana"

/** The method that pays on this network. */
export const methodOf = (network: Network): Method => (chainIdOf(network) === undefined ? "solana" : "evm")

/** What is asked for, as the client echoes it. It is rebuilt from the quote inside, so nothing is stored. */
export interface Challenge {
  readonly id: string
  readonly realm: string
  readonly method: Method
  readonly intent: "charge"
  readonly request: string
  readonly expires: string
  readonly opaque: string
}

/** Machine payments are of a fixed price. */
export const speaksMpp = (endpoint: Pick<Asked["endpoint"], "mpp" | "schemes">): boolean =>
  endpoint.mpp && endpoint.schemes.includes("exact")

const inBase64 = (text: string): string => Buffer.from(text).toString("base64url")
const encode = (value: object): string => inBase64(JSON.stringify(value))

const decimals = 6

/** An offer as the method of its network asks for it, with keys in the order of their letters: clients write them anew in that order. */
const requestOf = (network: Network, { amount, asset, extra, payTo }: Offer): Fields | undefined => {
  const chainId = chainIdOf(network)
  if (chainId !== undefined) {
    const methodDetails = { chainId: Number(chainId), credentialTypes: ["authorization"], decimals }
    return { amount, currency: asset, methodDetails, recipient: payTo }
  }
  if (extra.feePayer === undefined) return undefined
  // Without a blockhash: not every client writes the memo, and two payments without it are one transaction if they share a blockhash.
  const methodDetails = {
    decimals,
    feePayer: true,
    feePayerKey: extra.feePayer,
    // The main network is meant where none is named, and clients differ in what they call it.
    ...(network === "solana-devnet" ? { network: "devnet" } : {}),
    tokenProgram: encodeBase58(programs.token)
  }
  return { amount, currency: asset, externalId: extra.memo, methodDetails, recipient: payTo }
}

/**
 * The challenges for an `exact` offer at a sealed quote, each by its salt; undefined where the endpoint makes no such offer. The payer's
 * nonce is made of the id, and on Solana the memo says the salt, so the salt is what tells one payment of a payer from the next. All else
 * is made once: a 402 has a salt of its own.
 */
export const challengesOf = (
  key: TokenKey,
  asked: Asked,
  { issuedAt, quote }: { readonly quote: string; readonly issuedAt: number }
): ((salt: string) => Challenge) | undefined => {
  const { gatewayUrl, network } = asked.endpoint
  const offer = exactOf(asked, { quote, salt: "" })
  const wanted = offer && requestOf(network, offer)
  if (wanted === undefined) return undefined
  const realm = new URL(gatewayUrl).host
  const method = methodOf(network)
  const unsalted = JSON.stringify(wanted)
  const request = inBase64(unsalted)
  const beforeSalt = `"externalId":"${svmMemo(quote, "")}`
  const [head = "", tail] = unsalted.split(beforeSalt)
  const requestFor = (salt: string) => (tail === undefined ? request : inBase64(head + beforeSalt + salt + tail))
  const expires = DateTime.formatIso(DateTime.makeUnsafe(issuedAt + quoteLife))
  const opaque = encode({ quote })
  const bound = [realm, method, "charge", request, expires, "", opaque].join("|")
  const seal = createHmac("sha256", key).update(bound).digest("base64url")
  return (salt) => ({
    id: `${seal}.${salt}`,
    realm,
    method,
    intent: "charge",
    request: requestFor(salt),
    expires,
    opaque
  })
}

const exactOf = (asked: Asked, occasion: { readonly quote: string; readonly salt: string }): Offer | undefined =>
  offersOf(asked, occasion).find(({ scheme }) => scheme === "exact")

/** One of them, and the offer that it is for. */
export const challengeOf = (
  key: TokenKey,
  asked: Asked,
  occasion: { readonly quote: string; readonly salt: string; readonly issuedAt: number }
): { readonly challenge: Challenge; readonly offer: Offer } | undefined => {
  const challenge = challengesOf(key, asked, occasion)?.(occasion.salt)
  const offer = exactOf(asked, occasion)
  return challenge && offer && { challenge, offer }
}

/** The value of `WWW-Authenticate`. */
export const writeChallenge = (challenge: Challenge): string =>
  `Payment ${Object.entries(challenge)
    .map(([name, value]) => `${name}="${value}"`)
    .join(", ")}`

/**
 * The challenge to a caller whose `Authorization` is this. One of another kind, such as a key of the origin's, is to stay: the credential
 * is asked for in a field of its own then. Clients that do not know of it (mppx before 0.9) go on writing it over the other one.
 */
export const challengeBeside = (authorization: string | undefined, challenge: string): string =>
  authorization === undefined || isMppCredential(authorization)
    ? challenge
    : `${challenge}, header="Payment-Authorization"`

/** The quote and the salt inside a challenge that a client echoes; undefined when there are none. */
export const occasionIn = (challenge: Fields): { readonly quote: string; readonly salt: string } | undefined => {
  const { id, opaque } = challenge
  const quote = typeof opaque === "string" ? readJson(opaque, "base64url")?.quote : undefined
  const salt = typeof id === "string" ? /^[\w-]{43}\.([\w-]{1,64})$/.exec(id)?.[1] : undefined
  return typeof quote === "string" && salt !== undefined ? { quote, salt } : undefined
}

export type CredentialRefusal =
  | "invalid_payload"
  | "invalid_challenge"
  | "challenge_nonce_mismatch"
  | "challenge_expiry_mismatch"
  | "payer_mismatch"

/** The payload of `exact` inside a credential that answers this challenge, or why it does not. The signature is checked later. */
export const readCredential = (
  { challenge: echoed, payload, source }: MppCredential,
  asked: Challenge
): Fields | CredentialRefusal => {
  const { id } = echoed
  if (typeof id !== "string" || id.length !== asked.id.length || !/^[\w.-]+$/.test(id)) return "invalid_challenge"
  if (!timingSafeEqual(Buffer.from(id), Buffer.from(asked.id))) return "invalid_challenge"
  const { id: _, ...rest } = asked
  if (!Object.entries(rest).every(([name, value]) => echoed[name] === value)) return "invalid_challenge"
  const { from, nonce, signature, to, transaction, type, validAfter, validBefore, value } = payload
  // One that its payer has sent already (`signature`) is none whose fee we pay.
  if (asked.method === "solana") return type === "transaction" ? { transaction } : "invalid_payload"
  if (type !== "authorization" || typeof nonce !== "string") return "invalid_payload"
  if (nonce.toLowerCase() !== keccakText(asked.id + asked.realm)) return "challenge_nonce_mismatch"
  if (validBefore !== String(Math.floor(Date.parse(asked.expires) / 1000))) return "challenge_expiry_mismatch"
  return source === undefined || isSource(source, from, asked)
    ? { signature, authorization: { from, to, value, validAfter, validBefore, nonce } }
    : "payer_mismatch"
}

const isSource = (source: string, from: unknown, { request }: Challenge): boolean => {
  const chainId = asFields(readJson(request, "base64url")?.methodDetails)?.chainId
  // What is no text need not even become one: `{"toString":1}` throws.
  if (typeof from !== "string") return false
  return source.toLowerCase() === `did:pkh:eip155:${String(chainId)}:${from}`.toLowerCase()
}

/** The value of `Payment-Receipt`. */
export const receiptHeader = (receipt: {
  readonly reference: string
  readonly at: DateTime.Utc
  readonly network: Network
  readonly challenge?: string | undefined
}): string => {
  const chainId = chainIdOf(receipt.network)
  return encode({
    method: methodOf(receipt.network),
    challengeId: receipt.challenge,
    reference: receipt.reference,
    status: "success",
    timestamp: DateTime.formatIso(receipt.at),
    ...(chainId === undefined ? {} : { chainId: Number(chainId) })
  })
}

const problems: Readonly<Record<string, readonly [type: string, title: string]>> = {
  payment_required: ["payment-required", "Payment Required"],
  invalid_payload: ["malformed-credential", "Malformed Credential"],
  payment_header_too_large: ["malformed-credential", "Malformed Credential"],
  multiple_payments: ["malformed-credential", "Malformed Credential"],
  invalid_challenge: ["invalid-challenge", "Invalid Challenge"],
  quote_unknown: ["invalid-challenge", "Invalid Challenge"],
  quote_expired: ["payment-expired", "Payment Expired"],
  insufficient_funds: ["payment-insufficient", "Payment Insufficient"]
}

/** The fields of a problem (RFC 9457) for this reason of a 402, as MPP names it. */
export const problemOf = (reason: string) => {
  const [type, title] = problems[reason] ?? ["verification-failed", "Verification Failed"]
  return { type: `https://paymentauth.org/problems/${type}`, title, status: 402, detail: reason }
}
