import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Outcome } from "#domain/ChainSettlement.ts"
import * as Chain from "#layers/RailEvm/Chain.ts"
import * as Contracts from "#layers/RailEvm/Contracts.ts"
import * as Uses from "#layers/RailEvm/Uses.ts"
import * as PlayedNode from "./PlayedNode.ts"
import { permitted, settlement } from "./RailFacilitatorHarness.ts"

const transaction = `0x${"aa".repeat(32)}`

/** What the chain says of a permit that was used at this block, where its payer made as many transfers like it as are read, and more. */
const saidOf = Effect.fnUntraced(function* (at: bigint, others: { readonly from: bigint; readonly to: bigint }) {
  const node = PlayedNode.make(2_000n)
  // At two seconds a block it was asked for at the thousandth, and may have been signed long before.
  const wanted = permitted({ since: new Date(2_000_000) })
  const move = (yield* Contracts.make)(wanted)
  if (move === undefined) return yield* Effect.die("it is no call of a contract")
  const logs = [PlayedNode.transferred(wanted.authorization)]
  for (let block = others.from; block <= others.to; block++) {
    node.mine(`0x${String(block).padStart(64, "0")}`, { block, logs })
  }
  node.mine(transaction, { block: at, to: move.to, input: move.data, logs })
  node.chain.usedFrom = at
  const chain = Chain.make(node.rpc, 2)
  return yield* chain.testimony(move, wanted.authorization, (head) => chain.startOf(wanted, move, head))
})
const found: Outcome = { _tag: "Settled", transaction, log: 0 }

describe("a permit of a payer who calls all the time", () => {
  it.effect("is found although hundreds of transfers came before it was asked to be settled", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* saidOf(1_002n, { from: 700n, to: 1_001n }), found)
    })
  )

  it.effect("is found where clocks differ, a bit before it was asked to be settled", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* saidOf(998n, { from: 690n, to: 997n }), found)
    })
  )
})

describe("a permit whose payer cancelled others", () => {
  it.effect("was not cancelled, whatever used it", () =>
    Effect.gen(function* () {
      const wanted = permitted()
      const { authorization: one } = wanted
      const move = (yield* Contracts.make)(wanted)
      if (move === undefined) return yield* Effect.die("it is no call of a contract")
      for (const [word, mask] of [
        [1n, 1n << 7n],
        [0n, 1n << 8n]
      ] as const) {
        const node = PlayedNode.make(100n)
        node.mine(transaction, { block: 60n, logs: [PlayedNode.invalidated(one, word, mask)] })
        node.chain.usedFrom = 60n
        const chain = Chain.make(node.rpc, 2)
        assert.isUndefined(yield* chain.testimony(move, one, () => Effect.succeed({ from: 0n, likely: 0n })))
      }
    })
  )
})

describe("a transaction that uses several authorisations of one payer", () => {
  it.effect("settles each by its own transfer, whatever became of the others", () =>
    Effect.gen(function* () {
      const node = PlayedNode.make(100n)
      const wanted = settlement()
      const { authorization: one } = wanted
      const other = { ...one, nonce: `0x${"ee".repeat(32)}` }
      const move = (yield* Contracts.make)(wanted)
      if (move === undefined) return yield* Effect.die("it is no call of a contract")
      const { canceled, used } = PlayedNode.topics
      const { transferred, use } = PlayedNode
      node.mine(transaction, {
        block: 60n,
        logs: [use(other, canceled), use(other, used), transferred(one, 9_999n), use(one), transferred(one)]
      })
      node.chain.usedFrom = 60n
      const chain = Chain.make(node.rpc, 2)
      const said = yield* chain.testimony(move, one, () => Effect.succeed({ from: 0n, likely: 0n }))
      assert.deepStrictEqual(said, { ...found, log: 4 })
    })
  )
})

describe("a node that looks for logs in few blocks at once", () => {
  it.effect("is asked for fewer until it answers, and shows what was used soon after it was asked to be settled", () =>
    Effect.gen(function* () {
      const wanted = settlement({ since: new Date(2_000_000) })
      const { authorization: one } = wanted
      const move = (yield* Contracts.make)(wanted)
      if (move === undefined) return yield* Effect.die("it is no call of a contract")
      const node = PlayedNode.make(9_000n)
      const chain = Chain.make(node.rpc, 2)
      const said = chain.testimony(move, one, (head) => chain.startOf(wanted, move, head))
      node.mine(transaction, { block: 1_030n, logs: [PlayedNode.use(one), PlayedNode.transferred(one)] })
      node.chain.usedFrom = 1_030n
      for (const widest of [500n, 10n, 5n]) {
        node.chain.widest = widest
        assert.deepStrictEqual(yield* said, { ...found, log: 1 }, `${widest} blocks at once`)
      }
      node.chain.widest = 0n
      assert.strictEqual((yield* Effect.flip(said))._tag, "RpcError", "one that never answers is asked no more")
    })
  )
})

describe("the blocks in which a use is looked for", () => {
  it("are those from the likeliest on, then those before it, the nearest first, and none of them twice", () => {
    assert.deepStrictEqual(Uses.spansFrom({ from: 0n, likely: 3_000n }, 5_500n), {
      spans: [
        [3_000n, 4_999n],
        [5_000n, 5_500n],
        [2_000n, 2_999n],
        [0n, 1_999n]
      ],
      whole: true
    })
    assert.deepStrictEqual(Uses.spansFrom({ from: 10n, likely: 90n }, 50n).spans, [
      [50n, 50n],
      [10n, 49n]
    ])
    assert.deepStrictEqual(Uses.spansFrom({ from: 10n, likely: 5n }, 50n).spans, [[10n, 50n]])
    assert.deepStrictEqual(Uses.spansFrom({ from: 10n, likely: 90n }, 9n).spans, [])
    assert.isFalse(Uses.spansFrom({ from: 0n, likely: 900_000n }, 900_001n).whole)
  })
})
