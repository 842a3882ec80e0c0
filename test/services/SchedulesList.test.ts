import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "#domain/Ids.ts"
import { newId } from "#services/NewId.ts"
import { Schedules } from "#services/Schedules.ts"
import { ahead, pair, platform } from "./SchedulesHarness.ts"
import { tenant, walletOf } from "./WalletsHarness.ts"

layer(platform, { timeout: "60 seconds" })("a tenant with very many schedules", (it) => {
  it.effect("finds those of a status, a wallet or an account without reading the others", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { account_id, tenant_id } = yield* tenant()
      const { id } = yield* walletOf(yield* tenant())
      yield* sql`INSERT INTO scheduled_transfers (id, tenant_id, status, type, amount, currency, from_wallet_id,
          to_wallet_id, from_account_id, to_account_id, scheduled_at, retry_enabled, max_retry_attempts, retry_window_days,
          executions_completed, attempts, initiated_by_type, initiated_by_id, version, occurrences, created_at, updated_at)
        SELECT gen_random_uuid(), ${tenant_id}, CASE WHEN i % 5000 = 0 THEN 'failed' ELSE 'executed' END, 'internal', 1, 'USDC',
          CASE WHEN i % 5000 = 1 THEN ${id}::uuid ELSE gen_random_uuid() END, gen_random_uuid(),
          CASE WHEN i % 5000 = 2 THEN ${account_id}::uuid ELSE gen_random_uuid() END,
          CASE WHEN i % 5000 = 3 THEN ${account_id}::uuid ELSE gen_random_uuid() END,
          now(), true, 3, 14, 0, 0, 'api_key', 'key', 0, 0, now(), now()
        FROM generate_series(1, 20000) i`
      yield* sql`ANALYZE scheduled_transfers`
      for (const [filter, indexes] of [
        [sql`s.status = 'failed'`, ["scheduled_transfers_status"]],
        [sql`s.from_wallet_id = ${id}`, ["scheduled_transfers_from"]],
        [
          sql`${account_id} IN (s.from_account_id, s.to_account_id)`,
          ["scheduled_transfers_payer", "scheduled_transfers_payee"]
        ]
      ] as const) {
        const matching = sql`FROM scheduled_transfers s WHERE s.tenant_id = ${tenant_id} AND ${filter}`
        for (const query of [
          sql`SELECT s.id ${matching} ORDER BY s.id DESC LIMIT 50`,
          sql`SELECT count(*) ${matching}`
        ]) {
          const plan = (yield* sql`EXPLAIN ${query}`).map((row) => String(row["QUERY PLAN"])).join("\n")
          for (const index of indexes) assert.include(plan, index)
          assert.notInclude(plan, "Seq Scan")
        }
      }
    })
  )
})

layer(platform, { timeout: "60 seconds" })("a list of the schedules of an account", (it) => {
  // What the database plans for any value reads all of a large tenant for an account with none.
  it.effect("is planned for what it asks, however often it was asked", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { list } = yield* Schedules
      const caller = yield* tenant()
      const { account_id } = caller
      const prepared = sql`SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%FROM scheduled_transfers s%'
        AND statement NOT LIKE '%pg_prepared%'`
      const asked = list(caller, { account_id }, { limit: 10, offset: 0 })
      assert.deepStrictEqual(yield* sql.withTransaction(Effect.andThen(asked, prepared)), [])
    })
  )

  it.effect("has those that pay it as well as those that it pays", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { caller, schedule, to } = yield* pair(0n)
      const payee = yield* newId(AccountId)
      yield* sql`INSERT INTO accounts (id, tenant_id, name, type, metadata, created_at, updated_at)
        VALUES (${payee}, ${caller.tenant_id}, 'of the payee', 'business', '{}', now(), now())`
      yield* schedule({ scheduled_at: yield* ahead({ hours: 1 }) })
      const other = yield* walletOf(caller, { owner_type: "account", owner_id: payee })
      const { id } = yield* schedule({ to_wallet_id: other.id, scheduled_at: yield* ahead({ hours: 1 }) })
      const back = yield* schedule({
        from_wallet_id: other.id,
        to_wallet_id: to.id,
        scheduled_at: yield* ahead({ hours: 1 })
      })
      const { schedules, total } = yield* (yield* Schedules).list(
        caller,
        { account_id: payee },
        { limit: 10, offset: 0 }
      )
      assert.sameMembers(
        schedules.map((one) => one.id),
        [id, back.id]
      )
      assert.strictEqual(total, 2)
    })
  )
})
