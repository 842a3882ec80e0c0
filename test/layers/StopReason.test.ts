import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { reasonOf } from "#layers/Node/StopReason.ts"
import * as Postgres from "#layers/Postgres.ts"

layer(Postgres.layerTest)("a start on a database", (it) => {
  it.effect("that takes no writes says so in a sentence", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const asStandby = Effect.andThen(sql`SET TRANSACTION READ ONLY`, sql`CREATE TABLE one (id int)`)
      const cause = yield* Effect.flip(Effect.sandbox(sql.withTransaction(asStandby)))
      assert.match(reasonOf(cause), /^The database is a standby, or was set to read only: cannot execute CREATE TABLE/)
    })
  )
})
