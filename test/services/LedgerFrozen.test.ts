import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { Effect, Latch, Result } from "effect"
import { Reactivity } from "effect/reactivity"
import { Migrator, SqlClient } from "effect/sql"
import * as Migrations from "#layers/migrations/Migrations.ts"
import { Database } from "#services/Database.ts"
import { EventLog } from "#services/EventLog.ts"
import { Ledger } from "#services/Ledger.ts"
import * as Presence from "#services/Ledger/Presence.ts"
import { newUuid } from "#services/NewId.ts"
import { Test, transfer, wallet } from "./LedgerHarness.ts"

layer(Test, { timeout: "60 seconds" })("a process that stands still", (it) => {
  it.effect("with the head of the log in its hands does not have the others refused", () =>
    Effect.gen(function* () {
      const { post } = yield* Ledger
      const [payer, payee] = [yield* wallet(10n), yield* wallet(1n)]
      const { config } = yield* Database
      const frozen = yield* Effect.provide(PgClient.makeClient(Presence.settings(config)), Reactivity.layer)
      const held = yield* Latch.make(false)
      yield* frozen`SELECT 1 FROM ledger_head WHERE log = 1 FOR UPDATE`.pipe(
        Effect.andThen(held.open),
        Effect.andThen(Effect.never),
        frozen.withTransaction,
        Effect.ignore,
        Effect.forkScoped
      )
      yield* held.await
      assert.isTrue(Result.isSuccess(yield* Effect.result(post(transfer(payer, payee, 1n)))))
    })
  )

  it.effect("with a fact that it has not committed does not, either", () =>
    Effect.gen(function* () {
      const { post } = yield* Ledger
      const { append } = yield* EventLog
      const sql = yield* SqlClient.SqlClient
      const [payer, payee] = [yield* wallet(10n), yield* wallet(1n)]
      const held = yield* Latch.make(false)
      yield* append([{ tenant_id: newUuid(), type: "agent.key_rotated", data: {} }]).pipe(
        Effect.andThen(held.open),
        Effect.andThen(Effect.never),
        sql.withTransaction,
        Effect.ignore,
        Effect.forkScoped
      )
      yield* held.await
      assert.isTrue(Result.isSuccess(yield* Effect.result(post(transfer(payer, payee, 1n)))))
    })
  )

  it.effect("in the middle of a migration does not have those who serve refused", () =>
    Effect.gen(function* () {
      const { post } = yield* Ledger
      const [payer, payee] = [yield* wallet(10n), yield* wallet(1n)]
      const { config } = yield* Database
      const patient = { ...config, startupParameters: { idle_in_transaction_session_timeout: "25h" } }
      const frozen = yield* Effect.provide(PgClient.makeClient(patient), Reactivity.layer)
      const held = yield* Latch.make(false)
      const migration = frozen`SELECT 1 FROM ledger_head WHERE log = 1 FOR UPDATE`.pipe(
        Effect.andThen(held.open),
        Effect.andThen(Effect.never)
      )
      yield* Migrations.run(Migrator.fromRecord({ "9999_still": migration })).pipe(
        Effect.provideService(SqlClient.SqlClient, frozen),
        Effect.ignore,
        Effect.forkScoped
      )
      yield* held.await
      assert.isTrue(Result.isSuccess(yield* Effect.result(post(transfer(payer, payee, 1n)))))
    })
  )
})
