import { assert, describe, it } from "vitest"
import {
  type SettlementEvent,
  SettlementState,
  settling,
  type Settlement,
  stateAfter,
  transferStatusOf
} from "#domain/Settlement.ts"
import { QuoteId, TenantId, TransferId, WalletId } from "#domain/Ids.ts"
import { systemAccount } from "#domain/LedgerAccount.ts"
import { statusAfter, type TransferTrigger } from "#domain/Transfer.ts"

const events: Record<SettlementEvent, TransferTrigger | undefined> = {
  taken: "submitted",
  cancelled: "cancelled",
  settled: "settled",
  rejected: "rejected",
  sent: undefined,
  unanswered: undefined,
  given_up: undefined,
  resumed: undefined
}
const moves = SettlementState.literals.flatMap((state) =>
  Object.entries(events).map(([event, trigger]) => ({
    state,
    event: event as SettlementEvent,
    trigger,
    next: stateAfter(state, event as SettlementEvent)
  }))
)

describe("the states of a settlement", () => {
  it("move its transfer as the transfer's own table allows, and in no other way", () => {
    for (const { event, next, state, trigger } of moves) {
      if (next === undefined) continue
      const [before, after] = [transferStatusOf(state), transferStatusOf(next)]
      if (trigger === undefined) assert.strictEqual(after, before, `${state} ${event}`)
      else assert.strictEqual(after, statusAfter(before, trigger), `${state} ${event}`)
    }
  })

  it("never leave an end", () => {
    for (const { next, state } of moves) {
      if (["completed", "failed", "cancelled"].includes(state)) assert.isUndefined(next, state)
    }
  })

  it("can be cancelled before the rail hears of it, and never after", () => {
    for (const { event, next, state } of moves) {
      if (event === "cancelled") assert.strictEqual(next, state === "pending" ? "cancelled" : undefined, state)
    }
  })

  it("are never taken for an end when the rail is silent", () => {
    for (const { event, next, state } of moves) {
      if (event !== "unanswered" && event !== "given_up") continue
      assert.notInclude(["completed", "failed", "cancelled"], next, state)
    }
  })
})

const id = (last: number) => `00000000-0000-7000-8000-00000000000${last}`
const settlement = (changed: Partial<Settlement> = {}): Settlement => ({
  id: TransferId.make(id(1)),
  type: "cross_border",
  status: "processing",
  amount: 100n,
  currency: "USDC",
  from_wallet_id: WalletId.make(id(2)),
  to_wallet_id: WalletId.make(id(3)),
  from_account_id: null,
  to_account_id: null,
  memo: null,
  quote_id: QuoteId.make(id(4)),
  destination_amount: 90n,
  destination_currency: "EURC",
  fee: 3n,
  batch_id: null,
  stream_id: null,
  scheduled_at: null,
  initiated_by: { type: "system", id: "test" },
  protocol: "fx",
  protocol_metadata: {},
  failure_reason: null,
  refunded_amount: 0n,
  created_at: new Date(0),
  updated_at: new Date(0),
  completed_at: null,
  tenant_id: TenantId.make(id(5)),
  version: 1n,
  state: "submitting",
  attempts: 1,
  unanswered: 0,
  due_at: new Date(0),
  give_up_at: new Date(0),
  from_network: "solana-devnet",
  from_address: "a",
  to_network: "base-sepolia",
  to_address: "b",
  ...changed
})

/** What the steps leave on each account. */
const effects = (one: Settlement) => {
  const sums = new Map<string, bigint>()
  const add = (account: string, amount: bigint) => sums.set(account, (sums.get(account) ?? 0n) + amount)
  for (const step of settling(one)) {
    if (step.kind !== "capture" && step.kind !== "transfer") assert.fail(step.kind)
    const amount = step.kind === "capture" ? one.amount : step.amount
    assert.isTrue(amount > 0n)
    add(step.debit, -amount)
    add(step.credit, amount)
  }
  return sums
}

describe("the movements of a settlement", () => {
  for (const [what, changed] of Object.entries<Partial<Settlement>>({
    "with a fee": {},
    "without a fee": { fee: 0n },
    "within one currency": { destination_currency: "USDC", destination_amount: 97n }
  })) {
    it(`leave the books of foreign exchange as they were ${what}`, () => {
      const one = settlement(changed)
      const sums = effects(one)
      assert.strictEqual(sums.get(systemAccount("fx", "USDC")), 0n)
      if (one.destination_currency === "EURC") assert.strictEqual(sums.get(systemAccount("fx", "EURC")), 0n)
      assert.strictEqual(sums.get(one.from_wallet_id), -one.amount)
      assert.strictEqual(sums.get(one.to_wallet_id), one.destination_amount)
      assert.strictEqual(sums.get(systemAccount("fees", "USDC")) ?? 0n, one.fee)
    })
  }
})
