import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId, BatchId, WalletId } from "#domain/Ids.ts"
import { maxMicros } from "#domain/Money.ts"
import { Batches } from "#services/Batches.ts"
import { newId } from "#services/NewId.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { accountOf, balance, broken, children, claims, item, paying, platform } from "./BatchesHarness.ts"
import { tenant, walletOf } from "./WalletsHarness.ts"

layer(platform)("a batch", (it) => {
  it.effect("makes a transfer of every item, in order, and reads back as it was answered", () =>
    Effect.gen(function* () {
      const batches = yield* Batches
      const { caller, purse, till } = yield* paying(10n)
      const items = [item(till, 1n, { memo: "one" }), item(till, 2n), item(till, 3n)]
      const { batch, replayed } = yield* batches.create(
        caller,
        { from_wallet_id: purse, transfers: items },
        claims(caller)
      )
      assert.isFalse(replayed)
      assert.deepInclude(batch, { total: 3, completed: 3, failed: 0, status: "completed" })
      assert.deepStrictEqual(
        batch.transfers.map(({ index }) => index),
        [0, 1, 2]
      )
      assert.deepStrictEqual(yield* batches.get(caller, batch.batch_id), batch)
      const made = yield* children(caller, batch.batch_id)
      assert.deepStrictEqual(
        made.map(({ amount, from_wallet_id, id, memo, to_wallet_id }) => [
          id,
          from_wallet_id,
          to_wallet_id,
          amount,
          memo
        ]),
        [
          [batch.transfers[0]!.id, purse, till, 1n, "one"],
          [batch.transfers[1]!.id, purse, till, 2n, null],
          [batch.transfers[2]!.id, purse, till, 3n, null]
        ]
      )
      assert.deepStrictEqual(made[0], yield* (yield* Transfers).get(caller, made[0]!.id))
      assert.deepStrictEqual([yield* balance(purse), yield* balance(till)], [4n, 6n])
    })
  )

  it.effect("pays in order until the money is gone, and pays what still fits after that", () =>
    Effect.gen(function* () {
      const { caller, purse, till } = yield* paying(10n)
      const { batch } = yield* (yield* Batches).create(
        caller,
        { from_wallet_id: purse, transfers: [4n, 4n, 4n, 2n, 1n].map((amount) => item(till, amount)) },
        claims(caller)
      )
      assert.deepStrictEqual(
        batch.transfers.map(({ failure_reason }) => failure_reason),
        [null, null, "insufficient_funds", null, "insufficient_funds"]
      )
      assert.deepInclude(batch, { total: 5, completed: 3, failed: 2, status: "partially_completed" })
      assert.deepStrictEqual([yield* balance(purse), yield* balance(till)], [0n, 10n])
      const made = yield* children(caller, batch.batch_id)
      assert.deepStrictEqual(
        made.map(({ status }) => status),
        ["completed", "completed", "failed", "completed", "failed"]
      )
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("fails what can never succeed alone, each with its reason and an id", () =>
    Effect.gen(function* () {
      const batches = yield* Batches
      const { caller, purse, till } = yield* paying(10n)
      const stranger = yield* paying(0n)
      const euros = (yield* walletOf(caller, { currency: "EURC" })).id
      const elsewhere = (yield* walletOf(caller, { network: "base-sepolia" })).id
      const empty = yield* accountOf(caller)
      // What one tenant has looked up is known to the process, and still not to others.
      yield* (yield* Wallets).known(stranger.caller, stranger.till)
      const account = (to_account_id: AccountId) => ({ to_account_id, amount: 1n, currency: "USDC" as const })
      const transfers = [
        item(stranger.till, 1n),
        item(yield* newId(WalletId), 1n),
        item(purse, 1n),
        item(euros, 1n),
        item(till, 1n, { currency: "EURC" }),
        item(elsewhere, 1n),
        account(stranger.caller.account_id),
        account(yield* newId(AccountId)),
        account(empty),
        item(till, 1n)
      ]
      const { batch } = yield* batches.create(caller, { from_wallet_id: purse, transfers }, claims(caller))
      assert.deepStrictEqual(
        batch.transfers.map(({ failure_reason }) => failure_reason),
        [
          "wallet_not_found",
          "wallet_not_found",
          "same_wallet",
          "currency_mismatch",
          "currency_mismatch",
          "network_mismatch",
          "account_not_found",
          "account_not_found",
          "no_receiving_wallet",
          null
        ]
      )
      const made = yield* children(caller, batch.batch_id)
      assert.deepStrictEqual(
        made.map(({ id }) => id),
        batch.transfers.map(({ id }) => id)
      )
      assert.deepStrictEqual(
        made.map(({ to_account_id, to_wallet_id }) => [to_wallet_id, to_account_id]),
        [
          [null, null],
          [null, null],
          [purse, caller.account_id],
          [euros, caller.account_id],
          [till, caller.account_id],
          [elsewhere, caller.account_id],
          [null, null],
          [null, null],
          [null, empty],
          [till, caller.account_id]
        ]
      )
      assert.deepStrictEqual([yield* balance(purse), yield* balance(till)], [9n, 1n])
      assert.strictEqual(yield* balance(stranger.till), 0n)
    })
  )

  it.effect("fails an item that would be more than the wallet can hold", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { caller, purse, till } = yield* paying(10n)
      yield* sql`UPDATE ledger_accounts SET posted = ${maxMicros - 1n} WHERE id = ${till}`
      const transfers = [item(till, 2n), item(till, 1n)]
      const { batch } = yield* (yield* Batches).create(caller, { from_wallet_id: purse, transfers }, claims(caller))
      assert.deepStrictEqual(
        batch.transfers.map(({ failure_reason }) => failure_reason),
        ["amount_too_large", null]
      )
    })
  )

  it.effect("of a wallet that is not there, another tenant's, or frozen makes nothing", () =>
    Effect.gen(function* () {
      const batches = yield* Batches
      const sql = yield* SqlClient.SqlClient
      const { caller, purse, till } = yield* paying(10n)
      const stranger = yield* paying(10n)
      const create = (from_wallet_id: WalletId) =>
        Effect.flip(batches.create(caller, { from_wallet_id, transfers: [item(till, 1n)] }, claims(caller)))
      yield* (yield* Wallets).freeze(caller, purse, "test")
      assert.strictEqual((yield* create(yield* newId(WalletId)))._tag, "NOT_FOUND")
      assert.strictEqual((yield* create(stranger.purse))._tag, "NOT_FOUND")
      assert.strictEqual((yield* create(purse))._tag, "WALLET_FROZEN")
      assert.deepStrictEqual(yield* sql`SELECT 1 FROM batches WHERE tenant_id = ${caller.tenant_id}`, [])
      assert.deepStrictEqual(yield* sql`SELECT 1 FROM transfers WHERE tenant_id = ${caller.tenant_id}`, [])
    })
  )

  it.effect("is another tenant's secret", () =>
    Effect.gen(function* () {
      const batches = yield* Batches
      const { caller, purse, till } = yield* paying(10n)
      const { batch } = yield* batches.create(
        caller,
        { from_wallet_id: purse, transfers: [item(till, 1n)] },
        claims(caller)
      )
      for (const [who, id] of [
        [yield* tenant(), batch.batch_id],
        [caller, yield* newId(BatchId)]
      ] as const) {
        assert.strictEqual((yield* Effect.flip(batches.get(who, id)))._tag, "NOT_FOUND")
      }
    })
  )

  it.effect("records every transfer's events, and then its own with what it moved", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { caller, purse, till } = yield* paying(3_000_000n)
      const transfers = [item(till, 2_000_000n), item(till, 2_000_000n), item(till, 1_000_000n, { currency: "EURC" })]
      const { batch } = yield* (yield* Batches).create(caller, { from_wallet_id: purse, transfers }, claims(caller))
      const events = yield* sql`SELECT type, data FROM events WHERE tenant_id = ${caller.tenant_id} ORDER BY seq`
      assert.deepStrictEqual(
        events.map(({ type }) => type),
        [
          "transfer.created",
          "transfer.completed",
          "transfer.created",
          "transfer.failed",
          "transfer.created",
          "transfer.failed",
          "batch.completed"
        ]
      )
      assert.deepInclude(Object(events.at(-1)?.["data"]).batch, {
        total: 3,
        completed: 1,
        failed: 2,
        replayed: 0,
        status: "partially_completed",
        created_at: batch.created_at.toISOString(),
        amounts: [
          { currency: "EURC", completed: "0.00", failed: "1.00" },
          { currency: "USDC", completed: "2.00", failed: "2.00" }
        ]
      })
    })
  )
})
