import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AgentSessions } from "#services/AgentSessions.ts"
import { agent, broken, isSound, open, platform, proofOf, seedOf, tenant } from "./AgentsHarness.ts"

const damages = {
  "a wallet of somebody else's": "UPDATE wallets SET owner_id = gen_random_uuid()",
  "a wallet of an account": "UPDATE wallets SET owner_type = 'account'",
  "a second token": `INSERT INTO credentials (id, tenant_id, kind, name, scopes, hash, prefix, last_four, agent_id, created_at)
    SELECT gen_random_uuid(), tenant_id, kind, name, scopes, hash || 'x', prefix, last_four, agent_id, created_at
    FROM credentials WHERE kind = 'agent_token' AND revoked_at IS NULL LIMIT 1`,
  "an agent without a token": "UPDATE credentials SET revoked_at = now() WHERE kind = 'agent_token'",
  "a deleted agent that may still come in": "UPDATE agents SET status = 'deleted'",
  "a session of a key that ended":
    "UPDATE agent_auth_keys SET status = 'revoked', ended_at = now() WHERE status = 'active'",
  "a session of another agent's key": `UPDATE credentials c SET auth_key_id = k.id FROM agent_auth_keys k
    WHERE c.kind = 'session_token' AND k.agent_id <> c.agent_id`,
  "a session whose key is gone": "DELETE FROM agent_auth_keys WHERE status = 'active'",
  "a session of an agent that is gone":
    "UPDATE credentials SET agent_id = gen_random_uuid() WHERE kind = 'session_token'",
  "a credential of another tenant": `UPDATE credentials c SET tenant_id = t.id FROM tenants t
    WHERE c.agent_id IS NOT NULL AND t.id <> c.tenant_id`,
  "a replaced key that nobody was told of": "UPDATE agent_auth_keys SET status = 'revoked' WHERE status = 'rotated'"
}

layer(platform, { timeout: "60 seconds" })("the doctor of agents", (it) => {
  for (const [damage, statement] of Object.entries(damages)) {
    it.effect(`sees ${damage}`, () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { rotateKey } = yield* AgentSessions
        const [one, two] = [yield* agent(yield* tenant), yield* agent(yield* tenant)]
        yield* open(one)
        const key = yield* rotateKey(one.id, proofOf(one.id, one.seed), "generated")
        yield* Effect.all([open({ id: one.id, seed: seedOf(key) }), open(two)])
        yield* isSound
        // What is between the tables does not hold where only some of a backup came back.
        const found = yield* sql`SET LOCAL session_replication_role = replica`.pipe(
          Effect.andThen(sql.unsafe(statement)),
          Effect.andThen(broken),
          Effect.flatMap(Effect.fail),
          sql.withTransaction,
          Effect.flip
        )
        assert.isTrue(Array.isArray(found) && found.length > 0)
        yield* isSound
      })
    )
  }
})
