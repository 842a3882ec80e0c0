import { assert, describe, it } from "vitest"
import { Result } from "effect"
import { DisputeStatus, type DisputeTrigger, statusAfter } from "#domain/Dispute.ts"
import { disputeOrderOf, responseOf, verdictOf } from "#domain/DisputeOrder.ts"
import { TransferId } from "#domain/Ids.ts"

describe("a dispute", () => {
  const ways: Readonly<Record<string, string>> = {
    "open responded": "under_review",
    "open supplemented": "open",
    "open resolved": "resolved",
    "under_review supplemented": "under_review",
    "under_review escalated": "escalated",
    "under_review resolved": "resolved",
    "escalated supplemented": "escalated",
    "escalated resolved": "resolved"
  }
  for (const status of DisputeStatus.literals) {
    for (const trigger of ["responded", "supplemented", "escalated", "resolved"] satisfies Array<DisputeTrigger>) {
      const after = ways[`${status} ${trigger}`]
      it(`that is ${status} ${after === undefined ? "cannot be" : `is ${after} after being`} ${trigger}`, () => {
        assert.strictEqual(statusAfter(status, trigger), after)
      })
    }
  }
})

describe("what is asked of a dispute", () => {
  const id = TransferId.make("aaaaaaaa-0000-7000-8000-000000000000")
  it("may be spelled in two ways", () => {
    const about = { reason: "other", description: "x" } as const
    const one = disputeOrderOf({ ...about, transfer_id: id, amount_disputed: 1n, requested_resolution: "credit" })
    const other = disputeOrderOf({ ...about, transferId: id, amountDisputed: 1n, requestedResolution: "credit" })
    assert.isTrue(Result.isSuccess(one))
    assert.deepStrictEqual(one, other)
    assert.deepStrictEqual(responseOf({ response: "x", counterEvidence: [] }), responseOf({ response: "x" }))
    const part = { resolution: "partial_refund" } as const
    assert.deepStrictEqual(verdictOf({ ...part, refundAmount: 1n }), verdictOf({ ...part, refund_amount: 1n }))
  })
  it("may say what becomes of a mandate, once, and that changes nothing", () => {
    const verdict = verdictOf({ resolution: "no_refund" })
    assert.isTrue(Result.isSuccess(verdict))
    assert.deepStrictEqual(verdictOf({ resolution: "no_refund", cancelMandate: true }), verdict)
    assert.deepStrictEqual(verdictOf({ resolution: "no_refund", cancel_mandate: false }), verdict)
    const both = verdictOf({ resolution: "no_refund", cancelMandate: true, cancel_mandate: true })
    assert.isTrue(Result.isFailure(both))
  })
  it("names an amount for a partial refund, and for nothing else", () => {
    assert.isTrue(Result.isFailure(verdictOf({ resolution: "partial_refund" })))
    for (const resolution of ["full_refund", "credit", "no_refund", "other"] as const) {
      assert.isTrue(Result.isFailure(verdictOf({ resolution, refund_amount: 1n })))
      assert.isTrue(Result.isSuccess(verdictOf({ resolution })))
    }
  })
})
