import { Effect, Schedule } from "effect"
import type { Outcome, Settlement } from "#domain/ChainSettlement.ts"
import type { Authorization } from "#domain/protocol/Authorization.ts"
import { RailUnavailable } from "#services/Rail.ts"
import type { Move, View } from "./Contracts.ts"
import { type Call, isRevert, isSame, type Receipt, type Rpc, type RpcError, unexpected } from "./Rpc.ts"
import * as Uses from "./Uses.ts"

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
    failed: `invalid_${scheme}_evm_transaction_failed`
  }
}

/** How many of a node's answers are waited for at once. */
const atOnce = 8
/** How many blocks upon each other are read at most to see that they are one chain. No branch that was left is as long. */
const mostLinks = 32

/**
 * How many blocks ago the state is that we ask for at most. Nodes that are no archives know that of the last 128, and some blocks pass
 * between our questions.
 */
const recent = 64n

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
  /**
   * Whether it is deep enough, in a block that the chain still has: a receipt and the head can come from before and after blocks were
   * replaced, or from two nodes. One of them may be behind, on a branch that the others left, so the blocks upon it are read, too: each
   * names the one before.
   */
  const isFinal = Effect.fnUntraced(function* ({ blockHash, blockNumber }: Receipt, head: bigint) {
    if (blockNumber > finalBlock(head)) return false
    const numbers = Array.from(
      { length: Math.min(confirmations, mostLinks) },
      (_, index) => blockNumber + BigInt(index)
    )
    const blocks = yield* Effect.forEach(numbers, rpc.blockAt, { concurrency: atOnce })
    return blocks.every(({ hash, parentHash }, index) => {
      const below = blocks[index - 1]
      return below === undefined ? isSame(hash, blockHash) : isSame(parentHash, below.hash)
    })
  })
  /**
   * The block whose state stands for that of the final one: a later one where that is too long ago for nodes that are no archives. What
   * is used stays used, so what is unused there was unused before; a use found there may not be final yet, which its block tells.
   */
  const stateBlock = (head: bigint): bigint => {
    const final = finalBlock(head)
    return final + recent < head ? head - recent : final
  }

  /** Why this would not go through now, or after that block; undefined when nothing speaks against it. */
  const obstacle = Effect.fnUntraced(function* (
    move: Move,
    authorization: Authorization,
    amount: bigint,
    at: bigint | "latest" = "latest"
  ) {
    const why = reasons(authorization)
    const [head, used, balance, allowance] = yield* Effect.all(
      [
        at === "latest" ? rpc.head : rpc.blockAt(at),
        isUsed(move, at),
        view(move.balance, at),
        move.allowance === undefined ? Effect.undefined : view(move.allowance, at)
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
  const estimateGas = (call: Call, at: bigint | "latest" = "latest") => unlessReverted(rpc.estimateGas(call, at))
  /** The newest block when it is not older than this, in seconds; waited for some seconds, and undefined after these. */
  const headSince = (time: bigint) =>
    rpc.head.pipe(
      Effect.repeat({ schedule: Schedule.spaced("1 second"), times: 10, until: ({ timestamp }) => timestamp >= time }),
      Effect.map((head) => (head.timestamp >= time ? head : undefined))
    )

  const timeOf = (block: bigint) => Effect.map(rpc.blockAt(block), ({ timestamp }) => timestamp)
  /** The first block up to the head that is not older than this; none before `first`. */
  const blockSince = Effect.fnUntraced(function* (time: bigint, head: bigint, first = 0n) {
    let [low, high] = [first, head]
    while (low < high) {
      const middle = (low + high) / 2n
      if ((yield* timeOf(middle)) < time) low = middle + 1n
      else high = middle
    }
    return low
  })
  /** From where on it may have been used for this settlement, by whomever. */
  const startOf = Effect.fnUntraced(function* (
    settlement: Pick<Settlement, "authorization" | "since">,
    move: Move,
    head: bigint
  ) {
    const from = yield* blockSince(searchedSince(settlement, move), head)
    return { from, likely: yield* blockSince(askedAt(settlement), head, from) } satisfies Uses.Start
  })

  const useOf = Uses.make(rpc)

  /** What became of a used authorisation, as far as these blocks prove it. */
  const afterUse = Effect.fnUntraced(function* (
    move: Move,
    authorization: Authorization,
    start: Uses.Start,
    to: bigint,
    head: bigint
  ): Effect.fn.Return<Outcome | undefined, RpcError | RailUnavailable> {
    const found = yield* useOf(move, start, to)
    if (found === undefined) return undefined
    const { log, moved, receipt } = found
    if (!(yield* isFinal(receipt, head)))
      return moved ? { _tag: "Pending", transaction: receipt.transactionHash } : undefined
    if (!moved) return { _tag: "Refused", reason: reasons(authorization).used }
    return { _tag: "Settled", transaction: receipt.transactionHash, ...(log === undefined ? {} : { log: Number(log) }) }
  })

  /** The same of what is used by now, where no use before that time counts: such a one was for something else. */
  const usedSince = Effect.fnUntraced(function* (move: Move, authorization: Authorization, time: bigint, head: bigint) {
    const from = yield* blockSince(time, head)
    const seen = yield* afterUse(move, authorization, { from, likely: from }, head, head)
    if (seen !== undefined) return seen
    const before = [from - 1n, head - recent, 0n].reduce((latest, block) => (block > latest ? block : latest))
    const unusedThen = from > 0n && !(yield* isUsed(move, before))
    return unusedThen ? undefined : ({ _tag: "Refused", reason: reasons(authorization).used } satisfies Outcome)
  })

  /**
   * What the chain itself says of an authorisation that anybody may have brought since then: that its transfer is made, that it was
   * used otherwise, or that it ended unused. Undefined while none of these is certain.
   */
  const testimony = Effect.fnUntraced(function* (
    move: Move,
    authorization: Authorization,
    startAt: (head: bigint) => Effect.Effect<Uses.Start, RpcError | RailUnavailable>
  ) {
    const { number: head } = yield* rpc.head
    const final = finalBlock(head)
    const [used, time] = yield* Effect.all([isUsed(move, stateBlock(head)), timeOf(final)], { concurrency: 2 })
    if (used) return yield* afterUse(move, authorization, yield* startAt(head), head, head)
    return time >= move.validBefore
      ? ({ _tag: "Refused", reason: reasons(authorization).expired } satisfies Outcome)
      : undefined
  })

  return {
    isUsed,
    finalBlock,
    stateBlock,
    isFinal,
    obstacle,
    estimateGas,
    headSince,
    startOf,
    afterUse,
    usedSince,
    testimony
  }
}
export type Chain = ReturnType<typeof make>

/** How much earlier than offered an authorisation may have been signed, and how far apart clocks may be, in seconds. */
const margin = 600n

/** Seconds since 1970 at which it was first asked to settle this. */
export const askedAt = ({ since }: Pick<Settlement, "since">): bigint => BigInt(Math.floor(since.getTime() / 1000))

/** Seconds since 1970 from which on an authorisation may have been used for its settlement, however long it is valid. */
export const searchedSince = (
  settlement: Pick<Settlement, "authorization" | "since">,
  { validBefore }: Pick<Move, "validBefore">
): bigint => {
  const asked = askedAt(settlement) - margin
  const signed = validBefore - BigInt(Math.floor(settlement.authorization.requirements.maxTimeoutSeconds)) - margin
  return asked < signed ? asked : signed
}
