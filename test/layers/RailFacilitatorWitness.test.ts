import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Outcome } from "#domain/ChainSettlement.ts"
import { Witness } from "#layers/RailEvm/Witness.ts"
import { RailUnavailable } from "#services/Rail.ts"
import { authorization } from "../services/ChainSettlementsHarness.ts"
import { facilitator, settlement } from "./RailFacilitatorHarness.ts"

const transaction = `0x${"ab".repeat(32)}`
const settled = { success: true, transaction, network: "eip155:84532", payer: authorization().payer }
const unknown: Outcome = { _tag: "Pending", transaction: undefined }

describe("a facilitator whose word is not clear", () => {
  const used = { success: false, errorReason: "invalid_exact_evm_nonce_already_used", transaction: "" }
  const unasked = Effect.die("nobody asks for that")
  const nobody = { testify: () => unasked, isUsed: () => unasked, contradicts: () => unasked }
  const saying = (testimony: Effect.Effect<Outcome | undefined, RailUnavailable>) =>
    Layer.succeed(Witness, { ...nobody, testify: () => testimony })
  const away = Effect.fail(new RailUnavailable({ reason: "the node is away" }))

  it.effect("is not asked again when the chain knows what became of the money", () =>
    Effect.gen(function* () {
      const seen: Outcome = { _tag: "Settled", transaction }
      const { questions, rail } = yield* facilitator([{ body: used }], saying(Effect.succeed(seen)))
      assert.deepStrictEqual(yield* rail.settle(settlement({ askedBefore: true })), seen)
      assert.strictEqual(questions.length, 0)
    })
  )

  it.effect("has settled what it says, unless the chain speaks against it: then nothing is known", () =>
    Effect.gen(function* () {
      for (const [contradicts, outcome] of [
        [Effect.succeed(false), { _tag: "Settled", transaction }],
        [away, { _tag: "Settled", transaction }],
        [Effect.succeed(true), unknown]
      ] as const) {
        const witness = Layer.succeed(Witness, { ...nobody, contradicts: () => contradicts })
        const { rail } = yield* facilitator([{ body: settled }], witness)
        assert.deepStrictEqual(yield* rail.settle(settlement()), outcome)
      }
    })
  )

  it.effect("refuses nothing that is used on the chain by then", () =>
    Effect.gen(function* () {
      const reason = "invalid_exact_evm_transaction_simulation_failed"
      const body = { success: false, errorReason: reason, transaction: "" }
      const refused: Outcome = { _tag: "Refused", reason }
      for (const [isUsed, outcome] of [
        [Effect.succeed(true), unknown],
        [Effect.succeed(false), refused],
        [away, refused]
      ] as const) {
        const witness = Layer.succeed(Witness, { ...nobody, isUsed: () => isUsed })
        const { rail } = yield* facilitator([{ body }], witness)
        assert.deepStrictEqual(yield* rail.settle(settlement()), outcome)
      }
    })
  )

  it.effect("is asked again when the chain knows nothing, or cannot be read", () =>
    Effect.gen(function* () {
      for (const testimony of [Effect.undefined, away]) {
        const { questions, rail } = yield* facilitator([{ body: used }], saying(testimony))
        assert.deepStrictEqual(yield* rail.settle(settlement({ askedBefore: true })), unknown)
        assert.strictEqual(questions.length, 1)
      }
    })
  )
})
