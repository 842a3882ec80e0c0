import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { parseTransaction } from "viem"
import * as Postgres from "#layers/Postgres.ts"
import * as PlayedNode from "./PlayedNode.ts"
import { relayerOn, transactionOf } from "./RailEvmHarness.ts"
import { settlement } from "./RailFacilitatorHarness.ts"

layer(Postgres.layerTest, { timeout: "60 seconds" })("who looks after a transaction that waits too long", (it) => {
  /** So many transactions of one relayer that wait, under the nonces from 0 on, and a look at the settlement of the last. */
  const waiting = Effect.fnUntraced(function* (digit: string, count: number) {
    const node = PlayedNode.make(100n)
    const { ask } = yield* relayerOn(node, digit)
    const wanted = yield* Effect.forEach(Array.from({ length: count }), () =>
      Effect.gen(function* () {
        const one = settlement()
        return { ...one, transaction: transactionOf(yield* ask(one)), askedBefore: true }
      })
    )
    const last = wanted.at(-1)
    if (last === undefined) return yield* Effect.die("nothing waits")
    const first = node.raws.splice(0)
    yield* TestClock.adjust("2 minutes")
    yield* ask(last)
    return { first, again: node.raws }
  })

  it.effect("pays more for the next of the relayer only: those after it are brought back as they were", () =>
    Effect.gen(function* () {
      const { again, first } = yield* waiting("1", 3)
      assert.deepStrictEqual(again.slice(1), first.slice(1))
      const [before, after] = [first, again].map(([raw]) => parseTransaction(raw ?? "0x"))
      assert.strictEqual(after?.nonce, before?.nonce)
      assert.isAbove(Number(after?.maxFeePerGas), Number(before?.maxFeePerGas))
    })
  )

  it.effect("pays still more when that waits too long as well", () =>
    Effect.gen(function* () {
      const node = PlayedNode.make(100n)
      const { ask } = yield* relayerOn(node, "4")
      const wanted = settlement()
      const later = { ...wanted, transaction: transactionOf(yield* ask(wanted)), askedBefore: true }
      for (let time = 0; time < 2; time++) {
        yield* TestClock.adjust("2 minutes")
        yield* ask(later)
      }
      const fees = node.raws.map((raw) => Number(parseTransaction(raw).maxFeePerGas))
      assert.deepStrictEqual(
        fees.map((fee, place) => fee > (fees[place - 1] ?? 0)),
        [true, true, true]
      )
    })
  )

  it.effect("looks after eight of those before it at most", () =>
    Effect.gen(function* () {
      const { again } = yield* waiting("2", 11)
      assert.deepStrictEqual(
        again.map((raw) => parseTransaction(raw).nonce ?? 0),
        [0, 1, 2, 3, 4, 5, 6, 7, 10]
      )
    })
  )

  it.effect("brings it back to a node that does not know it, and to no other", () =>
    Effect.gen(function* () {
      const node = PlayedNode.make(100n)
      const { ask, of } = yield* relayerOn(node, "3")
      const wanted = settlement()
      const later = { ...wanted, transaction: transactionOf(yield* ask(wanted)), askedBefore: true }
      const sent = node.raws.splice(0)
      yield* ask(later)
      assert.deepStrictEqual(node.raws, sent)
      const waits = Effect.succeed({ to: wanted.authorization.asset, input: "0x", blockNumber: null })
      const knowing = yield* relayerOn({ ...node, rpc: { ...node.rpc, transaction: () => waits } }, "3")
      yield* knowing.ask(later)
      assert.deepStrictEqual(node.raws, sent)
      assert.lengthOf(yield* of(wanted.id), 1)
    })
  )
})
