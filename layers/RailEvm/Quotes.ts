import { Effect } from "effect"
import type { RailUnavailable } from "#services/Rail.ts"
import type { Chain } from "./Chain.ts"
import type { Move } from "./Contracts.ts"
import type { EvmOptions } from "./Options.ts"
import type { Block, Rpc, RpcError } from "./Rpc.ts"
import type { Fees } from "./Transactions.ts"

export interface Waits {
  readonly _tag: "Waits"
  readonly reason: string
  readonly facts: object
  readonly alerts: boolean
}
/** A call that can be paid for now, one that has to wait and why, or one that the contract refuses. */
type Quote = { readonly head: Block } & (
  | { readonly _tag: "Affordable"; readonly gas: bigint; readonly fees: Fees }
  | Waits
  | { readonly _tag: "Reverts" }
)

/** What calls cost, and whether the relayer can and may pay that. */
export const make = (options: EvmOptions, rpc: Rpc, chain: Chain, relayer: string) => {
  /** What the next block costs and a bit more; undefined when that is above the cap. */
  const feesFor = (baseFee: bigint, tip: bigint): Fees | undefined => {
    if (baseFee + tip > options.maxFee) return undefined
    const wanted = 2n * baseFee + tip
    return { tip, maxFee: wanted < options.maxFee ? wanted : options.maxFee }
  }
  // Not every node has a word on tips; a thousandth of a gwei is what these networks see.
  const tip = Effect.catchTag(rpc.tip, "RpcError", () => Effect.succeed(1_000_000n))

  /** What a call would cost now. */
  const quote = Effect.fnUntraced(function* ({ data, to }: Move): Effect.fn.Return<Quote, RpcError | RailUnavailable> {
    const [head, estimate, bid, balance] = yield* Effect.all(
      [rpc.head, chain.estimateGas({ from: relayer, to, data }), tip, rpc.balance(relayer)],
      { concurrency: 4 }
    )
    if (estimate === false) return { _tag: "Reverts", head }
    const gas = (estimate * 13n) / 10n
    const waits = (reason: string, facts: object, alerts = false): Quote => ({
      _tag: "Waits",
      head,
      reason,
      facts,
      alerts
    })
    if (gas > options.maxGas) return waits("it needs more gas than allowed", { gas })
    const fees = feesFor(head.baseFeePerGas ?? 0n, bid)
    if (fees === undefined) return waits("gas costs more than allowed", { baseFee: head.baseFeePerGas, tip: bid })
    if (balance < gas * fees.maxFee) return waits("the relayer has no gas", { balance }, true)
    return { _tag: "Affordable", gas, fees, head }
  })

  const feesNow = Effect.gen(function* () {
    const [head, bid] = yield* Effect.all([rpc.head, tip], { concurrency: 2 })
    return feesFor(head.baseFeePerGas ?? 0n, bid)
  })

  return { feesNow, quote }
}
