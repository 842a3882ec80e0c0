import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { Principal } from "#domain/Principal.ts"
import { CrossBorder } from "#services/CrossBorder.ts"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { Settlements } from "#services/Settlements.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { losing } from "./LedgerHarness.ts"
import { begun, broken, orderFor, pair, rail, testLayer, transferOf } from "./SettlementsHarness.ts"
import { usdc, walletOf } from "./WalletsHarness.ts"

const claimOf = ({ tenant_id }: Principal, operation: string) => ({
  tenant_id,
  operation,
  key: "one",
  fingerprint: "1"
})

const later = losing(TestClock.adjust("1 second"))

layer(testLayer())("a request under a key whose first answer was lost on the way from the database", (it) => {
  it.effect("funds a wallet, and is no replay", () =>
    Effect.gen(function* () {
      const { caller, from } = yield* pair()
      const { fund } = yield* Effect.map(
        Layer.build(Layer.fresh(Wallets.layer).pipe(Layer.provide(later))),
        Context.get(Wallets)
      )
      const claim = claimOf(caller, "wallets.fund")
      const first = yield* fund(caller, from, usdc(5n), claim)
      assert.isFalse(first.replayed)
      assert.deepStrictEqual(yield* fund(caller, from, usdc(5n), claim), { ...first, replayed: true })
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("opens, fills and empties a stream at the time that the records say, and answers its key the same", () =>
    Effect.gen(function* () {
      const { caller, from } = yield* pair()
      const to = yield* walletOf(caller)
      const { get } = yield* Transfers
      const streams = yield* Effect.map(
        Layer.build(Layer.fresh(MoneyStreams.layer).pipe(Layer.provide(later))),
        Context.get(MoneyStreams)
      )
      const wanted = { from_wallet_id: from, to_wallet_id: to.id, flow_rate: 10n ** 15n, initial_deposit: 1_000_000n }
      const open = streams.open(caller, wanted, claimOf(caller, "streams.create"))
      const { id } = (yield* open).stream
      for (const request of [
        open,
        streams.topUp(caller, id, { amount: 5n }, claimOf(caller, "streams.top_up")),
        streams.withdraw(caller, id, {}, claimOf(caller, "streams.withdraw")),
        streams.cancel(caller, id, {}, claimOf(caller, "streams.cancel"))
      ]) {
        const first = yield* request
        assert.deepStrictEqual(yield* get(caller, first.transfer.id), first.transfer)
        assert.deepStrictEqual(yield* request, { ...first, replayed: true })
      }
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("opens no stream for want of money, at the time that its transfer says", () =>
    Effect.gen(function* () {
      const { caller, from } = yield* pair()
      const to = yield* walletOf(caller)
      const { start } = yield* Effect.map(
        Layer.build(Layer.fresh(MoneyStreams.layer).pipe(Layer.provide(later))),
        Context.get(MoneyStreams)
      )
      const order = { type: "stream_start", from_wallet_id: from, to_wallet_id: to.id, currency: "USDC" } as const
      const claim = claimOf(caller, "transfers.create")
      const first = yield* start(caller, { ...order, amount: 5_000_000_000n, flow_rate: 1n }, claim)
      assert.deepInclude(first, { replayed: false })
      assert.deepInclude(first.transfer, { status: "failed", failure_reason: "insufficient_funds" })
      assert.deepStrictEqual(yield* transferOf(caller, first.transfer.id), first.transfer)
    })
  )

  it.effect(
    "makes a cross-border transfer, and hears of it what its key will say, although it has settled by then",
    () =>
      Effect.gen(function* () {
        const parties = yield* pair()
        const { caller } = parties
        const { settleDue } = yield* Settlements
        yield* rail.does("complete")
        const { create } = yield* Effect.map(
          Layer.build(Layer.fresh(CrossBorder.layer).pipe(Layer.provide(losing(settleDue)))),
          Context.get(CrossBorder)
        )
        const { order } = yield* orderFor(parties)
        const claim = claimOf(caller, "transfers.create")
        const first = yield* create(caller, order, claim)
        assert.deepInclude(yield* transferOf(caller, first.transfer.id), { status: "completed" })
        assert.isFalse(first.replayed)
        assert.deepStrictEqual(yield* create(caller, order, claim), { ...first, replayed: true })
        assert.deepStrictEqual(yield* broken, [])
      })
  )

  it.effect("cancels a cross-border transfer, and is no replay", () =>
    Effect.gen(function* () {
      const parties = yield* pair()
      const { caller } = parties
      const { id } = yield* begun(parties)
      const { cancel } = yield* Effect.map(
        Layer.build(Layer.fresh(CrossBorder.layer).pipe(Layer.provide(later))),
        Context.get(CrossBorder)
      )
      const claim = claimOf(caller, "transfers.cancel")
      const first = yield* cancel(caller, id, claim)
      assert.deepStrictEqual(first, { transfer: yield* transferOf(caller, id), replayed: false })
      assert.deepStrictEqual(yield* cancel(caller, id, claim), { ...first, replayed: true })
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("pauses, resumes and changes the rate of a stream, and is no replay", () =>
    Effect.gen(function* () {
      const { caller, from } = yield* pair()
      const to = yield* walletOf(caller)
      const streams = yield* Effect.map(
        Layer.build(Layer.fresh(MoneyStreams.layer).pipe(Layer.provide(later))),
        Context.get(MoneyStreams)
      )
      const wanted = { from_wallet_id: from, to_wallet_id: to.id, flow_rate: 10n ** 15n, initial_deposit: 1_000_000n }
      const { id } = (yield* streams.open(caller, wanted)).stream
      for (const request of [
        streams.pause(caller, id, claimOf(caller, "streams.pause")),
        streams.resume(caller, id, claimOf(caller, "streams.resume")),
        streams.changeRate(caller, id, 10n ** 14n, claimOf(caller, "streams.rate"))
      ]) {
        const first = yield* request
        assert.isFalse(first.replayed)
        assert.deepStrictEqual(yield* request, { ...first, replayed: true })
      }
      assert.deepStrictEqual(yield* broken, [])
    })
  )
})
