import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import type { Outcome, Settlement } from "#domain/ChainSettlement.ts"
import { AnswerTooLarge } from "#layers/Rail/JsonHttp.ts"
import * as Chain from "#layers/RailEvm/Chain.ts"
import * as Contracts from "#layers/RailEvm/Contracts.ts"
import * as Rpc from "#layers/RailEvm/Rpc.ts"
import { PublicHttp } from "#services/PublicHttp.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { answering } from "./Answering.ts"
import * as PlayedNode from "./PlayedNode.ts"
import { permitted, settlement } from "./RailFacilitatorHarness.ts"

const { topics, transferred, use } = PlayedNode
const stranger = `0x${"77".repeat(20)}`
const transaction = `0x${"aa".repeat(32)}`
const settled = (log: number): Outcome => ({ _tag: "Settled", transaction, log })
const used: Outcome = { _tag: "Refused", reason: "invalid_exact_evm_nonce_already_used" }
const large = new AnswerTooLarge({ reason: "" })

/** A node that knows receipts only as something larger than is read, and what the chain on it says of a used authorisation. */
const looking = Effect.fnUntraced(function* (wanted: Settlement) {
  const node = PlayedNode.make(100n)
  const move = (yield* Contracts.make)(wanted)
  if (move === undefined) return yield* Effect.die("it is no call of a contract")
  const chain = Chain.make({ ...node.rpc, receipt: () => Effect.fail(large) }, 2)
  node.chain.usedFrom = 50n
  const all = { from: 0n, likely: 0n }
  const found = Effect.suspend(() => chain.afterUse(move, wanted.authorization, all, node.chain.head, node.chain.head))
  return { ...node, move, found }
})

describe("a transaction that wrote more than is read of its receipt", () => {
  it.effect("settles a signed transfer by what it wrote about that, and by nothing else", () =>
    Effect.gen(function* () {
      const wanted = settlement()
      const { authorization: one } = wanted
      for (const [logs, outcome] of [
        [[transferred(one), use(one), transferred(one)], settled(6)],
        [[use(one), transferred(one, 10_000n, stranger), transferred(one)], used],
        [[use(one), transferred(one, 9_999n), transferred(one)], used],
        [[use(one, topics.canceled), transferred(one)], used],
        [[use(one), { ...transferred(one), address: stranger }, transferred(one)], undefined]
      ] as const) {
        const { found, mine } = yield* looking(wanted)
        mine(transaction, { block: 60n, first: 4n, logs })
        // In the same block, and of somebody else.
        mine(`0x${"bb".repeat(32)}`, { block: 60n, first: 5n, logs: [transferred(one), transferred(one)] })
        assert.deepStrictEqual(yield* found, outcome)
      }
    })
  )

  it.effect("settles a permit when it is the call as it was signed", () =>
    Effect.gen(function* () {
      const wanted = permitted()
      const { found, mine, move } = yield* looking(wanted)
      mine(transaction, { block: 60n, to: move.to, input: move.data, logs: [transferred(wanted.authorization)] })
      assert.deepStrictEqual(yield* found, settled(0))
    })
  )

  it.effect("counts when it is deep enough, in a block that the chain still has", () =>
    Effect.gen(function* () {
      const wanted = settlement()
      const { chain, found, mine } = yield* looking(wanted)
      mine(transaction, { block: 101n, logs: [use(wanted.authorization), transferred(wanted.authorization)] })
      assert.deepStrictEqual(yield* found, { _tag: "Pending", transaction })
      Object.assign(chain, { head: 102n, fork: 1n })
      assert.deepStrictEqual(yield* found, { _tag: "Pending", transaction })
      chain.fork = 0n
      assert.deepStrictEqual(yield* found, settled(1))
    })
  )

  it.effect("is told from a node that gives no answer", () =>
    Effect.gen(function* () {
      for (const [body, tooLarge] of [
        ["x".repeat(20_000), true],
        ["cut", false]
      ] as const) {
        const { host } = yield* answering([{ body }])
        const policy = Effect.map(PublicHttpPolicy, (usual) => ({ ...usual, allowHosts: [host], bodyBytes: 10_000 }))
        const http = yield* Layer.build(
          Layer.fresh(PublicHttp.layer).pipe(Layer.provide(Layer.effect(PublicHttpPolicy, policy)))
        )
        const rpc = yield* Effect.provideService(
          Rpc.make(Redacted.make(`http://${host}/`)),
          PublicHttp,
          Context.get(http, PublicHttp)
        )
        const error = yield* Effect.flip(rpc.receipt(transaction))
        assert.strictEqual(error._tag, "RAIL_UNAVAILABLE")
        assert.strictEqual(error instanceof AnswerTooLarge, tooLarge)
      }
    })
  )
})
