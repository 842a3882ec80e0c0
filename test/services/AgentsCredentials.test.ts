import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { AgentId, toTypeId } from "#domain/Ids.ts"
import { Principal } from "#domain/Principal.ts"
import { Agents } from "#services/Agents.ts"
import { AgentSessions } from "#services/AgentSessions.ts"
import { Credentials } from "#services/Credentials.ts"
import { newUuid } from "#services/NewId.ts"
import { Wallets } from "#services/Wallets.ts"
import { agent, another, isSound, open, platform, seedOf, tenant } from "./AgentsHarness.ts"
import { eventually, tag } from "./CredentialsHarness.ts"

const everything = { limit: 200, offset: 0 }

const acting = (
  caller: Principal,
  actor: Partial<Pick<Principal, "account_id" | "actor_id" | "actor_type" | "environment">>
) => new Principal({ ...caller, ...actor })

layer(platform, { timeout: "60 seconds" })("credentials of agents", (it) => {
  it.effect("a suspended agent is refused everywhere at once, with all it has, until it is activated", () =>
    Effect.gen(function* () {
      const { activate, suspend } = yield* Agents
      const { authenticate } = yield* Credentials
      const there = (yield* another).credentials
      const caller = yield* tenant
      const buyer = yield* agent(caller)
      const { sessionToken } = yield* open(buyer)
      const tokens = [buyer.token, sessionToken]
      for (const token of tokens) assert.strictEqual(yield* tag(there.authenticate(token)), "accepted")
      assert.deepInclude(yield* suspend(caller, buyer.id, "r"), { status: "suspended", suspended_reason: "r" })
      assert.deepInclude(yield* suspend(caller, buyer.id, "s"), { status: "suspended", suspended_reason: "s" })
      for (const token of tokens) {
        assert.strictEqual(yield* tag(authenticate(token)), "AGENT_SUSPENDED")
        assert.strictEqual(
          yield* eventually(tag(there.authenticate(token)), (is) => is !== "accepted"),
          "AGENT_SUSPENDED"
        )
      }
      // Its credentials are cut, and nothing else: it is there, and its tenant may give it a wallet.
      const wallet = { owner_type: "agent", owner_id: buyer.id } as const
      assert.strictEqual(yield* tag((yield* Wallets).create(caller, wallet)), "accepted")
      assert.deepInclude(yield* activate(caller, buyer.id), { status: "active", suspended_reason: null })
      for (const token of tokens) {
        assert.strictEqual(yield* tag(authenticate(token)), "accepted")
        assert.strictEqual(yield* eventually(tag(there.authenticate(token)), (is) => is === "accepted"), "accepted")
      }
      const unchanged = yield* (yield* Agents).get(caller, buyer.id)
      assert.deepStrictEqual(yield* activate(caller, buyer.id), unchanged)
    })
  )

  it.effect("a deleted agent is gone with its credentials, and its wallet stays with the tenant", () =>
    Effect.gen(function* () {
      const { activate, change, get, list, remove, replaceKey, rotateToken } = yield* Agents
      const { authenticate } = yield* Credentials
      const there = (yield* another).credentials
      const [caller, stranger] = [yield* tenant, yield* tenant]
      const buyer = yield* agent(caller)
      const { id } = buyer
      const { sessionToken } = yield* open(buyer)
      const tokens = [buyer.token, sessionToken]
      for (const token of tokens) assert.strictEqual(yield* tag(there.authenticate(token)), "accepted")
      const wallets = yield* Wallets
      yield* wallets.fund(caller, buyer.data.wallet_id, { amount: 5n, currency: "USDC" })
      assert.strictEqual(yield* tag(remove(stranger, id)), "NOT_FOUND")
      yield* remove(caller, id)
      assert.strictEqual(yield* tag(authenticate(buyer.token)), "INVALID_AGENT_TOKEN")
      assert.strictEqual(yield* tag(authenticate(sessionToken)), "INVALID_SESSION_TOKEN")
      for (const token of tokens) yield* eventually(tag(there.authenticate(token)), (is) => is !== "accepted")
      for (const attempt of [
        get(caller, id),
        remove(caller, id),
        change(caller, id, { name: "n" }),
        activate(caller, id),
        rotateToken(caller, id),
        replaceKey(caller, id, "generated")
      ]) {
        assert.strictEqual(yield* tag(attempt), "NOT_FOUND")
      }
      assert.strictEqual(yield* tag(wallets.create(caller, { owner_type: "agent", owner_id: id })), "NOT_FOUND")
      assert.strictEqual(yield* tag(open(buyer)), "INVALID_SIGNATURE")
      assert.deepStrictEqual((yield* list(caller, {}, everything)).agents, [])
      const left = yield* wallets.get(caller, buyer.data.wallet_id)
      assert.deepInclude(left, { owner_type: "agent", balance_available: 5n })
      yield* isSound
    })
  )

  it.effect("a new token takes the old one's place at once; sessions go on", () =>
    Effect.gen(function* () {
      const { rotateToken } = yield* Agents
      const { authenticate } = yield* Credentials
      const [caller, stranger] = [yield* tenant, yield* tenant]
      const buyer = yield* agent(caller)
      const { sessionToken } = yield* open(buyer)
      assert.strictEqual(yield* tag(authenticate(buyer.token)), "accepted")
      assert.strictEqual(yield* tag(rotateToken(stranger, buyer.id)), "NOT_FOUND")
      const { credentials, data } = yield* rotateToken(caller, buyer.id)
      assert.deepStrictEqual(data, yield* (yield* Agents).get(caller, buyer.id))
      assert.strictEqual(yield* tag(authenticate(buyer.token)), "INVALID_AGENT_TOKEN")
      assert.strictEqual((yield* authenticate(credentials.token)).actor_id, buyer.id)
      assert.strictEqual(yield* tag(authenticate(sessionToken)), "accepted")
      const tokens = yield* Effect.all(
        Array.from({ length: 8 }, () => rotateToken(caller, buyer.id)),
        { concurrency: "unbounded" }
      )
      const valid = yield* Effect.forEach(tokens, ({ credentials }) => tag(authenticate(credentials.token)))
      assert.strictEqual(valid.filter((is) => is === "accepted").length, 1)
      yield* isSound
    })
  )

  it.effect("a key given later replaces the one before and ends its sessions; one the agent had is refused", () =>
    Effect.gen(function* () {
      const { get, replaceKey, revokeKey } = yield* Agents
      const { authenticate } = yield* Credentials
      const [caller, stranger] = [yield* tenant, yield* tenant]
      const buyer = yield* agent(caller)
      const first = yield* open(buyer)
      assert.strictEqual(yield* tag(replaceKey(stranger, buyer.id, "generated")), "NOT_FOUND")
      const key = yield* replaceKey(caller, buyer.id, "generated")
      assert.strictEqual((yield* get(caller, buyer.id)).public_key, key.publicKey)
      assert.strictEqual(yield* tag(authenticate(first.sessionToken)), "INVALID_SESSION_TOKEN")
      assert.strictEqual(yield* tag(authenticate(buyer.token)), "accepted")
      assert.strictEqual(yield* tag(open(buyer)), "INVALID_SIGNATURE")
      const second = yield* open({ id: buyer.id, seed: seedOf(key) })
      for (const { publicKey } of [buyer.key, key]) {
        assert.strictEqual(yield* tag(replaceKey(caller, buyer.id, { publicKey })), "AUTH_KEY_USED")
      }
      // What was refused has changed nothing.
      assert.strictEqual(yield* tag(authenticate(second.sessionToken)), "accepted")
      assert.strictEqual(yield* tag(revokeKey(stranger, buyer.id)), "NOT_FOUND")
      yield* revokeKey(caller, buyer.id)
      assert.strictEqual(yield* tag(authenticate(second.sessionToken)), "INVALID_SESSION_TOKEN")
      assert.strictEqual((yield* get(caller, buyer.id)).public_key, null)
      assert.strictEqual(yield* tag(revokeKey(caller, buyer.id)), "NOT_FOUND")
      assert.strictEqual(yield* tag(open({ id: buyer.id, seed: seedOf(key) })), "INVALID_SIGNATURE")
      yield* replaceKey(caller, buyer.id, "generated")
      yield* isSound
    })
  )

  it.effect("an agent lists and ends its own sessions, and no other agent's", () =>
    Effect.gen(function* () {
      const sessions = yield* AgentSessions
      const { authenticate } = yield* Credentials
      const [caller, stranger] = [yield* tenant, yield* tenant]
      const [one, two] = [yield* agent(caller), yield* agent(caller)]
      const [first, second] = [yield* open(one), yield* open(one)]
      const itself = acting(caller, { actor_type: "agent", actor_id: one.id })
      const other = acting(caller, { actor_type: "agent", actor_id: two.id })
      const { sessions: listed, total } = yield* sessions.list(itself, one.id, everything)
      assert.deepStrictEqual([listed.map(({ id }) => id), total], [[second.sessionId, first.sessionId], 2])
      assert.deepInclude(listed[0], { agent_id: one.id, key_id: one.key.keyId })
      for (const who of [other, stranger]) {
        assert.strictEqual(yield* tag(sessions.list(who, one.id, everything)), "NOT_FOUND")
        assert.strictEqual(yield* tag(sessions.revoke(who, one.id, first.sessionId)), "NOT_FOUND")
      }
      assert.strictEqual(yield* tag(sessions.revoke(caller, two.id, first.sessionId)), "NOT_FOUND")
      yield* sessions.revoke(itself, one.id, first.sessionId)
      assert.strictEqual(yield* tag(authenticate(first.sessionToken)), "INVALID_SESSION_TOKEN")
      assert.strictEqual(yield* tag(authenticate(second.sessionToken)), "accepted")
      assert.strictEqual(yield* tag(sessions.revoke(itself, one.id, first.sessionId)), "NOT_FOUND")
      assert.strictEqual((yield* sessions.list(caller, one.id, everything)).total, 1)
      assert.strictEqual(toTypeId("ses", second.sessionId).slice(0, 4), "ses_")
      assert.strictEqual(yield* tag(sessions.list(caller, AgentId.to.make(newUuid()), everything)), "NOT_FOUND")
    })
  )
})
