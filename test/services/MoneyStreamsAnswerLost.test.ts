import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Postgres from "#layers/Postgres.ts"
import { EventLog } from "#services/EventLog.ts"
import { Ledger } from "#services/Ledger.ts"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { losing } from "./LedgerHarness.ts"
import { eventsOf, faults, money, open, parties, rate } from "./MoneyStreamsHarness.ts"

const platform = Layer.mergeAll(MoneyStreams.layer, Transfers.layer).pipe(
  Layer.provide(losing(Effect.void)),
  Layer.provideMerge(Wallets.layer),
  Layer.provideMerge(Layer.merge(Ledger.layer, EventLog.layer)),
  Layer.provideMerge(Postgres.layerTest)
)

layer(platform)("a stream whose every change is posted twice, because its first answer was lost", (it) => {
  it.effect("changes once, and the answers are those of the first time", () =>
    Effect.gen(function* () {
      const both = yield* parties(1_000_000_000n)
      const { caller } = both
      const streams = yield* MoneyStreams
      const { get } = yield* Transfers
      const { replayed, stream, transfer } = yield* open(both, {
        initial_deposit: 100_000_000n,
        flow_rate: rate("0.01")
      })
      assert.isFalse(replayed)
      assert.deepStrictEqual(yield* get(caller, transfer.id), transfer)
      yield* TestClock.adjust("10 seconds")
      assert.deepInclude((yield* streams.pause(caller, stream.id)).stream, {
        status: "paused",
        recipient_balance: 100_000n
      })
      assert.deepInclude((yield* streams.resume(caller, stream.id)).stream, { status: "active" })
      assert.deepInclude((yield* streams.changeRate(caller, stream.id, rate("1"))).stream, { flow_rate: rate("1") })
      const topped = yield* streams.topUp(caller, stream.id, { amount: 5n })
      assert.deepInclude(topped.stream, { deposited: 100_000_005n, latest_transfer_id: topped.transfer.id })
      const paid = yield* streams.withdraw(caller, stream.id, { amount: 60_000n })
      assert.deepStrictEqual(yield* get(caller, paid.transfer.id), paid.transfer)
      yield* TestClock.adjust("1 second")
      const ended = yield* streams.cancel(caller, stream.id, {})
      assert.deepInclude(ended.stream, { status: "cancelled", withdrawn: 1_100_000n, returned: 98_900_005n })
      assert.deepInclude(ended.transfer, { type: "stream_cancel", amount: 98_900_005n })
      assert.deepStrictEqual(yield* money(both, stream.id), [998_900_000n, 0n, 1_100_000n])
      assert.lengthOf(yield* eventsOf(caller, "stream.started", "stream.ended"), 2)
      assert.deepStrictEqual(yield* faults, [])
    })
  )

  it.effect("fails to start once, when the payer has too little", () =>
    Effect.gen(function* () {
      const { caller, payee, payer } = yield* parties(1n)
      const streams = yield* MoneyStreams
      const ends = { from_wallet_id: payer, to_wallet_id: payee, currency: "USDC" } as const
      const { transfer } = yield* streams.start(caller, { type: "stream_start", ...ends, amount: 2n, flow_rate: 1n })
      assert.deepInclude(transfer, { status: "failed", failure_reason: "insufficient_funds", stream_id: null })
      assert.deepStrictEqual(yield* (yield* Transfers).get(caller, transfer.id), transfer)
      assert.deepStrictEqual(yield* faults, [])
    })
  )
})
