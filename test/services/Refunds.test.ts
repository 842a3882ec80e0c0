import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { toTypeId } from "#domain/Ids.ts"
import { Refunds } from "#services/Refunds.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import {
  aRefund,
  available,
  crossed,
  empty,
  eventsAbout,
  hundred,
  paid,
  platform,
  refund,
  sound
} from "./RefundsHarness.ts"
import { tenant } from "./WalletsHarness.ts"

layer(platform, { timeout: "60 seconds" })("a refund", (it) => {
  it.effect("moves the money back at once, as a transfer of its own, and is read as it was answered", () =>
    Effect.gen(function* () {
      const { caller, id, payer, receiver } = yield* paid
      const { refund: made, replayed } = yield* refund(caller, id, 30_000_000n)
      assert.isFalse(replayed)
      assert.deepInclude(made, { transfer_id: id, amount: 30_000_000n, currency: "USDC", status: "completed" })
      assert.deepStrictEqual(yield* available(caller, payer), 30_000_000n)
      assert.deepStrictEqual(yield* available(caller, receiver), 70_000_000n)
      assert.deepStrictEqual(yield* (yield* Refunds).get(caller, made.id), made)

      const transfers = yield* Transfers
      const original = yield* transfers.get(caller, id)
      assert.deepInclude(original, { status: "completed", refunded_amount: 30_000_000n })
      const back = yield* transfers.get(caller, made.refund_transfer_id ?? id)
      assert.deepInclude(back, {
        type: "internal",
        status: "completed",
        amount: 30_000_000n,
        from_wallet_id: receiver,
        to_wallet_id: payer,
        memo: null
      })
      assert.deepStrictEqual(back.protocol_metadata, {
        refund_id: toTypeId("rf", made.id),
        refunded_transfer_id: toTypeId("tx", id)
      })
      const [entry] = yield* (yield* Wallets).entries(caller, payer, { limit: 1 })
      assert.deepInclude(Object(entry), { code: "refund", amount: 30_000_000n, transfer_id: made.refund_transfer_id })
      yield* sound
    })
  )

  it.effect("tells what happened in order, each thing as it was then", () =>
    Effect.gen(function* () {
      const { caller, id } = yield* paid
      const { refund: made } = yield* refund(caller, id)
      const [original, back, rf] = [
        toTypeId("tx", id),
        toTypeId("tx", made.refund_transfer_id ?? id),
        toTypeId("rf", made.id)
      ]
      const events = (yield* eventsAbout(original, back, rf)).slice(2)
      assert.deepStrictEqual(
        events.map(({ data, type }) => [type, Object(Object.values(data)[0])["id"]]),
        [
          ["refund.created", rf],
          ["transfer.created", back],
          ["transfer.completed", back],
          ["refund.completed", rf],
          ["transfer.refunded", original]
        ]
      )
      assert.deepInclude(events[0]?.data["refund"], { status: "pending", refund_transfer_id: null, completed_at: null })
      assert.deepInclude(events[3]?.data["refund"], { status: "completed", refund_transfer_id: back })
      assert.deepInclude(events[4]?.data["transfer"], { status: "completed", refunded_amount: "100.00" })
    })
  )

  it.effect("of everything and then of the smallest amount: the second is refused", () =>
    Effect.gen(function* () {
      const { caller, id } = yield* paid
      yield* refund(caller, id)
      const refused = yield* Effect.flip(refund(caller, id, 1n))
      assert.deepInclude(refused, { _tag: "AMOUNT_EXCEEDS_REMAINING", remaining: "0.00" })
    })
  )

  it.effect("of half and half leaves nothing, not even 0.000001", () =>
    Effect.gen(function* () {
      const { caller, id, payer } = yield* paid
      yield* refund(caller, id, hundred / 2n)
      yield* refund(caller, id, hundred / 2n)
      assert.strictEqual((yield* Effect.flip(refund(caller, id, 1n)))._tag, "AMOUNT_EXCEEDS_REMAINING")
      assert.strictEqual(yield* available(caller, payer), hundred)
    })
  )

  it.effect("of more than the transfer is refused and stores nothing", () =>
    Effect.gen(function* () {
      const { caller, id } = yield* paid
      const refused = yield* Effect.flip(refund(caller, id, hundred + 1n))
      assert.deepInclude(refused, { _tag: "AMOUNT_EXCEEDS_REMAINING", remaining: "100.00" })
      assert.deepStrictEqual(yield* (yield* Refunds).list(caller, {}, { limit: 10 }), [])
    })
  )

  it.effect("of a failed transfer or of a refund is refused", () =>
    Effect.gen(function* () {
      const { caller, id, pay } = yield* paid
      const failed = yield* pay()
      assert.strictEqual(failed.status, "failed")
      assert.strictEqual((yield* Effect.flip(refund(caller, failed.id)))._tag, "STATE_TRANSITION_INVALID")
      const { refund: made } = yield* refund(caller, id)
      const again = yield* Effect.flip(refund(caller, made.refund_transfer_id ?? id))
      assert.deepInclude(again, { _tag: "NOT_REFUNDABLE", reason: "is_refund" })
    })
  )

  it.effect("is refused when the receiver has spent the money, stores nothing, and may be asked for again", () =>
    Effect.gen(function* () {
      const { caller, id, receiver } = yield* paid
      const giveBack = yield* empty(caller, receiver)
      const refused = yield* Effect.flip(refund(caller, id))
      assert.deepInclude(refused, { _tag: "INSUFFICIENT_BALANCE", required: "100.00", available: "0.00" })
      assert.deepStrictEqual(yield* (yield* Refunds).list(caller, {}, { limit: 10 }), [])
      yield* giveBack(hundred)
      assert.strictEqual((yield* refund(caller, id)).refund.status, "completed")
      yield* sound
    })
  )

  it.effect("is refused while the receiver is frozen", () =>
    Effect.gen(function* () {
      const { caller, id, receiver } = yield* paid
      yield* (yield* Wallets).freeze(caller, receiver, "test")
      assert.strictEqual((yield* Effect.flip(refund(caller, id)))._tag, "WALLET_FROZEN")
      yield* (yield* Wallets).unfreeze(caller, receiver)
      assert.strictEqual((yield* refund(caller, id)).refund.status, "completed")
    })
  )

  it.effect("reaches a payer who is frozen", () =>
    Effect.gen(function* () {
      const { caller, id, payer } = yield* paid
      yield* (yield* Wallets).freeze(caller, payer, "test")
      assert.strictEqual((yield* refund(caller, id)).refund.status, "completed")
    })
  )

  it.effect("is made 89 days after completion and not after 91", () =>
    Effect.gen(function* () {
      const { caller, id } = yield* paid
      yield* TestClock.adjust("89 days")
      yield* refund(caller, id, 1n)
      yield* TestClock.adjust("2 days")
      assert.strictEqual((yield* Effect.flip(refund(caller, id, 1n)))._tag, "REFUND_WINDOW_EXPIRED")
    })
  )

  it.effect("of somebody else's transfer is of nothing, and nobody else sees it", () =>
    Effect.gen(function* () {
      const { caller, id } = yield* paid
      const { refund: made } = yield* refund(caller, id, 1n)
      const stranger = yield* tenant()
      const refunds = yield* Refunds
      assert.strictEqual((yield* Effect.flip(refund(stranger, id, 1n)))._tag, "NOT_FOUND")
      assert.strictEqual((yield* Effect.flip(refunds.get(stranger, made.id)))._tag, "NOT_FOUND")
      assert.deepStrictEqual(yield* refunds.list(stranger, {}, { limit: 10 }), [])
      assert.strictEqual((yield* Effect.flip(refunds.get(caller, yield* aRefund)))._tag, "NOT_FOUND")
    })
  )
})

layer(platform, { timeout: "60 seconds" })("refunds of a cross-border transfer", (it) => {
  it.effect("undo it exactly in three odd parts: the rate, the fee, and every balance", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const system = sql`SELECT id, posted FROM ledger_accounts
        WHERE purpose IN ('issuance', 'fees', 'fx') AND (purpose <> 'issuance' OR currency = 'EURC') ORDER BY id`
      const before = yield* system
      const { caller, id, payer, receiver } = yield* crossed(100_000_001n, 777_777n, 91_234_567n)
      for (const amount of [33_333_333n, 1n, undefined]) {
        const { refund: made } = yield* refund(caller, id, amount)
        const back = yield* (yield* Transfers).get(caller, made.refund_transfer_id ?? id)
        assert.deepInclude(back, {
          currency: "EURC",
          destination_amount: made.amount,
          destination_currency: "USDC",
          protocol: "fx"
        })
      }
      assert.strictEqual(yield* available(caller, payer), 100_000_001n)
      assert.strictEqual(yield* available(caller, receiver), 0n)
      assert.deepStrictEqual(yield* system, before)
      yield* sound
    })
  )

  it.effect("are refused when the receiver lacks what it got", () =>
    Effect.gen(function* () {
      const { caller, id, receiver } = yield* crossed(100_000_000n, 0n, 90_000_000n)
      yield* empty(caller, receiver)
      const refused = yield* Effect.flip(refund(caller, id))
      assert.deepInclude(refused, { _tag: "INSUFFICIENT_BALANCE", required: "90.00", currency: "EURC" })
    })
  )
})
