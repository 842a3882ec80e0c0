import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Outcome } from "#domain/ChainSettlement.ts"
import { RpcError } from "#layers/RailEvm/Rpc.ts"
import * as Postgres from "#layers/Postgres.ts"
import * as PlayedNode from "./PlayedNode.ts"
import { relayerOn } from "./RailEvmHarness.ts"
import { settlement, skipping } from "./RailFacilitatorHarness.ts"

const unknown: Outcome = { _tag: "Pending", transaction: undefined }
const poor: Outcome = { _tag: "Refused", reason: "insufficient_funds" }
const failing: Outcome = { _tag: "Refused", reason: "invalid_exact_evm_transaction_simulation_failed" }

layer(Postgres.layerTest, { timeout: "60 seconds" })("a payment that a node speaks against", (it) => {
  it.effect("is not refused for what was so before it was asked to be settled: that node may be behind", () =>
    Effect.gen(function* () {
      const node = PlayedNode.make(100n)
      const { ask } = yield* relayerOn(
        {
          ...node,
          rpc: {
            ...node.rpc,
            call: (call, at) => {
              node.chain.balance = at === "latest" || at === undefined ? 0n : 1_000_000n
              return node.rpc.call(call, at)
            }
          }
        },
        "1"
      )
      assert.deepStrictEqual(yield* ask(settlement({ since: new Date(200_000) })), unknown)
      assert.deepStrictEqual(node.raws, [])
    })
  )

  it.effect("is not refused for what fails after an old block, and is for what fails after a new one", () =>
    Effect.gen(function* () {
      const node = PlayedNode.make(100n)
      const refusal = new RpcError({ code: 3, message: "execution reverted", data: undefined })
      for (const [fails, outcome] of [
        [["latest"], unknown],
        [["latest", 100n], failing]
      ] as const) {
        const estimateGas = (_: unknown, at: bigint | "latest" = "latest") =>
          fails.some((block) => block === at) ? Effect.fail(refusal) : Effect.succeed(80_000n)
        const { ask } = yield* relayerOn({ ...node, rpc: { ...node.rpc, estimateGas } }, "2")
        assert.deepStrictEqual(yield* ask(settlement({ since: new Date(200_000) })), outcome)
      }
    })
  )

  it.effect("is refused when a block that came since says the same", () =>
    Effect.gen(function* () {
      const node = PlayedNode.make(100n)
      node.chain.balance = 0n
      const { ask } = yield* relayerOn(node, "3")
      assert.deepStrictEqual(yield* ask(settlement({ since: new Date(200_999) })), poor)
    })
  )

  it.effect("waits for such a block, and is refused without when none comes for ten seconds", () =>
    Effect.gen(function* () {
      const node = PlayedNode.make(100n)
      node.chain.balance = 0n
      let heads = 0
      const head = Effect.suspend(() => {
        heads++
        return node.rpc.head
      })
      const { ask } = yield* relayerOn({ ...node, rpc: { ...node.rpc, head } }, "4")
      const first = heads
      assert.deepStrictEqual(yield* skipping("1 second")(ask(settlement({ since: new Date(201_000) }))), poor)
      assert.strictEqual(heads - first, 12)
    })
  )
})
