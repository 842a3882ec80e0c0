import { isText, textOr } from "./Encoding.ts"
/** A token with 6 decimals. `name` and `version` are what its EIP-712 signatures are bound to. */
export interface Asset {
  /** CAIP-2, such as `eip155:8453`. */
  readonly network: string
  readonly address: string
  readonly currency: string
  readonly name: string
  readonly version: string
}

/** What each known network is called; x402 calls it by its CAIP-2 name. */
const names: { readonly [caip2: string]: string } = {
  "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1": "solana-devnet",
  "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": "solana-mainnet",
  "eip155:84532": "base-sepolia",
  "eip155:8453": "base-mainnet"
}

export const knownNetworks: ReadonlyArray<string> = Object.values(names)
export const knownCurrencies: ReadonlyArray<string> = ["USDC", "EURC"]

/** Our name of a network where there is one. */
export const networkName = (network: string): string =>
  textOr(names[network], network === "base" ? "base-mainnet" : network)

const asset = (chain: number, currency: string, address: string, name = currency): Asset => ({
  network: `eip155:${chain}`,
  address,
  currency,
  name,
  version: "2"
})

/** The tokens a local key pays with unless others are allowed. */
export const knownAssets: ReadonlyArray<Asset> = [
  asset(84532, "USDC", "0x036CbD53842c5426634e7929541eC2318f3dCF7e"),
  asset(8453, "USDC", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "USD Coin"),
  asset(84532, "EURC", "0x808456652fdb597867f38412077A9182bf77359F"),
  asset(8453, "EURC", "0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42")
]

/** EURC of Solana, where only wallets pay. */
const eurcMint = "HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr"

/** The currency that a token seems to be. Where it is another the Turnpike refuses: a wallet pays only what it was told of. */
export const currencyOf = (address: string): string =>
  knownAssets.find((known) => sameAddress(known.address, address))?.currency ?? (address === eurcMint ? "EURC" : "USDC")

export const isAddress = (text: unknown): text is `0x${string}` => isText(text) && /^0x[0-9a-fA-F]{40}$/.test(text)

export const sameAddress = (left: string, right: string): boolean => left.toLowerCase() === right.toLowerCase()
