import { Effect } from "effect"
import type { Authorization } from "#domain/protocol/Authorization.ts"
import { RailUnavailable } from "#services/Rail.ts"
import type { Move, View } from "./Contracts.ts"
import { type Call, isRevert, type Receipt, type Rpc, type RpcError, unexpected } from "./Rpc.ts"

/** What x402 calls the ways in which an authorisation does not go through. */
export const reasons = ({ method, scheme }: Pick<Authorization, "method" | "scheme">) => {
  const eip3009 = method === "eip3009"
  return {
    malformed: "invalid_payload",
    used: eip3009 ? "invalid_exact_evm_nonce_already_used" : "permit2_invalid_nonce",
    expired: eip3009 ? "invalid_exact_evm_payload_authorization_valid_before" : "permit2_deadline_expired",
    allowance: "permit2_allowance_required",
    funds: "insufficient_funds",
    simulation: eip3009 ? "invalid_exact_evm_transaction_simulation_failed" : "permit2_simulation_failed",
    failed: `invalid_${scheme}_evm_transaction_failed`,
    mismatch: `invalid_${scheme}_evm_transfer_event_mismatch`
  }
}

/** What the chain says about money and authorisations. */
export const make = (rpc: Rpc, confirmations: number) => {
  const view = ({ data, to }: View, at: bigint | "latest" = "latest") =>
    Effect.filterOrFail(
      rpc.call({ to, data }, at),
      (answer) => answer.length > 2,
      () => new RailUnavailable({ reason: `there is no contract at ${to}` })
    )
  const isUsed = (move: Move, at: bigint | "latest" = "latest") =>
    Effect.map(view(move.used, at), (answer) => move.isUsed(answer))

  /** The last block that is final for us. */
  const finalBlock = (head: bigint): bigint => {
    const block = head - BigInt(confirmations) + 1n
    return block > 0n ? block : 0n
  }
  const isFinal = ({ blockNumber }: Receipt, head: bigint): boolean => blockNumber <= finalBlock(head)

  /** Why this would not go through now; undefined when nothing speaks against it. */
  const obstacle = Effect.fnUntraced(function* (move: Move, authorization: Authorization, amount: bigint) {
    const why = reasons(authorization)
    const [head, used, balance, allowance] = yield* Effect.all(
      [
        rpc.head,
        isUsed(move),
        view(move.balance),
        move.allowance === undefined ? Effect.undefined : view(move.allowance)
      ],
      { concurrency: 4 }
    )
    if (head.timestamp >= move.validBefore) return why.expired
    if (used) return why.used
    if (BigInt(balance) < amount) return why.funds
    if (allowance !== undefined && BigInt(allowance) < amount) return why.allowance
    return undefined
  })

  /** What the contract makes of the call; a refusal of the contract is `false`. */
  const unlessReverted = <A>(answer: Effect.Effect<A, RpcError | RailUnavailable>) =>
    Effect.catchTag(answer, "RpcError", (error) =>
      isRevert(error) ? Effect.succeed(false as const) : Effect.fail(unexpected(error))
    )
  const estimateGas = (call: Call) => unlessReverted(rpc.estimateGas(call))

  /** The transaction of somebody else that used this authorisation for the same transfer, between these blocks. */
  const foreignUse = Effect.fnUntraced(function* (move: Move, asset: string, amount: bigint, from: bigint, to: bigint) {
    const logs = yield* rpc.logs({ address: asset, topics: move.useTopics, from, to })
    for (const hash of new Set(logs.slice(0, 50).flatMap(({ transactionHash }) => transactionHash ?? []))) {
      const [transaction, receipt] = yield* Effect.all([rpc.transaction(hash), rpc.receipt(hash)], { concurrency: 2 })
      const ours = transaction?.input.toLowerCase().includes(signatureBytes(move)) === true
      if (receipt?.status === 1n && ours && move.moved(receipt.logs, amount)) return receipt
    }
    return undefined
  })

  return { isUsed, finalBlock, isFinal, obstacle, estimateGas, foreignUse }
}
export type Chain = ReturnType<typeof make>

/** `r` and `s` stand in the call data in this order whichever way the signature was written. */
const signatureBytes = ({ signature }: Move): string => signature.slice(2, 130).toLowerCase()
