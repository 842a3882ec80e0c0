import { createHash } from "node:crypto"
import { keccak_256 } from "@noble/hashes/sha3.js"
import { Schema, SchemaTransformation } from "effect"
import { Hex } from "effect/encoding"
import { isOnCurve } from "./Edwards25519.ts"
import type { Currency } from "./Money.ts"
import type { Environment } from "./Principal.ts"

const names = ["solana-devnet", "solana-mainnet", "base-sepolia", "base-mainnet"] as const
export type NetworkName = (typeof names)[number]

/** What the x402 wire calls each network (CAIP-2). */
export const caip2 = {
  "solana-devnet": "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
  "solana-mainnet": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
  "base-sepolia": "eip155:84532",
  "base-mainnet": "eip155:8453"
} as const satisfies Record<NetworkName, string>

const spellings = {
  "solana-devnet": "solana-devnet",
  "solana-mainnet": "solana-mainnet",
  "base-sepolia": "base-sepolia",
  "base-mainnet": "base-mainnet",
  [caip2["solana-devnet"]]: "solana-devnet",
  [caip2["solana-mainnet"]]: "solana-mainnet",
  [caip2["base-sepolia"]]: "base-sepolia",
  [caip2["base-mainnet"]]: "base-mainnet"
} as const
type Spelling = keyof typeof spellings

/** Where a wallet's currency lives. CAIP-2 names are accepted and answered with our own. */
export const Network = Schema.Literals([...names, ...names.map((name) => caip2[name])])
  .pipe(
    Schema.decodeTo(
      Schema.Literals(names),
      SchemaTransformation.transform<NetworkName, Spelling>({
        decode: (spelling) => spellings[spelling],
        encode: (name) => name
      })
    )
  )
  .annotate({ identifier: "Network" })
export type Network = typeof Network.Type

/** The networks of an environment: test networks in the sandbox, main networks live. The first is the default. */
export const networksOf = (environment: Environment): readonly [Network, Network] =>
  environment === "sandbox" ? ["solana-devnet", "base-sepolia"] : ["solana-mainnet", "base-mainnet"]

/** The money that is meant where nobody names one. */
export const usualMoney = (environment: Environment) =>
  ({ currency: "USDC", network: networksOf(environment)[0] }) as const

/** A token contract or mint; `name` and `version` are what its EIP-712 signatures are bound to. */
export interface Asset {
  readonly address: string
  readonly name: string
  readonly version: string
}

const eurcMint = "HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr"
const assets = {
  USDC: {
    "solana-devnet": ["4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU", "USDC"],
    "solana-mainnet": ["EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", "USDC"],
    "base-sepolia": ["0x036CbD53842c5426634e7929541eC2318f3dCF7e", "USDC"],
    "base-mainnet": ["0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "USD Coin"]
  },
  EURC: {
    "solana-devnet": [eurcMint, "EURC"],
    "solana-mainnet": [eurcMint, "EURC"],
    "base-sepolia": ["0x808456652fdb597867f38412077A9182bf77359F", "EURC"],
    "base-mainnet": ["0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42", "EURC"]
  }
} as const satisfies Record<Currency, Record<Network, readonly [address: string, name: string]>>

/** The token that carries this currency on this network. */
export const assetOf = (network: Network, currency: Currency): Asset => {
  const [address, name] = assets[currency][network]
  return { address, name, version: "2" }
}

const isEvm = (network: Network): boolean => network.startsWith("base-")

/** The chain id that signatures for this network are bound to; undefined where there is none. */
export const chainIdOf = (network: Network): bigint | undefined =>
  isEvm(network) ? BigInt(caip2[network].slice("eip155:".length)) : undefined

/** What signatures for a token are bound to besides its address; nothing where they are bound to none of it. */
export const domainOf = (
  network: Network,
  currency: Currency
): { readonly name?: string; readonly version?: string } => {
  const { name, version } = assetOf(network, currency)
  return isEvm(network) ? { name, version } : {}
}

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
const digits = new Map([...alphabet].map((letter, index) => [letter, BigInt(index)]))

/** Bytes in base58 (Bitcoin's alphabet); every leading zero byte is a leading `1`. */
export const encodeBase58 = (bytes: Uint8Array): string => {
  let value = BigInt(`0x0${Hex.encode(bytes)}`)
  let text = ""
  while (value > 0n) {
    text = alphabet.charAt(Number(value % 58n)) + text
    value /= 58n
  }
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return "1".repeat(zeros === -1 ? bytes.length : zeros) + text
}

/** The bytes behind base58 text; undefined when a character is not of its alphabet. */
export const decodeBase58 = (text: string): Uint8Array | undefined => {
  let value = 0n
  for (const letter of text) {
    const digit = digits.get(letter)
    if (digit === undefined) return undefined
    value = value * 58n + digit
  }
  const bytes: Array<number> = []
  for (; value > 0n; value >>= 8n) bytes.push(Number(value & 255n))
  const zeros = text.length - text.replace(/^1+/, "").length
  return Uint8Array.from([...new Array<number>(zeros).fill(0), ...bytes.reverse()])
}

/** How an address of this network looks, for people. */
export const addressForm = (network: Network): string =>
  isEvm(network) ? "0x and 40 hexadecimal digits" : "32 bytes in base58"

/** An EVM address with the checksum in the case of its letters (EIP-55). */
export const checksumAddress = (address: string): string => {
  const digits = address.slice(2).toLowerCase()
  const hash = Hex.encode(keccak_256(Buffer.from(digits)))
  const letters = [...digits].map((digit, index) => ((hash[index] ?? "") >= "8" ? digit.toUpperCase() : digit))
  return `0x${letters.join("")}`
}

/** Letters of one case carry no checksum. */
const isMistyped = (address: string): boolean =>
  /[a-f]/.test(address) && /[A-F]/.test(address) && checksumAddress(address) !== address

/**
 * The one spelling under which an address is kept; undefined when it is none of this network, is the zero address, or its case says
 * that it was mistyped.
 */
export const parseAddress = (network: Network, text: string): string | undefined => {
  if (isEvm(network)) {
    return /^0x(?!0{40}$)[0-9a-f]{40}$/i.test(text) && !isMistyped(text) ? text.toLowerCase() : undefined
  }
  if (text.length > 44) return undefined
  const bytes = decodeBase58(text)
  return bytes?.length === 32 && bytes.some((byte) => byte !== 0) ? text : undefined
}

/**
 * The address a sandbox wallet gets when it names none: stands for a key that nobody needs to hold. On Solana it could be one, because
 * clients do not pay to an address that no key can have.
 */
export const sandboxAddress = (network: Network, walletId: string): string => {
  let bytes = createHash("sha256").update(`turnpike sandbox address ${walletId}`).digest()
  if (isEvm(network)) return `0x${bytes.subarray(12).toString("hex")}`
  while (!isOnCurve(bytes)) bytes = createHash("sha256").update(bytes).digest()
  return encodeBase58(bytes)
}
