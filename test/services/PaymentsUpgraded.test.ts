import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Test from "#layers/Test.ts"
import { market } from "./PaymentsHarness.ts"

layer(Test.layer, { timeout: "60 seconds" })("a call of a process that served before", (it) => {
  it.effect("takes its payment although a newer version has just changed the type of a column", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { granted, reserve } = yield* market()
      yield* granted((yield* reserve).proof)
      const { proof } = yield* reserve
      yield* sql`CREATE DOMAIN word AS text`
      yield* sql`ALTER TABLE payments ALTER COLUMN request_fingerprint TYPE word`
      assert.strictEqual((yield* granted(proof)).state, "in_flight")
    })
  )
})
