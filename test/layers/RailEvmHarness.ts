import { assert } from "@effect/vitest"
import { Duration, Effect, Redacted } from "effect"
import type { Outcome, Settlement } from "#domain/ChainSettlement.ts"
import * as Chain from "#layers/RailEvm/Chain.ts"
import * as Contracts from "#layers/RailEvm/Contracts.ts"
import * as Relayer from "#layers/RailEvm/Relayer.ts"
import * as Transactions from "#layers/RailEvm/Transactions.ts"
import type * as PlayedNode from "./PlayedNode.ts"

export const options = {
  network: "base-sepolia",
  rpcUrl: Redacted.make("http://127.0.0.1:9"),
  confirmations: 2,
  maxFee: 10n ** 10n,
  maxGas: 300_000n,
  stuckAfter: Duration.minutes(1)
} as const
export const keyOf = (digit: string) => Redacted.make(`0x${digit.repeat(64)}`)

/** A relayer with this key on a node. */
export const relayerOn = Effect.fnUntraced(function* (node: ReturnType<typeof PlayedNode.make>, digit: string) {
  const key = keyOf(digit)
  const moveOf = yield* Contracts.make
  const transactions = yield* Transactions.make(key, 84_532n)
  const chain = Chain.make(node.rpc, options.confirmations)
  const { advance } = Relayer.make({ ...options, key }, node.rpc, chain, transactions)
  const ask = Effect.fnUntraced(function* (wanted: Settlement) {
    const move = moveOf(wanted)
    return move === undefined ? yield* Effect.die("it is no call of a contract") : yield* advance(wanted, move)
  })
  const { at, of, relayer } = transactions
  return { ask, at, of, address: relayer }
})

/** What was sent for a settlement that waits. */
export const transactionOf = (outcome: Outcome): string =>
  outcome._tag === "Pending" && outcome.transaction !== undefined
    ? outcome.transaction
    : assert.fail("nothing was sent")
