import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import { Batches } from "#services/Batches.ts"
import { Wallets } from "#services/Wallets.ts"
import { accountOf, balance, children, claims, item, paying, platform } from "./BatchesHarness.ts"
import { tenant, walletOf } from "./WalletsHarness.ts"

layer(platform)("the wallets of a batch", (it) => {
  it.effect(
    "that names no payer are the oldest of the account in each currency, on the network of the destination",
    () =>
      Effect.gen(function* () {
        const wallets = yield* Wallets
        const caller = yield* tenant()
        const open = (currency: "USDC" | "EURC", network: "solana-devnet" | "base-sepolia") =>
          Effect.tap(walletOf(caller, { currency, network }), ({ id }) =>
            wallets.fund(caller, id, { amount: 5n, currency })
          )
        const [dollars, base, euros] = [
          yield* open("USDC", "solana-devnet"),
          yield* open("USDC", "base-sepolia"),
          yield* open("EURC", "solana-devnet")
        ]
        yield* open("USDC", "solana-devnet")
        const friend = yield* accountOf(caller)
        const theirs = (currency: "USDC" | "EURC", network: "solana-devnet" | "base-sepolia") =>
          walletOf(caller, { owner_type: "account", owner_id: friend, currency, network })
        const [inBase, inEuros] = [yield* theirs("USDC", "base-sepolia"), yield* theirs("EURC", "solana-devnet")]
        const target = (yield* walletOf(caller)).id
        const { batch } = yield* (yield* Batches).create(
          caller,
          {
            transfers: [
              item(target, 1n),
              { to_account_id: friend, amount: 1n, currency: "USDC" },
              { to_account_id: friend, amount: 1n, currency: "EURC" },
              item(inBase.id, 1n)
            ]
          },
          claims(caller)
        )
        assert.deepStrictEqual(
          (yield* children(caller, batch.batch_id)).map(({ from_wallet_id, to_wallet_id }) => [
            from_wallet_id,
            to_wallet_id
          ]),
          [
            [dollars.id, target],
            [base.id, inBase.id],
            [euros.id, inEuros.id],
            [base.id, inBase.id]
          ]
        )
        assert.strictEqual(batch.status, "completed")
      })
  )

  it.effect("that pay by default are active ones; with none but frozen ones the items fail", () =>
    Effect.gen(function* () {
      const wallets = yield* Wallets
      const batches = yield* Batches
      const { caller, purse, till } = yield* paying(10n)
      const target = (yield* walletOf(caller)).id
      yield* wallets.freeze(caller, purse, "test")
      yield* wallets.fund(caller, till, { amount: 3n, currency: "USDC" })
      const create = batches.create(caller, { transfers: [item(target, 1n)] }, claims(caller))
      assert.strictEqual((yield* create).batch.status, "completed")
      assert.strictEqual(yield* balance(till), 2n)
      for (const id of [till, target]) yield* wallets.freeze(caller, id, "test")
      assert.strictEqual((yield* create).batch.transfers[0]?.failure_reason, "wallet_frozen")
    })
  )

  it.effect("that paid by default pay the same again for as long as its key stands for it, and not for ever", () =>
    Effect.gen(function* () {
      const [wallets, batches] = [yield* Wallets, yield* Batches]
      const { caller, purse, till } = yield* paying(10n)
      const target = (yield* walletOf(caller)).id
      yield* wallets.fund(caller, till, { amount: 3n, currency: "USDC" })
      const create = Effect.map(
        batches.create(caller, { transfers: [item(target, 1n, { idempotency_key: "rent" })] }, claims(caller)),
        ({ batch }) => batch.transfers[0]
      )
      const first = yield* create
      yield* wallets.freeze(caller, purse, "test")
      assert.strictEqual((yield* create)?.id, first?.id)
      yield* TestClock.adjust("24 hours")
      const anew = yield* create
      assert.notStrictEqual(anew?.id, first?.id)
      assert.strictEqual((yield* create)?.id, anew?.id)
      assert.deepStrictEqual([yield* balance(purse), yield* balance(till)], [9n, 2n])
    })
  )

  it.effect("that pay by default may be missing in a currency", () =>
    Effect.gen(function* () {
      const caller = yield* tenant()
      const friend = yield* accountOf(caller)
      const { id } = yield* walletOf(caller, { owner_type: "account", owner_id: friend })
      const { batch } = yield* (yield* Batches).create(caller, { transfers: [item(id, 1n)] }, claims(caller))
      assert.strictEqual(batch.transfers[0]?.failure_reason, "wallet_not_found")
    })
  )

  it.effect("that receive for an account are active ones, and not its agents'", () =>
    Effect.gen(function* () {
      const wallets = yield* Wallets
      const sql = yield* SqlClient.SqlClient
      const { caller, purse } = yield* paying(10n)
      const friend = yield* accountOf(caller)
      const theirs = Effect.map(walletOf(caller, { owner_type: "account", owner_id: friend }), ({ id }) => id)
      const [agents, frozen, active] = [yield* theirs, yield* theirs, yield* theirs]
      yield* sql`UPDATE wallets SET owner_type = 'agent' WHERE id = ${agents}`
      yield* wallets.freeze(caller, frozen, "test")
      const create = (yield* Batches).create(
        caller,
        { from_wallet_id: purse, transfers: [{ to_account_id: friend, amount: 1n, currency: "USDC" }] },
        claims(caller)
      )
      yield* create
      assert.deepStrictEqual([yield* balance(agents), yield* balance(frozen), yield* balance(active)], [0n, 0n, 1n])
      yield* wallets.freeze(caller, active, "test")
      assert.strictEqual((yield* create).batch.transfers[0]?.failure_reason, "no_receiving_wallet")
    })
  )
})
