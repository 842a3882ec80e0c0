import { assert, describe, it } from "@effect/vitest"
import type { Endpoint } from "#domain/Endpoint.ts"
import { challengeOf } from "#domain/protocol/Mpp.ts"
import { sealQuote } from "#domain/protocol/SealedQuote.ts"
import { svmMemo } from "#domain/protocol/SvmExact.ts"
import { offersOf, type Settlers } from "#domain/protocol/X402Offers.ts"
import * as Payers from "./Payers.ts"
import { recordings } from "./SvmRecordings.ts"
import { keysOf, partsOf, signed } from "./SvmTransactions.ts"

const recorded = recordings.usdc
const feePayer = String(recorded.offer.extra["feePayer"])
const payer = keysOf("payer")
const endpoint: Endpoint = {
  ...Payers.endpoint,
  network: "solana-devnet",
  paymentAddress: recorded.offer.payTo,
  assetAddress: null,
  schemes: ["exact"],
  mpp: true
}
const settlers = { facilitator: undefined, feePayer, signers: [] }
const on = { endpoint, settlers }

const offerFor = (quote = Payers.quote, salt = "AAAAAAAAAAA") => {
  const asked = { endpoint, price: Payers.price, settlers }
  const [offer] = offersOf(asked, { quote, salt, recentBlockhash: "now" })
  return offer ?? assert.fail("no offer")
}
/** What the client signed once, with another memo. */
const transactionOf = (memo: string) => {
  const parts = partsOf(recorded.transaction)
  const instructions = parts.instructions.map((one, place) => (place === 3 ? { ...one, data: Buffer.from(memo) } : one))
  return signed({ ...parts, instructions }, payer)
}
const offer = offerFor()
const memo = svmMemo(Payers.quote, "AAAAAAAAAAA")
const paid = (transaction: string, accepted: object = offer, more: Parameters<typeof Payers.outcome>[1] = {}) =>
  Payers.outcome(Payers.v2({ transaction }, accepted), { ...on, ...more })
const paidV1 = (transaction: string, more: Parameters<typeof Payers.outcome>[1] = {}) =>
  Payers.outcome(Payers.v1({ transaction }, "solana-devnet"), { ...on, ...more })

describe("a payment on Solana", () => {
  it("is accepted for the offer that its memo names", () => {
    const authorization = Payers.authorized(paid(transactionOf(memo)))
    assert.strictEqual(authorization.method, "svm")
    assert.strictEqual(authorization.payer, payer.address)
    assert.strictEqual(authorization.asset, recorded.offer.asset)
    assert.strictEqual(authorization.amount, Payers.price)
    assert.strictEqual(authorization.quote, Payers.quote)
    assert.match(authorization.nonce, /^[0-9a-f]{64}$/)
  })

  it("may echo the blockhash of another moment", () => {
    for (const recentBlockhash of ["then", undefined]) {
      const accepted = { ...offer, extra: { ...offer.extra, recentBlockhash } }
      assert.strictEqual(Payers.reasonOf(paid(transactionOf(memo), accepted)), "Accepted")
    }
  })

  it("for one offer is none for another of the same quote", () => {
    const other = offerFor(Payers.quote, "BBBBBBBBBBB")
    const reason = "invalid_exact_svm_payload_memo_mismatch"
    assert.strictEqual(Payers.reasonOf(paid(transactionOf(memo), other)), reason)
    const fresh = Payers.authorized(paid(transactionOf(svmMemo(Payers.quote, "BBBBBBBBBBB")), other))
    assert.notStrictEqual(fresh.nonce, Payers.authorized(paid(transactionOf(memo))).nonce)
  })

  it("without any memo pays the offer that it echoes, as in version 1, and is settled as one that asks for none", () => {
    const parts = partsOf(recorded.transaction)
    const bare = signed({ ...parts, instructions: parts.instructions.slice(0, 3) }, payer)
    const authorization = Payers.authorized(paid(bare))
    assert.strictEqual(authorization.quote, Payers.quote)
    assert.notProperty(authorization.requirements.extra, "memo")
    assert.strictEqual(Payers.reasonOf(paidV1(bare)), "Accepted")
    const elsewhere = { endpoint: { ...endpoint, id: Payers.otherId } }
    assert.strictEqual(Payers.reasonOf(paid(bare, offer, elsewhere)), "quote_for_another_endpoint")
  })

  it("with a memo of the client's own pays as without any; one that names another quote of ours does not", () => {
    const own = transactionOf("9f86d081884c7d659a2feaa0c55ad015")
    const authorization = Payers.authorized(paid(own))
    assert.strictEqual(authorization.quote, Payers.quote)
    assert.notProperty(authorization.requirements.extra, "memo")
    assert.strictEqual(Payers.reasonOf(paidV1(own)), "Accepted")
    assert.strictEqual(
      Payers.reasonOf(paid(own, offer, { endpoint: { ...endpoint, id: Payers.otherId } })),
      "quote_for_another_endpoint"
    )
    const other = sealQuote(Payers.key, { ...Payers.terms, endpoint: Payers.otherId })
    assert.strictEqual(
      Payers.reasonOf(paid(transactionOf(svmMemo(other, "AAAAAAAAAAA")))),
      "invalid_exact_svm_payload_memo_mismatch"
    )
  })

  it("must echo what was offered", () => {
    const changes = [
      ["invalid_network", { network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp" }],
      ["unsupported_scheme", { scheme: "upto" }],
      ["invalid_payment_requirements", { payTo: payer.address }],
      ["invalid_payment_requirements", { extra: { ...offer.extra, feePayer: payer.address } }],
      ["invalid_payment_requirements", { extra: { ...offer.extra, memo: "mine" } }],
      ["quote_unknown", { extra: { ...offer.extra, quote: "mine" } }]
    ] as const
    for (const [reason, change] of changes) {
      assert.strictEqual(Payers.reasonOf(paid(transactionOf(memo), { ...offer, ...change })), reason)
    }
  })

  it("has a memo that we made, to the last character: another could not be kept, or would be the same one again", () => {
    for (const salt of ["AAAA\u0000", "AAAA\ud800", "AAAA BBBB", "AAAA\n", "é", "A".repeat(65)]) {
      const other = svmMemo(Payers.quote, salt)
      const accepted = { ...offer, extra: { ...offer.extra, memo: other } }
      assert.strictEqual(Payers.reasonOf(paid(transactionOf(other), accepted)), "invalid_payment_requirements")
      const reason = "invalid_exact_svm_payload_memo_mismatch"
      assert.strictEqual(Payers.reasonOf(paidV1(transactionOf(other))), reason)
    }
  })

  it("is bound to the endpoint, the method and the time of its quote in both versions", () => {
    const elsewhere = { ...endpoint, id: Payers.otherId }
    for (const pay of [
      (more: object) => paid(transactionOf(memo), offer, more),
      (more: object) => paidV1(transactionOf(memo), more)
    ]) {
      assert.strictEqual(Payers.reasonOf(pay({})), "Accepted")
      assert.strictEqual(Payers.reasonOf(pay({ endpoint: elsewhere })), "quote_for_another_endpoint")
      assert.strictEqual(Payers.reasonOf(pay({ method: "POST" })), "quote_for_another_method")
      const late = pay({ now: Payers.now + 300_001 })
      assert.strictEqual(Payers.reasonOf(late), "quote_expired")
      assert.property(late, "outdated")
    }
  })

  it("at one payer's price is for that payer only, in both versions", () => {
    const others = sealQuote(Payers.key, Payers.terms, keysOf("stranger").address)
    const transaction = transactionOf(svmMemo(others, "AAAAAAAAAAA"))
    assert.strictEqual(Payers.reasonOf(paid(transaction, offerFor(others))), "quote_for_another_payer")
    assert.strictEqual(Payers.reasonOf(paidV1(transaction)), "quote_for_another_payer")
    const [cut = ""] = others.split(".")
    const bare = transactionOf(svmMemo(cut, "AAAAAAAAAAA"))
    assert.strictEqual(Payers.reasonOf(paid(bare, offerFor(cut))), "quote_unknown")
    // A memo that says nothing is worth the price of the moment, which is not that payer's.
    const atTheMoment = paidV1(bare, { prices: [20_000n] })
    assert.strictEqual(Payers.reasonOf(atTheMoment), "invalid_exact_svm_payload_amount_mismatch")
  })

  it("of version 1 without a quote pays the price of the moment", () => {
    const { transaction } = recorded
    assert.strictEqual(Payers.reasonOf(paidV1(transaction)), "Accepted")
    const reason = "invalid_exact_svm_payload_amount_mismatch"
    assert.strictEqual(Payers.reasonOf(paidV1(transaction, { prices: [20_000n] })), reason)
  })

  describe("when another key pays fees by now than the one that was offered", () => {
    const key = keysOf("next").address
    const next: Settlers = { facilitator: undefined, feePayer: key, signers: [] }
    const ways = [
      (settlers: Settlers) => paid(transactionOf(memo), offer, { settlers }),
      (settlers: Settlers) => paidV1(transactionOf(memo), { settlers })
    ]

    it("is accepted in both versions if whoever settles has both, and settled by the one that was offered", () => {
      for (const pay of ways) {
        const { requirements } = Payers.authorized(pay({ ...next, signers: [key, feePayer] }))
        assert.strictEqual(requirements.extra["feePayer"], feePayer)
      }
    })

    it("is refused in both versions otherwise, and says what it was, as it may have been used before", () => {
      const then = Payers.authorized(paid(transactionOf(memo)))
      for (const settlers of [next, { ...next, feePayer: undefined }]) {
        for (const pay of ways) {
          const acceptance = pay(settlers)
          if (acceptance._tag === "Accepted" || !("outdated" in acceptance)) return assert.fail(acceptance._tag)
          assert.strictEqual(acceptance.outdated?.nonce, then.nonce)
        }
      }
    })
  })

  it("needs somebody who pays the fee", () => {
    const reason = Payers.reasonOf(
      paidV1(recorded.transaction, { settlers: { facilitator: undefined, feePayer: undefined, signers: [] } })
    )
    assert.strictEqual(reason, "invalid_exact_svm_payload_missing_fee_payer")
  })
})

describe("a payment on Solana by MPP", () => {
  const challengeFor = (salt = "AAAAAAAAAAA", issuedAt = Payers.now) => {
    const asked = { endpoint, price: Payers.price, settlers }
    return challengeOf(Payers.key, asked, { quote: Payers.quote, salt, issuedAt })?.challenge ?? assert.fail("none")
  }
  const paidFor = (
    payload: object,
    { answered = challengeFor(), ...more }: Parameters<typeof Payers.outcome>[1] & { answered?: object } = {}
  ) => {
    const token = Buffer.from(JSON.stringify({ challenge: answered, payload })).toString("base64url")
    return Payers.outcome({ authorization: `Payment ${token}` }, { ...on, ...more })
  }
  const shown = (transaction: string) => ({ type: "transaction", transaction })
  const parts = partsOf(transactionOf(memo))

  it("is the transaction that x402 has signed, and is settled as that", () => {
    const authorization = Payers.authorized(paidFor(shown(transactionOf(memo))))
    const { recentBlockhash: _, ...extra } = offer.extra
    assert.deepInclude(authorization, { protocol: "mpp", method: "svm", payer: payer.address, quote: Payers.quote })
    assert.deepStrictEqual(authorization.requirements, { ...offer, extra })
    assert.strictEqual(authorization.nonce, Payers.authorized(paid(transactionOf(memo))).nonce)
  })

  it("may have the price of computing before its limit, which x402 does not take", () => {
    const [limit, unitPrice, ...rest] = parts.instructions
    const turned = signed({ ...parts, instructions: [unitPrice!, limit!, ...rest] }, payer)
    assert.strictEqual(Payers.reasonOf(paidFor(shown(turned))), "Accepted")
    const reason = "invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction"
    assert.strictEqual(Payers.reasonOf(paid(turned)), reason)
    const twice = signed({ ...parts, instructions: [unitPrice!, unitPrice!, ...rest] }, payer)
    assert.strictEqual(Payers.reasonOf(paidFor(shown(twice))), reason)
  })

  it("without a memo answers the challenge that it echoes; with that of another it answers none", () => {
    const bare = signed({ ...parts, instructions: parts.instructions.slice(0, 3) }, payer)
    assert.notProperty(Payers.authorized(paidFor(shown(bare))).requirements.extra, "memo")
    const others = paidFor(shown(transactionOf(memo)), { answered: challengeFor("BBBBBBBBBBB") })
    assert.strictEqual(Payers.reasonOf(others), "invalid_exact_svm_payload_memo_mismatch")
  })

  it("that its payer has sent already is none whose fee we pay", () => {
    const sent = { type: "signature", signature: "5UfDuX7hXbPjGUpTmt9PHRLsNGJe4dEny" }
    assert.strictEqual(Payers.reasonOf(paidFor(sent)), "invalid_payload")
    assert.strictEqual(Payers.reasonOf(paidFor({ type: "transaction" })), "invalid_exact_svm_payload_transaction")
  })

  it("is bound to the endpoint, the method and the time of its quote", () => {
    const payload = shown(transactionOf(memo))
    const elsewhere = { ...endpoint, id: Payers.otherId }
    assert.strictEqual(Payers.reasonOf(paidFor(payload, { endpoint: elsewhere })), "quote_for_another_endpoint")
    assert.strictEqual(Payers.reasonOf(paidFor(payload, { method: "POST" })), "quote_for_another_method")
    assert.strictEqual(Payers.reasonOf(paidFor(payload, { now: Payers.now + 300_001 })), "quote_expired")
  })

  it("says what it was when another key pays fees by now, as it may have been used before", () => {
    const next = { facilitator: undefined, feePayer: keysOf("next").address, signers: [] }
    const acceptance = paidFor(shown(transactionOf(memo)), { settlers: next })
    if (acceptance._tag === "Accepted" || !("outdated" in acceptance)) return assert.fail(acceptance._tag)
    assert.strictEqual(acceptance.reason, "invalid_challenge")
    assert.strictEqual(acceptance.outdated?.payer, payer.address)
    const both = { ...next, signers: [next.feePayer, feePayer] }
    assert.strictEqual(Payers.reasonOf(paidFor(shown(transactionOf(memo)), { settlers: both })), "Accepted")
  })
})
