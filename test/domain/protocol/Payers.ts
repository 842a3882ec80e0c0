import { Effect } from "effect"
import { createHash } from "node:crypto"
import { privateKeyToAccount } from "viem/accounts"
import type { Endpoint } from "#domain/Endpoint.ts"
import { AccountUuid, EndpointId, TenantId, WalletId } from "#domain/Ids.ts"
import { tokenKey } from "#domain/PaymentToken.ts"
import { accept, type Ground } from "#domain/protocol/Accept.ts"
import { sealQuote } from "#domain/protocol/SealedQuote.ts"
import { offersOf } from "#domain/protocol/X402Offers.ts"
import { readPayment } from "#domain/protocol/X402Payload.ts"
import * as Secp256k1 from "#layers/Secp256k1.ts"

export const { recover } = Effect.runSync(Secp256k1.native)
export const key = tokenKey(Buffer.alloc(32, 7))
/** A Saturday, in milliseconds. */
export const now = Date.UTC(2026, 10, 21, 12)
export const seconds = now / 1000
export const usdc = "0x036CbD53842c5426634e7929541eC2318f3dCF7e"
export const payer = privateKeyToAccount(`0x${"11".repeat(32)}`)
export const stranger = privateKeyToAccount(`0x${"22".repeat(32)}`)
export const facilitator = "0x66fc0bb1c2e4ce9b2d3a7cd0e96b2b2d07d4f1aa"
export const feePayer = "2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4"
export const settlers = { facilitator, feePayer, signers: [] as ReadonlyArray<string> }
export const price = 10_000n

export const otherId = EndpointId.make("01890a5d-ac96-774b-bcce-b302099a8099")

/** An endpoint on Base Sepolia at 0.01 USDC. */
export const endpoint: Endpoint = {
  id: EndpointId.make("01890a5d-ac96-774b-bcce-b302099a8057"),
  tenantId: TenantId.make("01890a5d-ac96-774b-bcce-b302099a8001"),
  accountId: AccountUuid.make("01890a5d-ac96-774b-bcce-b302099a8002"),
  name: "Weather",
  description: "What the weather is",
  path: "/weather",
  method: "GET",
  basePrice: price,
  currency: "USDC",
  paymentAddress: "0x209693bc6afc0c5328ba36faf03c514ef312287c",
  assetAddress: usdc,
  network: "base-sepolia",
  totalCalls: 0n,
  totalRevenue: 0n,
  status: "active",
  volumeDiscounts: [],
  webhookUrl: null,
  originUrl: null,
  gatewayUrl: "https://pay.example/x402/01890a5d-ac96-774b-bcce-b302099a8057",
  walletId: WalletId.make("01890a5d-ac96-774b-bcce-b302099a8003"),
  timeoutMs: 30_000,
  rateLimit: null,
  chargeOn: "success",
  schemes: ["exact", "upto"],
  mpp: true,
  forwardHeaders: {},
  createdAt: new Date(now),
  updatedAt: new Date(now)
}

const ground: Ground = {
  endpoint,
  method: "GET",
  prices: [price],
  settlers,
  key,
  now,
  recover
}

export const terms = { endpoint: endpoint.id, method: "GET", limit: price, issuedAt: now }
export const quote = sealQuote(key, terms)

/** What the endpoint offers under this scheme. */
export const offer = (scheme: "exact" | "upto", seal = quote, asked = endpoint) => {
  const found = offersOf({ endpoint: asked, price, settlers }, { quote: seal }).find((one) => one.scheme === scheme)
  if (found === undefined) throw new Error(`no ${scheme} offer`)
  return found
}

export const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64")

/** What becomes of a request with these headers. */
export const outcome = (headers: Record<string, string>, on: Partial<Ground> = {}) => {
  const presented = readPayment(headers)
  if (presented === undefined) return { _tag: "Refused", reason: "nothing was shown" } as const
  if (presented._tag === "Malformed") return { _tag: "Refused", reason: presented.reason } as const
  return accept(presented, { ...ground, ...on })
}
type Outcome = ReturnType<typeof outcome>

export const reasonOf = (acceptance: Outcome) => (acceptance._tag === "Refused" ? acceptance.reason : acceptance._tag)

export const authorized = (acceptance: Outcome) => {
  if (acceptance._tag === "Refused") throw new Error(acceptance.reason)
  return acceptance.authorization
}

const transferTypes = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" }
  ]
} as const

export const nonce = (name: string): `0x${string}` => `0x${createHash("sha256").update(name).digest("hex")}`

type Address = `0x${string}`
export interface Transfer {
  readonly from: Address
  readonly to: Address
  readonly value: bigint
  readonly validAfter: bigint
  readonly validBefore: bigint
  readonly nonce: Address
}

/** The transfer that pays an offer of `endpoint`. */
export const transfer: Transfer = {
  from: payer.address,
  to: "0x209693bc6afc0c5328ba36faf03c514ef312287c",
  value: price,
  validAfter: 0n,
  validBefore: BigInt(seconds + 300),
  nonce: nonce("first")
}

const decimals = (message: object) =>
  Object.fromEntries(
    Object.entries(message).map(([name, value]) => [name, typeof value === "bigint" ? String(value) : value])
  )

/** An EIP-3009 payload, signed by viem. */
export const signTransfer = async (
  change: Partial<Transfer> = {},
  domain: { chainId?: number; asset?: Address; name?: string } = {}
) => {
  const message = { ...transfer, ...change }
  const signature = await payer.signTypedData({
    domain: {
      name: domain.name ?? "USDC",
      version: "2",
      chainId: domain.chainId ?? 84_532,
      verifyingContract: domain.asset ?? usdc
    },
    types: transferTypes,
    primaryType: "TransferWithAuthorization",
    message
  })
  return { signature, authorization: decimals(message) }
}

const tokenPermissions = [
  { name: "token", type: "address" },
  { name: "amount", type: "uint256" }
] as const
const permitFields = [
  { name: "permitted", type: "TokenPermissions" },
  { name: "spender", type: "address" },
  { name: "nonce", type: "uint256" },
  { name: "deadline", type: "uint256" },
  { name: "witness", type: "Witness" }
] as const
const permit2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3"

export interface Permit {
  readonly token: Address
  readonly amount: bigint
  readonly spender: Address
  readonly nonce: bigint
  readonly deadline: bigint
  readonly to: Address
  readonly facilitator: Address
  readonly validAfter: bigint
}

export const permit: Permit = {
  token: usdc,
  amount: price,
  spender: "0x402085c248EeA27D92E8b30b2C58ed07f9E20001",
  nonce: 77n,
  deadline: BigInt(seconds + 300),
  to: transfer.to,
  facilitator,
  validAfter: 0n
}
export const uptoSpender = "0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002"

/** A Permit2 payload of either scheme, signed by viem. */
export const signPermit = async (scheme: "exact" | "upto", change: Partial<Permit> = {}, chainId = 84_532) => {
  const spender = scheme === "exact" ? permit.spender : uptoSpender
  const { amount, deadline, facilitator, nonce, spender: by, to, token, validAfter } = { ...permit, spender, ...change }
  const domain = { name: "Permit2", chainId, verifyingContract: permit2 } as const
  const message = { permitted: { token, amount }, spender: by, nonce, deadline } as const
  const signature =
    scheme === "exact"
      ? await payer.signTypedData({
          domain,
          types: {
            PermitWitnessTransferFrom: permitFields,
            TokenPermissions: tokenPermissions,
            Witness: [
              { name: "to", type: "address" },
              { name: "validAfter", type: "uint256" }
            ]
          },
          primaryType: "PermitWitnessTransferFrom",
          message: { ...message, witness: { to, validAfter } }
        })
      : await payer.signTypedData({
          domain,
          types: {
            PermitWitnessTransferFrom: permitFields,
            TokenPermissions: tokenPermissions,
            Witness: [
              { name: "to", type: "address" },
              { name: "facilitator", type: "address" },
              { name: "validAfter", type: "uint256" }
            ]
          },
          primaryType: "PermitWitnessTransferFrom",
          message: { ...message, witness: { to, facilitator, validAfter } }
        })
  return {
    signature,
    permit2Authorization: {
      from: payer.address,
      permitted: { token, amount: String(amount) },
      spender: by,
      nonce: String(nonce),
      deadline: String(deadline),
      witness: { to, ...(scheme === "upto" ? { facilitator } : {}), validAfter: String(validAfter) }
    }
  }
}

/** The header of version 2 for this payload. */
export const v2 = (payload: unknown, accepted: unknown = offer("exact"), extensions?: unknown) => ({
  "payment-signature": base64({
    x402Version: 2,
    accepted,
    payload,
    ...(extensions === undefined ? {} : { extensions })
  })
})
export const v1 = (payload: unknown, network = "base-sepolia", scheme = "exact") => ({
  "x-payment": base64({ x402Version: 1, scheme, network, payload })
})
