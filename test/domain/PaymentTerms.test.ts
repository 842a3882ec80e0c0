import { assert, describe, it } from "@effect/vitest"
import { differing, type ExpectedTerms, type PaymentTerms } from "#domain/PaymentTerms.ts"

const terms: PaymentTerms = {
  receiver: "0x857b06519e91e3a54538791bdbb0e22373e36b66",
  network: "base-sepolia",
  currency: "USDC",
  asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  gateway_url: "https://api.example.com/x402/0192",
  description: "The weather of tomorrow"
}

const wrong = (expected: ExpectedTerms) => differing(expected, terms)?.field

describe("the terms of a payment", () => {
  it("are so when they are what was expected, or nothing was", () => {
    assert.isUndefined(wrong({}))
    assert.isUndefined(wrong(terms))
  })

  it("are so in another spelling of an address, and with a description that was shortened", () => {
    assert.isUndefined(wrong({ receiver: "0x857b06519E91e3A54538791bDbb0E22373e36b66" }))
    assert.isUndefined(wrong({ asset: terms.asset.toLowerCase() }))
    assert.isUndefined(wrong({ description: "The weather" }))
  })

  it("differ in the first of what was expected and is not so", () => {
    const other: Record<string, ExpectedTerms> = {
      receiver: { receiver: `${terms.receiver.slice(0, -1)}7` },
      gateway_url: { gateway_url: `${terms.gateway_url}3` },
      network: { network: "base-mainnet" },
      currency: { currency: "EURC" },
      asset: { asset: terms.receiver },
      description: { description: "weather" }
    }
    for (const [field, expected] of Object.entries(other)) assert.strictEqual(wrong({ ...terms, ...expected }), field)
    assert.strictEqual(wrong(Object.assign({}, ...Object.values(other))), "receiver")
  })

  it("that differ are told with what they are", () => {
    const refusal = differing({ receiver: "somebody" }, terms)
    assert.deepInclude(refusal, { expected: "somebody", actual: terms.receiver })
  })
})
