import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Batches } from "#services/Batches.ts"
import { Wallets } from "#services/Wallets.ts"
import { accountOf, balance, broken, claims, item, paying, platform, replays } from "./BatchesHarness.ts"
import { tenant, walletOf } from "./WalletsHarness.ts"

/** A payer and a friend's wallet, and what makes another wallet of the payer's pay from then on. */
const scene = Effect.gen(function* () {
  const wallets = yield* Wallets
  const { caller, purse, till } = yield* paying(10n)
  const friend = yield* accountOf(caller)
  const { id } = yield* walletOf(caller, { owner_type: "account", owner_id: friend })
  const funded = wallets.fund(caller, till, { amount: 1_000n, currency: "USDC" })
  return { another: Effect.andThen(funded, wallets.freeze(caller, purse, "test")), caller, friend, id, purse, till }
})

layer(platform)("the key of an item that is paid by default", (it) => {
  it.effect("stands for the transfer it made, although another wallet would pay by now", () =>
    Effect.gen(function* () {
      const batches = yield* Batches
      const { another, caller, friend, id, purse, till } = yield* scene
      const transfers = [
        item(id, 1n, { idempotency_key: "wallet" }),
        { to_account_id: friend, amount: 2n, currency: "USDC" as const, idempotency_key: "account" },
        item(id, 100n, { idempotency_key: "poor" })
      ]
      const create = batches.create(caller, { transfers }, claims(caller))
      const first = (yield* create).batch
      yield* another
      assert.deepStrictEqual((yield* create).batch.transfers, replays(first.transfers))
      assert.deepStrictEqual([yield* balance(purse), yield* balance(till), yield* balance(id)], [7n, 1_000n, 3n])
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("stands a day later for what is paid then, by whoever pays by then", () =>
    Effect.gen(function* () {
      const batches = yield* Batches
      const { another, caller, id, purse, till } = yield* scene
      const create = batches.create(caller, { transfers: [item(id, 1n, { idempotency_key: "day" })] }, claims(caller))
      yield* create
      yield* another
      yield* TestClock.adjust("24 hours")
      const { completed, replayed, transfers } = (yield* create).batch
      assert.deepStrictEqual([completed, replayed], [1, 0])
      assert.deepStrictEqual((yield* create).batch.transfers, replays(transfers))
      assert.deepStrictEqual([yield* balance(purse), yield* balance(till), yield* balance(id)], [9n, 999n, 2n])
    })
  )

  it.effect("stands for the failure of having none, although there is one by now", () =>
    Effect.gen(function* () {
      const batches = yield* Batches
      const caller = yield* tenant()
      const friend = yield* accountOf(caller)
      const { id } = yield* walletOf(caller, { owner_type: "account", owner_id: friend })
      const create = batches.create(caller, { transfers: [item(id, 1n, { idempotency_key: "none" })] }, claims(caller))
      const first = (yield* create).batch
      assert.strictEqual(first.transfers[0]?.failure_reason, "wallet_not_found")
      yield* walletOf(caller)
      assert.deepStrictEqual((yield* create).batch.transfers, replays(first.transfers))
    })
  )

  it.effect("is reused by another amount, whoever pays by now, and stays with a transfer of another account", () =>
    Effect.gen(function* () {
      const batches = yield* Batches
      const { caller, purse, till } = yield* paying(10n)
      const create = (account_id: typeof caller.account_id, amount: bigint) => {
        const other = Object.assign(Object.create(Object.getPrototypeOf(caller)), caller, { account_id })
        return batches.create(other, { transfers: [item(till, amount, { idempotency_key: "key" })] }, claims(caller))
      }
      const first = (yield* create(caller.account_id, 1n)).batch
      yield* (yield* Wallets).freeze(caller, purse, "test")
      assert.strictEqual(first.status, "completed")
      assert.strictEqual(
        (yield* create(caller.account_id, 2n)).batch.transfers[0]?.failure_reason,
        "idempotency_key_reused"
      )
      const friend = yield* accountOf(caller)
      yield* walletOf(caller, { owner_type: "account", owner_id: friend })
      assert.strictEqual((yield* create(friend, 1n)).batch.transfers[0]?.failure_reason, "idempotency_key_reused")
      assert.strictEqual(yield* balance(till), 1n)
    })
  )
})
