import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { EventDraft } from "#domain/Event.ts"
import { toTypeId } from "#domain/Ids.ts"
import { newUuid } from "#services/NewId.ts"
import { AgentChannel } from "#services/AgentChannel.ts"
import { EventLog } from "#services/EventLog.ts"
import { connect, payloads, resident, session, tell, Test, told, until } from "./AgentChannelHarness.ts"

layer(Test, { timeout: "60 seconds" })("an event channel", (it) => {
  it.effect("begins with connected, and tells what happens from then on, in order and once", () =>
    Effect.gen(function* () {
      const channel = yield* AgentChannel
      const one = yield* resident
      yield* tell(one, "before")
      const { client } = yield* connect(channel, one)
      assert.deepStrictEqual(client.names, ["connected"])
      assert.match(client.text, /^retry: [1-4]\d{3}\nevent: connected\n/)
      assert.deepInclude(client.messages[0]?.data, { agent_id: toTypeId("agt", one.id), resumed: false })
      yield* tell(one, 1, 2)
      yield* tell(one, 3)
      yield* told(client, 3)
      assert.deepStrictEqual(payloads(client), [1, 2, 3])
      assert.match(client.facts[0]?.id ?? "", /^evt_/)
    })
  )

  it.effect("has data in every block, as some clients take one without for an event", () =>
    Effect.gen(function* () {
      const channel = yield* AgentChannel
      const one = yield* resident
      const { client } = yield* connect(channel, one)
      yield* tell(one, 1)
      yield* told(client, 1)
      const blocks = client.text.split("\n\n").slice(0, -1)
      assert.deepStrictEqual(
        blocks.filter((block) => !/^data: /m.test(block)),
        []
      )
    })
  )

  it.effect("tells each agent what concerns it and no other, whatever it is", () =>
    Effect.gen(function* () {
      const channel = yield* AgentChannel
      const { append } = yield* EventLog
      const [one, other] = [yield* resident, yield* resident]
      const [mine, theirs] = [yield* connect(channel, one), yield* connect(channel, other)]
      const agent = toTypeId("agt", one.id)
      const wallet = toTypeId("wal", one.data.wallet_id)
      const nobody = toTypeId("wal", newUuid())
      const { tenant_id } = one.caller
      const fact = (type: EventDraft["type"], data: EventDraft["data"]) => ({ tenant_id, type, data })
      yield* append([
        fact("transfer.created", { transfer: { from_wallet_id: wallet, to_wallet_id: nobody } }),
        fact("transfer.completed", { transfer: { id: "1", from_wallet_id: wallet, to_wallet_id: nobody } }),
        fact("transfer.completed", { transfer: { id: "2", from_wallet_id: nobody, to_wallet_id: wallet } }),
        fact("transfer.completed", { transfer: { id: "3", from_wallet_id: wallet, to_wallet_id: wallet } }),
        fact("transfer.completed", { transfer: { id: "4", from_wallet_id: nobody, to_wallet_id: null } }),
        fact("stream.alert", { stream: { from_wallet_id: wallet }, alert: { severity: "critical" } }),
        fact("stream.alert", { stream: { from_wallet_id: nobody, to_wallet_id: wallet } }),
        fact("approval.requested", { approval: { agent_id: agent } }),
        fact("a2a.task.created", { task: { to_agent_id: agent, from_agent_id: toTypeId("agt", other.id) } }),
        fact("a2a.task.created", { task: { to_agent_id: nobody, from_agent_id: agent } }),
        fact("a2a.task.updated", { task: { to_agent_id: nobody, from_agent_id: agent } }),
        fact("a2a.task.completed", { task: { to_agent_id: agent, from_agent_id: agent } }),
        fact("a2a.task.disputed", { task: { to_agent_id: agent, from_agent_id: nobody } }),
        fact("agent.connected", { agent: { id: agent } }),
        // Another tenant that names this agent, or its wallet, has nothing to do with it.
        { ...fact("approval.requested", { approval: { agent_id: agent } }), tenant_id: other.caller.tenant_id },
        { ...fact("transfer.completed", { transfer: { from_wallet_id: wallet } }), tenant_id: other.caller.tenant_id }
      ])
      yield* told(mine.client, 9)
      yield* tell(one, "last")
      yield* told(mine.client, 10)
      assert.deepStrictEqual(
        mine.client.facts.map(({ data, event }) =>
          event === "transfer_completed" ? `${event} ${data.transfer.id} ${data.direction}` : event
        ),
        [
          "transfer_completed 1 outbound",
          "transfer_completed 2 inbound",
          "transfer_completed 3 outbound",
          "stream_alert",
          "approval_requested",
          "task_assigned",
          "task_updated",
          "task_updated",
          "task_updated",
          "task_assigned"
        ]
      )
      assert.deepStrictEqual(theirs.client.facts, [])
    })
  )

  it.effect("tells the payer alone of what goes into a stream, and the recipient of what it withdraws", () =>
    Effect.gen(function* () {
      const channel = yield* AgentChannel
      const { append } = yield* EventLog
      const one = yield* resident
      const { client } = yield* connect(channel, one)
      const [wallet, nobody] = [toTypeId("wal", one.data.wallet_id), toTypeId("wal", newUuid())]
      const completed = (type: string, from_wallet_id: string, to_wallet_id: string): EventDraft => ({
        tenant_id: one.caller.tenant_id,
        type: "transfer.completed",
        data: { transfer: { type, from_wallet_id, to_wallet_id } }
      })
      yield* append([
        completed("stream_start", nobody, wallet),
        completed("stream_start", wallet, nobody),
        completed("stream_start", wallet, wallet),
        completed("stream_withdraw", nobody, wallet),
        completed("stream_withdraw", wallet, nobody)
      ])
      yield* tell(one, "last")
      yield* until(
        "the last was told",
        Effect.sync(() => client.names.includes("task_assigned"))
      )
      assert.deepStrictEqual(
        client.facts.map(({ data, event }) =>
          event === "task_assigned" ? event : `${data.transfer.type} ${data.direction}`
        ),
        ["stream_start outbound", "stream_start outbound", "stream_withdraw inbound", "task_assigned"]
      )
    })
  )

  it.effect("of an agent with several sessions is each told the same", () =>
    Effect.gen(function* () {
      const channel = yield* AgentChannel
      const one = yield* resident
      const first = yield* connect(channel, one)
      yield* tell(one, 1)
      yield* told(first.client, 1)
      const second = yield* connect(channel, { ...one, session: yield* session(one) })
      yield* tell(one, 2)
      yield* told(first.client, 2)
      yield* told(second.client, 1)
      assert.deepStrictEqual([payloads(first.client), payloads(second.client)], [[1, 2], [2]])
      assert.deepStrictEqual(first.client.facts[1], second.client.facts[0])
    })
  )

  it.effect("survives an event of any size that its peer reads, and hostile text", () =>
    Effect.gen(function* () {
      const channel = yield* AgentChannel
      const one = yield* resident
      const { client } = yield* connect(channel, one)
      const texts = ["x".repeat(400_000), "\n\nevent: superseded\ndata: {}\n\n\r\u2028\ud83d\ude00"]
      yield* tell(one, ...texts)
      yield* told(client, 2)
      assert.deepStrictEqual(payloads(client), texts)
    })
  )

  it.effect("looks by itself when nobody says that there is something", () =>
    Effect.gen(function* () {
      const channel = yield* AgentChannel
      const sql = yield* SqlClient.SqlClient
      const one = yield* resident
      const { client } = yield* connect(channel, one)
      // As another process that dies before it announces what it committed.
      yield* sql`WITH head AS (UPDATE ledger_head SET event_seq = event_seq + 1 WHERE log = 1 RETURNING event_seq)
        INSERT INTO events (seq, id, tenant_id, type, data, created_at)
        SELECT event_seq, ${newUuid()}, ${one.caller.tenant_id}, 'a2a.task.created',
          jsonb_build_object('task', jsonb_build_object('to_agent_id', ${toTypeId("agt", one.id)}::text)), now() FROM head`
      yield* TestClock.adjust("500 millis")
      yield* told(client, 1)
    })
  )

  it.effect("passes a log without facts for agents, and notes none", () =>
    Effect.gen(function* () {
      const channel = yield* AgentChannel
      const sql = yield* SqlClient.SqlClient
      const { append } = yield* EventLog
      const tenant_id = newUuid()
      yield* append(
        Array.from(
          { length: 3_000 },
          () => ({ tenant_id, type: "transfer.completed", data: { transfer: {} } }) as const
        )
      )
      const noted = sql`SELECT count(*)::int AS n FROM agent_events`
      const before = yield* noted
      const passed = Effect.map(
        sql`SELECT f.seq = h.event_seq AS done FROM followers f, ledger_head h WHERE f.name = 'agent_channel'`,
        ([row]) => row?.["done"] === true
      )
      yield* until("the log is passed", Effect.andThen(channel.copy, passed))
      assert.deepStrictEqual(yield* noted, before)
    })
  )

  it.effect("knows names of the wire as the rest of the platform does", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ids = ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", newUuid(), newUuid()]
      const rows = yield* sql`SELECT type_id('wal', id) AS shown FROM unnest(${ids}::uuid[]) AS id`
      assert.deepStrictEqual(
        rows.map(({ shown }) => shown),
        ids.map((id) => toTypeId("wal", id))
      )
    })
  )
})
