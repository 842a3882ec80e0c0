import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { publicKeyOf } from "#domain/Ed25519.ts"
import { AgentId, toTypeId } from "#domain/Ids.ts"
import { Agents } from "#services/Agents.ts"
import { AgentSessions } from "#services/AgentSessions.ts"
import { Credentials } from "#services/Credentials.ts"
import { EventLog } from "#services/EventLog.ts"
import { newUuid } from "#services/NewId.ts"
import { agent, another, answer, isSound, open, platform, proofOf, seedOf, signed, tenant } from "./AgentsHarness.ts"
import { tag } from "./CredentialsHarness.ts"

const buyer = Effect.flatMap(tenant, agent)
const strangersSeed = Buffer.alloc(32, 9).toString("base64")

/** How many answered challenges are remembered. */
const answered = Effect.map(
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT count(*)::int AS n FROM agent_challenges`),
  ([row]) => Number(row?.["n"])
)

const rotations = Effect.fnUntraced(function* (id: AgentId) {
  const events = yield* (yield* EventLog).after(0n, 10_000)
  return events.filter(({ data, type }) => type === "agent.key_rotated" && data["agent_id"] === toTypeId("agt", id))
})

layer(platform, { timeout: "60 seconds" })("keys of agents", (it) => {
  it.effect("the holder of the key replaces it by proof, once, and the sessions it opened end", () =>
    Effect.gen(function* () {
      const { rotateKey } = yield* AgentSessions
      const { authenticate } = yield* Credentials
      const { caller, id, key, seed, token } = yield* buyer
      const session = yield* open({ id, seed })
      const proof = proofOf(id, seed)
      const next = yield* rotateKey(id, proof, "generated")
      assert.strictEqual((yield* (yield* Agents).get(caller, id)).public_key, next.publicKey)
      assert.strictEqual(yield* tag(authenticate(session.sessionToken)), "INVALID_SESSION_TOKEN")
      assert.strictEqual(yield* tag(authenticate(token)), "accepted")
      assert.strictEqual(yield* tag(open({ id, seed })), "INVALID_SIGNATURE")
      assert.strictEqual(yield* tag(rotateKey(id, proof, "generated")), "INVALID_SIGNATURE")
      assert.strictEqual(yield* tag(open({ id, seed: seedOf(next) })), "accepted")
      const own = Buffer.from(newUuid() + newUuid()).subarray(0, 32)
      const last = yield* rotateKey(id, signed(seedOf(next), `rotate:${id}`), { publicKey: publicKeyOf(own) })
      assert.deepStrictEqual(Object.keys(last).sort(), ["algorithm", "keyId", "publicKey"])
      assert.strictEqual(yield* tag(open({ id, seed: own.toString("base64") })), "accepted")
      const told = yield* rotations(id)
      assert.deepStrictEqual(
        told.map(({ data }) => data),
        [next, last].map(({ keyId, publicKey }) => ({
          agent_id: toTypeId("agt", id),
          key_id: toTypeId("auth", keyId),
          new_public_key: publicKey
        }))
      )
      assert.strictEqual(told[0]?.tenant_id, caller.tenant_id)
      const again = proofOf(id, own.toString("base64"))
      assert.strictEqual(yield* tag(rotateKey(id, again, { publicKey: key.publicKey })), "AUTH_KEY_USED")
      assert.strictEqual((yield* rotations(id)).length, 2)
      yield* isSound
    })
  )

  it.effect("a proof by another key, for another agent or of another text rotates nothing", () =>
    Effect.gen(function* () {
      const { rotateKey } = yield* AgentSessions
      const { revokeKey } = yield* Agents
      const [one, two] = [yield* buyer, yield* buyer]
      const unknown = AgentId.to.make(newUuid())
      const { challenge } = yield* answer(one.id, one.seed)
      for (const [id, proof] of [
        [one.id, proofOf(one.id, strangersSeed)],
        [one.id, proofOf(two.id, one.seed)],
        [one.id, signed(one.seed, challenge)],
        [one.id, signed(one.seed, `rotate:${toTypeId("agt", one.id).toUpperCase()}`)],
        [two.id, proofOf(one.id, one.seed)],
        [unknown, proofOf(unknown, strangersSeed)]
      ] as const) {
        assert.strictEqual(yield* tag(rotateKey(id, proof, "generated")), "INVALID_SIGNATURE")
      }
      assert.strictEqual((yield* (yield* Agents).get(one.caller, one.id)).public_key, one.key.publicKey)
      yield* revokeKey(one.caller, one.id)
      assert.strictEqual(yield* tag(rotateKey(one.id, proofOf(one.id, one.seed), "generated")), "INVALID_SIGNATURE")
      assert.strictEqual((yield* rotations(one.id)).length, 0)
    })
  )

  it.effect("of several who replace a key at once one does, and the others learn that it is too late", () =>
    Effect.gen(function* () {
      const there = (yield* another).sessions
      const here = yield* AgentSessions
      const { id, seed } = yield* buyer
      const proof = proofOf(id, seed)
      const tries = [here, there, here, there].map((one) => tag(one.rotateKey(id, proof, "generated")))
      const answers = yield* Effect.all(tries, { concurrency: "unbounded" })
      assert.deepStrictEqual(answers.toSorted(), [...new Array(3).fill("INVALID_SIGNATURE"), "accepted"].toSorted())
      assert.strictEqual((yield* rotations(id)).length, 1)
      yield* isSound
    })
  )

  it.effect("a session that is opened while the key is replaced, revoked or the agent goes does not outlive it", () =>
    Effect.gen(function* () {
      const here = yield* AgentSessions
      const there = yield* another
      const { remove, replaceKey, revokeKey } = yield* Agents
      const { authenticate } = yield* Credentials
      const ends = [
        ({ id, seed }: Effect.Success<typeof buyer>) => here.rotateKey(id, proofOf(id, seed), "generated"),
        ({ caller, id }: Effect.Success<typeof buyer>) => replaceKey(caller, id, "generated"),
        ({ caller, id }: Effect.Success<typeof buyer>) => revokeKey(caller, id),
        ({ caller, id }: Effect.Success<typeof buyer>) => remove(caller, id)
      ]
      for (const end of ends) {
        for (let round = 0; round < 3; round++) {
          const mine = yield* buyer
          const given = yield* Effect.forEach([0, 1, 2, 3], () => answer(mine.id, mine.seed))
          const opening = given.map((one, index) =>
            Effect.result((index % 2 ? here : there.sessions).authenticate(mine.id, one))
          )
          const [opened] = yield* Effect.all([Effect.all(opening, { concurrency: "unbounded" }), end(mine)], {
            concurrency: "unbounded"
          })
          for (const result of opened) {
            if (result._tag === "Failure") assert.strictEqual(result.failure._tag, "INVALID_SIGNATURE")
            else assert.strictEqual(yield* tag(authenticate(result.success.sessionToken)), "INVALID_SESSION_TOKEN")
          }
        }
      }
      yield* isSound
    })
  )

  it.effect("a suspended agent that proves who it is learns that it is suspended; a stranger does not", () =>
    Effect.gen(function* () {
      const { authenticate, rotateKey } = yield* AgentSessions
      const { activate, suspend } = yield* Agents
      const { caller, id, seed } = yield* buyer
      yield* suspend(caller, id, null)
      const given = yield* answer(id, seed)
      assert.strictEqual(yield* tag(authenticate(id, given)), "AGENT_SUSPENDED")
      assert.strictEqual(yield* tag(authenticate(id, yield* answer(id, strangersSeed))), "INVALID_SIGNATURE")
      assert.strictEqual(yield* tag(rotateKey(id, proofOf(id, seed), "generated")), "AGENT_SUSPENDED")
      assert.strictEqual(yield* tag(rotateKey(id, proofOf(id, strangersSeed), "generated")), "INVALID_SIGNATURE")
      yield* activate(caller, id)
      assert.strictEqual(yield* tag(authenticate(id, given)), "accepted")
    })
  )

  it.effect("a session opened while the agent is suspended is refused until it is activated", () =>
    Effect.gen(function* () {
      const { suspend } = yield* Agents
      const { authenticate } = yield* Credentials
      const { sessions } = yield* another
      for (let round = 0; round < 5; round++) {
        const mine = yield* buyer
        const given = yield* answer(mine.id, mine.seed)
        const [opened] = yield* Effect.all(
          [Effect.result(sessions.authenticate(mine.id, given)), suspend(mine.caller, mine.id, null)],
          { concurrency: "unbounded" }
        )
        if (opened._tag === "Failure") assert.strictEqual(opened.failure._tag, "AGENT_SUSPENDED")
        else assert.strictEqual(yield* tag(authenticate(opened.success.sessionToken)), "AGENT_SUSPENDED")
      }
    })
  )

  it.effect("what ended is forgotten a day later, and nothing else", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { forgetAnswered } = yield* AgentSessions
      const { authenticate, forgetEnded, issue } = yield* Credentials
      yield* TestClock.adjust("3 days")
      while ((yield* forgetEnded) + (yield* forgetAnswered) > 0);
      const { caller, id, seed, token } = yield* buyer
      const { sessionId, sessionToken } = yield* open({ id, seed })
      const expires_at = new Date(0)
      const { account_id, tenant_id } = caller
      const portal = yield* issue({ tenant_id, kind: "portal_token", name: "p", scopes: [], account_id, expires_at })
      const rows = sql`SELECT id FROM credentials WHERE id IN ${sql.in([sessionId, portal.id])}`
      const remembered = yield* answered
      assert.strictEqual(yield* forgetEnded, 0)
      yield* TestClock.adjust("24 hours")
      yield* TestClock.adjust("61 seconds")
      assert.strictEqual(yield* forgetAnswered, 1)
      assert.strictEqual(yield* answered, remembered - 1)
      assert.strictEqual(yield* forgetEnded, 0)
      yield* TestClock.adjust("59 minutes")
      assert.strictEqual(yield* forgetEnded, 1)
      // A tenant sees for longer which views it gave.
      assert.deepStrictEqual(yield* rows, [{ id: portal.id }])
      assert.strictEqual(yield* tag(authenticate(sessionToken)), "INVALID_SESSION_TOKEN")
      assert.strictEqual(yield* tag(authenticate(token)), "accepted")
      yield* isSound
    })
  )
})
