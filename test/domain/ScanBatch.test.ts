import { assert, describe, it } from "@effect/vitest"
import { batchCredits, type BatchProgress, progressed } from "#domain/ScanBatch.ts"

const fresh = (total: number): BatchProgress => ({
  status: "processing",
  total,
  completed: 0,
  failed: 0,
  cancelled: 0,
  billed: 0,
  credits_charged: batchCredits(total),
  credits_returned: 0,
  completed_at: null
})
const ends = [{ completed: 1, billed: 1 }, { completed: 1 }, { failed: 1 }, { cancelled: 1 }]
const now = new Date(1)

describe("a batch", () => {
  it("costs half a credit for each scan, rounded up in sum", () => {
    assert.deepStrictEqual([1, 2, 3, 4, 499, 500].map(batchCredits), [1, 1, 2, 2, 250, 250])
    assert.strictEqual(batchCredits(0), 0)
  })

  it("is over with its last target, and keeps then what its billed scans cost, in every order of ends", () => {
    for (const first of ends) {
      for (const second of ends) {
        for (const third of ends) {
          const before = [first, second].reduce<BatchProgress>((batch, end) => progressed(batch, end, now), fresh(3))
          assert.deepInclude(before, { status: "processing", completed_at: null, credits_returned: 0 })
          const after = progressed(before, third, now)
          const billed = [first, second, third].filter((end) => "billed" in end).length
          assert.deepInclude(after, { status: "completed", completed_at: now, billed })
          assert.strictEqual(after.credits_charged - after.credits_returned, batchCredits(billed))
        }
      }
    }
  })

  it("that is cancelled stays so at its end", () => {
    const after = progressed({ ...fresh(3), status: "cancelled" }, { cancelled: 3 }, now)
    assert.deepInclude(after, { status: "cancelled", completed_at: now, credits_returned: 2 })
  })
})
