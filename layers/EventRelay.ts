import type { NatsConnection } from "@nats-io/transport-node"
import { Clock, DateTime, type Duration, Effect, Layer, Metric, Option, Schema } from "effect"
import { toTypeId } from "#domain/Ids.ts"
import { Deployment } from "#services/Deployment.ts"
import { EventLog } from "#services/EventLog.ts"
import { keepUp } from "#services/EventLog/Following.ts"
import { monotonic } from "#services/RealTime.ts"
import { bodyOf } from "#services/WebhookDeliveries/Message.ts"
import * as Cursor from "./EventRelay/Cursor.ts"
import type { After, Message, StreamRefused, Tip } from "./EventRelay/JetStream.ts"
import { Nats } from "./Nats.ts"

/** How much is published before it is acknowledged: events, and characters of them. */
const batch = 256
const characters = 262_144

/** How far back a stream is filled that was made again. */
const refill = { minutes: 10 }
/** What is older than this would leave the stream again. */
const kept = { days: 7 }
/** For how long a lease is not asked about again, in milliseconds. */
const fresh = 3_000
/** How many reasons are told of one standstill. */
const mostReasons = 8
/** For how long whoever is refused again and again lets other processes try, in milliseconds. */
const aside = 2_000
/** What of a message the server's limit leaves for the body. */
const overhead = 1_024

const relayed = Metric.counter("turnpike_relay_events_total", {
  description: "Events that this process published to the stream",
  incremental: true
})
export const behind = Metric.gauge("turnpike_relay_behind_events", {
  description: "How many committed events the stream does not have yet, as its relay sees it"
})

const textOf = Schema.encodeSync(Schema.fromJsonString(Schema.Unknown))
const smaller = (one: bigint, other: bigint) => (one < other ? one : other)

/** Where the relay stands: all up to `seq` is in the stream that it saw over this connection. */
interface Standing {
  readonly connection: NatsConnection
  readonly tip: Tip
  readonly seq: bigint
  readonly after: After
}

/**
 * Copies the event log into the stream `TURNPIKE_EVENTS`. Every committed event is published at least once, in the order of the log,
 * under its id, which the stream takes once within two minutes. One process at a time does it: whoever holds the lease. It has a
 * connection of its own: a JetStream that hangs, on a full disk say, has NATS read no more of a connection that it is asked over.
 */
export const make = Effect.gen(function* () {
  const log = yield* EventLog
  const clock = yield* Clock.Clock
  const { environment } = yield* Deployment
  const shared = yield* Nats
  const nats = shared && (yield* shared.beside)
  // The library takes 20 MB, which a server without NATS need not have.
  const { append, look } = yield* Effect.promise(() => import("./EventRelay/JetStream.ts"))
  const cursor = yield* Cursor.make("nats")
  yield* Metric.update(relayed, 0)
  let standing: Standing | undefined
  let lease: { readonly held: Cursor.Held; readonly since: number } | undefined
  let askAgainAt = Number.NEGATIVE_INFINITY
  /** What was refused since something was taken, and over which connection last. */
  const said = new Set<string>()
  let refusedOver: NatsConnection | undefined

  /** The stream knows best what it has. Without a word from it the cursor counts, and a new stream gets the last ten minutes. */
  const find = Effect.fnUntraced(function* (connection: NatsConnection, held: Cursor.Held) {
    const tip = yield* look(connection)
    const { created, isEmpty, last, message } = tip
    const now = yield* DateTime.now
    const before = (age: Duration.Input) =>
      cursor.before(DateTime.toDate(DateTime.subtractDuration(now, age)), held.head)
    const isOurs = message !== undefined && (yield* cursor.isOurs(message.place, message.id))
    const known = isOurs ? message.place : held.seq
    const start = isOurs || created === held.stream ? known : smaller(known, yield* before(refill))
    const oldest = yield* before(kept)
    return {
      connection,
      tip,
      seq: start < oldest ? oldest : start,
      // A stream that others write to has no order of ours to insist on.
      after: isOurs || isEmpty ? { lastSequence: last } : undefined
    }
  })

  const messagesAfter = Effect.fnUntraced(function* (seq: bigint, largest: number) {
    const events = yield* log.after(seq, batch)
    const messages: Array<Message> = []
    let room = characters
    let upTo = seq
    for (const event of events) {
      const body = bodyOf({ ...event, at: event.created_at, data: textOf(event.data) }, environment)
      room -= body.length
      if (room < 0 && messages.length > 0) break
      const message = {
        id: toTypeId("evt", event.id),
        place: event.seq,
        subject: `events.${toTypeId("ten", event.tenant_id)}.${event.type}`,
        body
      }
      if (Buffer.byteLength(body) + overhead <= largest) messages.push(message)
      else yield* Effect.logError(`Event ${message.id} is larger than NATS takes, and is left out of the stream`)
      upTo = event.seq
    }
    return {
      messages,
      upTo,
      more: events.at(-1) !== undefined && (upTo !== events.at(-1)?.seq || events.length === batch)
    }
  })

  const relay = Effect.fnUntraced(function* (connection: NatsConnection, held: Cursor.Held) {
    const found = standing ?? (yield* find(connection, held))
    const { after, seq, tip } = found
    // Until it is known where this ends, it has to be looked up.
    standing = undefined
    const { messages, more, upTo } = yield* messagesAfter(seq, connection.info?.max_payload ?? 1_048_576)
    yield* append(tip.client, messages, after)
    const last = messages.at(-1)
    const moved = upTo !== held.seq || tip.created !== held.stream ? yield* cursor.move(upTo, tip.created) : undefined
    if (moved !== undefined) {
      lease = undefined
      if (Option.isNone(moved)) return false
      lease = { held: moved.value, since: monotonic(clock) }
      yield* Metric.update(behind, Math.max(0, Number(moved.value.head - upTo)))
    }
    standing = {
      connection,
      tip,
      seq: upTo,
      after: after === undefined || last === undefined ? after : { lastMsgID: last.id }
    }
    yield* Metric.update(relayed, messages.length)
    return more
  })

  /** The lease as it was confirmed a moment ago; otherwise it is asked for, at most once a second while it is another's. */
  const holding = Effect.fnUntraced(function* (now: number) {
    if (lease !== undefined && standing !== undefined && now - lease.since < fresh) return lease.held
    if (now < askAgainAt) return undefined
    const found = Option.getOrUndefined(yield* cursor.hold)
    // Where we stand is where the cursor stands, or somebody else went on.
    if (found === undefined || standing?.seq !== found.seq) standing = undefined
    lease = found === undefined ? undefined : { held: found, since: now }
    if (found === undefined) askAgainAt = now + 1_000
    // Known before anything is taken: a stream that takes nothing is behind as well.
    yield* Metric.update(behind, found === undefined ? 0 : Math.max(0, Number(found.head - found.seq)))
    return found
  })

  const release = Effect.suspend(() => {
    lease = undefined
    standing = undefined
    return cursor.release
  })

  /** Says once what it is. The next turn looks again; who is refused then, too, or gets no answer lets others try, who may be better connected. */
  const complain = Effect.fnUntraced(function* ({ isSilent, message: told }: StreamRefused) {
    const connection = nats?.current()
    const isAgain = isSilent || (connection !== undefined && connection === refusedOver)
    if (isAgain) askAgainAt = monotonic(clock) + aside
    refusedOver = connection
    yield* release
    // Each question has a place of its own for its answer.
    const message = told.replace(/_INBOX\.[^\s"]*/, "_INBOX.>")
    if (!said.has(message) && said.size < mostReasons) {
      said.add(message)
      yield* Effect.logWarning(`Events do not reach the stream in NATS: ${message}; trying on`)
    }
    // What it was asked would pile up on the way, and be done when nobody waits for it.
    if (isSilent && connection !== undefined) yield* Effect.promise(() => connection.close())
  })

  /** Publishes the next events, if there are any and nobody else does. True when there are more. */
  const turn = Effect.gen(function* () {
    const connection = nats?.current()
    if (connection === undefined) return false
    if (standing?.connection !== connection) standing = undefined
    const held = yield* holding(monotonic(clock))
    if (held === undefined) return false
    const more = yield* relay(connection, held)
    said.clear()
    refusedOver = undefined
    return more
  }).pipe(Effect.catchTag("StreamRefused", (refused) => Effect.as(complain(refused), false)))

  return { turn, release }
})

/** Keeps the stream up with the log, where there is a NATS. */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    if ((yield* Nats) === undefined) return
    const { release, turn } = yield* make
    yield* Effect.addFinalizer(() => release)
    yield* keepUp("The relay of events", turn, { interval: "1 second", rest: "10 millis" })
  })
)
