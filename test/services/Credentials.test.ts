import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { KeyId } from "#domain/Ids.ts"
import { Principal } from "#domain/Principal.ts"
import { Credentials } from "#services/Credentials.ts"
import { newUuid } from "#services/NewId.ts"
import { Tenants } from "#services/Tenants.ts"
import { deployment, issue, tag, Test, tenant } from "./CredentialsHarness.ts"

layer(Test, { timeout: "60 seconds" })("Credentials", (it) => {
  it.effect("a key is who it was made for", () =>
    Effect.gen(function* () {
      const { by, id, key_id } = yield* tenant(["wallets:read"])
      const { account_id } = yield* (yield* Tenants).get(id)
      assert.deepStrictEqual(
        by,
        new Principal({
          tenant_id: id,
          environment: "sandbox",
          actor_type: "api_key",
          actor_id: key_id,
          credential: { kind: "api_key", id: key_id },
          account_id,
          scopes: ["wallets:read"]
        })
      )
    })
  )

  it.effect("a scanner key is told apart from an API key", () =>
    Effect.gen(function* () {
      const { id } = yield* tenant()
      const credentials = yield* Credentials
      const { key } = yield* credentials.issue({ tenant_id: id, kind: "scanner_key", name: "s", scopes: ["scan"] })
      assert.match(key, /^psk_test_[0-9A-Za-z]{32}$/)
      assert.strictEqual((yield* credentials.authenticate(key)).actor_type, "scanner_key")
    })
  )

  it.effect("an unknown token, a text that is no token, and a token of the other environment are refused", () =>
    Effect.gen(function* () {
      const { authenticate } = yield* Credentials
      const body = "0123456789abcdefghijABCDEFGHIJKL"
      assert.strictEqual(yield* tag(authenticate(`pk_test_${body}`)), "INVALID_API_KEY")
      assert.strictEqual(yield* tag(authenticate("x".repeat(10_000))), "INVALID_API_KEY")
      assert.strictEqual(yield* tag(authenticate("")), "INVALID_API_KEY")
      assert.strictEqual(yield* tag(authenticate(`pk_live_${body}`)), "ENVIRONMENT_MISMATCH")
    })
  )

  it.effect("a live server takes live keys only, and makes them", () =>
    Effect.gen(function* () {
      const { id, key } = yield* tenant()
      const live = yield* Layer.build(
        Layer.fresh(Layer.mergeAll(Credentials.layer, Tenants.layer)).pipe(Layer.provide(deployment("live")))
      ).pipe(
        Effect.map((context) =>
          Effect.provideContext(Effect.all({ tenants: Tenants, credentials: Credentials }), context)
        ),
        Effect.flatten
      )
      assert.strictEqual(yield* tag(live.credentials.authenticate(key)), "ENVIRONMENT_MISMATCH")
      const owner = yield* live.tenants.create({ name: "Live" })
      const made = yield* live.credentials.issue({ tenant_id: owner.id, kind: "api_key", name: "k", scopes: ["*:*"] })
      assert.match(made.key, /^pk_live_/)
      assert.strictEqual((yield* live.credentials.authenticate(made.key)).environment, "live")
      assert.strictEqual(yield* tag((yield* Credentials).authenticate(made.key)), "ENVIRONMENT_MISMATCH")
      // A key whose prefix says live does not open a tenant of the sandbox.
      const stray = yield* live.credentials.issue({ tenant_id: id, kind: "api_key", name: "k", scopes: ["*:*"] })
      assert.strictEqual(yield* tag(live.credentials.authenticate(stray.key)), "ENVIRONMENT_MISMATCH")
    })
  )

  it.effect("a key is revoked once, and by its own tenant only", () =>
    Effect.gen(function* () {
      const { authenticate, revoke } = yield* Credentials
      const [mine, theirs] = [yield* tenant(), yield* tenant()]
      assert.strictEqual(yield* tag(revoke(theirs.id, mine.key_id)), "NOT_FOUND")
      assert.strictEqual(yield* tag(authenticate(mine.key)), "accepted")
      assert.strictEqual(yield* tag(revoke(mine.id, KeyId.to.make(newUuid()))), "NOT_FOUND")
      assert.strictEqual(yield* tag(revoke(mine.id, mine.key_id)), "accepted")
      assert.strictEqual(yield* tag(revoke(mine.id, mine.key_id)), "NOT_FOUND")
    })
  )

  it.effect("a key grants at most what its maker may do", () =>
    Effect.gen(function* () {
      const { authenticate, create } = yield* Credentials
      const { by } = yield* tenant(["api_keys:*", "wallets:read"])
      const beyond = yield* Effect.flip(create(by, { name: "n", scopes: ["wallets:read", "wallets:write"] }))
      assert.deepInclude(beyond, { _tag: "INSUFFICIENT_SCOPE", required_scope: "wallets:write" })
      assert.strictEqual(yield* tag(create(by, { name: "n", scopes: ["*:*"] })), "INSUFFICIENT_SCOPE")
      const made = yield* create(by, { name: "n", scopes: ["wallets:read", "wallets:read"], environment: "sandbox" })
      const holder = yield* authenticate(made.key)
      assert.deepStrictEqual([holder.tenant_id, holder.scopes], [by.tenant_id, ["wallets:read"]])
    })
  )

  it.effect("a key for the other environment is not made", () =>
    Effect.gen(function* () {
      const { create } = yield* Credentials
      const { by } = yield* tenant()
      const refused = yield* Effect.flip(create(by, { name: "n", scopes: ["*:*"], environment: "live" }))
      assert.deepInclude(refused, { _tag: "INVALID_REQUEST" })
    })
  )

  it.effect("a list shows a tenant its own API keys, newest first, without what they open", () =>
    Effect.gen(function* () {
      const { issue: issueKey, list, revoke } = yield* Credentials
      const { id, key, key_id } = yield* tenant()
      yield* tenant()
      yield* issueKey({ tenant_id: id, kind: "scanner_key", name: "s", scopes: ["scan"] })
      const second = yield* issue(id, ["x402:read"])
      yield* revoke(id, key_id)
      const { data, total } = yield* list(id, { page: 1, limit: 50 })
      assert.deepStrictEqual([total, data.map((one) => one.id)], [2, [second.key_id, key_id]])
      assert.deepStrictEqual(
        data.map((one) => one.revoked_at !== null),
        [false, true]
      )
      assert.deepInclude(data[1], { prefix: "pk_test_", last_four: key.slice(-4), environment: "sandbox", name: "k" })
      assert.deepStrictEqual(Object.keys(data[0] ?? {}).sort(), [
        "created_at",
        "environment",
        "id",
        "last_four",
        "name",
        "prefix",
        "revoked_at",
        "scopes"
      ])
      const beyond = yield* list(id, { page: 3, limit: 1 })
      assert.deepStrictEqual([beyond.total, beyond.data], [2, []])
    })
  )

  it.effect("a revoked key is listed for 30 days and then forgotten; whoever works on stays", () =>
    Effect.gen(function* () {
      const { authenticate, forgetEnded, list, revoke } = yield* Credentials
      const { id, key, key_id } = yield* tenant()
      const kept = yield* issue(id)
      yield* revoke(id, key_id)
      yield* TestClock.adjust("30 days")
      yield* forgetEnded
      assert.strictEqual(yield* tag(authenticate(key)), "EXPIRED_API_KEY")
      assert.strictEqual((yield* list(id, { page: 1, limit: 50 })).total, 2)
      yield* TestClock.adjust("11 seconds")
      assert.isAbove(yield* forgetEnded, 0)
      assert.strictEqual(yield* forgetEnded, 0)
      assert.strictEqual(yield* tag(authenticate(key)), "INVALID_API_KEY")
      assert.strictEqual(yield* tag(authenticate(kept.key)), "accepted")
      assert.deepStrictEqual(
        (yield* list(id, { page: 1, limit: 50 })).data.map((one) => one.id),
        [kept.key_id]
      )
    })
  )

  it.effect("no table holds a key", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* tenant()
      const tables = yield* sql`SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`
      let seen = ""
      for (const { name } of tables) {
        const [row] = yield* sql`SELECT coalesce(string_agg(t::text, ' '), '') AS dump FROM ${sql(String(name))} t`
        seen += String(row?.dump)
      }
      assert.include(seen, key.slice(-4))
      assert.notInclude(seen, key)
      assert.notInclude(seen, key.slice(8))
      assert.notInclude(seen, Buffer.from(key).toString("hex"))
      assert.notInclude(seen, Buffer.from(key.slice(8)).toString("hex"))
    })
  )
})
