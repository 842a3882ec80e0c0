import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Facilitation } from "#domain/protocol/Facilitation.ts"
import { Wallets } from "#services/Wallets.ts"
import { nonce, now, payer, signTransfer, stranger } from "../domain/protocol/Payers.ts"
import { ask, fair, funds, paid, posted, requirementsOf, theirs, platform } from "./FacilitatorHarness.ts"

layer(platform, { timeout: "60 seconds", excludeTestServices: true })("what the facilitator refuses", (it) => {
  it.effect("says why it takes nothing: the payer's money, the receiver", () =>
    Effect.gen(function* () {
      const { facilitator, seller } = yield* fair
      const { id, principal } = yield* theirs
      const before = yield* posted(id)
      const reasons = Effect.fnUntraced(function* (payment: Facilitation) {
        const [verified, settled] = [yield* facilitator.verify(payment), yield* facilitator.settle(payment, undefined)]
        assert.deepStrictEqual([verified.isValid, settled.success, settled.transaction], [false, false, ""])
        assert.strictEqual(verified.invalidReason, settled.errorReason)
        return settled.errorReason
      })
      const dear = ask(
        yield* Effect.promise(() => signTransfer({ to: seller.address, nonce: nonce("dear"), value: funds + 1n })),
        requirementsOf(seller.address, { amount: String(funds + 1n) })
      )
      assert.strictEqual(yield* reasons(dear), "insufficient_funds")
      assert.strictEqual(yield* reasons(yield* paid(stranger.address, "no wallet")), "invalid_payment_requirements")
      assert.strictEqual(yield* reasons(yield* paid(payer.address, "to itself")), "invalid_payment_requirements")
      const wallets = yield* Wallets
      yield* wallets.freeze(principal, id, "held")
      assert.strictEqual(yield* reasons(yield* paid(seller.address, "frozen")), "wallet_frozen")
      yield* wallets.unfreeze(principal, id)
      assert.strictEqual(yield* posted(id), before)
    })
  )

  type Change = readonly [reason: string, requirements: object, payload?: object, more?: object]
  const changes: ReadonlyArray<Change> = [
    ["unsupported_scheme", { scheme: "batch-settlement" }],
    ["unsupported_scheme", { scheme: 1 }],
    ["invalid_network", { network: "eip155:8453" }],
    ["invalid_network", { network: "base-sepolia" }],
    ["invalid_network", { network: ["eip155:84532"] }],
    ["invalid_scheme", {}, {}, { accepted: requirementsOf(stranger.address, { scheme: "upto" }) }],
    ["invalid_network", {}, {}, { accepted: requirementsOf(stranger.address, { network: "eip155:1" }) }],
    ["invalid_payload", {}, {}, { accepted: 1 }],
    ["invalid_payload", {}, {}, { payload: "x" }],
    ["invalid_payload", {}, { authorization: { from: "0x1" } }],
    ["invalid_x402_version", {}, {}, { x402Version: 1 }],
    ["invalid_payment_requirements", { amount: "-1" }],
    ["invalid_payment_requirements", { amount: "0" }],
    ["invalid_payment_requirements", { amount: 10_000 }],
    ["invalid_payment_requirements", { amount: "9223372036854775808" }],
    ["invalid_payment_requirements", { asset: stranger.address }],
    ["invalid_payment_requirements", { asset: null }],
    ["invalid_payment_requirements", { payTo: "0x0000000000000000000000000000000000000000" }],
    ["invalid_payment_requirements", { payTo: "me" }],
    ["invalid_payment_requirements", { maxTimeoutSeconds: 0 }],
    ["invalid_payment_requirements", { maxTimeoutSeconds: "300" }],
    ["invalid_exact_evm_missing_eip712_domain", { extra: {} }],
    ["invalid_exact_evm_missing_eip712_domain", { extra: null }],
    ["invalid_exact_evm_recipient_mismatch", { payTo: stranger.address }],
    ["invalid_exact_evm_payload_authorization_value_mismatch", { amount: "9999" }],
    ["invalid_exact_evm_signature", {}, { signature: `0x${"11".repeat(64)}1b` }]
  ]
  it.effect("says why a payment is none, in the words of x402, and takes nothing", () =>
    Effect.gen(function* () {
      const { facilitator, seller } = yield* fair
      const { id } = yield* theirs
      const before = yield* posted(id)
      const good = yield* Effect.promise(() => signTransfer({ to: seller.address, nonce: nonce("changed") }))
      for (const [reason, requirements, payload = {}, more = {}] of changes) {
        const payment = ask({ ...good, ...payload }, requirementsOf(seller.address, requirements), more)
        const what = JSON.stringify([requirements, payload, more])
        assert.strictEqual((yield* facilitator.verify(payment)).invalidReason, reason, what)
        assert.strictEqual((yield* facilitator.settle(payment, undefined)).errorReason, reason, what)
      }
      assert.strictEqual(yield* posted(id), before)
      assert.isTrue((yield* facilitator.verify(ask(good, requirementsOf(seller.address)))).isValid)
    })
  )

  it.effect("holds a token to its own name: what was signed for another would not settle on the chain", () =>
    Effect.gen(function* () {
      const { facilitator, seller } = yield* fair
      yield* theirs
      const message = { to: seller.address, nonce: nonce("misnamed") }
      const payload = yield* Effect.promise(() => signTransfer(message, { name: "USD Coin" }))
      const wanted = requirementsOf(seller.address, { extra: { name: "USD Coin", version: "2" } })
      const { invalidReason } = yield* facilitator.verify(ask(payload, wanted))
      assert.strictEqual(invalidReason, "invalid_exact_evm_signature")
    })
  )

  it.effect("takes what is valid now: not what is over in six seconds, nor what begins later", () =>
    Effect.gen(function* () {
      const { facilitator, seller } = yield* fair
      yield* theirs
      const seconds = BigInt(now / 1000)
      const reason = Effect.fnUntraced(function* (name: string, change: Parameters<typeof signTransfer>[0]) {
        const answer = yield* facilitator.settle(yield* paid(seller.address, name, change), undefined)
        return answer.success ? "settled" : answer.errorReason
      })
      const before = "invalid_exact_evm_payload_authorization_valid_before"
      assert.strictEqual(yield* reason("over", { validBefore: seconds + 5n }), before)
      assert.strictEqual(yield* reason("nearly over", { validBefore: seconds + 6n }), "settled")
      const after = "invalid_exact_evm_payload_authorization_valid_after"
      assert.strictEqual(yield* reason("early", { validAfter: seconds + 1n }), after)
    })
  )
})
