import { Config, Duration, Redacted } from "effect"
import { caip2, type Network } from "#domain/Network.ts"
import * as DurationSetting from "../DurationSetting.ts"
import * as Setting from "../Setting.ts"

/** Our own relayer: which chain through which node, with which key, and how far it goes. */
export interface EvmOptions {
  readonly network: Extract<Network, `base-${string}`>
  readonly rpcUrl: Redacted.Redacted
  readonly key: Redacted.Redacted
  /** Blocks, the one with the transaction among them, until what happened is final. */
  readonly confirmations: number
  /** Wei per gas; what would cost more waits. */
  readonly maxFee: bigint
  readonly maxGas: bigint
  /** How long a transaction waits before it is sent again for a higher fee. */
  readonly stuckAfter: Duration.Duration
}

/** The number of the chain that a node must be on. */
export const chainIdOf = (network: EvmOptions["network"]): bigint => BigInt(caip2[network].slice("eip155:".length))

/** How many keys secp256k1 has, and one. */
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const key = Setting.understood(
  "TURNPIKE_RELAYER_KEY",
  "a private key of secp256k1 in 64 hexadecimal digits",
  (text) => {
    const [, digits] = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text) ?? []
    const number = digits === undefined ? 0n : BigInt(`0x${digits}`)
    return number > 0n && number < order ? Redacted.make(text) : undefined
  }
)

/** What it takes to read a chain: `TURNPIKE_RPC_URL`, and if wanted `TURNPIKE_EVM_NETWORK` and `TURNPIKE_CONFIRMATIONS`. */
const reading = {
  network: Setting.word("TURNPIKE_EVM_NETWORK", ["base-mainnet", "base-sepolia"]).pipe(
    Config.withDefault("base-mainnet" as const)
  ),
  rpcUrl: Config.Redacted("TURNPIKE_RPC_URL"),
  confirmations: Setting.whole("TURNPIKE_CONFIRMATIONS", 1, 1000).pipe(Config.withDefault(2))
}
export const readingConfig = Config.all(reading)

/**
 * `TURNPIKE_RPC_URL` and `TURNPIKE_RELAYER_KEY`, and if wanted `TURNPIKE_EVM_NETWORK`, `TURNPIKE_CONFIRMATIONS`,
 * `TURNPIKE_MAX_FEE_GWEI` and `TURNPIKE_MAX_GAS`.
 */
export const config: Config.Config<EvmOptions> = Config.all({
  ...reading,
  key,
  maxFee: Setting.understood("TURNPIKE_MAX_FEE_GWEI", "a number from 0.001 to 10000", (text) =>
    /^\d+(?:\.\d+)?$/.test(text) && Number(text) >= 0.001 && Number(text) <= 10_000 ? Number(text) : undefined
  ).pipe(
    Config.withDefault(1),
    Config.map((gwei) => BigInt(Math.round(gwei * 1e9)))
  ),
  maxGas: Setting.whole("TURNPIKE_MAX_GAS", 21_000, 10_000_000).pipe(Config.withDefault(300_000), Config.map(BigInt)),
  stuckAfter: DurationSetting.duration("TURNPIKE_STUCK_AFTER").pipe(Config.withDefault(Duration.seconds(30)))
})
