import { Effect, Layer, Ref, Schema } from "effect"
import type { Settlement } from "#domain/ChainSettlement.ts"
import { assetOf, caip2, parseAddress } from "#domain/Network.ts"
import type { Authorization } from "#domain/protocol/Authorization.ts"
import { AuthorizationRefused, type Kind, Rail, RailUnavailable } from "#services/Rail.ts"
import * as Chain from "./RailEvm/Chain.ts"
import * as Contracts from "./RailEvm/Contracts.ts"
import { chainIdOf, type EvmOptions } from "./RailEvm/Options.ts"
import * as Relayer from "./RailEvm/Relayer.ts"
import * as Rpc from "./RailEvm/Rpc.ts"
import * as Transactions from "./RailEvm/Transactions.ts"

export { config, type EvmOptions } from "./RailEvm/Options.ts"

/** The node is on another chain than we are paid on. `message` is a sentence for the operator. */
export class WrongChain extends Schema.TaggedError<WrongChain>()("WrongChain", { message: Schema.String }) {}

/** Our own rail: a key of ours brings authorisations to an EVM chain and pays the gas. */
export const make = Effect.fnUntraced(function* (options: EvmOptions) {
  const { network } = options
  const chainId = chainIdOf(network)
  const rpc = yield* Rpc.make(options.rpcUrl)
  const transactions = yield* Transactions.make(options.key, chainId)
  const moveOf = yield* Contracts.make
  const chain = Chain.make(rpc, options.confirmations)
  const advance = Relayer.make(options, rpc, chain, transactions)

  const checked = yield* Ref.make(false)
  /** Nothing is signed before the node was seen on the right chain. */
  const onChain = Effect.gen(function* () {
    if (yield* Ref.get(checked)) return
    const found = yield* Effect.catchTag(rpc.chainId, "RpcError", (error) => Effect.fail(Rpc.unexpected(error)))
    if (found !== chainId) {
      return yield* new WrongChain({
        message: `TURNPIKE_RPC_URL is a node of chain ${found}; ${network} is chain ${chainId}.`
      })
    }
    yield* Ref.set(checked, true)
  })
  yield* Effect.catchTag(onChain, "RAIL_UNAVAILABLE", ({ reason }) =>
    Effect.logWarning("The node does not answer yet; nothing is settled until it does", { reason })
  )
  const ready = Effect.catchTag(onChain, "WrongChain", ({ message }) =>
    Effect.fail(new RailUnavailable({ reason: message }))
  )

  const known = new Set(
    (["USDC", "EURC"] as const).map((currency) => parseAddress(network, assetOf(network, currency).address))
  )

  /** The call for it; undefined for what no contract understands, and for tokens that only look like money. */
  const moveFor = (settlement: Pick<Settlement, "amount" | "authorization">) =>
    settlement.authorization.network === network && known.has(settlement.authorization.asset)
      ? moveOf(settlement, transactions.relayer)
      : undefined

  const verify = Effect.fn("RailEvm.verify")(
    function* (authorization: Authorization) {
      const { amount } = authorization
      const refuse = (reason: string) => new AuthorizationRefused({ reason })
      if (authorization.network !== network) return yield* refuse("invalid_network")
      const move = moveFor({ authorization, amount })
      if (move === undefined) return yield* refuse("invalid_payload")
      yield* ready
      const [obstacle, gas] = yield* Effect.all(
        [
          chain.obstacle(move, authorization, amount),
          chain.estimateGas({ from: transactions.relayer, to: move.to, data: move.data })
        ],
        { concurrency: 2 }
      )
      if (obstacle !== undefined) return yield* refuse(obstacle)
      if (gas === false) return yield* refuse(Chain.reasons(authorization).simulation)
    },
    Effect.catchTag("RpcError", (error) => Effect.fail(Rpc.unexpected(error)))
  )

  const settle = Effect.fn("RailEvm.settle")(function* (settlement: Settlement) {
    const move = moveFor(settlement)
    // Nothing was ever sent for it.
    if (move === undefined)
      return { _tag: "Refused", reason: Chain.reasons(settlement.authorization).malformed } as const
    yield* ready
    return yield* advance(settlement, move)
  })

  const kinds: ReadonlyArray<Kind> = [
    { network, scheme: "exact", extra: {} },
    { network, scheme: "upto", extra: { facilitatorAddress: transactions.relayer } }
  ]
  yield* Effect.logInfo("Settlements go through our own relayer", {
    relayer: transactions.relayer,
    chain: caip2[network]
  })
  return Rail.of({ kinds: Effect.succeed(kinds), verify, settle, status: settle })
})

export const layer = (options: EvmOptions) => Layer.effect(Rail, make(options))
