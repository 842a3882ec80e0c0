import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { RefundFilter } from "#domain/Refund.ts"
import { Disputes } from "#services/Disputes.ts"
import { Refunds } from "#services/Refunds.ts"
import { platform } from "./RefundsHarness.ts"
import { tenant } from "./WalletsHarness.ts"

/** A page, what follows it, and what a plan is chosen by. */
const few = 200
const rows = 20_000
const year = 365 * 24 * 3_600_000

const decodeRows = Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ touched: Schema.Int })))

/** How many rows of the table the database looked at in this transaction. */
const touchedSoFar = Effect.fnUntraced(function* (table: string) {
  const sql = yield* SqlClient.SqlClient
  const found = yield* sql`SELECT (seq_tup_read + idx_tup_fetch)::int AS touched FROM pg_stat_xact_user_tables
    WHERE relname = ${table}`
  return decodeRows(found)[0]?.touched ?? Number.NaN
})
/** The same of what it takes to answer. */
const touchedBy = Effect.fnUntraced(function* (table: string, answering: Effect.Effect<unknown>) {
  const sql = yield* SqlClient.SqlClient
  const all = Effect.all([touchedSoFar(table), answering, touchedSoFar(table)])
  const [before, , after] = yield* sql.withTransaction(all)
  return after - before
})

/** Uuids of version 7, a minute apart from each other. */
const id = (of: string) =>
  `(lpad(to_hex(1600000000000 + i::bigint * 60000), 12, '0') || '7000' || '8000' || substr(md5('${of}' || i), 1, 12))::uuid`
const at = "to_timestamp(1600000000 + i * 60)"

layer(platform, { timeout: "120 seconds", excludeTestServices: true })("of very many", (it) => {
  it.effect("refunds those that are not completed, and those of a time, are found without reading the rest", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { list } = yield* Refunds
      const caller = yield* tenant()
      const fill = (status: string, low: number, high: number) =>
        sql`INSERT INTO refunds (id, tenant_id, transfer_id, amount, currency, reason, status, failure_reason,
            refund_transfer_id, due_at, created_at, completed_at)
          SELECT ${sql.literal(id("refund"))}, ${caller.tenant_id}, ${sql.literal(id("transfer"))}, 1, 'USDC', 'other', ${status},
            CASE WHEN ${status} = 'failed' THEN 'insufficient_funds' END,
            CASE WHEN ${status} = 'completed' THEN ${sql.literal(id("back"))} END,
            CASE WHEN ${status} = 'pending' THEN ${sql.literal(at)} END, ${sql.literal(at)},
            CASE WHEN ${status} = 'completed' THEN ${sql.literal(at)} END
          FROM generate_series(${low}::int, ${high}::int) i`
      yield* fill("pending", 1, 30)
      yield* fill("failed", 31, 60)
      yield* fill("completed", 61, rows)
      yield* sql`ANALYZE refunds`
      const touched = (filter: RefundFilter) => touchedBy("refunds", list(caller, filter, { limit: 50 }))
      const start = 1_600_000_000_000
      for (const filter of [
        { status: "pending" },
        { status: "failed" },
        { created_before: new Date(start + 3_600_000) },
        { created_after: new Date(start + year) }
      ] satisfies ReadonlyArray<RefundFilter>) {
        assert.isAtMost(yield* touched(filter), few, JSON.stringify(filter))
      }
      const found = yield* list(caller, { created_before: new Date(start + 3_600_000) }, { limit: 200 })
      assert.strictEqual(found.length, 59)
    })
  )

  // What the database plans for any value reads everybody's refunds for a tenant with few of them.
  it.effect("refunds a list is planned for what it asks, however often it was asked", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { list } = yield* Refunds
      const caller = yield* tenant()
      const prepared = sql`SELECT statement FROM pg_prepared_statements WHERE statement LIKE 'SELECT r.id, r.transfer_id%'`
      const asked = Effect.forEach([{}, { status: "failed" }, { account_id: caller.account_id }] as const, (filter) =>
        list(caller, filter, { limit: 50 })
      )
      assert.deepStrictEqual(yield* sql.withTransaction(Effect.andThen(asked, prepared)), [])
    })
  )

  it.effect("disputes a list is planned for what it asks as well", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { list } = yield* Disputes
      const caller = yield* tenant()
      const prepared = sql`SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%FROM disputes d WHERE (d.tenant_id%'
        AND statement NOT LIKE '%pg_prepared%'`
      const asked = list(caller, { status: "open" }, { limit: 50, offset: 0 })
      assert.deepStrictEqual(yield* sql.withTransaction(Effect.andThen(asked, prepared)), [])
    })
  )

  it.effect("disputes those that are not resolved are found without reading the rest, or those of others", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { list } = yield* Disputes
      const [caller, other] = [yield* tenant(), yield* tenant()]
      const fill = (tenant_id: string, status: string, low: number, high: number) =>
        sql`INSERT INTO disputes (id, tenant_id, transfer_id, version, command_id, status, reason, description, amount_disputed,
            currency, filed_by, evidence, counter_evidence, response_window_ends_at, due_at, resolution, created_at, updated_at,
            resolved_at)
          SELECT ${sql.literal(id("dispute"))}, ${tenant_id}, ${sql.literal(id("transfer"))}, 0, ${sql.literal(id("command"))},
            ${status}, 'other', 'x', 1, 'USDC', '{"type": "api_key", "id": "key"}', '[]', '[]', ${sql.literal(at)},
            CASE WHEN ${status} = 'open' THEN ${sql.literal(at)} END, CASE WHEN ${status} = 'resolved' THEN 'other' END,
            now(), now(), CASE WHEN ${status} = 'resolved' THEN now() END
          FROM generate_series(${low}::int, ${high}::int) i`
      yield* fill(caller.tenant_id, "under_review", 1, 30)
      yield* fill(caller.tenant_id, "open", 31, 60)
      yield* fill(caller.tenant_id, "resolved", 61, rows)
      yield* fill(other.tenant_id, "under_review", rows + 1, rows + 5000)
      yield* fill(other.tenant_id, "open", rows + 5001, rows + 10_000)
      yield* sql`ANALYZE disputes`
      for (const filter of [{ status: "under_review" }, { status: "open" }, { due_soon: "true" }] as const) {
        const listing = list(caller, filter, { limit: 50, offset: 0 })
        assert.isAtMost(yield* touchedBy("disputes", listing), few, JSON.stringify(filter))
        assert.strictEqual((yield* listing).total, 30)
      }
    })
  )
})
