import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { fromTypeId, toTypeId } from "#domain/Ids.ts"
import { AgentChannel } from "#services/AgentChannel.ts"
import { newUuid } from "#services/NewId.ts"
import {
  another,
  type Client,
  connect,
  payloads,
  type Resident,
  resident,
  session,
  tell,
  Test,
  told,
  until
} from "./AgentChannelHarness.ts"

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
/** The ids of the facts that an agent was told. */
const idsOf = (client: Client) => client.facts.map(({ id }) => id ?? "")

/** An agent that was told so many facts, and their ids. */
const experienced = Effect.fnUntraced(function* (count: number) {
  const one = yield* resident
  const { client } = yield* connect(yield* AgentChannel, one)
  yield* tell(one, ...numbers(1, count))
  yield* told(client, count)
  return { one, ids: idsOf(client) }
})
const again = Effect.fnUntraced(function* (one: Resident, last: string | undefined) {
  return (yield* connect(yield* AgentChannel, { ...one, session: yield* session(one) }, last)).client
})

layer(Test, { timeout: "60 seconds" })("resuming", (it) => {
  it.effect("goes on with exactly what followed, at every position of the last hundred, and never in part", () =>
    Effect.gen(function* () {
      const { ids, one } = yield* experienced(104)
      // A hundred sessions at most are open for an agent.
      const places = [1, 2, 3, 4, 5, 6, 7, 50, 90, 99, 100, 101, 102, 103, 104]
      for (const place of places) {
        const client = yield* again(one, ids[place - 1])
        const whole = place >= 4
        assert.deepStrictEqual(
          client.names.slice(0, 2),
          whole ? ["connected", ...(place < 104 ? ["task_assigned"] : [])] : ["resync", "connected"]
        )
        assert.deepStrictEqual(payloads(client), whole ? numbers(place + 1, 104) : [])
        const connected = client.messages.find(({ event }) => event === "connected")
        assert.deepStrictEqual([connected?.data.resumed, connected?.id], [whole, whole ? ids[place - 1] : ids[103]])
        yield* tell(one, "live")
        yield* told(client, whole ? 105 - place : 1)
        assert.strictEqual(payloads(client).at(-1), "live")
        // What was told live belongs to the last hundred as well: the next place is looked at as if it had not.
        yield* (yield* SqlClient.SqlClient)`DELETE FROM agent_events WHERE agent_id = ${one.id}
          AND event_id NOT IN (SELECT id FROM events WHERE id = ANY(${ids.map((id) => fromTypeId("evt", id) ?? "")}::uuid[]))`
      }
    })
  )

  it.effect("is impossible where something that followed is older than five minutes", () =>
    Effect.gen(function* () {
      const { ids, one } = yield* experienced(1)
      yield* tell(one, 2)
      yield* TestClock.adjust("4 minutes")
      yield* tell(one, 3)
      yield* TestClock.adjust("61 seconds")
      const late = yield* again(one, ids[0])
      assert.deepStrictEqual(late.names.slice(0, 2), ["resync", "connected"])
      assert.deepInclude(late.messages[0]?.data, { reason: "expired", from: ids[0] })
      const rest = yield* again(one, late.messages[0]?.data.to)
      assert.deepStrictEqual([rest.names[0], payloads(rest)], ["connected", []])
      // The one before the last event is older than that, and all that followed it is there.
      const [second = ""] = yield* eventIds(one, 2)
      assert.deepStrictEqual(payloads(yield* again(one, second)), [3])
    })
  )

  it.effect("goes on from the very beginning for who connected before the first event, also on another process", () =>
    Effect.gen(function* () {
      const one = yield* resident
      const { client: first, line } = yield* connect(yield* AgentChannel, one)
      const [id = ""] = first.messages.map(({ id }) => id)
      assert.strictEqual(id, "evt_00000000000000000000000000")
      ;(yield* AgentChannel).gone(line)
      // Coming back without having missed anything is no event: nobody takes the place before the first for one.
      const there = yield* another
      const { client: second } = yield* connect(there, one, id)
      yield* there.renew
      const { last_event_id } = yield* there.liveness(one.caller, one.id)
      assert.deepStrictEqual([second.names, second.messages[0]?.id, last_event_id], [["connected"], id, null])
      yield* tell(one, 1, 2)
      const { client } = yield* connect(yield* AgentChannel, one, id)
      yield* tell(one, 3)
      yield* told(client, 3)
      assert.deepStrictEqual([client.names[0], client.messages[0]?.data.resumed], ["connected", true])
      assert.deepStrictEqual(payloads(client), [1, 2, 3])
    })
  )

  it.effect("is impossible from the beginning once the first events are forgotten", () =>
    Effect.gen(function* () {
      const nil = "evt_00000000000000000000000000"
      const { one: busy } = yield* experienced(101)
      assert.deepStrictEqual((yield* again(busy, nil)).messages[0]?.data.reason, "unknown")
      const { one: old } = yield* experienced(2)
      yield* TestClock.adjust("6 minutes")
      yield* tell(old, 3)
      yield* (yield* AgentChannel).prune
      assert.deepStrictEqual((yield* again(old, nil)).messages[0]?.data.reason, "expired")
    })
  )

  it.effect("goes on for an agent that missed nothing, however long ago its last event was", () =>
    Effect.gen(function* () {
      const { ids, one } = yield* experienced(1)
      yield* TestClock.adjust("3 hours")
      yield* (yield* AgentChannel).prune
      const client = yield* again(one, ids[0])
      assert.deepStrictEqual([client.names[0], client.messages[0]?.data.resumed], ["connected", true])
    })
  )

  for (const [reason, last] of [
    ["unknown", () => toTypeId("evt", newUuid())],
    ["malformed", () => "yesterday"],
    ["malformed", () => "x".repeat(1_048_576)]
  ] as const) {
    it.effect(`with an id that is ${reason} begins with resync, and then is live (${last().length} characters)`, () =>
      Effect.gen(function* () {
        const { ids, one } = yield* experienced(2)
        const client = yield* again(one, last())
        assert.deepStrictEqual(client.names, ["resync", "connected"])
        assert.deepInclude(client.messages[0]?.data, { reason, to: ids[1] })
        assert.deepStrictEqual([client.messages[0]?.id, client.messages[1]?.id], [ids[1], ids[1]])
        yield* tell(one, "live")
        yield* told(client, 1)
      })
    )
  }

  it.effect("with another agent's id is as with an unknown one", () =>
    Effect.gen(function* () {
      const [mine, theirs] = [yield* experienced(1), yield* experienced(1)]
      const client = yield* again(mine.one, theirs.ids[0])
      assert.deepStrictEqual([client.names[0], client.messages[0]?.data.reason], ["resync", "unknown"])
    })
  )

  it.effect("in the middle of a storm has no gap and tells nothing twice, on either of two processes", () =>
    Effect.gen(function* () {
      const { ids, one } = yield* experienced(1)
      const [here, there] = [yield* AgentChannel, yield* another]
      const clients: Array<Client> = []
      const storm = Effect.forEach(numbers(2, 61), (n) => Effect.andThen(tell(one, n), TestClock.adjust("2 millis")), {
        discard: true
      })
      const visits = Effect.forEach(
        numbers(1, 12),
        (n) =>
          Effect.gen(function* () {
            const sessioned = { ...one, session: yield* session(one) }
            clients.push((yield* connect(n % 2 === 0 ? here : there, sessioned, ids[0])).client)
          }),
        { discard: true }
      )
      yield* Effect.all([storm, visits], { concurrency: 2 })
      yield* until(
        "everybody has been told everything",
        Effect.sync(() => clients.every((client) => client.facts.length >= 60))
      )
      for (const client of clients) assert.deepStrictEqual(payloads(client), numbers(2, 61))
    })
  )

  it.effect("after another process's connection goes on with exactly what followed", () =>
    Effect.gen(function* () {
      const { ids, one } = yield* experienced(3)
      const there = yield* another
      const { client } = yield* connect(there, { ...one, session: yield* session(one) }, ids[1])
      yield* tell(one, 4)
      yield* told(client, 2)
      assert.deepStrictEqual(payloads(client), [3, 4])
    })
  )
})

layer(Test, { timeout: "60 seconds" })("what agents were told", (it) => {
  it.effect("is kept for a hundred events or five minutes, any for a minute, and the latest for good", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { prune } = yield* AgentChannel
      const kept = ({ id }: Resident) =>
        Effect.map(sql`SELECT count(*)::int AS n FROM agent_events WHERE agent_id = ${id}`, ([row]) => row?.["n"])
      const [busy, idle] = [yield* experienced(150), yield* experienced(3)]
      yield* prune
      assert.deepStrictEqual([yield* kept(busy.one), yield* kept(idle.one)], [150, 3])
      yield* TestClock.adjust("61 seconds")
      yield* prune
      assert.deepStrictEqual([yield* kept(busy.one), yield* kept(idle.one)], [101, 3])
      yield* TestClock.adjust("301 seconds")
      yield* prune
      assert.deepStrictEqual([yield* kept(busy.one), yield* kept(idle.one)], [1, 1])
    })
  )
})

/** The ids of an agent's facts from this place on, by what the log says. */
const eventIds = Effect.fnUntraced(function* (one: Resident, place: number) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT event_id FROM agent_events WHERE agent_id = ${one.id} ORDER BY seq`
  return rows.slice(place - 1).map(({ event_id }) => toTypeId("evt", String(event_id)))
})
