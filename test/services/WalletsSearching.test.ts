import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Postgres from "#layers/Postgres.ts"
import type { WalletFilter } from "#domain/Wallet.ts"
import { Ledger } from "#services/Ledger.ts"
import { Wallets } from "#services/Wallets.ts"
import { tenant } from "./WalletsHarness.ts"

const server = Wallets.layer.pipe(Layer.provideMerge(Ledger.layer), Layer.provideMerge(Postgres.layerTest))

const decodeRows = Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ touched: Schema.Int })))

layer(server, { timeout: "60 seconds" })("a list of wallets", (it) => {
  it.effect("of very many finds and counts those that are asked for without the ledger accounts of the others", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { list } = yield* Wallets
      const caller = yield* tenant()
      const crowd = 5_000
      const id = sql.literal(
        `(to_char(i, 'FM00000000') || '-0000-7000-8000-' || substr(md5('${caller.tenant_id}'), 1, 12))::uuid`
      )
      const numbers = sql`generate_series(1, ${crowd}::int) i`
      yield* sql`INSERT INTO ledger_accounts (id, purpose, currency, frozen) SELECT ${id}, 'wallet', 'USDC', i = 1 FROM ${numbers}`
      yield* sql`INSERT INTO wallets (id, tenant_id, owner_type, owner_id, currency, network, address, metadata, created_at, updated_at,
          frozen_reason, frozen_at)
        SELECT ${id}, ${caller.tenant_id}, CASE WHEN i = 2 THEN 'agent' ELSE 'account' END, ${caller.account_id},
          CASE WHEN i = 3 THEN 'EURC' ELSE 'USDC' END, CASE WHEN i = 4 THEN 'base-sepolia' ELSE 'solana-devnet' END, ${id}, '{}',
          now(), now(), CASE WHEN i = 1 THEN 'lost' END, CASE WHEN i = 1 THEN now() END
        FROM ${numbers}`
      yield* sql`ANALYZE wallets, ledger_accounts`
      const reads = Effect.map(
        sql`SELECT (seq_tup_read + idx_tup_fetch)::int AS touched FROM pg_stat_xact_user_tables WHERE relname = 'ledger_accounts'`,
        (rows) => decodeRows(rows)[0]?.touched ?? Number.NaN
      )
      /** How many ledger accounts were read for a page of one, of which there must be this many. */
      const touched = (filter: WalletFilter, expected: number) =>
        Effect.gen(function* () {
          const before = yield* reads
          const { total, wallets } = yield* list(caller, filter, { limit: 1, offset: 0 })
          assert.strictEqual(total, expected)
          assert.strictEqual(wallets.length, 1)
          return (yield* reads) - before
        }).pipe(sql.withTransaction)
      for (const [filter, expected] of [
        [{}, crowd],
        [{ status: "active" }, crowd - 1],
        [{ status: "frozen" }, 1],
        [{ owner_type: "agent" }, 1],
        [{ currency: "EURC" }, 1],
        [{ network: "base-sepolia" }, 1]
      ] satisfies ReadonlyArray<readonly [WalletFilter, number]>) {
        assert.isAtMost(yield* touched(filter, expected), 10, JSON.stringify(filter))
      }
    })
  )

  it.effect("has what it may be narrowed by in the index of a tenant's wallets", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { tenant_id } = yield* tenant()
      for (const filter of [
        sql`w.owner_type = 'agent'`,
        sql`w.owner_type = 'agent' AND w.owner_id = ${tenant_id}`,
        sql`w.currency = 'EURC'`,
        sql`w.network = 'base-sepolia'`,
        sql`w.frozen_at IS NOT NULL`
      ]) {
        // A few rows would be read as a whole.
        const explained = Effect.andThen(
          sql`SELECT set_config(name, 'off', true) FROM unnest(ARRAY['enable_seqscan', 'enable_bitmapscan', 'enable_sort']) AS name`,
          sql`EXPLAIN SELECT w.id FROM wallets w WHERE w.tenant_id = ${tenant_id} AND ${filter} ORDER BY w.id DESC LIMIT 50`
        ).pipe(sql.withTransaction)
        const plan = (yield* explained).map((row) => String(row["QUERY PLAN"])).join("\n")
        assert.include(plan, "Index Only Scan Backward using wallets_listed")
      }
    })
  )
})
