import { Result, Schema } from "effect"
import { Moment } from "./Instant.ts"
import type { EventType } from "./Event.ts"
import { AgentId, EventId, fromTypeId, SessionId, toTypeId } from "./Ids.ts"
import type { TransferType } from "./Transfer.ts"

/** What is known of an agent's connections. */
export const AgentLiveness = Schema.Struct({
  agent_id: AgentId,
  connected: Schema.Boolean,
  connected_since: Schema.NullOr(Moment),
  last_seen_at: Schema.NullOr(Moment),
  last_event_id: Schema.NullOr(EventId),
  transport: Schema.NullOr(Schema.Literal("sse"))
}).annotate({ identifier: "AgentLiveness" })
export type AgentLiveness = typeof AgentLiveness.Type

/** What an agent is told of facts, and what the channel says of itself. */
export const ChannelEventName = Schema.Literals([
  "task_assigned",
  "task_updated",
  "transfer_completed",
  "approval_requested",
  "stream_alert",
  "policy_violation",
  "key_rotated",
  "connected",
  "heartbeat",
  "resync",
  "reconnect_required",
  "superseded"
])
export type ChannelEventName = typeof ChannelEventName.Type

/** Why a connection is to be replaced by another. */
export type ReconnectReason = "max_duration" | "shutdown" | "session_ended" | "lost"

/** Why what followed the last event id cannot be told any more. */
export type ResyncReason = "malformed" | "unknown" | "expired"

/**
 * Which facts concern which agents: the owner of the wallet, or the agent, that the data names at the path, unless it is about a
 * transfer of that type. Of two that name the same agent the first counts.
 */
export const audience: ReadonlyArray<{
  readonly type: EventType
  readonly name: ChannelEventName
  readonly holder: "wallet" | "agent"
  readonly path: readonly [string, ...ReadonlyArray<string>]
  readonly unless?: TransferType
}> = [
  // What goes into a stream leaves the payer's wallet and has not arrived: the payer may cancel, and the recipient withdraws what is
  // its own by another transfer, of which nothing leaves the wallet that it names again.
  {
    type: "transfer.completed",
    name: "transfer_completed",
    holder: "wallet",
    path: ["transfer", "from_wallet_id"],
    unless: "stream_withdraw"
  },
  {
    type: "transfer.completed",
    name: "transfer_completed",
    holder: "wallet",
    path: ["transfer", "to_wallet_id"],
    unless: "stream_start"
  },
  { type: "stream.alert", name: "stream_alert", holder: "wallet", path: ["stream", "from_wallet_id"] },
  { type: "approval.requested", name: "approval_requested", holder: "agent", path: ["approval", "agent_id"] },
  { type: "agent.key_rotated", name: "key_rotated", holder: "agent", path: ["agent_id"] },
  { type: "a2a.task.created", name: "task_assigned", holder: "agent", path: ["task", "to_agent_id"] },
  ...(["a2a.task.updated", "a2a.task.completed", "a2a.task.disputed"] as const).flatMap((type) =>
    (["to_agent_id", "from_agent_id"] as const).map(
      (party) => ({ type, name: "task_updated", holder: "agent", path: ["task", party] }) as const
    )
  )
]

const names = new Map(audience.map(({ name, type }) => [type, name]))

/** A fact that concerns an agent; `wallet_id` is the agent's own where the fact is about a wallet. */
export interface AgentFact {
  readonly id: EventId
  readonly type: EventType
  readonly data: { readonly [key: string]: unknown }
  readonly wallet_id: string | null
}

/** What the agent is told of a transfer: its own side first, then all of it. */
const transferred = ({ data, wallet_id }: AgentFact) => {
  const transfer = Object(data["transfer"])
  const wallet = wallet_id === null ? null : toTypeId("wal", wallet_id)
  const isOutbound = transfer.from_wallet_id === wallet
  return {
    transfer_id: transfer.id,
    amount: isOutbound ? transfer.amount : (transfer.destination_amount ?? transfer.amount),
    currency: isOutbound ? transfer.currency : (transfer.destination_currency ?? transfer.currency),
    direction: isOutbound ? "outbound" : "inbound",
    wallet_id: wallet,
    transfer
  }
}

/** An event as it stands in a stream. No data ends its line: JSON has no line breaks, and names and ids are ours. */
export const frame = (name: ChannelEventName, data: unknown, id?: EventId | undefined): string =>
  `event: ${name}\n${id === undefined ? "" : `id: ${toTypeId("evt", id)}\n`}data: ${JSON.stringify(data)}\n\n`

/** A fact as its agent is told; nothing for what concerns no agent. */
export const frameOf = (fact: AgentFact): string => {
  const name = names.get(fact.type)
  if (name === undefined) return ""
  return frame(name, name === "transfer_completed" ? transferred(fact) : fact.data, fact.id)
}

/** Where a client wants to go on: after an event, from now on, or nobody knows. The standard says that an empty id is none. */
export const readLastEventId = (text: string | undefined): Result.Result<EventId | undefined, "malformed"> => {
  if (text === undefined || text === "") return Result.succeed(undefined)
  const id = text.length > 64 ? undefined : fromTypeId("evt", text)
  return id === undefined ? Result.fail("malformed") : Result.succeed(EventId.make(id))
}

/** What can be told again: the last 100 events of an agent, and of those the ones of the last 5 minutes. */
export const replay = { events: 100, millis: 300_000 }

/** For how long any event is kept, however many follow, in milliseconds: who is connected and reads may fall that far behind in a burst. */
export const kept = 60_000

/** The place before an agent's first event: nothing was told, and everything is to come. */
export const beginning = EventId.make("00000000-0000-0000-0000-000000000000")

/** One of the last events of an agent. */
export interface Remembered {
  readonly seq: bigint
  readonly event_id: EventId
  readonly created_at: Date
}

/**
 * After which of the agent's last events a stream goes on, newest first: all that follow must still be there, or none is told. What
 * was forgotten leaves either more than a hundred events behind, or one that is too old.
 */
export const resumption = (
  latest: ReadonlyArray<Remembered>,
  after: EventId,
  now: number
): Result.Result<bigint, ResyncReason> => {
  const place = after === beginning ? latest.length : latest.findIndex(({ event_id }) => event_id === after)
  if (place < 0 || place > replay.events) return Result.fail("unknown")
  const first = latest[place - 1]
  const isGone = first !== undefined && now - first.created_at.getTime() > replay.millis
  return isGone ? Result.fail("expired") : Result.succeed(latest[place]?.seq ?? 0n)
}

/** The life of a connection, in milliseconds from its beginning, and what it may cost. */
export const life = {
  heartbeat: 30_000,
  /** So many heartbeats in a row that it could not take, and it is over. */
  missed: 3,
  /** So long without any sign that what was sent arrived. */
  silence: 50_000,
  farewell: 86_100_000,
  end: 86_400_000,
  /** What may wait for a slow reader here; with more than that in the system's hands it has to take as much in three heartbeats. */
  pending: 262_144
}

/** What is due at this age. */
export const dueAt = (age: number): "heartbeat" | "farewell" | "end" =>
  age >= life.end ? "end" : age >= life.farewell ? "farewell" : "heartbeat"

/** For how long a client waits before it comes back: between one and five seconds, so that not all come at once. */
export const retryOf = (session: string): number => 1_000 + (Number.parseInt(session.slice(-4), 16) % 4_000)

/** What a connection begins with. Its id is always there: who comes back without one would be told from then on only. */
export const greeting = (about: {
  readonly agent_id: string
  readonly session_id: string
  readonly at: Date
  readonly resumed: boolean
  /** The event after which the stream goes on; undefined when the agent never had one. */
  readonly position: EventId | undefined
}): string =>
  frame(
    "connected",
    {
      agent_id: toTypeId("agt", about.agent_id),
      session_id: toTypeId("ses", SessionId.make(about.session_id)),
      connected_at: about.at.toISOString(),
      resumed: about.resumed,
      last_event_id: about.position === undefined ? null : toTypeId("evt", about.position)
    },
    about.position ?? beginning
  )

/** Says that something was missed between two events; `to` is where the stream goes on. */
export const resync = (reason: ResyncReason, from: EventId | undefined, to: EventId | undefined): string => {
  const shown = (id: EventId | undefined) => (id === undefined ? null : toTypeId("evt", id))
  return frame("resync", { reason, from: shown(from), to: shown(to) }, to ?? beginning)
}

export const heartbeat = frame("heartbeat", {})
export const superseded = frame("superseded", {})
export const reconnectRequired = (reason: ReconnectReason): string => frame("reconnect_required", { reason })
