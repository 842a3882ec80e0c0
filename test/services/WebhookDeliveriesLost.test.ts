import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Pipeline from "#services/Database/Pipeline.ts"
import * as Connection from "#services/WebhookDeliveries/Connection.ts"
import { testLayer } from "./WebhookDeliveriesHarness.ts"

const command = (text: string): Pipeline.Step => ({ statement: Pipeline.statement([], text), values: [] })

layer(testLayer(), { timeout: "60 seconds", excludeTestServices: true })("a transaction of the sender", (it) => {
  it.effect("whose connection is lost between two flights is not ended on another one", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE told (what text)`
      const name = "turnpike-webhooks-lost"
      const { fly, transaction } = yield* Connection.make(name)
      const between = Effect.gen(function* () {
        yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ${name}`
        // It hears of that by itself.
        yield* Effect.repeat(sql`SELECT 1 FROM pg_stat_activity WHERE application_name = ${name}`, {
          until: (left) => left.length === 0
        })
        yield* Effect.repeat(sql`SELECT 1`, { times: 50 })
      })
      const flights = Effect.gen(function* () {
        yield* fly([Connection.begin, command("INSERT INTO told VALUES ('the beginning')")])
        yield* between
        yield* fly([command("INSERT INTO told VALUES ('the end')"), Connection.commit])
      })
      assert.strictEqual((yield* Effect.flip(transaction(flights)))._tag, "ConnectionLost")
      assert.deepStrictEqual(yield* sql`SELECT what FROM told`, [])
      // The next one is as good as any.
      yield* transaction(fly([Connection.begin, command("INSERT INTO told VALUES ('whole')"), Connection.commit]))
      yield* fly([command("INSERT INTO told VALUES ('alone')")])
      assert.strictEqual((yield* sql`SELECT what FROM told`).length, 2)
    }).pipe(Effect.scoped)
  )
})
