import { assert, describe, it } from "vitest"
import { Duration, Result } from "effect"
import fc from "fast-check"
import { AccountId, TransferId, WalletId } from "#domain/Ids.ts"
import { systemAccount } from "#domain/LedgerAccount.ts"
import {
  judgeRefund,
  moneyOf,
  type Refundable,
  refundOrderOf,
  refundSteps,
  refundsScope,
  remainingOf,
  retryRefundAt
} from "#domain/Refund.ts"
import { type Settlement, settling } from "#domain/Settlement.ts"
import type { Transfer, TransferStatus } from "#domain/Transfer.ts"

const day = 86_400_000
const completed = new Date("2026-03-01T00:00:00Z")
const uuid = (digit: string) => `${digit.repeat(8)}-0000-7000-8000-000000000000`
const payer = WalletId.make(uuid("1"))
const receiver = WalletId.make(uuid("2"))

const transfer = (given: Partial<Transfer> = {}): Transfer => ({
  id: TransferId.make(uuid("a")),
  type: "internal",
  status: "completed",
  amount: 100n,
  currency: "USDC",
  from_wallet_id: payer,
  to_wallet_id: receiver,
  from_account_id: AccountId.make(uuid("3")),
  to_account_id: AccountId.make(uuid("4")),
  memo: null,
  quote_id: null,
  destination_amount: null,
  destination_currency: null,
  fee: 0n,
  batch_id: null,
  stream_id: null,
  scheduled_at: null,
  initiated_by: { type: "api_key", id: "key" },
  protocol: "internal",
  protocol_metadata: {},
  failure_reason: null,
  refunded_amount: 0n,
  created_at: completed,
  updated_at: completed,
  completed_at: completed,
  ...given
})
const of = (given: Partial<Transfer> = {}, reserved = 0n): Refundable => ({
  transfer: transfer(given),
  reserved,
  version: 0n
})
const judged = (refundable: Refundable, asked?: bigint, days = 1) =>
  judgeRefund(refundable, asked, new Date(completed.getTime() + days * day), Duration.days(90))
const refusal = (...request: Parameters<typeof judged>) => {
  const result = judged(...request)
  return Result.isFailure(result) ? result.failure : assert.fail("it was allowed")
}

describe("a refund", () => {
  for (const status of ["pending", "processing", "failed", "cancelled"] satisfies ReadonlyArray<TransferStatus>) {
    it(`is not made of a ${status} transfer`, () => {
      assert.deepInclude(refusal(of({ status, completed_at: null })), {
        _tag: "STATE_TRANSITION_INVALID",
        from: status
      })
    })
  }

  for (const type of ["stream_start", "stream_withdraw", "stream_cancel"] as const) {
    it(`is not made of a ${type}`, () => {
      assert.deepInclude(refusal(of({ type })), { _tag: "NOT_REFUNDABLE", reason: "is_stream" })
    })
  }

  it("is not made of a refund", () => {
    const back = of({ protocol_metadata: { refund_id: "rf_", refunded_transfer_id: "tx_" } })
    assert.deepInclude(refusal(back), { _tag: "NOT_REFUNDABLE", reason: "is_refund" })
  })

  it("is not made of what was charged for a paid call, however much of it is known", () => {
    for (const wallets of [{}, { from_wallet_id: null }]) {
      const call = of({ protocol: "x402", ...wallets })
      assert.deepInclude(refusal(call), { _tag: "NOT_REFUNDABLE", reason: "is_payment" })
    }
    for (const none of [{ from_wallet_id: null }, { to_wallet_id: null }]) {
      assert.deepInclude(refusal(of(none)), { _tag: "NOT_REFUNDABLE", reason: "has_no_wallets" })
    }
  })

  it("is made until 90 days after completion to the millisecond", () => {
    assert.isTrue(Result.isSuccess(judged(of(), 1n, 90)))
    const late = refusal(of(), 1n, 90 + 1 / day)
    assert.deepInclude(late, { _tag: "REFUND_WINDOW_EXPIRED", ended_at: "2026-05-30T00:00:00.000Z" })
  })

  it("counts its days from completion, whatever happened to the transfer since", () => {
    const touched = of({ updated_at: new Date(completed.getTime() + 50 * day) })
    assert.strictEqual(refusal(touched, 1n, 91)._tag, "REFUND_WINDOW_EXPIRED")
  })

  it("is of as much as it names", () => {
    assert.deepStrictEqual(judged(of(), 40n), Result.succeed(40n))
  })

  it("is of all that is left when it names no amount", () => {
    assert.deepStrictEqual(judged(of({ refunded_amount: 30n })), Result.succeed(70n))
    assert.deepStrictEqual(judged(of({ refunded_amount: 99n })), Result.succeed(1n))
  })

  it("is never of more than what is left, beside what is promised to others", () => {
    assert.deepStrictEqual(judged(of({ refunded_amount: 30n }, 20n), 50n), Result.succeed(50n))
    assert.deepInclude(refusal(of({ refunded_amount: 30n }, 20n), 51n), {
      _tag: "AMOUNT_EXCEEDS_REMAINING",
      remaining: "0.00005"
    })
  })

  it("of a transfer that was refunded altogether is refused, with or without an amount", () => {
    for (const asked of [undefined, 1n]) {
      assert.deepInclude(refusal(of({ refunded_amount: 100n }), asked), {
        _tag: "AMOUNT_EXCEEDS_REMAINING",
        remaining: "0.00"
      })
    }
  })

  it("has a fence that is not the transfer's own id, nor another transfer's", () => {
    const [one, two] = [uuid("a"), uuid("b")].map((id) => refundsScope(TransferId.make(id)))
    assert.notStrictEqual(one, two)
    assert.match(one ?? "", /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })
})

describe("the money of a refund", () => {
  it("of a move within one currency is one step back", () => {
    const one = transfer()
    for (const amount of [1n, 40n]) {
      assert.deepStrictEqual(moneyOf(one, amount), { given: amount, fee: 0n, amount })
      assert.deepStrictEqual(refundSteps(one, moneyOf(one, amount)), [
        { kind: "transfer", debit: receiver, credit: payer, currency: "USDC", amount, code: "refund" }
      ])
    }
  })

  it("takes a whole micro-unit from the receiver for any part of one, and brings none of the fee for a part", () => {
    const three = transfer({
      type: "cross_border",
      amount: 3n,
      fee: 2n,
      destination_amount: 4n,
      destination_currency: "EURC"
    })
    assert.deepStrictEqual(moneyOf(three, 1n), { given: 2n, fee: 0n, amount: 1n })
  })

  it("of all parts of a cross-border transfer is exactly what that moved, however it is split", () => {
    const million = 1_000_000_000_000n
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: million }),
        fc.bigInt({ min: 0n, max: 10n * million }),
        fc.nat({ max: 1000 }),
        fc.array(fc.bigInt({ min: 1n, max: million }), { maxLength: 30 }),
        (amount, destination_amount, feeShare, wanted) => {
          const fee = (amount * BigInt(feeShare)) / 1000n
          let left = transfer({
            type: "cross_border",
            amount,
            fee,
            destination_amount,
            destination_currency: "EURC"
          })
          const sums = new Map<string, bigint>()
          const add = (account: string, change: bigint) => sums.set(account, (sums.get(account) ?? 0n) + change)
          for (const part of [...wanted, amount]) {
            const rest = remainingOf({ transfer: left, reserved: 0n, version: 0n })
            if (rest === 0n) break
            const next = part < rest ? part : rest
            for (const step of refundSteps(left, moneyOf(left, next))) {
              if (step.kind !== "transfer") return assert.fail(step.kind)
              assert.isTrue(step.amount > 0n)
              add(`${step.debit} ${step.currency}`, -step.amount)
              add(`${step.credit} ${step.currency}`, step.amount)
            }
            left = { ...left, refunded_amount: left.refunded_amount + next }
            // Of no part is less given than it is worth: the platform is never out of money that somebody still owes.
            assert.isAtLeast(
              Number(-(sums.get(`${receiver} EURC`) ?? 0n) * amount - destination_amount * left.refunded_amount),
              0
            )
          }
          const sum = (account: string, currency: string) => sums.get(`${account} ${currency}`) ?? 0n
          assert.strictEqual(sum(payer, "USDC"), amount)
          assert.strictEqual(sum(receiver, "EURC"), -destination_amount)
          assert.strictEqual(sum(systemAccount("fees", "USDC"), "USDC"), -fee)
          assert.strictEqual(sum(systemAccount("issuance", "USDC"), "USDC"), fee - amount)
          assert.strictEqual(sum(systemAccount("issuance", "EURC"), "EURC"), destination_amount)
          assert.strictEqual(sum(systemAccount("fx", "USDC"), "USDC"), 0n)
          assert.strictEqual(sum(systemAccount("fx", "EURC"), "EURC"), 0n)
        }
      ),
      { numRuns: 500 }
    )
  })
})

describe("the refund of a settled cross-border transfer", () => {
  it("undoes every step of its settlement", () => {
    const crossed = transfer({
      type: "cross_border",
      amount: 1_000_003n,
      fee: 4_999n,
      destination_amount: 912_345n,
      destination_currency: "EURC"
    })
    const sums = new Map<string, bigint>()
    const add = (account: string, currency: string, change: bigint) =>
      sums.set(`${account} ${currency}`, (sums.get(`${account} ${currency}`) ?? 0n) + change)
    const steps = [
      ...settling({
        ...crossed,
        from_wallet_id: payer,
        to_wallet_id: receiver,
        destination_amount: 912_345n,
        destination_currency: "EURC"
      } as Settlement),
      ...refundSteps(crossed, moneyOf(crossed, crossed.amount))
    ]
    for (const step of steps) {
      const amount = step.kind === "transfer" ? step.amount : crossed.amount
      add(step.debit, step.currency, -amount)
      add(step.credit, step.currency, amount)
    }
    assert.strictEqual(sums.size, 7)
    assert.deepStrictEqual([...new Set(sums.values())], [0n])
  })
})

describe("a refund that cannot be paid", () => {
  const retries = {
    first: Duration.hours(1),
    firstFor: Duration.days(1),
    later: Duration.days(1),
    laterFor: Duration.days(14)
  }
  it("is tried hourly for a day, then daily for 14 days, and a last time at the end", () => {
    const tried: Array<number> = []
    let now: Date | undefined = completed
    while (now !== undefined) {
      now = retryRefundAt(completed, now, retries)
      if (now !== undefined) tried.push((now.getTime() - completed.getTime()) / 3_600_000)
    }
    const hours = Array.from({ length: 24 }, (_, index) => index + 1)
    const days = Array.from({ length: 14 }, (_, index) => 24 * (index + 2))
    assert.deepStrictEqual(tried, [...hours, ...days])
    const late = retryRefundAt(completed, new Date(completed.getTime() + 14.5 * day), retries)
    assert.deepStrictEqual(late, new Date(completed.getTime() + 15 * day))
  })
})

describe("a refund as it is asked for", () => {
  const id = TransferId.make(uuid("a"))
  it("names its transfer by one of two names", () => {
    for (const named of [{ transfer_id: id }, { originalTransferId: id }]) {
      const order = refundOrderOf({ ...named, reason: "error" })
      assert.deepStrictEqual(
        order,
        Result.succeed({ transfer_id: id, amount: undefined, reason: "error", reason_details: null })
      )
    }
  })
  it("is refused when it names none or both", () => {
    for (const named of [{}, { transfer_id: id, originalTransferId: id }]) {
      const order = refundOrderOf({ ...named, reason: "error" })
      assert.strictEqual(Result.isFailure(order) && order.failure._tag, "INVALID_REQUEST")
    }
  })
  it("gives its details under one of two names", () => {
    const order = refundOrderOf({ transfer_id: id, reason: "error", reasonDetails: "why" })
    assert.strictEqual(Result.isSuccess(order) && order.success.reason_details, "why")
    const both = refundOrderOf({ transfer_id: id, reason: "error", reasonDetails: "why", reason_details: null })
    assert.isTrue(Result.isFailure(both))
  })
})
