import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { maxMicros } from "#domain/Money.ts"
import { Batches } from "#services/Batches.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import {
  accountOf,
  balance,
  broken,
  children,
  claims,
  item,
  itemClaim,
  paying,
  platform,
  replays
} from "./BatchesHarness.ts"
import { walletOf } from "./WalletsHarness.ts"

layer(platform)("the key of a batch", (it) => {
  it.effect("used 20 times at once makes one batch, and every answer is the first one's", () =>
    Effect.gen(function* () {
      const batches = yield* Batches
      const sql = yield* SqlClient.SqlClient
      const { caller, purse, till } = yield* paying(100n)
      const transfers = [60n, 60n, 1n].map((amount) => item(till, amount))
      const answers = yield* Effect.forEach(
        Array.from({ length: 20 }),
        () => batches.create(caller, { from_wallet_id: purse, transfers }, claims(caller, "once")),
        { concurrency: 20 }
      )
      assert.strictEqual(answers.filter(({ replayed }) => !replayed).length, 1)
      for (const { batch } of answers) assert.deepStrictEqual(batch, answers[0]?.batch)
      assert.deepStrictEqual([yield* balance(purse), yield* balance(till)], [39n, 61n])
      const events = yield* sql`SELECT type, count(*)::int AS n FROM events WHERE tenant_id = ${caller.tenant_id}
        GROUP BY type ORDER BY type`
      assert.deepStrictEqual(
        events.map(({ n, type }) => [type, n]),
        [
          ["batch.completed", 1],
          ["transfer.completed", 2],
          ["transfer.created", 3],
          ["transfer.failed", 1]
        ]
      )
      const log = yield* sql`SELECT id FROM events WHERE tenant_id = ${caller.tenant_id} ORDER BY seq`
      const ids = log.map((row) => String(row["id"]))
      assert.deepStrictEqual(ids, ids.toSorted(), "events of one commit are in the order of their ids")
    })
  )

  it.effect("answers the same when the paying wallet has been frozen since, and to other parameters nothing", () =>
    Effect.gen(function* () {
      const batches = yield* Batches
      const { caller, purse, till } = yield* paying(10n)
      const create = (fingerprint: string) =>
        batches.create(
          caller,
          { from_wallet_id: purse, transfers: [item(till, 1n)] },
          claims(caller, "then", fingerprint)
        )
      const { batch } = yield* create("1")
      assert.strictEqual((yield* Effect.flip(create("2")))._tag, "IDEMPOTENCY_KEY_REUSED")
      yield* (yield* Wallets).freeze(caller, purse, "test")
      assert.deepStrictEqual(yield* create("1"), { batch, replayed: true })
      assert.strictEqual((yield* Effect.flip(create("2")))._tag, "IDEMPOTENCY_KEY_REUSED")
      assert.strictEqual(yield* balance(till), 1n)
    })
  )

  it.effect("of a batch that was refused is free", () =>
    Effect.gen(function* () {
      const batches = yield* Batches
      const wallets = yield* Wallets
      const { caller, purse, till } = yield* paying(10n)
      const create = batches.create(
        caller,
        { from_wallet_id: purse, transfers: [item(till, 1n)] },
        claims(caller, "free")
      )
      yield* wallets.freeze(caller, purse, "test")
      assert.strictEqual((yield* Effect.flip(create))._tag, "WALLET_FROZEN")
      yield* wallets.unfreeze(caller, purse)
      assert.isFalse((yield* create).replayed)
    })
  )
})

layer(platform)("the key of an item", (it) => {
  it.effect("stands for one transfer, whether it was asked for alone or in a batch", () =>
    Effect.gen(function* () {
      const transfers = yield* Transfers
      const batches = yield* Batches
      const { caller, purse, till } = yield* paying(10n)
      const parameters = {
        type: "internal",
        from_wallet_id: purse,
        amount: 1n,
        currency: "USDC",
        to_wallet_id: till
      } as const
      const alone = (key: string) => transfers.create(caller, parameters, itemClaim(caller, key, parameters))
      const before = yield* alone("alone")
      const { batch } = yield* batches.create(
        caller,
        {
          from_wallet_id: purse,
          transfers: ["alone", "batch"].map((idempotency_key) => item(till, 1n, { idempotency_key }))
        },
        claims(caller)
      )
      assert.deepStrictEqual(batch.transfers[0], {
        index: 0,
        id: before.transfer.id,
        status: "completed",
        failure_reason: null,
        replayed: true
      })
      const after = yield* alone("batch")
      assert.isTrue(after.replayed)
      assert.strictEqual(after.transfer.id, batch.transfers[1]?.id)
      assert.deepStrictEqual(after.transfer, yield* transfers.get(caller, after.transfer.id))
      assert.deepStrictEqual([yield* balance(purse), yield* balance(till)], [8n, 2n])
    })
  )

  it.effect("that an earlier batch used leaves the transfer in that batch, and both batches show it", () =>
    Effect.gen(function* () {
      const batches = yield* Batches
      const sql = yield* SqlClient.SqlClient
      const { caller, purse, till } = yield* paying(10n)
      const create = (amounts: ReadonlyArray<bigint>) =>
        batches.create(
          caller,
          {
            from_wallet_id: purse,
            transfers: amounts.map((amount) => item(till, amount, { idempotency_key: `key ${amount}` }))
          },
          claims(caller)
        )
      const first = (yield* create([1n, 20n])).batch
      const second = (yield* create([3n, 20n, 1n])).batch
      assert.deepStrictEqual(
        second.transfers.map(({ id, replayed, status }) => [id, status, replayed]),
        [
          [second.transfers[0]?.id, "completed", false],
          [first.transfers[1]?.id, "failed", true],
          [first.transfers[0]?.id, "completed", true]
        ]
      )
      assert.deepStrictEqual([first.replayed, second.replayed], [0, 2])
      assert.deepStrictEqual(yield* batches.get(caller, first.batch_id), first)
      assert.deepStrictEqual(yield* batches.get(caller, second.batch_id), second)
      assert.deepStrictEqual(
        (yield* children(caller, second.batch_id)).map(({ id }) => id),
        [second.transfers[0]?.id]
      )
      assert.deepStrictEqual([yield* balance(purse), yield* balance(till)], [6n, 4n])
      const events = yield* sql`SELECT data FROM events WHERE tenant_id = ${caller.tenant_id} ORDER BY seq DESC LIMIT 1`
      assert.deepInclude(Object(events[0]?.["data"]).batch, {
        total: 3,
        completed: 2,
        replayed: 2,
        amounts: [{ currency: "USDC", completed: "0.000003", failed: "0.00" }]
      })
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("counts in order within one batch: the same again is the same transfer, other parameters fail", () =>
    Effect.gen(function* () {
      const { caller, purse, till } = yield* paying(10n)
      const key = (idempotency_key: string) => ({ idempotency_key })
      const { batch } = yield* (yield* Batches).create(
        caller,
        {
          from_wallet_id: purse,
          transfers: [
            item(till, 1n, key("a")),
            item(till, 1n, key("a")),
            item(till, 2n, key("a")),
            item(till, 2n, key("b")),
            item(till, 50n, key("c")),
            item(till, 50n, key("c"))
          ]
        },
        claims(caller)
      )
      const [one, again, other, two, poor, poorAgain] = batch.transfers
      assert.deepStrictEqual([batch.total, batch.completed, batch.failed, batch.replayed], [6, 3, 3, 2])
      assert.strictEqual(again?.id, one?.id)
      assert.strictEqual(poorAgain?.id, poor?.id)
      assert.deepStrictEqual(
        [one, again, other, two, poor, poorAgain].map((line) => line?.failure_reason),
        [null, null, "idempotency_key_reused", null, "insufficient_funds", "insufficient_funds"]
      )
      assert.deepStrictEqual(yield* (yield* Batches).get(caller, batch.batch_id), batch)
      assert.strictEqual((yield* children(caller, batch.batch_id)).length, 4)
      assert.deepStrictEqual([yield* balance(purse), yield* balance(till)], [7n, 3n])
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("answers what was paid also when the payee could not be paid any more", () =>
    Effect.gen(function* () {
      const batches = yield* Batches
      const { caller, purse } = yield* paying(10n)
      const friend = yield* accountOf(caller)
      const { id } = yield* walletOf(caller, { owner_type: "account", owner_id: friend })
      const create = batches.create(
        caller,
        {
          from_wallet_id: purse,
          transfers: [{ to_account_id: friend, amount: 1n, currency: "USDC", idempotency_key: "payout" }]
        },
        claims(caller)
      )
      const first = (yield* create).batch
      yield* (yield* Wallets).freeze(caller, id, "test")
      assert.deepStrictEqual((yield* create).batch.transfers, replays(first.transfers))
      assert.strictEqual(yield* balance(id), 1n)
    })
  )

  it.effect("in 20 batches at once makes one transfer", () =>
    Effect.gen(function* () {
      const batches = yield* Batches
      const { caller, purse, till } = yield* paying(10n)
      const answers = yield* Effect.forEach(
        Array.from({ length: 20 }),
        () =>
          batches.create(
            caller,
            { from_wallet_id: purse, transfers: [item(till, 1n, { idempotency_key: "payout" })] },
            claims(caller)
          ),
        { concurrency: 20 }
      )
      assert.strictEqual(new Set(answers.map(({ batch }) => batch.batch_id)).size, 20)
      assert.strictEqual(new Set(answers.map(({ batch }) => batch.transfers[0]?.id)).size, 1)
      assert.strictEqual(yield* balance(till), 1n)
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  // Last, because it makes a balance by hand, which the log then says and the doctor sees.
  it.effect("stands for its transfer whatever that failed by, also when it could be made now", () =>
    Effect.gen(function* () {
      const batches = yield* Batches
      const wallets = yield* Wallets
      const sql = yield* SqlClient.SqlClient
      const { caller, purse, till } = yield* paying(10n)
      const full = (yield* walletOf(caller)).id
      const friend = yield* accountOf(caller)
      yield* sql`UPDATE ledger_accounts SET posted = ${maxMicros} WHERE id = ${full}`
      const create = batches.create(
        caller,
        {
          transfers: [
            item(full, 1n, { idempotency_key: "full" }),
            item(till, 11n, { idempotency_key: "poor" }),
            { to_account_id: friend, amount: 1n, currency: "USDC", idempotency_key: "no wallet" }
          ]
        },
        claims(caller)
      )
      const first = (yield* create).batch
      assert.deepStrictEqual(
        first.transfers.map(({ failure_reason }) => failure_reason),
        ["amount_too_large", "insufficient_funds", "no_receiving_wallet"]
      )
      yield* sql`UPDATE ledger_accounts SET posted = 0 WHERE id = ${full}`
      yield* wallets.fund(caller, purse, { amount: 100n, currency: "USDC" })
      yield* walletOf(caller, { owner_type: "account", owner_id: friend })
      assert.deepStrictEqual((yield* create).batch.transfers, replays(first.transfers))
      assert.strictEqual(yield* balance(purse), 110n)
    })
  )
})
