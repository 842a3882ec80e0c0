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
    /** Whether its authorisation is used by now, for whatever; false where that is not on this chain. */
    isUsed(settlement: Settlement): Effect.Effect<boolean, RailUnavailable>
    /** Whether it speaks against this transaction having made the transfer by now; false where that is not on this chain. */
    contradicts(settlement: Settlement, transaction: string): Effect.Effect<boolean, RailUnavailable>
  }
>()("turnpike/layers/RailEvm/Witness") {}

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

  const moveHere = (settlement: Settlement) =>
    settlement.authorization.network === network ? moveOf(settlement) : undefined
  const testify = Effect.fnUntraced(
    function* (settlement: Settlement) {
      const { authorization } = settlement
      const move = moveHere(settlement)
      if (move === undefined) return undefined
      yield* checked
      const seen = yield* chain.testimony(move, authorization, (head) => chain.startOf(settlement, move, head))
      return seen?._tag === "Pending" ? undefined : seen
    },
    Effect.catchTag("RpcError", (error) => Effect.fail(Rpc.unexpected(error)))
  )
  const isUsed = Effect.fnUntraced(
    function* (settlement: Settlement) {
      const move = moveHere(settlement)
      if (move === undefined) return false
      yield* checked
      return yield* chain.isUsed(move)
    },
    Effect.catchTag("RpcError", (error) => Effect.fail(Rpc.unexpected(error)))
  )
  const contradicts = Effect.fnUntraced(
    function* (settlement: Settlement, transaction: string) {
      const move = moveHere(settlement)
      if (move === undefined) return false
      yield* checked
      const [used, receipt] = yield* Effect.all([chain.isUsed(move), rpc.receipt(transaction)], { concurrency: 2 })
      // A node that does not know the transaction yet, but its work, may lag behind with receipts.
      return !used || (receipt !== null && (receipt.status !== 1n || !move.mayBeIn(receipt.logs)))
    },
    Effect.catchTag("RpcError", (error) => Effect.fail(Rpc.unexpected(error)))
  )
  return Witness.of({ testify, isUsed, contradicts })
})

export const layer = (options: Parameters<typeof make>[0]) => Layer.effect(Witness, make(options))
