import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Postgres from "#layers/Postgres.ts"
import * as PlayedNode from "./PlayedNode.ts"
import { relayerOn, transactionOf } from "./RailEvmHarness.ts"
import { settlement } from "./RailFacilitatorHarness.ts"

layer(Postgres.layerTest, { timeout: "60 seconds" })("a transaction of the relayer", (it) => {
  it.effect("that failed refuses its settlement, unless the authorisation was used just now", () =>
    Effect.gen(function* () {
      const node = PlayedNode.make(100n)
      const { ask } = yield* relayerOn(node, "4")
      const wanted = settlement()
      const own = transactionOf(yield* ask(wanted))
      const later = { ...wanted, transaction: own, askedBefore: true }
      node.mine(own, { block: 105n, status: 0n })
      Object.assign(node.chain, { head: 120n, usedFrom: 120n })
      assert.deepStrictEqual(yield* ask(later), { _tag: "Pending", transaction: own })
      node.chain.usedFrom = undefined
      const reason = "invalid_exact_evm_transaction_failed"
      assert.deepStrictEqual(yield* ask(later), { _tag: "Refused", reason })
    })
  )

  it.effect(
    "whose authorisation is used refuses nothing, however long its time is over and whatever a node shows",
    () =>
      Effect.gen(function* () {
        const node = PlayedNode.make(100n)
        const { ask } = yield* relayerOn(node, "5")
        const wanted = settlement()
        const own = transactionOf(yield* ask(wanted))
        Object.assign(node.chain, { head: 1_000n, usedFrom: 101n, knowsReceipts: false, knowsLogs: false })
        const later = { ...wanted, transaction: own, askedBefore: true }
        assert.deepStrictEqual(yield* ask(later), { _tag: "Pending", transaction: own })
      })
  )

  it.effect("is given up when something else used its nonce for good, and not before", () =>
    Effect.gen(function* () {
      const node = PlayedNode.make(100n)
      const { address, ask, of } = yield* relayerOn(node, "6")
      const wanted = settlement()
      node.chain.counts[address] = 0n
      const own = transactionOf(yield* ask(wanted))
      const later = { ...wanted, transaction: own, askedBefore: true }
      node.chain.newest[address] = 1n
      assert.deepStrictEqual(yield* ask(later), { _tag: "Pending", transaction: own })
      assert.lengthOf(yield* of(wanted.id), 1, "the block may be replaced")
      node.chain.counts[address] = 1n
      assert.deepStrictEqual(yield* ask(later), { _tag: "Pending", transaction: own })
      assert.lengthOf(yield* of(wanted.id), 0)
      node.chain.balance = 0n
      const nothing = { _tag: "Pending", transaction: undefined } as const
      assert.deepStrictEqual(yield* ask(wanted), nothing, "it may have got to the chain all the same")
    })
  )

  it.effect("is not given up when its receipt comes between two looks", () =>
    Effect.gen(function* () {
      const node = PlayedNode.make(100n)
      let looks = 0
      const receipt: typeof node.rpc.receipt = (hash) =>
        Effect.suspend(() => (looks++ === 0 ? Effect.succeed(null) : node.rpc.receipt(hash)))
      const { ask } = yield* relayerOn({ ...node, rpc: { ...node.rpc, receipt } }, "e")
      const wanted = settlement()
      const own = transactionOf(yield* ask(wanted))
      const later = { ...wanted, transaction: own, askedBefore: true }
      const { authorization: one } = wanted
      node.mine(own, { block: 101n, to: one.asset, logs: [PlayedNode.use(one), PlayedNode.transferred(one)] })
      node.chain.head = 110n
      assert.deepStrictEqual(yield* ask(later), { _tag: "Pending", transaction: own })
      assert.deepStrictEqual(yield* ask(later), { _tag: "Settled", transaction: own, log: 1 })
    })
  )
})
