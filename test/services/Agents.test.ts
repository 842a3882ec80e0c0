import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "#domain/Ids.ts"
import { publicKeyOf } from "#domain/Ed25519.ts"
import { Principal } from "#domain/Principal.ts"
import { Agents } from "#services/Agents.ts"
import { Credentials } from "#services/Credentials.ts"
import { newUuid } from "#services/NewId.ts"
import { Wallets } from "#services/Wallets.ts"
import { agent, isSound, open, order, platform, tenant } from "./AgentsHarness.ts"
import { tag } from "./CredentialsHarness.ts"

const everything = { limit: 200, offset: 0 }

/** An account of the tenant beside its own. */
const secondAccount = Effect.fnUntraced(function* ({ tenant_id }: Principal) {
  const sql = yield* SqlClient.SqlClient
  const id = AccountId.to.make(newUuid())
  yield* sql`INSERT INTO accounts (id, tenant_id, name, type, metadata, created_at, updated_at)
    VALUES (${id}, ${tenant_id}, 'a customer', 'business', '{}', now(), now())`
  return id
})

const acting = (
  caller: Principal,
  actor: Partial<Pick<Principal, "account_id" | "actor_id" | "actor_type" | "environment">>
) => new Principal({ ...caller, ...actor })

layer(platform, { timeout: "60 seconds" })("agents", (it) => {
  it.effect("an agent has a wallet of its own, a token and a key, and is what it was made from", () =>
    Effect.gen(function* () {
      const caller = yield* tenant
      const made = yield* (yield* Agents).create(
        caller,
        order({ name: "Ann", description: "d", skills: ["a", "b"], metadata: { team: 1 }, network: "base-sepolia" })
      )
      assert.deepInclude(made.data, {
        parent_account_id: caller.account_id,
        accountId: caller.account_id,
        name: "Ann",
        description: "d",
        skills: ["a", "b"],
        metadata: { team: 1 },
        status: "active",
        suspended_reason: null,
        connected: false,
        public_key: made.authKey?.publicKey ?? null
      })
      const wallet = yield* (yield* Wallets).get(caller, made.data.wallet_id)
      assert.deepInclude(wallet, { owner_type: "agent", currency: "USDC", network: "base-sepolia" })
      assert.strictEqual(String(wallet.owner_id), made.data.id)
      const seed = Buffer.from(made.authKey?.privateKey ?? "", "base64")
      assert.deepStrictEqual([seed.length, publicKeyOf(seed)], [32, made.authKey?.publicKey])
      const principal = yield* (yield* Credentials).authenticate(made.credentials.token)
      assert.deepInclude(principal, {
        tenant_id: caller.tenant_id,
        account_id: caller.account_id,
        actor_type: "agent",
        actor_id: made.data.id
      })
      assert.deepStrictEqual(yield* (yield* Agents).get(caller, made.data.id), made.data)
      yield* isSound
    })
  )

  it.effect("an agent acts for the account that it belongs to, by its token and in its sessions", () =>
    Effect.gen(function* () {
      const { authenticate } = yield* Credentials
      const caller = yield* tenant
      const account_id = yield* secondAccount(caller)
      const buyer = yield* agent(caller, { account_id })
      const { sessionToken } = yield* open(buyer)
      for (const token of [buyer.token, sessionToken]) {
        assert.strictEqual((yield* authenticate(token)).account_id, account_id)
      }
    })
  )

  it.effect("without a key it has a token only, and a key of its own is not answered with a private half", () =>
    Effect.gen(function* () {
      const { create } = yield* Agents
      const caller = yield* tenant
      const without = yield* create(caller, order({ key: undefined }))
      assert.deepStrictEqual([without.authKey, without.data.public_key], [undefined, null])
      const publicKey = publicKeyOf(Buffer.alloc(32, 7))
      const own = yield* create(caller, order({ key: { publicKey } }))
      assert.deepStrictEqual(Object.keys(own.authKey ?? {}).sort(), ["algorithm", "keyId", "publicKey"])
      assert.deepStrictEqual([own.authKey?.publicKey, own.data.public_key], [publicKey, publicKey])
    })
  )

  it.effect("one that cannot have its account or its wallet is not made, and leaves nothing", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { create } = yield* Agents
      const [caller, stranger] = [yield* tenant, yield* tenant]
      const { address } = yield* (yield* Wallets).create(caller, {})
      const rows = sql`SELECT (SELECT count(*) FROM agents) + (SELECT count(*) FROM wallets)
        + (SELECT count(*) FROM credentials) + (SELECT count(*) FROM ledger_accounts) AS n`
      const before = yield* rows
      const live = acting(caller, { environment: "live" })
      for (const [who, given, refusal] of [
        [caller, { account_id: stranger.account_id }, "NOT_FOUND"],
        [caller, { account_id: AccountId.to.make(newUuid()) }, "NOT_FOUND"],
        [caller, { network: "base-mainnet" }, "NETWORK_NOT_AVAILABLE"],
        [caller, { address: "nonsense" }, "INVALID_ADDRESS"],
        [caller, { address }, "ADDRESS_TAKEN"],
        [live, {}, "INVALID_ADDRESS"]
      ] as const) {
        assert.strictEqual(yield* tag(create(who, order(given))), refusal)
      }
      assert.deepStrictEqual(yield* rows, before)
      const refused = yield* Effect.flip(create(live, order()))
      assert.deepInclude(refused, { _tag: "INVALID_ADDRESS", reason: "missing" })
      const made = yield* create(live, order({ address: "8FE27ioQh3T7o22QsYVT5Re8NnHFqmFNbdqwiF3ywuZQ" }))
      assert.strictEqual(made.data.status, "active")
    })
  )

  it.effect("an agent sees itself, a portal those of its customer, and nobody another tenant's", () =>
    Effect.gen(function* () {
      const { get, list } = yield* Agents
      const [caller, stranger] = [yield* tenant, yield* tenant]
      const customer = yield* secondAccount(caller)
      const [one, two] = [yield* agent(caller), yield* agent(caller, { account_id: customer })]
      const itself = acting(caller, { actor_type: "agent", actor_id: one.id })
      const portal = acting(caller, { actor_type: "portal", account_id: customer })
      for (const [who, sees] of [
        [caller, [two.id, one.id]],
        [itself, [one.id]],
        [portal, [two.id]],
        [stranger, []]
      ] as const) {
        const { agents, total } = yield* list(who, {}, everything)
        assert.deepStrictEqual([agents.map(({ id }) => id), total], [[...sees], sees.length])
        for (const { id } of [one, two]) {
          assert.strictEqual(yield* tag(get(who, id)), sees.some((seen) => seen === id) ? "accepted" : "NOT_FOUND")
        }
      }
      assert.deepStrictEqual((yield* list(portal, { account_id: caller.account_id }, everything)).agents, [])
    })
  )

  it.effect("a list is narrowed by every filter given, and paged", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { list, suspend } = yield* Agents
      const caller = yield* tenant
      const customer = yield* secondAccount(caller)
      const [one, two, three] = [
        yield* agent(caller),
        yield* agent(caller, { account_id: customer }),
        yield* agent(caller)
      ]
      yield* suspend(caller, two.id, null)
      const now = yield* DateTime.now
      for (const [{ id, key }, minutes] of [
        [one, 1],
        [three, -1]
      ] as const) {
        const expires_at = DateTime.toDate(DateTime.add(now, { minutes }))
        yield* sql`INSERT INTO agent_connections ${sql.insert({
          session_id: newUuid(),
          agent_id: id,
          tenant_id: caller.tenant_id,
          auth_key_id: key.keyId,
          fence: 1n,
          node: newUuid(),
          connected_at: expires_at,
          last_seen_at: expires_at,
          expires_at
        })}`
      }
      const ids = (filter: Parameters<typeof list>[1], range = everything) =>
        Effect.map(list(caller, filter, range), ({ agents, total }) => [...agents.map(({ id }) => id), total])
      assert.deepStrictEqual(yield* ids({ account_id: customer }), [two.id, 1])
      assert.deepStrictEqual(yield* ids({ status: "suspended" }), [two.id, 1])
      assert.deepStrictEqual(yield* ids({ connected: "true" }), [one.id, 1])
      assert.deepStrictEqual(yield* ids({ connected: "false" }), [three.id, two.id, 2])
      assert.deepStrictEqual(yield* ids({ connected: "false", status: "active" }), [three.id, 1])
      assert.deepStrictEqual(yield* ids({}, { limit: 1, offset: 1 }), [two.id, 3])
      assert.isTrue((yield* (yield* Agents).get(caller, one.id)).connected)
      assert.isFalse((yield* (yield* Agents).get(caller, three.id)).connected)
    })
  )

  it.effect("a change replaces the fields given and no other", () =>
    Effect.gen(function* () {
      const { change } = yield* Agents
      const [caller, stranger] = [yield* tenant, yield* tenant]
      const { data, id } = yield* agent(caller, { description: "d", skills: ["a"], metadata: { b: 2 } })
      const renamed = yield* change(caller, id, { name: "Bob" })
      assert.deepStrictEqual({ ...renamed, updated_at: data.updated_at }, { ...data, name: "Bob" })
      const emptied = yield* change(caller, id, { description: null, skills: [], metadata: {} })
      assert.deepInclude(emptied, { name: "Bob", description: null, skills: [], metadata: {} })
      assert.deepStrictEqual(yield* change(caller, id, {}), emptied)
      assert.strictEqual(yield* tag(change(stranger, id, { name: "Eve" })), "NOT_FOUND")
    })
  )
})
