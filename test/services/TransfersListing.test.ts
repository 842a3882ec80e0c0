import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId, BatchId, TransferId } from "#domain/Ids.ts"
import * as Postgres from "#layers/Postgres.ts"
import type { TransferFilter } from "#domain/Transfer.ts"
import { Ledger } from "#services/Ledger.ts"
import { newId } from "#services/NewId.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { tenant } from "./WalletsHarness.ts"

const server = Transfers.layer.pipe(
  Layer.provideMerge(Wallets.layer),
  Layer.provideMerge(Ledger.layer),
  Layer.provideMerge(Postgres.layerTest)
)

/** A page, what follows it, and what a plan is chosen by. */
const few = 200

const decodeRows = Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ touched: Schema.Int })))

/** What is found, and how many transfers the database looked at for it. */
const reads = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const sql = yield* SqlClient.SqlClient
  // Of what the connection read before, the server may not have taken note yet.
  const read = Effect.map(
    sql`SELECT (seq_tup_read + idx_tup_fetch)::int AS touched FROM pg_stat_xact_user_tables WHERE relname = 'transfers'`,
    (found) => decodeRows(found)[0]?.touched ?? Number.NaN
  )
  const counted = Effect.gen(function* () {
    const before = yield* read
    const found = yield* effect
    return [found, (yield* read) - before] as const
  })
  return yield* sql.withTransaction(counted)
})

layer(server, { timeout: "120 seconds" })("lists of transfers", (it) => {
  it.effect("of a wallet whose transfers nearly all are internal and completed read the few others only", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { list } = yield* Transfers
      const wallets = yield* Wallets
      const caller = yield* tenant()
      const wallet = () =>
        Effect.map(wallets.create(caller, { currency: "USDC", network: "solana-devnet" }), ({ id }) => id)
      const [busy, idle, failing] = [yield* wallet(), yield* wallet(), yield* wallet()]
      const rows = 20_000
      /** Many transfers between these two; the tenant has as many of each kind. */
      const fill = (from: string, to: string, type: string, reason: string | null) =>
        sql`INSERT INTO transfers (id, tenant_id, type, status, amount, currency, from_wallet_id, to_wallet_id, fee,
            initiated_by_type, initiated_by_id, protocol, protocol_metadata, failure_reason, created_at, updated_at, completed_at)
          SELECT (to_char(i, 'FM00000000') || '-0000-7000-8000-' || substr(md5(random()::text), 1, 12))::uuid,
            ${caller.tenant_id}, ${type}, ${reason === null ? "completed" : "failed"}, 1, 'USDC', ${from}, ${to}, 0,
            'api_key', 'key', 'internal', '{}', ${reason}, now(), now(), ${reason === null ? new Date(0) : null}
          FROM generate_series(1, ${rows}::int) i`
      yield* fill(busy, idle, "internal", null)
      yield* fill(failing, failing, "internal", "insufficient_funds")
      yield* fill(failing, failing, "cross_border", null)
      yield* sql`ANALYZE transfers`
      const touched = (filter: TransferFilter) =>
        Effect.map(reads(list(caller, filter, { limit: 50 })), ([, count]) => count)
      const account_id = AccountId.make((yield* wallets.get(caller, busy)).owner_id)
      for (const side of [{ from_wallet_id: busy }, { to_wallet_id: idle }]) {
        assert.isAtMost(yield* touched(side), few)
        assert.isAtMost(yield* touched({ ...side, status: "failed" }), few)
        assert.isAtMost(yield* touched({ ...side, status: "pending" }), few)
        assert.isAtMost(yield* touched({ ...side, type: "cross_border" }), few)
      }
      assert.isAtMost(yield* touched({ account_id, status: "pending" }), few)
      assert.isAtMost(yield* touched({ status: "pending" }), few)
    })
  )

  it.effect(
    "of an account with very many wallets read a few of each, and none of them when its own are the newest",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { list } = yield* Transfers
        const wallets = yield* Wallets
        const caller = yield* tenant()
        const { id: first } = yield* wallets.create(caller, { currency: "USDC", network: "solana-devnet" })
        const account_id = AccountId.make((yield* wallets.get(caller, first)).owner_id)
        const [crowd, each] = [700, 60]
        const numbers = sql`generate_series(1, ${crowd}::int) i`
        const idOf = (what: string, i: string) => sql.literal(`md5('${account_id} ${what} ' || ${i})::uuid`)
        yield* sql`INSERT INTO ledger_accounts (id, purpose, currency) SELECT ${idOf("wallet", "i")}, 'wallet', 'USDC' FROM ${numbers}`
        yield* sql`INSERT INTO wallets (id, tenant_id, owner_type, owner_id, currency, network, address, metadata, created_at, updated_at)
        SELECT ${idOf("wallet", "i")}, ${caller.tenant_id}, 'account', ${account_id}, 'USDC', 'solana-devnet', ${idOf("wallet", "i")},
          '{}', now(), now() FROM ${numbers}`
        /** Transfers among the crowd, or among nobody that we look for, made before or after others. */
        const fill = (count: number, since: number, of: string | null) =>
          sql`INSERT INTO transfers (id, tenant_id, type, status, amount, currency, from_wallet_id, to_wallet_id, from_account_id,
            to_account_id, fee, initiated_by_type, initiated_by_id, protocol, protocol_metadata, created_at, updated_at, completed_at)
          SELECT (lpad(to_hex(${since}::int + i), 8, '0') || '-0000-7000-8000-' || substr(md5(random()::text), 1, 12))::uuid,
            ${caller.tenant_id}, 'internal', 'completed', 1, 'USDC', ${idOf(of ?? "nobody", `(i * 31) % ${crowd} + 1`)},
            ${idOf(of ?? "nobody", `(i * 17) % ${crowd} + 1`)}, ${of === null ? null : account_id}::uuid,
            ${of === null ? null : account_id}::uuid, 0, 'api_key', 'key', 'internal', '{}', now(), now(), now()
          FROM generate_series(1, ${count}::int) i`
        const total = (crowd * each) / 2
        yield* fill(total, 1_000_000, "wallet")
        yield* sql`ANALYZE`
        /** The newest, by each of two ways, and how many rows were read for them. */
        const page = Effect.gen(function* () {
          const before = TransferId.make("0fffffff-ffff-7fff-bfff-ffffffffffff")
          const [found, touched] = yield* reads(list(caller, { account_id }, { limit: 51, before }))
          const expected =
            yield* sql`SELECT id FROM transfers WHERE from_account_id = ${account_id} ORDER BY id DESC LIMIT 51`
          assert.deepStrictEqual(
            found.map(({ id }) => id),
            expected.map(({ id }) => id)
          )
          return touched
        })
        assert.isAtMost(yield* page, few)
        // Of a batch it reads the batch, and asks none of the wallets.
        const batch_id = yield* newId(BatchId)
        yield* sql`UPDATE transfers SET batch_id = ${batch_id}, batch_index = 0 WHERE id IN (
          SELECT id FROM transfers WHERE from_account_id = ${account_id} ORDER BY id LIMIT 1)`
        const [batch, touched] = yield* reads(list(caller, { account_id, batch_id }, { limit: 51 }))
        assert.strictEqual(batch.length, 1)
        assert.isAtMost(touched, few)
        // Others have made more since than are looked through.
        yield* fill(3_000, 2_000_000, null)
        assert.isAtMost(yield* page, 2_000 + 2 * crowd + 2 * 51 * 51 + few)
      })
  )
})
