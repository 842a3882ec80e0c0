import { Context, Effect, Layer } from "effect"
import type { Outcome, Settlement } from "#domain/ChainSettlement.ts"
import { caip2 } from "#domain/Network.ts"
import { RailUnavailable } from "#services/Rail.ts"
import * as Chain from "./Chain.ts"
import * as Contracts from "./Contracts.ts"
import * as Rpc from "./Rpc.ts"
import type { EvmOptions } from "./Options.ts"

/** Says what the chain itself knows about a settlement that somebody else was asked to make. */
export class Witness extends Context.Service<
  Witness,
  {
    /** Undefined when the chain knows nothing for certain yet. */
    testify(settlement: Settlement): Effect.Effect<Outcome | undefined, RailUnavailable>
  }
>()("turnpike/layers/RailEvm/Witness") {}

/** How far from each other blocks may be in one question for logs: what the strictest nodes answer. */
const span = 2_000n
/** How much earlier than offered an authorisation may have been signed, in seconds. */
const margin = 600n

/** Reads an EVM chain through a node of our own choice: whether an authorisation was used, and for what. */
const make = Effect.fnUntraced(function* (options: Pick<EvmOptions, "network" | "rpcUrl" | "confirmations">) {
  const { confirmations, network } = options
  const rpc = yield* Rpc.make(options.rpcUrl)
  const moveOf = yield* Contracts.make
  const chain = Chain.make(rpc, confirmations)

  const checked = Effect.filterOrFail(
    rpc.chainId,
    (found) => `eip155:${found}` === caip2[network],
    (found) =>
      new RailUnavailable({ reason: `TURNPIKE_RPC_URL is a node of chain ${found}; ${network} is ${caip2[network]}` })
  )
  const timeOf = (block: bigint) => Effect.map(rpc.blockAt(block), ({ timestamp }) => timestamp)

  /** The first block that is not older than this. */
  const blockSince = Effect.fnUntraced(function* (time: bigint, head: bigint) {
    let [low, high] = [0n, head]
    while (low < high) {
      const middle = (low + high) / 2n
      if ((yield* timeOf(middle)) < time) low = middle + 1n
      else high = middle
    }
    return low
  })

  const testify = Effect.fnUntraced(
    function* (settlement: Settlement) {
      const { amount, authorization } = settlement
      const move = authorization.network === network ? moveOf(settlement, noRelayer) : undefined
      if (move === undefined) return undefined
      yield* checked
      const head = (yield* rpc.head).number
      const final = chain.finalBlock(head)
      const why = Chain.reasons(authorization)
      if (!(yield* chain.isUsed(move, final))) {
        return (yield* timeOf(final)) >= move.validBefore
          ? ({ _tag: "Refused", reason: why.expired } as const)
          : undefined
      }
      const offered = BigInt(authorization.requirements.maxTimeoutSeconds)
      const from = yield* blockSince(move.validBefore - offered - margin, head)
      const found = yield* chain.foreignUse(
        move,
        authorization.asset,
        amount,
        from,
        from + span < head ? from + span : head
      )
      return found !== undefined && chain.isFinal(found, head)
        ? ({ _tag: "Settled", transaction: found.transactionHash } as const)
        : undefined
    },
    Effect.catchTag("RpcError", (error) => Effect.fail(Rpc.unexpected(error)))
  )
  return Witness.of({ testify })
})

export const layer = (options: Parameters<typeof make>[0]) => Layer.effect(Witness, make(options))

// Who brings it makes no difference to whether it was used.
const noRelayer = "0x0000000000000000000000000000000000000001"
