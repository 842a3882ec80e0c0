import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { AccountId, KeyId, PortalTokenId } from "#domain/Ids.ts"
import type { PortalScope } from "#domain/PortalToken.ts"
import { Accounts } from "#services/Accounts.ts"
import { Credentials } from "#services/Credentials.ts"
import { newId } from "#services/NewId.ts"
import { PortalTokens } from "#services/PortalTokens.ts"
import { eventually, tenant } from "./CredentialsHarness.ts"
import { otherProcess, tag, Test } from "./UsersHarness.ts"

/** A tenant with a customer, and a key of these scopes. */
const shop = Effect.fnUntraced(function* (scopes: ReadonlyArray<string> = ["*:*"]) {
  const { by, id } = yield* tenant(scopes)
  const customer = yield* (yield* Accounts).create(id, { name: "A customer" })
  const order = { customer_reference: customer.id, scopes: ["transfers:read"], expires_in: 60 } as const
  return { by, tenant_id: id, customer, order }
})
const page = { page: 1, limit: 10 }

layer(Test, { timeout: "60 seconds" })("PortalTokens", (it) => {
  it.effect("those of one customer are found without reading those of the others", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { by, customer, order, tenant_id } = yield* shop()
      const other = yield* (yield* Accounts).create(tenant_id, { name: "Another customer" })
      yield* (yield* PortalTokens).create(by, order)
      yield* sql`INSERT INTO credentials (id, tenant_id, kind, name, scopes, hash, prefix, last_four, created_at, account_id, expires_at)
        SELECT gen_random_uuid(), ${tenant_id}, 'portal_token', 'token', '{}', sha256(convert_to(${tenant_id} || ' ' || i, 'UTF8')),
          'portal_test_', 'abcd', now(), ${other.id}, now() FROM generate_series(1, 5000) i`
      yield* sql`ANALYZE credentials`
      const plan =
        yield* sql`EXPLAIN SELECT id FROM credentials WHERE tenant_id = ${tenant_id} AND kind = 'portal_token'
        AND account_id = ${customer.id} ORDER BY id DESC LIMIT 50`
      assert.include(plan.map((row) => String(row["QUERY PLAN"])).join("\n"), "credentials_account")
    })
  )

  it.effect("a token is one customer's, with its scopes, until its time is over", () =>
    Effect.gen(function* () {
      const { authenticate } = yield* Credentials
      const { by, customer, order, tenant_id } = yield* shop()
      const made = yield* (yield* PortalTokens).create(by, order)
      assert.match(made.token, /^portal_test_[0-9A-Za-z]{32}$/)
      const principal = yield* authenticate(made.token)
      assert.deepInclude(principal, {
        tenant_id,
        actor_type: "portal",
        account_id: customer.id,
        scopes: ["transfers:read"]
      })
      assert.strictEqual(principal.credential?.kind, "portal_token")
      yield* TestClock.adjust("59999 millis")
      assert.strictEqual(yield* tag(authenticate(made.token)), "accepted")
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* tag(authenticate(made.token)), "EXPIRED_PORTAL_TOKEN")
    })
  )

  it.effect("a revoked token is dead everywhere without waiting, and revoked once", () =>
    Effect.gen(function* () {
      const { create, revoke } = yield* PortalTokens
      const there = yield* otherProcess
      const { by, order, tenant_id } = yield* shop()
      const other = yield* shop()
      const { id, token } = yield* create(by, order)
      assert.strictEqual(yield* tag(there.credentials.authenticate(token)), "accepted")
      assert.strictEqual(yield* tag(revoke(other.tenant_id, id)), "NOT_FOUND")
      assert.strictEqual(yield* tag(revoke(tenant_id, id)), "accepted")
      assert.strictEqual(yield* tag((yield* Credentials).authenticate(token)), "INVALID_PORTAL_TOKEN")
      yield* eventually(tag(there.credentials.authenticate(token)), (answer) => answer === "INVALID_PORTAL_TOKEN")
      assert.strictEqual(yield* tag(there.tokens.revoke(tenant_id, id)), "NOT_FOUND")
    })
  )

  it.effect("a credential is revoked as what it is, and under no other kind's name", () =>
    Effect.gen(function* () {
      const { authenticate, issue, revoke } = yield* Credentials
      const tokens = yield* PortalTokens
      const { by, order, tenant_id } = yield* shop()
      const portal = yield* tokens.create(by, order)
      const make = (kind: "api_key" | "scanner_key") => issue({ tenant_id, kind, name: "k", scopes: [] })
      const [key, scanner] = [yield* make("api_key"), yield* make("scanner_key")]
      for (const { id } of [key, scanner]) {
        assert.strictEqual(yield* tag(tokens.revoke(tenant_id, PortalTokenId.make(id))), "NOT_FOUND")
      }
      for (const id of [scanner.id, KeyId.make(portal.id)]) {
        assert.strictEqual(yield* tag(revoke(tenant_id, id)), "NOT_FOUND")
      }
      for (const id of [key.id, KeyId.make(portal.id)]) {
        assert.strictEqual(yield* tag(revoke(tenant_id, id, "scanner_key")), "NOT_FOUND")
      }
      for (const token of [portal.token, key.key, scanner.key]) {
        assert.strictEqual(yield* tag(authenticate(token)), "accepted")
      }
    })
  )

  it.effect("a customer is an account of the caller's tenant", () =>
    Effect.gen(function* () {
      const { create } = yield* PortalTokens
      const [mine, theirs] = [yield* shop(), yield* shop()]
      for (const customer_reference of [theirs.customer.id, yield* newId(AccountId)]) {
        assert.strictEqual(yield* tag(create(mine.by, { ...mine.order, customer_reference })), "NOT_FOUND")
      }
    })
  )

  it.effect("nobody shows a customer more than it may see itself", () =>
    Effect.gen(function* () {
      const { create } = yield* PortalTokens
      const { by, order } = yield* shop(["api_keys:write", "transfers:read", "x402:*"])
      const make = (scopes: ReadonlyArray<PortalScope>) => tag(create(by, { ...order, scopes }))
      assert.strictEqual(yield* make(["transfers:read"]), "accepted")
      assert.strictEqual(yield* make(["usage:read", "invoices:read"]), "accepted")
      assert.strictEqual(yield* make(["agents:read"]), "INSUFFICIENT_SCOPE")
    })
  )

  it.effect("tokens are listed by customer, revoked ones when asked for", () =>
    Effect.gen(function* () {
      const { create, list, revoke } = yield* PortalTokens
      const { by, customer, order, tenant_id } = yield* shop()
      const other = yield* (yield* Accounts).create(tenant_id, { name: "Another" })
      const first = yield* create(by, order)
      const second = yield* create(by, order)
      const third = yield* create(by, { ...order, customer_reference: other.id })
      yield* revoke(tenant_id, second.id)
      const ids = (filter: Parameters<typeof list>[1]) =>
        Effect.map(list(tenant_id, filter, page), ({ data, total }) => [data.map(({ id }) => id), total])
      assert.deepStrictEqual(yield* ids({ include_revoked: false }), [[third.id, first.id], 2])
      assert.deepStrictEqual(yield* ids({ include_revoked: true }), [[third.id, second.id, first.id], 3])
      const ofCustomer = { customer_reference: customer.id, include_revoked: false }
      assert.deepStrictEqual(yield* ids(ofCustomer), [[first.id], 1])
      const { data } = yield* list(tenant_id, { include_revoked: true }, page)
      assert.deepStrictEqual(
        data.map(({ revoked_at }) => revoked_at !== null),
        [false, true, false]
      )
      assert.notInclude(JSON.stringify(data), first.token.slice(12))
    })
  )

  it.effect("tokens are forgotten 30 days after their time, and no keys with them", () =>
    Effect.gen(function* () {
      const { create } = yield* PortalTokens
      const { authenticate, forgetEnded } = yield* Credentials
      const { by, order } = yield* shop()
      const { token } = yield* create(by, order)
      yield* TestClock.adjust("60 seconds")
      yield* TestClock.adjust("30 days")
      yield* forgetEnded
      assert.strictEqual(yield* tag(authenticate(token)), "EXPIRED_PORTAL_TOKEN")
      yield* TestClock.adjust("11 seconds")
      assert.isAbove(yield* forgetEnded, 0)
      assert.strictEqual(yield* forgetEnded, 0)
      assert.strictEqual(yield* tag(authenticate(token)), "INVALID_PORTAL_TOKEN")
    })
  )
})
