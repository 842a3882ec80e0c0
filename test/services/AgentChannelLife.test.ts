import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Agents } from "#services/Agents.ts"
import { AgentChannel } from "#services/AgentChannel.ts"
import { AgentSessions } from "#services/AgentSessions.ts"
import { proofOf } from "./AgentsHarness.ts"
import {
  another,
  type Client,
  connect,
  payloads,
  resident,
  sent,
  session,
  tell,
  Test,
  told,
  unanswered,
  until
} from "./AgentChannelHarness.ts"

const count = (client: Client, name: string) => client.names.filter((one) => one === name).length
const is = (client: Client, state: Client["state"]) =>
  until(
    `the connection is ${state}, not ${client.state}`,
    Effect.sync(() => client.state === state)
  )

layer(Test, { timeout: "60 seconds" })("the life of a connection", (it) => {
  it.effect("is a heartbeat every thirty seconds, a warning at 23:55 and an end at 24:00", () =>
    Effect.gen(function* () {
      const { client } = yield* connect(yield* AgentChannel, yield* resident)
      yield* TestClock.adjust("29 seconds")
      assert.strictEqual(count(client, "heartbeat"), 0)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(count(client, "heartbeat"), 1)
      assert.include(client.text, "event: heartbeat\ndata: {}\n\n")
      yield* TestClock.adjust("570 seconds")
      assert.strictEqual(count(client, "heartbeat"), 20)
      yield* TestClock.adjust("85499 seconds")
      assert.strictEqual(count(client, "reconnect_required"), 0)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(client.messages.at(-1), {
        event: "reconnect_required",
        id: undefined,
        data: { reason: "max_duration" }
      })
      yield* TestClock.adjust("299 seconds")
      assert.deepStrictEqual([client.state, count(client, "reconnect_required")], ["open", 1])
      yield* TestClock.adjust("1 second")
      assert.strictEqual(client.state, "ended")
    })
  )

  it.effect("goes on over the hour of its session", () =>
    Effect.gen(function* () {
      const channel = yield* AgentChannel
      const one = yield* resident
      const { client } = yield* connect(channel, one)
      yield* TestClock.adjust("2 hours")
      yield* channel.renew
      yield* tell(one, 1)
      yield* told(client, 1)
      assert.strictEqual(client.state, "open")
    })
  )

  it.effect("is over when it could not take three heartbeats in a row, and goes on when it takes the third", () =>
    Effect.gen(function* () {
      const channel = yield* AgentChannel
      const one = yield* resident
      const [slow, slower] = [
        yield* connect(channel, one),
        yield* connect(channel, { ...one, session: yield* session(one) })
      ]
      for (const { client } of [slow, slower]) client.isReading = false
      yield* tell(one, 1)
      yield* until(
        "it waits",
        Effect.sync(() => slow.client.pending > 0 && slower.client.pending > 0)
      )
      const pending = slow.client.pending
      yield* TestClock.adjust("61 seconds")
      slow.client.read()
      assert.deepStrictEqual([slower.client.state, slower.client.pending], ["open", pending])
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual([slow.client.state, slower.client.state], ["open", "destroyed"])
    })
  )

  it.effect(
    "has at most 256 KB waiting for its reader, who is told everything in order once it reads, and nobody else waits",
    () =>
      Effect.gen(function* () {
        const channel = yield* AgentChannel
        const one = yield* resident
        const slow = yield* connect(channel, one)
        const quick = yield* connect(channel, { ...one, session: yield* session(one) })
        slow.client.isReading = false
        for (let turn = 0; turn < 10; turn++) {
          yield* tell(one, `${turn}${"x".repeat(50_000)}`)
          yield* told(quick.client, turn + 1)
        }
        assert.deepStrictEqual([slow.client.state, slow.client.pending > 0], ["open", true])
        assert.isAtMost(slow.client.pending, 262_144)
        slow.client.read()
        yield* told(slow.client, 10)
        yield* tell(one, "live")
        yield* told(slow.client, 11)
        yield* told(quick.client, 11)
        assert.deepStrictEqual(payloads(slow.client), payloads(quick.client))
      })
  )

  it.effect("is over within 95 seconds when nothing arrives at its peer, whatever the socket takes", () =>
    Effect.gen(function* () {
      const channel = yield* AgentChannel
      const [gone, alive] = [yield* connect(channel, yield* resident), yield* connect(channel, yield* resident)]
      gone.client.peer = "192.0.2.1:1"
      alive.client.peer = "192.0.2.2:1"
      const vanished = gone.client.taken
      // The system sends again what the one that vanished does not answer; with the other it always gets on a little.
      const step = Effect.gen(function* () {
        unanswered.set("192.0.2.1:1", { bytes: gone.client.taken - vanished, isVain: true })
        unanswered.set("192.0.2.2:1", { bytes: 1, isVain: true })
        alive.client.taken += 10
        yield* TestClock.adjust("1 second")
      })
      for (let second = 0; second < 95 && gone.client.state === "open"; second++) yield* step
      unanswered.clear()
      assert.deepStrictEqual([gone.client.state, alive.client.state], ["destroyed", "open"])
    })
  )
})

layer(Test, { timeout: "60 seconds" })("two connections of one session", (it) => {
  it.effect("are one: the later closes the earlier, which is told so", () =>
    Effect.gen(function* () {
      const channel = yield* AgentChannel
      const one = yield* resident
      const [first, second] = [yield* connect(channel, one), yield* connect(channel, one)]
      yield* is(first.client, "ended")
      assert.deepStrictEqual([first.client.names, second.client.state], [["connected", "superseded"], "open"])
      yield* tell(one, 1)
      yield* told(second.client, 1)
    })
  )

  it.effect("are one on two processes as well", () =>
    Effect.gen(function* () {
      const [here, there] = [yield* AgentChannel, yield* another]
      const one = yield* resident
      const first = yield* connect(here, one)
      const second = yield* connect(there, one)
      yield* is(first.client, "ended")
      const third = yield* connect(here, one)
      yield* is(second.client, "ended")
      assert.deepStrictEqual([second.client.names.at(-1), third.client.state], ["superseded", "open"])
    })
  )

  it.effect("that come at once, here and there, leave exactly one", () =>
    Effect.gen(function* () {
      const [here, there] = [yield* AgentChannel, yield* another]
      for (let round = 0; round < 5; round++) {
        const one = yield* resident
        const clients = yield* Effect.all(
          [here, there, here, there, here, there].map((channel) => connect(channel, one)),
          { concurrency: 6 }
        )
        const open = () => clients.filter(({ client }) => client.state === "open")
        yield* until(
          "one is left",
          Effect.sync(() => open().length === 1)
        )
        yield* tell(one, 1)
        yield* told(open()[0]!.client, 1)
        for (const { client } of clients)
          if (client.state !== "open") assert.strictEqual(client.names.at(-1), "superseded")
      }
    })
  )

  it.effect("are one although nobody is told, once the earlier is renewed", () =>
    Effect.gen(function* () {
      const channel = yield* AgentChannel
      const sql = yield* SqlClient.SqlClient
      const { client, line } = yield* connect(channel, yield* resident)
      yield* sql`UPDATE agent_connections SET fence = nextval('agent_connection_fences') WHERE session_id = ${line.session_id}`
      yield* channel.renew
      assert.deepStrictEqual([client.state, client.names.at(-1)], ["ended", "superseded"])
    })
  )
})

layer(Test, { timeout: "60 seconds" })("a connection ends at once", (it) => {
  it.effect("when its session is revoked, on whatever process", () =>
    Effect.gen(function* () {
      const there = yield* another
      const [one, other] = [yield* resident, yield* resident]
      const { client } = yield* connect(there, one)
      const untouched = yield* connect(there, other)
      yield* (yield* AgentSessions).revoke(one.caller, one.id, one.session.id)
      yield* is(client, "ended")
      assert.deepStrictEqual(client.messages.at(-1)?.data, { reason: "session_ended" })
      assert.strictEqual(untouched.client.state, "open")
    })
  )

  for (const what of ["suspended", "deleted"] as const) {
    it.effect(`when its agent is ${what}`, () =>
      Effect.gen(function* () {
        const agents = yield* Agents
        const one = yield* resident
        const { client } = yield* connect(yield* AgentChannel, one)
        yield* what === "suspended" ? agents.suspend(one.caller, one.id, null) : agents.remove(one.caller, one.id)
        yield* is(client, "ended")
        const refused = yield* Effect.exit(connect(yield* AgentChannel, one))
        assert.strictEqual(refused._tag, "Failure")
      })
    )
  }

  it.effect("when its key is rotated, after it was told so; a session of the new key is not touched", () =>
    Effect.gen(function* () {
      const channel = yield* AgentChannel
      const one = yield* resident
      const { client } = yield* connect(channel, one)
      const key = yield* (yield* AgentSessions).rotateKey(
        one.id,
        yield* Effect.succeed(proofOf(one.id, one.seed)),
        "generated"
      )
      const renewed = { ...one, seed: key.privateKey ?? "" }
      const next = yield* connect(channel, { ...renewed, session: yield* session(renewed) })
      yield* is(client, "ended")
      assert.deepStrictEqual(client.names.slice(-2), ["key_rotated", "reconnect_required"])
      assert.strictEqual(next.client.state, "open")
    })
  )

  it.effect("when that was revoked behind everybody's back, once it is renewed", () =>
    Effect.gen(function* () {
      const channel = yield* AgentChannel
      const sql = yield* SqlClient.SqlClient
      const one = yield* resident
      const { client } = yield* connect(channel, one)
      yield* sql`UPDATE credentials SET revoked_at = now() WHERE id = ${one.session.id}`
      yield* channel.renew
      yield* is(client, "ended")
    })
  )
})

layer(Test, { timeout: "60 seconds" })("a process that is asked to stop", (it) => {
  it.effect("tells every client to connect elsewhere, closes all connections within seconds and opens none", () =>
    Effect.gen(function* () {
      const channel = yield* another
      const one = yield* resident
      const clients = [yield* connect(channel, one)]
      for (let more = 0; more < 20; more++)
        clients.push(yield* connect(channel, { ...one, session: yield* session(one) }))
      yield* channel.drain
      for (const { client } of clients) {
        assert.deepStrictEqual([client.state, client.messages.at(-1)?.data], ["ended", { reason: "shutdown" }])
      }
      assert.strictEqual((yield* Effect.exit(connect(channel, one)))._tag, "Failure")
      assert.isFalse((yield* channel.liveness(one.caller, one.id)).connected)
      yield* sent(clients[0]!.client, "reconnect_required")
    })
  )
})
