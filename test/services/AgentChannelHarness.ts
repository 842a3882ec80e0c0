import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { hash } from "node:crypto"
import { readLastEventId } from "#domain/Channel.ts"
import type { EventDraft } from "#domain/Event.ts"
import { toTypeId } from "#domain/Ids.ts"
import * as BusPostgres from "#layers/BusPostgres.ts"
import * as Postgres from "#layers/Postgres.ts"
import { AgentChannel } from "#services/AgentChannel.ts"
import type { Line, Outlet } from "#services/AgentChannel/Line.ts"
import { type Kept, Unanswered } from "#services/AgentChannel/Unanswered.ts"
import { Agents } from "#services/Agents.ts"
import { AgentSessions } from "#services/AgentSessions.ts"
import { Credentials } from "#services/Credentials.ts"
import { EventLog } from "#services/EventLog.ts"
import * as Appended from "#services/EventLog/Appended.ts"
import { Ledger } from "#services/Ledger.ts"
import { Secrets } from "#services/Secrets.ts"
import { Tenants } from "#services/Tenants.ts"
import { Wallets } from "#services/Wallets.ts"
import { agent, open, tenant } from "./AgentsHarness.ts"
import { deployment } from "./CredentialsHarness.ts"

/** What the system would tell of peers that do not answer or read; nothing in these tests but what they put there. */
export const unanswered = new Map<string, Kept>()
const quiet = Layer.succeed(
  Unanswered,
  Effect.sync(() => unanswered)
)

/** Agents and their channel over a database of their own. */
export const Test = AgentChannel.layer.pipe(
  Layer.provide(quiet),
  Layer.provideMerge(AgentSessions.layer),
  Layer.provideMerge(Agents.layer),
  Layer.provideMerge(Layer.mergeAll(Credentials.layer, Tenants.layer, Secrets.layer)),
  Layer.provideMerge(Wallets.layer),
  Layer.provideMerge(Layer.mergeAll(EventLog.layer, Ledger.layer)),
  Layer.provideMerge(Appended.layer),
  Layer.provideMerge(BusPostgres.layer),
  Layer.provideMerge(Layer.mergeAll(Postgres.layerTest, deployment("sandbox")))
)

/** A second process on the same database, which shares nothing but that with the first. */
export const another = Effect.map(
  Layer.build(
    Layer.fresh(AgentChannel.layer).pipe(
      Layer.provide(quiet),
      Layer.provide(Layer.fresh(EventLog.layer)),
      Layer.provide(Layer.fresh(Appended.layer)),
      Layer.provide(Layer.fresh(BusPostgres.layer))
    )
  ),
  (context) => Context.get(context, AgentChannel)
)
export type Channel = AgentChannel["Service"]

export interface Message {
  readonly event: string
  readonly id: string | undefined
  /** Parsed JSON, of whatever shape. */
  readonly data: ReturnType<typeof JSON.parse>
}

/** The events of a stream, as a client reads them. */
export const messagesOf = (text: string): ReadonlyArray<Message> =>
  text
    .slice(0, text.lastIndexOf("\n\n") + 1)
    .split("\n\n")
    .filter((part) => /^event: /m.test(part))
    .map((part) => {
      const fields = new Map(
        part.split("\n").map((line) => [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)])
      )
      return { event: fields.get("event") ?? "", id: fields.get("id"), data: JSON.parse(fields.get("data") ?? "null") }
    })

/** A client that remembers what it was sent, and that may stop reading. */
export class Client implements Outlet {
  text = ""
  private unread = ""
  isReading = true
  pending = 0
  taken = 0
  peer: string | undefined
  state: "waiting" | "open" | "ended" | "destroyed" = "waiting"
  begin(): void {
    assert.strictEqual(this.state, "waiting", "a stream begins once")
    this.state = "open"
  }
  write(bytes: string | Buffer): void {
    assert.strictEqual(this.state, "open", "nothing is written before the beginning or after the end")
    if (this.isReading) {
      this.text += bytes.toString()
      this.taken += bytes.length
    } else {
      this.unread += bytes.toString()
      this.pending += bytes.length
    }
  }
  /** Reads what waits, and from now on everything. */
  read(): void {
    this.text += this.unread
    this.taken += this.pending
    this.pending = 0
    this.unread = ""
    this.isReading = true
  }
  end(bytes: string): void {
    if (bytes !== "") this.write(bytes)
    this.state = "ended"
  }
  destroy(): void {
    this.state = "destroyed"
  }
  get messages(): ReadonlyArray<Message> {
    return messagesOf(this.text)
  }
  get names(): ReadonlyArray<string> {
    return this.messages.map(({ event }) => event)
  }
  /** What it was told of facts. */
  get facts(): ReadonlyArray<Message> {
    return this.messages.filter(
      ({ event }) => !/^(?:connected|heartbeat|resync|reconnect_required|superseded)$/.test(event)
    )
  }
}

/** An agent of a new tenant with an open session. */
export const resident = Effect.gen(function* () {
  const one = yield* agent(yield* tenant)
  return { ...one, session: yield* session(one) }
})
export type Resident = Effect.Success<typeof resident>

/** Another session of the same agent. */
export const session = Effect.fnUntraced(function* (one: Effect.Success<ReturnType<typeof agent>>) {
  const { sessionId, sessionToken } = yield* open(one)
  return { id: sessionId, token: sessionToken }
})

/** Connects and waits for the first event. `last` is where it wants to go on. */
export const connect = Effect.fnUntraced(function* (
  channel: Channel,
  { caller, id, session }: Resident,
  last?: string
): Effect.fn.Return<{ readonly client: Client; readonly line: Line }> {
  const client = new Client()
  const visitor = {
    session_id: session.id,
    agent_id: id,
    tenant_id: caller.tenant_id,
    hash: hash("sha256", session.token),
    wanted: readLastEventId(last)
  }
  const line = yield* Effect.orDie(channel.open(visitor, client))
  return { client, line }
})

/** Waits until it is so. Every look lets a little of both times pass: the test's and the real one. */
export const until = Effect.fnUntraced(function* <E, R>(what: string, holds: Effect.Effect<boolean, E, R>) {
  const sql = yield* SqlClient.SqlClient
  const look = TestClock.adjust("10 millis").pipe(Effect.andThen(sql`SELECT pg_sleep(0.002)`), Effect.andThen(holds))
  assert.isTrue(yield* Effect.repeat(look, { until: (is) => is, times: 2_500 }), what)
})
/** Until a client was sent this. */
export const sent = (client: Client, ...names: ReadonlyArray<string>) =>
  until(
    `${names} were sent, not ${client.names}`,
    Effect.sync(() => names.every((name) => client.names.includes(name)))
  )
export const told = (client: Client, count: number) =>
  until(
    `${count} facts were told`,
    Effect.sync(() => client.facts.length >= count)
  )

/** Facts about a task of this agent, in order. */
export const tell = Effect.fnUntraced(function* (one: Resident, ...payloads: ReadonlyArray<unknown>) {
  const { append } = yield* EventLog
  yield* append(
    payloads.map(
      (payload): EventDraft => ({
        tenant_id: one.caller.tenant_id,
        type: "a2a.task.created",
        data: { task: { to_agent_id: toTypeId("agt", one.id), payload } }
      })
    )
  )
})
export const payloads = (client: Client) => client.facts.map(({ data }) => data.task.payload)

/** The facts about an agent's presence in the log. */
export const presence = Effect.fnUntraced(function* (one: Resident) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT type FROM events WHERE tenant_id = ${one.caller.tenant_id}
    AND type IN ('agent.connected', 'agent.disconnected') ORDER BY seq`
  return rows.map(({ type }) => String(type).slice("agent.".length))
})
