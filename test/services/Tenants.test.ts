import { assert, layer } from "@effect/vitest"
import { Cause, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Postgres from "#layers/Postgres.ts"
import { ServiceUnavailable } from "#domain/Refusal.ts"
import { Deployment } from "#services/Deployment.ts"
import { Ledger } from "#services/Ledger.ts"
import { Tenants } from "#services/Tenants.ts"

const deployment = Layer.succeed(Deployment, {
  environment: "sandbox",
  publicUrl: "http://localhost:4020",
  scannerUrl: "http://localhost:4020"
})
const Test = Tenants.layer.pipe(
  Layer.provideMerge(Ledger.layer),
  Layer.provideMerge(Layer.merge(Postgres.layerTest, deployment))
)

layer(Test, { timeout: "60 seconds" })("tenants", (it) => {
  it.effect("none comes to stand before the first, which is the operator's, when the time is set back", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { count, create, list } = yield* Tenants
      const first = yield* create({ name: "The operator" })
      const ahead = "ffffffff-ffff-7fff-bfff-ffffffffffff"
      yield* sql`INSERT INTO tenants VALUES (${ahead}, 'made by a clock that was ahead', 'sandbox', now())`
      // The first one made is that of a clock that was ahead.
      yield* sql`DELETE FROM accounts WHERE tenant_id = ${first.id}`
      yield* sql`DELETE FROM tenants WHERE id = ${first.id}`
      const refused = yield* Effect.exit(create({ name: "A customer" }))
      assert.isTrue(Exit.isFailure(refused) && Cause.squash(refused.cause) instanceof ServiceUnavailable)
      assert.strictEqual(yield* count, 1)
      assert.deepStrictEqual(yield* list({ page: 1, limit: 10 }), [])
    })
  )
})
