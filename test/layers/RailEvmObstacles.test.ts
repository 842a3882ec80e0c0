import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Settlement } from "#domain/ChainSettlement.ts"
import * as Chain from "#layers/RailEvm/Chain.ts"
import * as Contracts from "#layers/RailEvm/Contracts.ts"
import * as PlayedNode from "./PlayedNode.ts"
import { options } from "./RailEvmHarness.ts"
import { permitted, settlement } from "./RailFacilitatorHarness.ts"

/** What speaks against a payment on a chain that has just enough of everything, but for this. */
const obstacleOf = Effect.fnUntraced(function* (
  wanted: Settlement,
  changed: Partial<ReturnType<typeof PlayedNode.make>["chain"]> = {}
) {
  const node = PlayedNode.make(149n)
  const { amount, authorization } = wanted
  Object.assign(node.chain, { balance: amount, allowance: amount, ...changed })
  const move = (yield* Contracts.make)(wanted)
  if (move === undefined) return yield* Effect.die("it is no call of a contract")
  return yield* Chain.make(node.rpc, options.confirmations).obstacle(move, authorization, amount)
})

describe("what speaks against a payment", () => {
  it.effect("is nothing when there is just enough of everything", () =>
    Effect.gen(function* () {
      for (const wanted of [settlement(), permitted()]) assert.isUndefined(yield* obstacleOf(wanted))
      assert.isUndefined(yield* obstacleOf(permitted(), { head: 150n }), "a permit's last second is in it")
    })
  )

  it.effect("is that it ended, then that it was used, then that there is no money or no leave to take it", () =>
    Effect.gen(function* () {
      const short = { balance: 9_999n }
      const used = { ...short, usedFrom: 0n }
      const ended = { ...used, head: 151n }
      const told = [
        [settlement(), short, "insufficient_funds"],
        [settlement(), used, "invalid_exact_evm_nonce_already_used"],
        [settlement(), { ...ended, head: 150n }, "invalid_exact_evm_payload_authorization_valid_before"],
        [permitted(), { allowance: 9_999n }, "permit2_allowance_required"],
        [permitted(), { ...short, allowance: 0n }, "insufficient_funds"],
        [permitted(), used, "permit2_invalid_nonce"],
        [permitted(), ended, "permit2_deadline_expired"]
      ] as const
      for (const [wanted, changed, reason] of told) assert.strictEqual(yield* obstacleOf(wanted, changed), reason)
    })
  )
})

describe("the call of a settlement", () => {
  it.effect("by a permit is used when its own bit is, of the word that its nonce is in", () =>
    Effect.gen(function* () {
      const move = (yield* Contracts.make)(permitted({}, { nonce: String(3 * 256 + 7) }))
      if (move === undefined) return yield* Effect.die("it is no call of a contract")
      assert.strictEqual(BigInt(`0x${move.used.data.slice(-64)}`), 3n)
      assert.isTrue(move.isUsed("0x80"))
      for (const others of ["0x0", "0x7f", "0x100"] as const) assert.isFalse(move.isUsed(others))
      const last = (yield* Contracts.make)(permitted({}, { nonce: "255" }))
      assert.isTrue(last?.isUsed(`0x8${"0".repeat(63)}`))
      assert.isFalse(last?.isUsed(`0x7${"f".repeat(63)}`))
    })
  )

  it.effect("is for what was signed: exactly that, or at most that where so much was offered", () =>
    Effect.gen(function* () {
      const moveOf = yield* Contracts.make
      const areCalls = (wanted: Settlement) =>
        [9_999n, 10_000n, 10_001n].map((amount) => moveOf({ ...wanted, amount }) !== undefined)
      for (const exact of [settlement(), permitted()]) assert.deepStrictEqual(areCalls(exact), [false, true, false])
      const upTo = ({ authorization, ...wanted }: Settlement) =>
        areCalls({ ...wanted, authorization: { ...authorization, scheme: "upto" } })
      assert.deepStrictEqual(upTo(permitted({}, { facilitator: `0x${"77".repeat(20)}` })), [true, true, false])
      for (const wanted of [permitted(), settlement()]) assert.notInclude(upTo(wanted), true, "nobody can bring it")
    })
  )
})
