import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { StreamId } from "#domain/Ids.ts"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { newId } from "#services/NewId.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { balance, eventsOf, faults, money, open, parties, platform, rate } from "./MoneyStreamsHarness.ts"
import { claimOf, tenant } from "./WalletsHarness.ts"

layer(platform)("a stream", (it) => {
  it.effect("pays out what has accrued, keeps the rest of a micro-unit accrued, and says how in a transfer", () =>
    Effect.gen(function* () {
      const both = yield* parties(1_000_000_000n)
      const streams = yield* MoneyStreams
      const { stream } = yield* open(both, { flow_rate: rate("0.0000015") })
      yield* TestClock.adjust("1 second")
      const first = yield* streams.withdraw(both.caller, stream.id, { memo: "one" })
      assert.deepInclude(first.transfer, {
        type: "stream_withdraw",
        amount: 1n,
        from_wallet_id: both.payer,
        to_wallet_id: both.payee,
        memo: "one"
      })
      assert.deepInclude(first.stream, { latest_transfer_id: first.transfer.id, withdrawn: 1n, recipient_balance: 0n })
      yield* TestClock.adjust("1 second")
      // The two halves that were cut off are a whole one.
      assert.strictEqual((yield* streams.withdraw(both.caller, stream.id, {})).transfer.amount, 2n)
      assert.deepStrictEqual(yield* money(both, stream.id), [0n, 999_999_997n, 3n])
      const [line] = yield* (yield* Wallets).entries(both.caller, both.payee, { limit: 1 })
      assert.deepInclude(line, { code: "stream_withdraw", amount: 2n })
      assert.deepStrictEqual(line?.counterparty, { type: "stream", wallet_id: null })
      assert.deepStrictEqual(yield* faults, [])
    })
  )

  it.effect("refuses to pay more than has accrued, and pays the same request again once it has", () =>
    Effect.gen(function* () {
      const both = yield* parties(1_000_000_000n)
      const streams = yield* MoneyStreams
      const { stream } = yield* open(both)
      const claim = { ...claimOf(both.caller, "w"), operation: "streams.withdraw" }
      const ask = streams.withdraw(both.caller, stream.id, { amount: 60_000n }, claim)
      assert.strictEqual((yield* Effect.flip(streams.withdraw(both.caller, stream.id, {})))._tag, "NOTHING_ACCRUED")
      assert.deepInclude(yield* Effect.flip(ask), { _tag: "AMOUNT_EXCEEDS_ACCRUED", available: "0.00" })
      yield* TestClock.adjust("1 minute")
      const done = yield* ask
      const again = yield* ask
      assert.deepStrictEqual(again, { ...done, replayed: true })
      assert.strictEqual(yield* balance(both.payee), 60_000n)
    })
  )

  it.effect("is paused, resumed and given another rate without losing what has accrued", () =>
    Effect.gen(function* () {
      const both = yield* parties(1_000_000_000n)
      const { changeRate, get, pause, resume } = yield* MoneyStreams
      const { id } = (yield* open(both)).stream
      yield* TestClock.adjust("10 seconds")
      const { stream: paused } = yield* pause(both.caller, id)
      assert.deepInclude(paused, { status: "paused", pause_reason: "requested", recipient_balance: 10_000n })
      assert.deepInclude(yield* Effect.flip(pause(both.caller, id)), {
        _tag: "STATE_TRANSITION_INVALID",
        from: "paused",
        to: "paused"
      })
      yield* TestClock.adjust("1 day")
      assert.deepStrictEqual(yield* get(both.caller, id), paused)
      yield* resume(both.caller, id)
      assert.strictEqual((yield* Effect.flip(resume(both.caller, id)))._tag, "STATE_TRANSITION_INVALID")
      yield* TestClock.adjust("10 seconds")
      yield* changeRate(both.caller, id, rate("1"))
      yield* TestClock.adjust("10 seconds")
      assert.deepInclude(yield* get(both.caller, id), { flow_rate: rate("1"), recipient_balance: 10_020_000n })
    })
  )

  it.effect("that is cancelled gives the accrued to the recipient and all else back, in one go", () =>
    Effect.gen(function* () {
      const both = yield* parties(1_000_000_000n)
      const streams = yield* MoneyStreams
      const { id } = (yield* open(both, { buffer: 10_000_000n })).stream
      yield* TestClock.adjust("1500 millis")
      const { stream, transfer } = yield* streams.cancel(both.caller, id, { memo: "over" })
      assert.deepInclude(transfer, {
        type: "stream_cancel",
        amount: 999_998_500n,
        from_wallet_id: null,
        to_wallet_id: both.payer,
        memo: "over"
      })
      assert.deepInclude(stream, {
        status: "cancelled",
        wrapped_balance: 0n,
        buffer: 0n,
        recipient_balance: 0n,
        withdrawn: 1_500n,
        returned: 999_998_500n,
        runway_seconds: 0,
        exhausted_at: null,
        latest_transfer_id: transfer.id
      })
      assert.deepStrictEqual(yield* money(both, id), [999_998_500n, 0n, 1_500n])
      const { get, list } = yield* Transfers
      const made = yield* list(both.caller, {}, { limit: 9 })
      assert.deepStrictEqual(
        made.map(({ amount, type }) => [type, amount]),
        [
          ["stream_cancel", 999_998_500n],
          ["stream_withdraw", 1_500n],
          ["stream_start", 1_000_000_000n]
        ]
      )
      for (const wallet of [both.payer, both.payee]) {
        const [line] = yield* (yield* Wallets).entries(both.caller, wallet, { limit: 1 })
        assert.isDefined(line)
        assert.strictEqual((yield* get(both.caller, line!.transfer_id)).amount, line!.amount)
      }
      assert.deepStrictEqual((yield* eventsOf(both.caller)).map(({ type }) => type).slice(-1), ["stream.ended"])
      assert.strictEqual((yield* Effect.flip(streams.cancel(both.caller, id, {})))._tag, "STATE_TRANSITION_INVALID")
      assert.deepStrictEqual(yield* streams.get(both.caller, id), stream)
      assert.deepStrictEqual(yield* faults, [])
    })
  )

  it.effect("cancelled when nothing is left records a return of nothing", () =>
    Effect.gen(function* () {
      const both = yield* parties(1_000_000n)
      const streams = yield* MoneyStreams
      const { id } = (yield* open(both, { initial_deposit: 1_000_000n, flow_rate: rate("1") })).stream
      yield* TestClock.adjust("1 hour")
      const { transfer } = yield* streams.cancel(both.caller, id, {})
      assert.deepInclude(transfer, { type: "stream_cancel", status: "completed", amount: 0n })
      assert.deepStrictEqual(yield* money(both, id), [0n, 0n, 1_000_000n])
      const other = yield* parties(1_000_000n)
      const spent = (yield* open(other, { initial_deposit: 1_000_000n, flow_rate: rate("1") })).stream.id
      yield* TestClock.adjust("1 hour")
      yield* streams.withdraw(other.caller, spent, {})
      assert.strictEqual((yield* streams.cancel(other.caller, spent, {})).transfer.amount, 0n)
      assert.deepStrictEqual(yield* faults, [])
    })
  )

  it.effect("is topped up by a sender who can pay, and not while the sender is frozen", () =>
    Effect.gen(function* () {
      const both = yield* parties(1_100_000_000n)
      const streams = yield* MoneyStreams
      const { freeze } = yield* Wallets
      const { id } = (yield* open(both)).stream
      const topUp = (amount: bigint) => streams.topUp(both.caller, id, { amount })
      assert.strictEqual((yield* Effect.flip(topUp(100_000_001n)))._tag, "INSUFFICIENT_BALANCE")
      const { stream, transfer } = yield* topUp(50_000_000n)
      assert.deepInclude(stream, { deposited: 1_050_000_000n, wrapped_balance: 1_050_000_000n })
      assert.deepInclude(transfer, { type: "stream_start", amount: 50_000_000n, stream_id: id })
      assert.deepStrictEqual(transfer.protocol_metadata, { action: "top_up" })
      yield* freeze(both.caller, both.payer, "test")
      assert.strictEqual((yield* Effect.flip(topUp(1n)))._tag, "WALLET_FROZEN")
      yield* freeze(both.caller, both.payee, "test")
      yield* TestClock.adjust("1 second")
      yield* streams.cancel(both.caller, id, {})
      assert.deepStrictEqual(yield* money(both, id), [1_099_999_000n, 0n, 1_000n])
      assert.deepStrictEqual(yield* faults, [])
    })
  )

  it.effect("of another tenant is as unknown as one of nobody's, whatever is asked of it", () =>
    Effect.gen(function* () {
      const owner = yield* parties(1_000_000_000n)
      const streams = yield* MoneyStreams
      const { id } = (yield* open(owner)).stream
      yield* TestClock.adjust("1 minute")
      const before = yield* streams.get(owner.caller, id)
      const stranger = yield* tenant()
      for (const [caller, target] of [
        [stranger, id],
        [owner.caller, yield* newId(StreamId)]
      ] as const) {
        for (const refused of [
          yield* Effect.flip(streams.get(caller, target)),
          yield* Effect.flip(streams.topUp(caller, target, { amount: 1n })),
          yield* Effect.flip(streams.pause(caller, target)),
          yield* Effect.flip(streams.resume(caller, target)),
          yield* Effect.flip(streams.changeRate(caller, target, 1n)),
          yield* Effect.flip(streams.withdraw(caller, target, {})),
          yield* Effect.flip(streams.cancel(caller, target, {})),
          yield* Effect.flip(streams.transfer(caller, { type: "stream_cancel", stream_id: target }))
        ]) {
          assert.deepInclude(refused, { _tag: "NOT_FOUND", resource: "stream" })
        }
      }
      assert.strictEqual((yield* streams.list(stranger, {}, { limit: 9, offset: 0 })).total, 0)
      assert.deepStrictEqual(yield* streams.get(owner.caller, id), before)
    })
  )
})
