import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { createServer } from "node:http"
import { parseTransaction } from "viem"
import type { Outcome } from "#domain/ChainSettlement.ts"
import * as Postgres from "#layers/Postgres.ts"
import * as RailEvm from "#layers/RailEvm.ts"
import { PublicHttp } from "#services/PublicHttp.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { listening } from "./Listening.ts"
import * as PlayedNode from "./PlayedNode.ts"
import { keyOf, options, relayerOn, transactionOf } from "./RailEvmHarness.ts"
import { settlement } from "./RailFacilitatorHarness.ts"

layer(Layer.merge(Postgres.layerTest, PublicHttp.layer), { timeout: "60 seconds" })("the relayer", (it) => {
  it.effect("takes nonces that were left out, so that what comes after them gets into a block", () =>
    Effect.gen(function* () {
      const node = PlayedNode.make(100n)
      const { address, ask, of } = yield* relayerOn(node, "8")
      const wanted = settlement()
      node.chain.counts[address] = 7n
      const own = transactionOf(yield* ask(wanted))
      // The node had counted two too many.
      node.chain.counts[address] = 5n
      const later = { ...wanted, transaction: own, askedBefore: true }
      const sent = () => node.raws.splice(0).map((raw) => parseTransaction(raw))
      sent()
      yield* ask(later)
      assert.deepStrictEqual(
        sent().map(({ nonce }) => nonce),
        [7],
        "somebody else's may be on its way"
      )
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(yield* ask(later), { _tag: "Pending", transaction: own })
      assert.deepStrictEqual(
        sent()
          .map(({ data = "0x", gas, nonce, to, value = 0n }) => `${nonce} ${to} ${data} ${value} ${gas}`)
          .slice(0, 2),
        [`5 ${address} 0x 0 21000`, `6 ${address} 0x 0 21000`]
      )
      node.chain.counts[address] = 7n
      const raised = transactionOf(yield* ask(later))
      assert.notStrictEqual(raised, own)
      assert.deepStrictEqual(
        sent().map(({ nonce }) => nonce),
        [7]
      )
      assert.strictEqual((yield* of(wanted.id)).length, 2, "what takes a nonce belongs to no settlement")
    })
  )

  it.effect("with another key looks after what the one before it signed, and signs nothing in its place", () =>
    Effect.gen(function* () {
      const node = PlayedNode.make(100n)
      const before = yield* relayerOn(node, "9")
      const after = yield* relayerOn(node, "a")
      for (const count of [0n, 5n]) {
        Object.assign(node.chain.counts, { [before.address]: 0n, [after.address]: count })
        const wanted = settlement()
        const own = transactionOf(yield* before.ask(wanted))
        const later = { ...wanted, transaction: own, askedBefore: true }
        yield* TestClock.adjust("2 minutes")
        for (let look = 0; look < 2; look++) {
          assert.deepStrictEqual(yield* after.ask(later), { _tag: "Pending", transaction: own })
        }
        assert.deepStrictEqual(
          (yield* after.of(wanted.id)).map(({ hash }) => hash),
          [own]
        )
        assert.isUndefined(yield* after.at(0n))
      }
    })
  )

  it.effect("signs nothing under a nonce that a node makes up", () =>
    Effect.gen(function* () {
      const node = PlayedNode.make(100n)
      const { address, ask, at } = yield* relayerOn(node, "b")
      const count = (counted: bigint) => Object.assign(node.chain.counts, { [address]: counted })
      const nothing: Outcome = { _tag: "Pending", transaction: undefined }
      count(2n ** 40n)
      assert.deepStrictEqual(yield* ask(settlement()), nothing)
      count(70_000n)
      transactionOf(yield* ask(settlement()))
      count(71_002n)
      assert.deepStrictEqual(yield* ask(settlement()), nothing)
      count(71_001n)
      assert.strictEqual((yield* at(71_001n))?.hash, undefined)
      const own = transactionOf(yield* ask(settlement()))
      assert.strictEqual((yield* at(71_001n))?.hash, own)
    })
  )

  it.effect("goes on after a restore of older books when the operator deletes what it counted", () =>
    Effect.gen(function* () {
      const node = PlayedNode.make(100n)
      const { address, ask, at } = yield* relayerOn(node, "1")
      const count = (counted: bigint) => Object.assign(node.chain.counts, { [address]: counted })
      transactionOf(yield* ask(settlement()))
      count(5_000n)
      const waiting = settlement()
      const nothing: Outcome = { _tag: "Pending", transaction: undefined }
      assert.deepStrictEqual(yield* ask(waiting), nothing)
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM chain_relayers WHERE address = ${address}`
      const own = transactionOf(yield* ask(waiting))
      assert.strictEqual((yield* at(5_000n))?.hash, own)
    })
  )

  it.effect("takes a receipt for the end only while its block is part of the chain", () =>
    Effect.gen(function* () {
      const node = PlayedNode.make(100n)
      const { ask } = yield* relayerOn(node, "c")
      const wanted = settlement()
      const own = transactionOf(yield* ask(wanted))
      const later = { ...wanted, transaction: own, askedBefore: true }
      const { authorization: one } = wanted
      node.mine(own, { block: 101n, to: one.asset, logs: [PlayedNode.use(one), PlayedNode.transferred(one)] })
      Object.assign(node.chain, { head: 110n, fork: 1n, usedFrom: 101n })
      assert.deepStrictEqual(yield* ask(later), { _tag: "Pending", transaction: own })
      node.chain.fork = 0n
      assert.deepStrictEqual(yield* ask(later), { _tag: "Settled", transaction: own, log: 1 })
    })
  )

  it.effect("takes no receipt for the end of a node that is behind, on a branch that the others left", () =>
    Effect.gen(function* () {
      const node = PlayedNode.make(100n)
      let behind = 101n
      const blockAt = (at: bigint) =>
        Effect.suspend(() => {
          node.chain.fork = at > behind ? 0n : 1n
          return node.rpc.blockAt(at)
        })
      const { ask } = yield* relayerOn({ ...node, rpc: { ...node.rpc, blockAt } }, "7")
      const wanted = settlement()
      const own = transactionOf(yield* ask(wanted))
      const later = { ...wanted, transaction: own, askedBefore: true }
      const { authorization: one } = wanted
      node.chain.fork = 1n
      node.mine(own, { block: 101n, to: one.asset, logs: [PlayedNode.use(one), PlayedNode.transferred(one)] })
      node.chain.head = 106n
      assert.deepStrictEqual(yield* ask(later), { _tag: "Pending", transaction: own })
      behind = 106n
      assert.deepStrictEqual(yield* ask(later), { _tag: "Settled", transaction: own, log: 1 })
    })
  )

  it.effect("asks nothing more of a node that came to be on another chain", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      let result = "0x14a34"
      const server = createServer((request, response) => {
        request.setEncoding("utf8").on("data", (body: string) => {
          const { id, method } = JSON.parse(body)
          asked.push(method)
          response.end(JSON.stringify({ jsonrpc: "2.0", id, result }))
        })
      })
      const host = yield* listening(server)
      const policy = Effect.map(PublicHttpPolicy, (usual) => ({ ...usual, allowHosts: [host] }))
      const http = Layer.fresh(PublicHttp.layer).pipe(Layer.provide(Layer.effect(PublicHttpPolicy, policy)))
      const its = yield* Layer.build(http)
      const rail = yield* RailEvm.make({
        ...options,
        rpcUrl: Redacted.make(`http://${host}/`),
        key: keyOf("d")
      }).pipe(Effect.provide(its))
      result = "0x2105"
      const { reason } = yield* Effect.flip(rail.settle(settlement()))
      assert.include(reason, "chain 8453")
      assert.deepStrictEqual(asked, ["eth_chainId", "eth_chainId"])
    })
  )
})
