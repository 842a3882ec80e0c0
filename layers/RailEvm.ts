import { DateTime, Duration, Effect, Layer, Ref, Schema } from "effect"
import type { Settlement } from "#domain/ChainSettlement.ts"
import { Currency } from "#domain/Money.ts"
import { assetOf, caip2, parseAddress } from "#domain/Network.ts"
import type { Authorization } from "#domain/protocol/Authorization.ts"
import { AuthorizationRefused, type Kind, Rail, RailUnavailable } from "#services/Rail.ts"
import { monotonicMillis } from "#services/RealTime.ts"
import * as Chain from "./RailEvm/Chain.ts"
import * as Contracts from "./RailEvm/Contracts.ts"
import { chainIdOf, type EvmOptions } from "./RailEvm/Options.ts"
import * as Relayer from "./RailEvm/Relayer.ts"
import type { Waits } from "./RailEvm/Quotes.ts"
import * as Rpc from "./RailEvm/Rpc.ts"
import * as Transactions from "./RailEvm/Transactions.ts"

export { config, type EvmOptions } from "./RailEvm/Options.ts"

/** The node is on another chain than we are paid on. `message` is a sentence for the operator. */
export class WrongChain extends Schema.TaggedError<WrongChain>()("WrongChain", { message: Schema.String }) {}

/** How many seconds ago the newest block may have been while something waits for the next one. Base has one every two. */
const oldest = 60n

/** Our own rail: a key of ours brings authorisations to an EVM chain and pays the gas. */
export const make = Effect.fnUntraced(function* (options: EvmOptions) {
  const { network } = options
  const chainId = chainIdOf(network)
  const rpc = yield* Rpc.make(options.rpcUrl)
  const transactions = yield* Transactions.make(options.key, chainId)
  const moveOf = yield* Contracts.make
  const chain = Chain.make(rpc, options.confirmations)
  const { advance, quote } = Relayer.make(options, rpc, chain, transactions)

  /** Asked every time: behind one address nodes come and go, and another chain knows nothing of what was used, sent or counted on ours. */
  const onChain = Effect.gen(function* () {
    const found = yield* Effect.catchTag(rpc.chainId, "RpcError", (error) => Effect.fail(Rpc.unexpected(error)))
    if (found !== chainId) {
      return yield* new WrongChain({
        message: `TURNPIKE_RPC_URL is a node of chain ${found}; ${network} is chain ${chainId}.`
      })
    }
  })
  yield* Effect.catchTag(onChain, "RAIL_UNAVAILABLE", ({ reason }) =>
    Effect.logWarning("The node does not answer yet; nothing is settled until it does", { reason })
  )
  const ready = Effect.catchTag(onChain, "WrongChain", ({ message }) =>
    Effect.fail(new RailUnavailable({ reason: message }))
  )

  const known = new Set(Currency.literals.map((currency) => parseAddress(network, assetOf(network, currency).address)))

  const told = yield* Ref.make(Number.NEGATIVE_INFINITY)
  /** Once a minute, however many payments are turned away. */
  const tell = Effect.fnUntraced(function* ({ alerts, facts, reason }: Pick<Waits, "alerts" | "facts" | "reason">) {
    const now = yield* monotonicMillis
    const last = yield* Ref.getAndUpdate(told, (before) => (now - before >= 60_000 ? now : before))
    if (now - last < 60_000) return
    const message = `Payments are turned away: ${reason}`
    yield* alerts ? Effect.logError(`ALERT: ${message}`, facts) : Effect.logWarning(message, facts)
  })

  /** The call for it; undefined for what no contract understands, and for tokens that only look like money. */
  const moveFor = (settlement: Pick<Settlement, "amount" | "authorization">) =>
    settlement.authorization.network === network && known.has(settlement.authorization.asset)
      ? moveOf(settlement)
      : undefined

  /** Said while nothing is owed yet: a call that is served now would be paid for when that is over, or never. */
  const turnAway = Effect.fnUntraced(function* (why: Parameters<typeof tell>[0]) {
    yield* tell(why)
    return yield* new RailUnavailable({ reason: why.reason })
  })

  /**
   * While a chain stands still, or a node does, calls would be served to nobody: what it says of payers may have been so long ago, and
   * nothing gets into a block. Only what waits for one tells such a chain from one that makes a block when there is something for it.
   */
  const unlessStill = Effect.fnUntraced(function* ({ number, timestamp }: Rpc.Block) {
    const now = yield* DateTime.now
    const seconds = BigInt(Math.floor(DateTime.toEpochMillis(now) / 1000)) - timestamp
    if (seconds <= oldest) return
    const count = yield* rpc.transactionCount(transactions.relayer, "latest")
    const before = DateTime.subtractDuration(now, Duration.seconds(Number(oldest)))
    if (!(yield* transactions.waitsSince(DateTime.toDate(before), count))) return
    const facts = { block: number, seconds }
    return yield* turnAway({ reason: "the node has had no new block for too long", facts, alerts: true })
  })

  const verify = Effect.fn("RailEvm.verify")(
    function* (authorization: Authorization) {
      const { amount } = authorization
      const refuse = (reason: string) => new AuthorizationRefused({ reason })
      if (authorization.network !== network) return yield* refuse("invalid_network")
      const move = moveFor({ authorization, amount })
      if (move === undefined) return yield* refuse("invalid_payload")
      const [, obstacle, cost] = yield* Effect.all([ready, chain.obstacle(move, authorization, amount), quote(move)], {
        concurrency: 3
      })
      yield* unlessStill(cost.head)
      if (obstacle !== undefined) return yield* refuse(obstacle)
      if (cost._tag === "Reverts") return yield* refuse(Chain.reasons(authorization).simulation)
      if (cost._tag === "Waits") return yield* turnAway(cost)
    },
    Effect.catchTag("RpcError", (error) => Effect.fail(Rpc.unexpected(error)))
  )

  const settle = Effect.fn("RailEvm.settle")(function* (settlement: Settlement) {
    const move = moveFor(settlement)
    if (move === undefined) {
      const { askedBefore, authorization, transaction } = settlement
      // Another rail may have moved it: one that was used here before, and knew more networks.
      if (askedBefore || transaction !== undefined) return { _tag: "Pending", transaction } as const
      return { _tag: "Refused", reason: Chain.reasons(authorization).malformed } as const
    }
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
