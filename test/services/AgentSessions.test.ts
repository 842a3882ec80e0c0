import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { maxSessions } from "#domain/AgentProof.ts"
import { AgentId } from "#domain/Ids.ts"
import { Agents } from "#services/Agents.ts"
import { AgentSessions } from "#services/AgentSessions.ts"
import { Credentials } from "#services/Credentials.ts"
import { newUuid } from "#services/NewId.ts"
import { agent, another, answer, open, platform, proofOf, signed, tenant } from "./AgentsHarness.ts"
import { tag } from "./CredentialsHarness.ts"

const buyer = Effect.flatMap(tenant, agent)
const strangersSeed = Buffer.alloc(32, 9).toString("base64")

/** How many answered challenges are remembered. */
const answered = Effect.map(
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT count(*)::int AS n FROM agent_challenges`),
  ([row]) => Number(row?.["n"])
)

layer(platform, { timeout: "60 seconds" })("sessions of agents", (it) => {
  it.effect("whoever signs a challenge with the agent's key acts as the agent for an hour", () =>
    Effect.gen(function* () {
      const { authenticate } = yield* Credentials
      const { caller, data, id, seed } = yield* buyer
      const opened = yield* open({ id, seed })
      assert.match(opened.sessionToken, /^sess_[0-9A-Za-z]{32}$/)
      assert.strictEqual(opened.expiresIn, 3_600)
      assert.deepInclude(yield* authenticate(opened.sessionToken), {
        tenant_id: caller.tenant_id,
        account_id: data.accountId,
        actor_type: "agent",
        actor_id: id,
        credential: { kind: "session_token", id: opened.sessionId }
      })
      yield* TestClock.adjust("3599 seconds")
      assert.strictEqual(yield* tag(authenticate(opened.sessionToken)), "accepted")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* tag(authenticate(opened.sessionToken)), "SESSION_EXPIRED")
      const { total } = yield* (yield* AgentSessions).list(caller, id, { limit: 1, offset: 0 })
      assert.strictEqual(total, 0)
    })
  )

  it.effect("a challenge may be answered for a minute and not a moment longer", () =>
    Effect.gen(function* () {
      const { authenticate, challenge } = yield* AgentSessions
      const { id, seed } = yield* buyer
      const [early, late] = [yield* answer(id, seed), yield* answer(id, seed)]
      assert.strictEqual((yield* challenge(id)).expiresIn, 60)
      yield* TestClock.adjust("59999 millis")
      assert.strictEqual(yield* tag(authenticate(id, early)), "accepted")
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* tag(authenticate(id, late)), "INVALID_SIGNATURE")
    })
  )

  it.effect("all that may be wrong is refused alike, and leaves nothing", () =>
    Effect.gen(function* () {
      const { authenticate } = yield* AgentSessions
      const { revokeKey } = yield* Agents
      const [one, two, keyless] = [yield* buyer, yield* buyer, yield* buyer]
      yield* revokeKey(keyless.caller, keyless.id)
      const unknown = AgentId.to.make(newUuid())
      const good = yield* answer(one.id, one.seed)
      const { challenge } = good
      const flipped = (at: number) =>
        challenge.slice(0, at) + (challenge[at] === "A" ? "B" : "A") + challenge.slice(at + 1)
      const before = yield* answered
      for (const [id, given] of [
        [one.id, yield* answer(one.id, strangersSeed)],
        [one.id, yield* answer(two.id, one.seed)],
        [two.id, good],
        [two.id, { challenge, signature: signed(two.seed, challenge) }],
        [one.id, { challenge, signature: signed(one.seed, `${challenge} `) }],
        [one.id, { challenge, signature: proofOf(one.id, one.seed) }],
        ...[12, 35, challenge.length - 1].map(
          (at) => [one.id, { challenge: flipped(at), signature: signed(one.seed, flipped(at)) }] as const
        ),
        [one.id, { challenge: "challenge_", signature: signed(one.seed, "challenge_") }],
        [one.id, { challenge: `${challenge}=`, signature: signed(one.seed, `${challenge}=`) }],
        [unknown, yield* answer(unknown, strangersSeed)],
        [keyless.id, yield* answer(keyless.id, keyless.seed)]
      ] as const) {
        const refused = yield* Effect.flip(authenticate(id, given))
        assert.deepStrictEqual(JSON.stringify(refused), '{"_tag":"INVALID_SIGNATURE"}')
      }
      assert.strictEqual(yield* answered, before)
      assert.strictEqual(yield* tag(authenticate(one.id, good)), "accepted")
    })
  )

  it.effect("asking for challenges stores nothing and looks nothing up, and no two are alike", () =>
    Effect.gen(function* () {
      const { challenge } = yield* AgentSessions
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* buyer
      yield* challenge(id)
      const locked = sql`LOCK TABLE agents, agent_auth_keys, agent_challenges, credentials IN ACCESS EXCLUSIVE MODE`
      const [one, two] = yield* sql.withTransaction(
        Effect.andThen(locked, Effect.all([challenge(id), challenge(AgentId.to.make(newUuid()))]))
      )
      assert.strictEqual(one.challenge.length, two.challenge.length)
      assert.notStrictEqual((yield* challenge(id)).challenge, one.challenge)
    })
  )

  it.effect("a challenge opens one session, however many answer at once on however many processes", () =>
    Effect.gen(function* () {
      const here = yield* AgentSessions
      const there = (yield* another).sessions
      const { caller, id, seed } = yield* buyer
      // One process made it, both may take the answer.
      const given = yield* answer(id, seed)
      const tries = Array.from({ length: 10 }, (_, index) => tag((index % 2 ? here : there).authenticate(id, given)))
      const answers = yield* Effect.all(tries, { concurrency: "unbounded" })
      assert.deepStrictEqual(answers.toSorted(), [...new Array(9).fill("INVALID_SIGNATURE"), "accepted"].toSorted())
      assert.strictEqual((yield* here.list(caller, id, { limit: 50, offset: 0 })).total, 1)
    })
  )

  it.effect("an agent has a hundred sessions at most: another one ends the oldest", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { list } = yield* AgentSessions
      const { authenticate } = yield* Credentials
      const mine = yield* buyer
      const [first, second] = [yield* open(mine), yield* open(mine)]
      yield* TestClock.adjust("10 seconds")
      // Copies are quicker than logging in that often.
      yield* sql`INSERT INTO credentials (id, tenant_id, kind, name, scopes, hash, prefix, last_four, agent_id, auth_key_id,
          created_at, expires_at)
        SELECT overlay(id::text placing lpad(n::text, 12, '0') from 25)::uuid, tenant_id, kind, name, scopes,
          sha256(n::text::bytea), prefix, last_four, agent_id, auth_key_id, created_at, expires_at
        FROM credentials, generate_series(1, ${maxSessions - 3}) n WHERE id = ${second.sessionId}`
      const hundredth = yield* open(mine)
      assert.strictEqual(yield* tag(authenticate(first.sessionToken)), "accepted")
      const next = yield* open(mine)
      assert.strictEqual(yield* tag(authenticate(first.sessionToken)), "INVALID_SESSION_TOKEN")
      for (const { sessionToken } of [hundredth, next]) {
        assert.strictEqual(yield* tag(authenticate(sessionToken)), "accepted")
      }
      yield* Effect.all(
        Array.from({ length: 5 }, () => open(mine)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual((yield* list(mine.caller, mine.id, { limit: 1, offset: 0 })).total, maxSessions)
    })
  )
})
