import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import * as Migrations from "#layers/migrations/Migrations.ts"
import * as Node from "#layers/Node.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Database } from "#services/Database.ts"

layer(Postgres.layerTest, { timeout: "60 seconds" })("a user of the database who may not do what is needed", (it) => {
  it.effect("is what the operator is told of, and not that the database went away", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const username = `stranger_${process.pid}`
      yield* sql.unsafe(`CREATE ROLE ${username} LOGIN`)
      const { config } = yield* Database
      const theirs = Effect.provide(PgClient.makeClient({ ...config, username }), Reactivity.layer)
      const saying = Effect.scoped(Effect.provideServiceEffect(Migrations.run(), SqlClient.SqlClient, theirs)).pipe(
        Effect.sandbox,
        Effect.flip,
        Effect.map(Node.reasonOf)
      )
      assert.match(yield* saying, /^The user of the database may not do what is needed, permission denied for /)
      yield* sql`DROP TABLE schema_migrations`
      assert.match(
        yield* saying,
        /^The user of the database may create no tables in it: GRANT CREATE ON SCHEMA public .* own the database\.$/
      )
      yield* sql`CREATE SCHEMA "Our books"`
      yield* sql.unsafe(`GRANT USAGE ON SCHEMA "Our books" TO ${username}`)
      yield* sql.unsafe(`ALTER ROLE ${username} SET search_path = "Our books"`)
      assert.match(yield* saying, / GRANT CREATE ON SCHEMA "Our books" TO it, or have it own that schema\.$/)
      yield* sql`DROP SCHEMA "Our books"`
      yield* sql.unsafe(`DROP ROLE ${username}`)
    })
  )
})
