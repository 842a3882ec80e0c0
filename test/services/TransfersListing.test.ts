import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "#domain/Ids.ts"
import * as Postgres from "#layers/Postgres.ts"
import type { TransferFilter } from "#domain/Transfer.ts"
import { Ledger } from "#services/Ledger.ts"
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
      /** How many transfers the database looked at to answer. */
      const touched = (filter: TransferFilter) =>
        sql.withTransaction(
          Effect.andThen(
            list(caller, filter, { limit: 50 }),
            Effect.map(
              sql`SELECT (seq_tup_read + idx_tup_fetch)::int AS touched FROM pg_stat_xact_user_tables
                WHERE relname = 'transfers'`,
              (found) => decodeRows(found)[0]?.touched ?? Number.NaN
            )
          )
        )
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
})
