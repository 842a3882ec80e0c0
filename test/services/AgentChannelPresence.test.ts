import { assert, layer } from "@effect/vitest"
import { Effect, Exit, References } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Principal } from "#domain/Principal.ts"
import { Agents } from "#services/Agents.ts"
import { AgentChannel } from "#services/AgentChannel.ts"
import { promises } from "#services/Doctor/Channel.ts"
import { newUuid } from "#services/NewId.ts"
import {
  another,
  connect,
  presence,
  type Resident,
  resident,
  session,
  tell,
  Test,
  told,
  until
} from "./AgentChannelHarness.ts"

const has = (one: Resident, ...facts: ReadonlyArray<string>) =>
  until(
    `the log says ${facts}`,
    Effect.map(presence(one), (found) => found.join() === facts.join())
  )

/** A process that dies: what it held stays as it is, and nobody renews it. */
const kill = Effect.fnUntraced(function* (...dead: ReadonlyArray<Resident>) {
  const sql = yield* SqlClient.SqlClient
  for (const { session } of dead) {
    yield* sql`UPDATE agent_connections SET node = ${newUuid()}, fence = nextval('agent_connection_fences')
      WHERE session_id = ${session.id}`
  }
})
const isSound = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(promises(sql), ({ promise, query }) =>
    Effect.map(query, (rows) => assert.deepStrictEqual(rows, [], promise))
  )
)

layer(Test, { timeout: "60 seconds" })("who is connected", (it) => {
  it.effect("is shown and told: when the first connection comes and when the last one goes", () =>
    Effect.gen(function* () {
      const [channel, agents] = [yield* AgentChannel, yield* Agents]
      const one = yield* resident
      assert.deepStrictEqual(yield* channel.liveness(one.caller, one.id), {
        agent_id: one.id,
        connected: false,
        connected_since: null,
        last_seen_at: null,
        last_event_id: null,
        transport: null
      })
      const first = yield* connect(channel, one)
      const second = yield* connect(channel, { ...one, session: yield* session(one) })
      yield* has(one, "connected")
      assert.deepInclude(yield* channel.liveness(one.caller, one.id), { connected: true, transport: "sse" })
      assert.isTrue((yield* agents.get(one.caller, one.id)).connected)
      yield* tell(one, 1)
      yield* told(first.client, 1)
      channel.gone(first.line)
      yield* TestClock.adjust("1 second")
      assert.isTrue((yield* channel.liveness(one.caller, one.id)).connected)
      channel.gone(second.line)
      yield* has(one, "connected", "disconnected")
      const after = yield* channel.liveness(one.caller, one.id)
      assert.deepInclude(after, { connected: false, connected_since: null, transport: null })
      assert.strictEqual(after.last_event_id === null, false)
      assert.isFalse((yield* agents.get(one.caller, one.id)).connected)
      yield* isSound
    })
  )

  it.effect("is nobody's business but the tenant's and the agent's own", () =>
    Effect.gen(function* () {
      const channel = yield* AgentChannel
      const [one, other] = [yield* resident, yield* resident]
      const own = new Principal({ ...one.caller, actor_type: "agent", actor_id: one.id })
      const neighbour = new Principal({ ...one.caller, actor_type: "agent", actor_id: other.id })
      assert.strictEqual((yield* channel.liveness(own, one.id)).agent_id, one.id)
      for (const caller of [other.caller, neighbour]) {
        assert.strictEqual((yield* Effect.flip(channel.liveness(caller, one.id)))._tag, "NOT_FOUND")
      }
    })
  )

  it.effect("does not change when a later connection takes the place of one, here or there", () =>
    Effect.gen(function* () {
      const [here, there] = [yield* AgentChannel, yield* another]
      const one = yield* resident
      const connections = [yield* connect(here, one), yield* connect(there, one), yield* connect(here, one)]
      yield* until(
        "they end",
        Effect.sync(() => connections[1]?.client.state === "ended")
      )
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(yield* presence(one), ["connected"])
      assert.isTrue((yield* here.liveness(one.caller, one.id)).connected)
      yield* isSound
    })
  )

  it.effect("is written for many in few transactions", () =>
    Effect.gen(function* () {
      const channel = yield* AgentChannel
      const sql = yield* SqlClient.SqlClient
      const residents = yield* Effect.all(
        Array.from({ length: 40 }, () => resident),
        { concurrency: 8 }
      )
      const before = yield* sql`SELECT count(DISTINCT xmin::text)::int AS n FROM events WHERE type = 'agent.connected'`
      yield* Effect.all(
        residents.map((one) => connect(channel, one)),
        { concurrency: 40 }
      )
      const after = yield* sql`SELECT count(DISTINCT xmin::text)::int AS n FROM events WHERE type = 'agent.connected'`
      assert.isAtMost(Number(after[0]?.["n"]) - Number(before[0]?.["n"]), 5)
      for (const one of residents) assert.deepStrictEqual(yield* presence(one), ["connected"])
    })
  )

  it.effect("is not who was connected to a process that died, once its lease is over, and that is told once", () =>
    Effect.gen(function* () {
      const [here, there] = [yield* AgentChannel, yield* another]
      const [one, other] = [yield* resident, yield* resident]
      for (const each of [one, other]) yield* connect(here, each)
      yield* kill(one, other)
      yield* TestClock.adjust("44 seconds")
      assert.isTrue((yield* there.liveness(one.caller, one.id)).connected)
      yield* TestClock.adjust("2 seconds")
      assert.isFalse((yield* there.liveness(one.caller, one.id)).connected)
      yield* Effect.all([here.expire, there.expire, here.expire, there.expire], { concurrency: 4 })
      for (const each of [one, other]) assert.deepStrictEqual(yield* presence(each), ["connected", "disconnected"])
      // It comes back where there is a process, and goes on where it was.
      yield* connect(there, one)
      yield* has(one, "connected", "disconnected", "connected")
      yield* isSound
    })
  )

  it.effect("is who came back before the lease of the dead process was over", () =>
    Effect.gen(function* () {
      const [here, there] = [yield* AgentChannel, yield* another]
      const one = yield* resident
      yield* connect(here, one)
      yield* kill(one)
      const { client } = yield* connect(there, { ...one, session: yield* session(one) })
      yield* TestClock.adjust("46 seconds")
      yield* there.renew
      yield* there.expire
      assert.deepStrictEqual([yield* presence(one), client.state], [["connected"], "open"])
      assert.isTrue((yield* here.liveness(one.caller, one.id)).connected)
    })
  )

  it.effect("is who was connected before a time without the database, in which nobody could say so", () =>
    Effect.gen(function* () {
      const [here, there] = [yield* AgentChannel, yield* another]
      const sql = yield* SqlClient.SqlClient
      const one = yield* resident
      const { client } = yield* connect(here, one)
      yield* sql`ALTER TABLE agent_connections RENAME TO agent_connections_away`
      assert.isTrue(Exit.isFailure(yield* Effect.exit(there.expire)))
      yield* TestClock.adjust("60 seconds")
      assert.isTrue(Exit.isFailure(yield* Effect.exit(there.expire)))
      yield* sql`ALTER TABLE agent_connections_away RENAME TO agent_connections`
      // Whoever is back first leaves the others the time in which they renew.
      for (let pass = 0; pass < 2; pass++) assert.strictEqual(yield* there.expire, 0)
      yield* here.renew
      yield* there.expire
      assert.deepStrictEqual([yield* presence(one), client.state], [["connected"], "open"])
      // A process that died meanwhile is found out all the same.
      yield* kill(one)
      yield* TestClock.adjust("46 seconds")
      yield* there.expire
      assert.deepStrictEqual(yield* presence(one), ["connected", "disconnected"])
    }).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.effect("is told to connect again when its process stood still for so long that it was given up", () =>
    Effect.gen(function* () {
      const [here, there] = [yield* AgentChannel, yield* another]
      const sql = yield* SqlClient.SqlClient
      const one = yield* resident
      const { client } = yield* connect(here, one)
      yield* sql`UPDATE agent_connections SET expires_at = '1970-01-01' WHERE session_id = ${one.session.id}`
      yield* there.expire
      yield* here.renew
      assert.deepStrictEqual([client.state, client.messages.at(-1)?.data], ["ended", { reason: "lost" }])
      assert.deepStrictEqual(yield* presence(one), ["connected", "disconnected"])
      yield* isSound
    })
  )

  it.effect("is renewed in one statement for all", () =>
    Effect.gen(function* () {
      const channel = yield* AgentChannel
      const one = yield* resident
      const { client } = yield* connect(channel, one)
      yield* tell(one, 1)
      yield* told(client, 1)
      yield* TestClock.adjust("44 seconds")
      yield* channel.renew
      yield* TestClock.adjust("2 seconds")
      const { connected, last_event_id } = yield* channel.liveness(one.caller, one.id)
      assert.deepStrictEqual([connected, last_event_id === null], [true, false])
    })
  )
})
