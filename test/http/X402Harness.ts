import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { RequestListener } from "node:http"
import { type Hex, hexToBytes, toHex } from "viem"
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import type { NewEndpoint } from "#domain/Endpoint.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { Wallets } from "#services/Wallets.ts"
import { type Answer, origin, send, tenant } from "./GatewayHarness.ts"

/** The JSON in a header of x402. */
export const decoded = (header: string | ReadonlyArray<string> | undefined) =>
  JSON.parse(Buffer.from(String(header), "base64").toString())

export const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64")

/** The challenge of MPP in an answer, by the names of its parameters. */
export const challengeIn = ({ headers }: Answer): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...String(headers["www-authenticate"]).matchAll(/(\w+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [
      name,
      value
    ])
  )

/** A tenant with an endpoint on Base Sepolia in front of an origin. */
export const baseSeller = Effect.fnUntraced(function* (listener: RequestListener, endpoint: Partial<NewEndpoint> = {}) {
  const { key, principal } = yield* tenant
  const till = (yield* (yield* Wallets).create(principal, { network: "base-sepolia" })).id
  const backend = yield* origin(listener)
  const record = yield* (yield* Endpoints).create(principal, {
    name: "Weather",
    path: "/forecast",
    method: "GET",
    originUrl: backend.url,
    network: "base-sepolia",
    ...endpoint
  })
  return { key, principal, till, backend, endpoint: record, path: `/x402/${record.id}` }
})

/** Somebody with a key of its own, whose address has money. */
export const signer = Effect.fnUntraced(function* (funds: bigint) {
  const { key, principal } = yield* tenant
  const account = privateKeyToAccount(generatePrivateKey())
  const wallets = yield* Wallets
  const purse = (yield* wallets.create(principal, { network: "base-sepolia", address: account.address })).id
  if (funds > 0n) yield* wallets.fund(principal, purse, { amount: funds, currency: "USDC" })
  return { account, key, purse, principal }
})

export interface Authorization {
  readonly from: Hex
  readonly to: Hex
  readonly value: bigint
  readonly validAfter: bigint
  readonly validBefore: bigint
  readonly nonce: Hex
}

const types = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" }
  ]
} as const

/** What the token of Base Sepolia calls itself in signatures. */
const domain = {
  name: "USDC",
  version: "2",
  chainId: 84_532,
  verifyingContract: "0x036CbD53842c5426634e7929541eC2318f3dCF7e"
} as const

/** An EIP-3009 authorisation as clients of x402 write it, after `change`. */
export const authorize = (
  account: PrivateKeyAccount,
  offer: { readonly payTo: Hex; readonly amount: string },
  change: (plain: Authorization) => Authorization = (plain) => plain,
  signedFor: { readonly chainId?: number; readonly name?: string; readonly verifyingContract?: Hex } = {}
) => {
  const seconds = Math.floor(Date.now() / 1000)
  const message = change({
    from: account.address,
    to: offer.payTo,
    value: BigInt(offer.amount),
    validAfter: 0n,
    validBefore: BigInt(seconds + 300),
    nonce: toHex(crypto.getRandomValues(new Uint8Array(32)))
  })
  return Effect.map(
    Effect.promise(() =>
      account.signTypedData({
        domain: { ...domain, ...signedFor },
        types,
        primaryType: "TransferWithAuthorization",
        message
      })
    ),
    (signature) => ({
      signature,
      authorization: {
        ...message,
        value: String(message.value),
        validAfter: String(message.validAfter),
        validBefore: String(message.validBefore)
      }
    })
  )
}

/** Asks for the price and signs for it; the value of `PAYMENT-SIGNATURE`, and the parts it is made of. */
export const signFor = Effect.fnUntraced(function* (
  account: PrivateKeyAccount,
  path: string,
  options: Parameters<typeof send>[1] = {}
) {
  const challenge = yield* send(path, options)
  assert.strictEqual(challenge.status, 402, challenge.body)
  const { accepts, resource } = decoded(challenge.headers["payment-required"])
  const [accepted] = accepts
  const payload = yield* authorize(account, accepted)
  return { accepted, resource, payload, challenge, header: encoded({ x402Version: 2, resource, accepted, payload }) }
})

/** Calls with a payment that was signed. */
export const callWith = (path: string, header: string, options: Parameters<typeof send>[1] = {}) =>
  send(path, { ...options, headers: { ...options?.headers, "payment-signature": header } })

/** The other signature of the same words by the same key, which the chain refuses. */
export const highS = (signature: Hex): Hex => {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const bytes = hexToBytes(signature)
  const s = order - BigInt(toHex(bytes.slice(32, 64)))
  const v = bytes[64] === 27 ? 28 : 27
  return toHex(Buffer.concat([bytes.slice(0, 32), hexToBytes(toHex(s, { size: 32 })), Buffer.from([v])]))
}

/** Status and reason of an answer that asks for money. */
export const reasonOf = ({ headers, json, status }: Answer) => [
  status,
  json.error,
  decoded(headers["payment-required"]).error,
  decoded(headers["payment-response"]).errorReason
]
