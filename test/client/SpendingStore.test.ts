import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as SqlClient from "effect/sql/SqlClient"
import type { SpendingStore } from "#client/client.ts"
import * as Postgres from "#layers/Postgres.ts"
import { agentOf, bankThat, challenge, json, paid, refusal, stranger } from "./Strangers.ts"

/** The store that the client's README tells of. */
const storeInSql = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  yield* sql`CREATE TABLE spending (key text PRIMARY KEY, micros numeric NOT NULL)`
  const store: SpendingStore = {
    reserve: async (key, micros, limit) => {
      const touched = await run(sql`INSERT INTO spending (key, micros) VALUES (${key}, ${String(micros)}::numeric)
        ON CONFLICT (key) DO UPDATE SET micros = spending.micros + excluded.micros
        WHERE spending.micros + excluded.micros <= ${String(limit)}::numeric RETURNING key`)
      return touched.length > 0
    },
    giveBack: async (key, micros) => {
      await run(sql`UPDATE spending SET micros = micros - ${String(micros)}::numeric WHERE key = ${key}`)
    }
  }
  return store
})

layer(Postgres.layerTest)("a store in SQL, as the client's README has it", (it) => {
  it.effect("does not let the first call of a day pass the day's cap", () =>
    Effect.gen(function* () {
      const store = yield* storeInSql
      const bank = yield* Effect.promise(() => bankThat({ ...paid, amount: "5.00" }))
      const shop = yield* Effect.promise(() =>
        stranger(({ headers }, response) =>
          headers["x-payment-proof"] === undefined
            ? json(response, 402, challenge(bank.url, { price: "5.00" }))
            : response.end("served")
        )
      )
      const fetch = agentOf(bank, { store, maxPerCall: "10.00", maxPerDay: "2.00" })
      const { code } = yield* Effect.promise(() => refusal(fetch(shop.url)))
      assert.strictEqual(code, "ABOVE_MAX_PER_DAY")
      assert.lengthOf(bank.seen, 0)
    })
  )
})
