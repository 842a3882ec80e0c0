import { assert, describe, it } from "@effect/vitest"
import { captureSteps, depositSteps } from "#domain/Charge.ts"
import { flat } from "#domain/Price.ts"

const payment = {
  currency: "USDC" as const,
  endpoint_id: "endpoint",
  hold_id: "hold",
  payee_wallet_id: "receiver",
  payer_id: "payer",
  price: flat(10_000n)
}
const kinds = (steps: ReturnType<typeof captureSteps>) => steps.map(({ kind }) => kind)

describe("what a charge moves", () => {
  it("is what was held, and our share of it from the receiver", () => {
    const [capture, fee] = captureSteps(payment, undefined, 250)
    assert.deepInclude(capture, {
      kind: "capture",
      debit: "payer",
      credit: "receiver",
      hold: "hold",
      price: flat(10_000n)
    })
    assert.deepInclude(fee, { kind: "fee", debit: "receiver", basis_points: 250 })
  })

  it("has no share of ours where we take none", () => {
    assert.deepStrictEqual(kinds(captureSteps(payment, undefined, 0)), ["capture"])
    assert.deepStrictEqual(kinds(depositSteps(payment, 10_000n, 0)), ["transfer"])
  })

  it("goes no higher than the payer's own price, whatever the origin says", () => {
    assert.deepInclude(captureSteps(payment, 20_000n, 0)[0], { price: flat(10_000n) })
    assert.deepInclude(captureSteps(payment, 4000n, 0)[0], { price: flat(4000n) })
  })

  it("is a count alone where nothing is held, or nothing has arrived", () => {
    assert.deepStrictEqual(kinds(captureSteps({ ...payment, hold_id: null }, undefined, 250)), ["count"])
    assert.deepStrictEqual(kinds(depositSteps(payment, 0n, 250)), ["count"])
  })

  it("is a deposit and our share of it where a chain has moved the money", () => {
    const [deposit, fee] = depositSteps(payment, 10_000n, 250)
    assert.deepInclude(deposit, { kind: "transfer", credit: "receiver", amount: 10_000n })
    assert.deepInclude(fee, { kind: "fee", debit: "receiver", basis_points: 250 })
  })

  it("counts for the payer at the endpoint in each of its forms", () => {
    const tally = { scope: "endpoint", subject: "payer" }
    for (const [first] of [
      captureSteps(payment, undefined, 0),
      captureSteps({ ...payment, hold_id: null }, undefined, 0),
      depositSteps(payment, 1n, 0),
      depositSteps(payment, 0n, 0)
    ])
      assert.deepInclude(first, { tally })
  })
})
