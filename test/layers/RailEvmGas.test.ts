import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { parseTransaction } from "viem"
import type { Outcome } from "#domain/ChainSettlement.ts"
import * as Postgres from "#layers/Postgres.ts"
import * as PlayedNode from "./PlayedNode.ts"
import { options, relayerOn } from "./RailEvmHarness.ts"
import { settlement } from "./RailFacilitatorHarness.ts"

const nothing: Outcome = { _tag: "Pending", transaction: undefined }
const { maxFee } = options
/** What a call takes here, with what is added to be sure, and what its gas costs at most. */
const [gas, fee] = [104_000n, 2_001_000n]

layer(Postgres.layerTest, { timeout: "60 seconds" })("the gas of a settlement", (it) => {
  const sentBy = Effect.fnUntraced(function* (
    digit: string,
    chain: Partial<ReturnType<typeof PlayedNode.make>["chain"]>
  ) {
    const node = PlayedNode.make(100n)
    Object.assign(node.chain, chain)
    const outcome = yield* (yield* relayerOn(node, digit)).ask(settlement())
    return { outcome, sent: node.raws.map((raw) => parseTransaction(raw)) }
  })

  it.effect("is what a call takes and a bit more, for the fee of the next block but never above the cap", () =>
    Effect.gen(function* () {
      for (const [baseFee, wanted] of [
        [1_000_000n, fee],
        [maxFee / 2n, maxFee],
        [maxFee - 1_000n, maxFee]
      ] as const) {
        const [sent] = (yield* sentBy("1", { baseFee })).sent
        assert.deepInclude(sent, { gas, maxFeePerGas: wanted, maxPriorityFeePerGas: 1_000n })
      }
    })
  )

  it.effect("waits, and nothing is signed, while it is more than allowed, or more than the relayer has", () =>
    Effect.gen(function* () {
      for (const chain of [{ estimate: 230_770n }, { baseFee: maxFee - 999n }, { gas: gas * fee - 1n }]) {
        assert.deepStrictEqual(yield* sentBy("2", chain), { outcome: nothing, sent: [] })
      }
      for (const chain of [{ estimate: 230_769n }, { gas: gas * fee }]) {
        assert.lengthOf((yield* sentBy("2", chain)).sent, 1)
      }
    })
  )

  it.effect(
    "of a call that the contract refuses is none: what is new is refused, what may have been brought is not",
    () =>
      Effect.gen(function* () {
        const node = PlayedNode.make(100n)
        node.chain.refusal = { code: 3, message: "execution reverted" }
        const { ask } = yield* relayerOn(node, "3")
        const reason = "invalid_exact_evm_transaction_simulation_failed"
        assert.deepStrictEqual(yield* ask(settlement()), { _tag: "Refused", reason })
        assert.deepStrictEqual(yield* ask(settlement({ askedBefore: true })), nothing)
        node.chain.refusal = { code: -32_000, message: "header not found" }
        const { _tag } = yield* Effect.flip(ask(settlement()))
        assert.strictEqual(_tag, "RAIL_UNAVAILABLE", "the contract was not asked")
        assert.deepStrictEqual(node.raws, [])
      })
  )
})
