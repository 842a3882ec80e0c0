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
  it.effect("counts very many of them without their ledger accounts, unless a status is asked for", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { list } = yield* Wallets
      const caller = yield* tenant()
      const crowd = 5_000
      const id = sql.literal(`md5('${caller.tenant_id} ' || i)::uuid`)
      const numbers = sql`generate_series(1, ${crowd}::int) i`
      yield* sql`INSERT INTO ledger_accounts (id, purpose, currency) SELECT ${id}, 'wallet', 'USDC' FROM ${numbers}`
      yield* sql`INSERT INTO wallets (id, tenant_id, owner_type, owner_id, currency, network, address, metadata, created_at, updated_at)
        SELECT ${id}, ${caller.tenant_id}, 'account', ${caller.account_id}, 'USDC', 'solana-devnet', ${id}, '{}', now(), now()
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
          const { total } = yield* list(caller, filter, { limit: 1, offset: 0 })
          assert.strictEqual(total, expected)
          return (yield* reads) - before
        }).pipe(sql.withTransaction)
      assert.isAtMost(yield* touched({}, crowd), 10)
      assert.isAtLeast(yield* touched({ status: "active" }, crowd), crowd)
    })
  )
})
