import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Credentials } from "#services/Credentials.ts"
import { Tenants } from "#services/Tenants.ts"
import { UserSessions } from "#services/UserSessions.ts"
import { person, Test } from "./UsersHarness.ts"

layer(Test, { timeout: "60 seconds" })("a tenant with several accounts", (it) => {
  it.effect("is known by its default one, to its keys and to its users", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { log, tenant_id } = yield* person()
      const { account_id } = yield* (yield* Tenants).get(tenant_id)
      // The other comes first, by its id and by its place.
      yield* sql`INSERT INTO accounts (id, tenant_id, name, type, metadata, created_at, updated_at)
        SELECT '00000000-0000-7000-8000-000000000001', tenant_id, name, type, metadata, created_at, updated_at
        FROM accounts WHERE id = ${account_id}`
      yield* sql`UPDATE accounts SET name = 'By default' WHERE id = ${account_id}`
      const credentials = yield* Credentials
      const { key } = yield* credentials.issue({ tenant_id, kind: "api_key", name: "k", scopes: ["*:*"] })
      assert.strictEqual((yield* credentials.authenticate(key)).account_id, account_id)
      const { access } = yield* log
      assert.strictEqual((yield* (yield* UserSessions).authenticate(access.access_token)).account_id, account_id)
      assert.strictEqual((yield* (yield* Tenants).get(tenant_id)).account_id, account_id)
    })
  )
})
