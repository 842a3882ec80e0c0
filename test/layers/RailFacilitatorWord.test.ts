import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import type { Outcome } from "#domain/ChainSettlement.ts"
import { judge } from "#layers/RailFacilitator.ts"
import { authorization } from "../services/ChainSettlementsHarness.ts"
import { facilitator, settlement } from "./RailFacilitatorHarness.ts"

const transaction = `0x${"ab".repeat(32)}`
const settled = { success: true, transaction, network: "eip155:84532", payer: authorization().payer }
const pending: Outcome = { _tag: "Pending", transaction }
const unknown: Outcome = { _tag: "Pending", transaction: undefined }

it("a facilitator's word counts by whichever published name it calls the network, and for no other", () => {
  const real = settlement({ authorization: authorization({ network: "base-mainnet" }) })
  const { network: _, ...unnamed } = settled
  for (const network of ["eip155:8453", "base", "base-mainnet", null]) {
    assert.deepStrictEqual(judge(real, 200, { ...unnamed, network }), { _tag: "Settled", transaction })
  }
  for (const network of ["eip155:84532", "base-sepolia", "solana", ""]) {
    assert.deepStrictEqual(judge(real, 200, { ...unnamed, network }), unknown)
  }
})

describe("a facilitator's success", () => {
  it("is none with an error, of another amount, or without a transaction, and what is known of it is kept", () => {
    assert.deepStrictEqual(judge(settlement(), 400, settled), pending)
    assert.deepStrictEqual(judge(settlement(), 200, { ...settled, amount: "9999" }), pending)
    assert.deepStrictEqual(judge(settlement({ transaction }), 200, { ...settled, transaction: "" }), pending)
  })

  it("counts however its facilitator writes addresses, numbers and hashes", () => {
    const payer = `0x${"ab".repeat(20)}`
    const paid = settlement({ authorization: authorization({ payer }) })
    const said = (changed: object) => judge(paid, 200, { ...settled, payer, ...changed })
    for (const spelling of [`0x${"AB".repeat(20)}`, `0x${"Ab".repeat(20)}`, "", null]) {
      assert.deepStrictEqual(said({ payer: spelling }), { _tag: "Settled", transaction })
    }
    assert.deepStrictEqual(said({ payer: `0x${"cd".repeat(20)}` }), unknown)
    const bare = transaction.slice(2)
    assert.deepStrictEqual(said({ transaction: bare }), { _tag: "Settled", transaction })
    assert.deepStrictEqual(said({ transaction: bare, success: false }), pending)
    assert.deepStrictEqual(said({ amount: 10_000 }), { _tag: "Settled", transaction })
    assert.deepStrictEqual(said({ amount: 9_999 }), pending)
  })

  it("on Solana names a signature, and no other text", () => {
    const onSolana = settlement({ authorization: authorization({ network: "solana-devnet" }) })
    const answer = { success: true, network: "solana-devnet" }
    for (const length of [64, 88]) {
      const signature = "5".repeat(length)
      assert.strictEqual(judge(onSolana, 200, { ...answer, transaction: signature })._tag, "Settled")
    }
    for (const text of ["5", "5".repeat(63), "5".repeat(89), "0".repeat(64)]) {
      assert.deepStrictEqual(judge(onSolana, 200, { ...answer, transaction: text }), unknown)
    }
  })
})

describe("a facilitator's refusal", () => {
  const refusal = (errorReason: string, rest: object = {}) => ({
    success: false,
    errorReason,
    transaction: "",
    ...rest
  })

  for (const reason of [
    "insufficient_funds",
    "invalid_exact_evm_signature",
    "invalid_exact_evm_insufficient_balance",
    "invalid_exact_evm_transaction_simulation_failed",
    "permit2_allowance_required",
    "unsupported_scheme"
  ]) {
    it(`${reason} is final when nothing was asked before`, () => {
      assert.deepStrictEqual(judge(settlement(), 200, refusal(reason)), { _tag: "Refused", reason })
    })
    it(`${reason} says nothing about an earlier time, nor beside a transaction`, () => {
      assert.deepStrictEqual(judge(settlement(), 200, refusal(reason, { transaction: "0x1234" })), unknown)
      assert.deepStrictEqual(judge(settlement({ askedBefore: true }), 200, refusal(reason)), unknown)
      assert.deepStrictEqual(judge(settlement(), 200, refusal(reason, { transaction })), pending)
      assert.deepStrictEqual(judge(settlement({ askedBefore: true, transaction }), 200, refusal(reason)), pending)
    })
  }

  for (const reason of [
    "settlement_pending",
    "unexpected_settle_error",
    "invalid_transaction_state",
    "invalid_exact_evm_transaction_failed",
    "invalid_exact_evm_transfer_event_mismatch",
    "duplicate_settlement",
    "invalid_exact_evm_nonce_already_used",
    "permit2_invalid_nonce",
    "permit2_simulation_failed",
    "invalid_exact_evm_failed_to_execute_transfer",
    "invalid_exact_evm_failed_to_get_receipt",
    "invalid_exact_solana_transaction_confirmation_failed",
    "invalid_exact_svm_transaction_confirmation_timed_out",
    "invalid_exact_svm_transaction_failed",
    "erc20_approval_broadcast_failed",
    "permit2_settlement_timeout",
    "upto_failed_to_send_transaction",
    "invalid_reason_of_tomorrow",
    "a_reason_of_tomorrow"
  ]) {
    it(`${reason} may come after it was sent, so it is not final`, () => {
      assert.deepStrictEqual(judge(settlement(), 200, refusal(reason)), unknown)
    })
  }
})

describe("whoever runs the server", () => {
  const logged = Effect.fnUntraced(function* <A, E, R>(work: Effect.Effect<A, E, R>) {
    const lines: Array<string> = []
    yield* Effect.provide(work, Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))]))
    return lines.join("\n")
  })

  it.effect("is told why a facilitator's answer decided nothing", () =>
    Effect.gen(function* () {
      for (const [answer, clue] of [
        [{ status: 401, body: { error: "unauthorized" } }, /"status":401/],
        [{ status: 502, body: "<html>Bad Gateway</html>" }, /"status":502/],
        [{ body: { success: false, errorReason: "Out of gas!", transaction: "" } }, /"reason":"Out of gas!"/]
      ] as const) {
        const { rail } = yield* facilitator([answer])
        const wanted = settlement()
        const said = yield* logged(rail.settle(wanted))
        assert.match(said, clue)
        assert.include(said, wanted.id)
      }
      const { rail } = yield* facilitator([{ body: settled }])
      assert.strictEqual(yield* logged(rail.settle(settlement())), "")
    })
  )

  it.effect("is told what a facilitator says that refuses in other words than those of x402", () =>
    Effect.gen(function* () {
      const { rail } = yield* facilitator([{ body: { isValid: false, invalidReason: "Key has expired." } }])
      assert.match(yield* logged(Effect.flip(rail.verify(authorization()))), /"reason":"Key has expired\."/)
    })
  )

  it.effect("is told with which status a facilitator answered something else", () =>
    Effect.gen(function* () {
      const { rail } = yield* facilitator([{ status: 401, body: { error: "unauthorized" } }])
      const { reason } = yield* Effect.flip(rail.verify(authorization()))
      assert.include(reason, "401")
    })
  )
})
