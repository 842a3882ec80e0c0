import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, it, layer } from "@effect/vitest"
import { Cause, Config, ConfigProvider, Console, Effect } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { Migrator, SqlClient } from "effect/sql"
import { ServiceUnavailable } from "#domain/Refusal.ts"
import { reasonOf, tellingWhy } from "#layers/Node/StopReason.ts"
import * as Migrations from "#layers/migrations/Migrations.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Database } from "#services/Database.ts"

layer(Postgres.layerTest)("a start on a database", (it) => {
  it.effect("that takes no writes says so in a sentence", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const asStandby = Effect.andThen(sql`SET TRANSACTION READ ONLY`, sql`CREATE TABLE one (id int)`)
      const cause = yield* Effect.flip(Effect.sandbox(sql.withTransaction(asStandby)))
      assert.match(
        reasonOf(cause),
        /^The database is a standby, or was set to read only \(default_transaction_read_only\): cannot execute CREATE TABLE/
      )
    })
  )

  it.effect("that goes away in the middle of a migration says so in a sentence", () =>
    Effect.gen(function* () {
      const { config } = yield* Database
      const sql = yield* PgClient.makeClient(config)
      const cut = Migrator.fromRecord({ "9999_cut": sql`SELECT pg_terminate_backend(pg_backend_pid())` })
      const migrating = Effect.provideService(Migrations.run(cut), SqlClient.SqlClient, sql)
      const told = reasonOf(yield* Effect.flip(Effect.sandbox(migrating)))
      assert.match(told, /^The database went away: /)
      assert.notInclude(told, "\n")
    }).pipe(Effect.scoped, Effect.provideServiceEffect(Reactivity.Reactivity, Reactivity.make))
  )
})

it.effect("a stop that was asked for needs no reason, and any other is told", () =>
  Effect.gen(function* () {
    const said: Array<string> = []
    const console = { ...(yield* Console.Console), error: (line: string) => void said.push(line) }
    const ends = (running: Effect.Effect<never, string>) =>
      Effect.exit(Effect.provideService(tellingWhy("Turnpike")(running), Console.Console, console))
    yield* ends(Effect.interrupt)
    assert.deepStrictEqual(said, [])
    yield* ends(Effect.die(new Error("the disk is gone")))
    assert.lengthOf(said, 1)
    assert.match(said[0] ?? "", /Turnpike cannot run: .*the disk is gone/)
  })
)

it.effect("what somebody expected is told in a sentence of its own, and what nobody did with its whole cause", () =>
  Effect.gen(function* () {
    assert.strictEqual(
      reasonOf(Cause.fail(ServiceUnavailable.because("the connection was cut"))),
      "The database went away: the connection was cut"
    )
    assert.strictEqual(reasonOf(Cause.fail(new Error("the port is taken"))), "the port is taken")
    assert.match(reasonOf(Cause.fail(new Error(""))), /StopReason\.test/)
    assert.match(reasonOf(Cause.die(new Error("a mistake"))), /Error: a mistake\n.*StopReason\.test/s)
    const setting = Config.Int("PORT").parse(ConfigProvider.fromUnknown({ PORT: "a lot" }))
    const told = reasonOf(Cause.fail(yield* Effect.flip(setting)))
    assert.match(told, /^PORT: .*\.$/)
    assert.notInclude(told, "\n")
  })
)
