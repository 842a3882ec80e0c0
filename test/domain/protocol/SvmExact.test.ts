import { assert, describe, it } from "@effect/vitest"
import { encodeBase58 } from "#domain/Network.ts"
import type { Offer } from "#domain/protocol/Authorization.ts"
import { decodeTransaction } from "#domain/protocol/SolanaTransaction.ts"
import { memoOf, quoteOfMemo, svmMemo, type SvmReason, verifySvmExact } from "#domain/protocol/SvmExact.ts"
import { changes } from "./SvmChanges.ts"
import { recordings } from "./SvmRecordings.ts"
import { keysOf, messageOf, partsOf, signed, wire } from "./SvmTransactions.ts"

const context = {
  now: Date.UTC(2026, 10, 21),
  feePayers: [keysOf("another of ours").address, keysOf("fee payer").address]
}
const payer = keysOf("payer")

const judge = (transaction: unknown, offer: Offer) => {
  const verdict = verifySvmExact({ transaction }, offer, context)
  return verdict._tag === "Accepted" ? "accepted" : verdict.reason
}

describe("what the unmodified client signs", () => {
  for (const [name, { offer, transaction }] of Object.entries(recordings)) {
    it(`is accepted from its payer (${name})`, () => {
      const verdict = verifySvmExact({ transaction }, offer, context)
      assert.deepStrictEqual(verdict, {
        _tag: "Accepted",
        method: "svm",
        payer: payer.address,
        nonce: verdict._tag === "Accepted" ? verdict.nonce : "",
        validUntil: new Date(context.now + 300_000),
        payload: { x402Version: 2, accepted: offer, payload: { transaction } },
        requirements: offer
      })
    })
  }

  it("has a nonce for each message, which no other way to write or sign it changes", () => {
    const nonce = (transaction: string, offer: Offer) => {
      const verdict = verifySvmExact({ transaction }, offer, context)
      return verdict._tag === "Accepted" ? verdict.nonce : assert.fail(verdict.reason)
    }
    const { eurc, noMemo, usdc } = recordings
    const first = nonce(usdc.transaction, usdc.offer)
    assert.match(first, /^[0-9a-f]{64}$/)
    assert.strictEqual(nonce(usdc.transaction.replace(/=+$/, ""), usdc.offer), first)
    assert.strictEqual(nonce(recordings.version1.transaction, usdc.offer), first)
    const others = [nonce(eurc.transaction, eurc.offer), nonce(noMemo.transaction, noMemo.offer)]
    const legacy = nonce(signed({ ...partsOf(usdc.transaction), versioned: false }, payer), usdc.offer)
    assert.strictEqual(new Set([first, legacy, ...others]).size, 4)
  })
})

describe("what a payer signs instead", () => {
  for (const { make, name, reason } of changes) {
    it(`${name}: ${reason}`, () => {
      for (const { offer, transaction } of [recordings.usdc, recordings.eurc]) {
        assert.strictEqual(judge(make(transaction, offer), offer), reason)
      }
    })
  }

  it("with any one bit changed and signed again pays the same or nothing", () => {
    const { offer, transaction } = recordings.usdc
    const message = messageOf(partsOf(transaction))
    const pays = (base64: string) => {
      const { instructions, keys } = decodeTransaction(base64)!
      const accounts = [0, 1, ...instructions[2]!.accounts].map((place) => encodeBase58(keys[place]!))
      return [accounts, Buffer.from(instructions[2]!.data), Buffer.from(instructions[3]!.data), instructions.length]
    }
    const wanted = pays(transaction)
    const outcomes = new Map<string, number>()
    for (let bit = 0; bit < message.length * 8; bit++) {
      const flipped = Uint8Array.from(message)
      flipped[bit >> 3]! ^= 1 << (bit & 7)
      const base64 = wire(flipped, [undefined, payer.sign(flipped)])
      const outcome = judge(base64, offer)
      if (outcome === "accepted") assert.deepStrictEqual(pays(base64), wanted, `bit ${bit}`)
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    }
    // The blockhash, the price of a unit up to 5 lamports, and how many units up to the limit.
    assert.isAtLeast(outcomes.get("accepted")!, 256)
    assert.isAtMost(outcomes.get("accepted")!, 256 + 23 + 19 + 8)
    assert.isAbove(outcomes.size, 10)
  })

  it("with any one byte changed by somebody else is refused", () => {
    const { offer, transaction } = recordings.usdc
    const bytes = Buffer.from(transaction, "base64")
    for (let place = 0; place < bytes.length; place++) {
      const flipped = Buffer.from(bytes)
      flipped[place]! ^= 0x15
      assert.notStrictEqual(judge(flipped.toString("base64"), offer), "accepted", `byte ${place}`)
    }
  })
})

describe("what is no payment at all", () => {
  const { offer, transaction } = recordings.usdc

  it("is refused for what it is", () => {
    const payloads: ReadonlyArray<readonly [unknown, SvmReason]> = [
      ...[null, undefined, 1, "text", [], {}, { transaction: 1 }, { transaction: null }].map(
        (payload) => [payload, "invalid_exact_svm_payload_transaction"] as const
      ),
      ...["", "AA==", "not base64", "A".repeat(100_000), Buffer.from(transaction, "base64").toString("base64url")].map(
        (text) => [{ transaction: text }, "invalid_exact_svm_payload_transaction_could_not_be_decoded"] as const
      )
    ]
    for (const [payload, reason] of payloads) {
      assert.deepStrictEqual(verifySvmExact(payload, offer, context), { _tag: "Refused", reason })
    }
  })

  it("is refused for the offer first", () => {
    const offers: ReadonlyArray<readonly [Partial<Offer>, SvmReason]> = [
      [{ scheme: "upto", network: "eip155:84532" }, "invalid_exact_svm_unsupported_scheme"],
      [{ network: "eip155:84532", extra: {} }, "invalid_exact_svm_network_mismatch"],
      [{ extra: { memo: "a" } }, "invalid_exact_svm_payload_missing_fee_payer"],
      [{ extra: { feePayer: 1 } }, "invalid_exact_svm_payload_missing_fee_payer"],
      [{ extra: { feePayer: payer.address } }, "invalid_exact_svm_fee_payer_not_managed_by_facilitator"],
      [{ extra: { feePayer: keysOf("another of ours").address } }, "invalid_exact_svm_fee_payer_mismatch"]
    ]
    for (const [change, reason] of offers) assert.strictEqual(judge(transaction, { ...offer, ...change }), reason)
  })

  it("is refused for another offer than it was signed for", () => {
    const other = keysOf("other").address
    const offers: ReadonlyArray<readonly [Partial<Offer>, SvmReason]> = [
      [{ asset: other }, "invalid_exact_svm_payload_mint_mismatch"],
      [{ payTo: other }, "invalid_exact_svm_payload_recipient_mismatch"],
      [{ payTo: "no address" }, "invalid_exact_svm_payload_recipient_mismatch"],
      [{ amount: "10001" }, "invalid_exact_svm_payload_amount_mismatch"],
      [{ amount: "010000" }, "invalid_exact_svm_payload_amount_mismatch"],
      [{ extra: { ...offer.extra, memo: "pr_recorded 2" } }, "invalid_exact_svm_payload_memo_mismatch"]
    ]
    for (const [change, reason] of offers) assert.strictEqual(judge(transaction, { ...offer, ...change }), reason)
  })
})

describe("a memo", () => {
  it("says which quote was paid, and tells payments of one quote apart", () => {
    const [one, two] = [svmMemo("pr_quote.for-one", "1"), svmMemo("pr_quote.for-one", "2")]
    assert.notStrictEqual(one, two)
    assert.deepStrictEqual([one, two].map(quoteOfMemo), ["pr_quote.for-one", "pr_quote.for-one"])
    assert.strictEqual(quoteOfMemo(""), "")
  })

  it("is read from a payment that has just one", () => {
    const { offer, transaction } = recordings.version1
    assert.strictEqual(memoOf({ transaction }), offer.extra.memo)
    const named = (name: string) => changes.find((change) => change.name === name)!.make(transaction, offer)
    for (const none of [
      { transaction: named("no memo") },
      { transaction: named("two memos") },
      { transaction: "" },
      {}
    ]) {
      assert.isUndefined(memoOf(none))
    }
  })
})
