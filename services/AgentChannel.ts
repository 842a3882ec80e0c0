import { Clock, Context, DateTime, type Duration, Effect, Exit, Layer, Option, PubSub, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { AgentLiveness, reconnectRequired } from "#domain/Channel.ts"
import { type AgentId, toTypeId } from "#domain/Ids.ts"
import type { Principal } from "#domain/Principal.ts"
import { NotFound, ServiceUnavailable } from "#domain/Refusal.ts"
import * as Copying from "./AgentChannel/Copying.ts"
import { Line, type Outlet, type Visitor } from "./AgentChannel/Line.ts"
import { Lines } from "./AgentChannel/Lines.ts"
import * as Presence from "./AgentChannel/Presence.ts"
import * as Pruning from "./AgentChannel/Pruning.ts"
import * as Pumping from "./AgentChannel/Pumping.ts"
import * as Reading from "./AgentChannel/Reading.ts"
import * as Registering from "./AgentChannel/Registering.ts"
import { Unanswered } from "./AgentChannel/Unanswered.ts"
import { EventBus } from "./EventBus.ts"
import * as Following from "./EventLog/Following.ts"
import { Lookout } from "./Lookout.ts"
import { newUuid } from "./NewId.ts"
import { monotonic } from "./RealTime.ts"
import { upkeep } from "./Upkeep.ts"

/** Tells agents what concerns them as it happens, over connections that they keep open, and knows which of them are there. */
export class AgentChannel extends Context.Service<
  AgentChannel,
  {
    /**
     * Opens a connection: when this succeeds its stream has begun. From then on it is told every fact about the agent, once and in
     * order, until it is closed. An older connection of the same session, on whatever process, is closed.
     */
    open(visitor: Visitor, outlet: Outlet): Effect.Effect<Line, Registering.Refused>
    /** The peer of this connection is gone. */
    gone(line: Line): void
    /** Whether the agent is connected anywhere. An agent sees itself only. */
    liveness(caller: Principal, agent: AgentId): Effect.Effect<AgentLiveness, NotFound>
    /** Tells all clients to connect elsewhere, closes their connections, and opens no more. */
    readonly drain: Effect.Effect<void>
    /** Notes what the log has for agents. */
    readonly copy: Effect.Effect<void>
    /** Says again that the connections of this process stand, and closes those that are somebody else's by now. */
    readonly renew: Effect.Effect<void>
    /**
     * Takes away the connections of processes that are gone; how many agents that were. After a time without the database, in which
     * nobody could say that his stand, it is only looked twice: whoever is there says so first.
     */
    readonly expire: Effect.Effect<number>
    /** Forgets what cannot be told again; how many events. */
    readonly prune: Effect.Effect<number>
  }
>()("turnpike/services/AgentChannel") {
  static readonly layer = Layer.effect(
    AgentChannel,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const bus = yield* EventBus
      const clock = yield* Clock.Clock
      const node = newUuid()
      const presence = yield* Presence.make(node)
      const lines: Lines = new Lines(yield* Effect.context<never>(), (line) => registering.close(line))
      const reading = yield* Reading.make(node)
      const pumping = yield* Pumping.make(() => lines, presence, reading, yield* Copying.make)
      const registering = yield* Registering.make(() => lines, presence, pumping.join)
      const prune = yield* Pruning.make
      let draining = false

      const later = yield* bus.subscribe(Registering.supersededSubject)
      const hear = (message: string) => {
        // Something was missed: the database knows.
        if (message === "") return Effect.ignoreCause(renew)
        for (const [session = "", fence = "0"] of message.split("\n").map((one) => one.split(" "))) {
          const line = lines.session(session)
          if (line !== undefined && line.fence < BigInt(fence)) lines.supersede(line)
        }
        return Effect.void
      }

      const open = (visitor: Visitor, outlet: Outlet): Effect.Effect<Line, Registering.Refused> =>
        Effect.callback((resume) => {
          if (draining) return resume(Effect.fail(new ServiceUnavailable({ retry_after: 1 })))
          const line = new Line(visitor, outlet)
          registering.open({ line, answer: (outcome) => resume(Effect.as(outcome, line)) })
          return Effect.sync(() => lines.lost(line))
        })

      const renew = Effect.gen(function* () {
        const all = lines.all()
        for (let from = 0; from < all.length; from += renewed) {
          const some = all.slice(from, from + renewed).filter(({ fence }) => fence > 0n)
          if (some.length === 0) continue
          const kept = yield* presence.renew(some)
          const missing = some.filter(({ session_id, state }) => !kept.has(session_id) && state !== "closed")
          if (missing.length === 0) continue
          const standing = yield* presence.standing(missing.map(({ session_id }) => session_id))
          for (const line of missing) {
            if (standing.has(line.session_id)) lines.supersede(line)
            // While this process stood still, the others gave it up.
            else lines.end(line, reconnectRequired("lost"))
          }
        }
      }).pipe(Effect.orDie)

      yield* PubSub.take(later).pipe(Effect.flatMap(hear), Effect.forever, Effect.forkScoped)
      const whenThere = (what: string, work: Effect.Effect<void>, every: Duration.Input) =>
        upkeep(`${what} failed`, Effect.andThen(lines.occupied.await, work), every)
      const tick = Effect.sync(() => lines.tick(monotonic(clock)))
      yield* whenThere("The clock of event channels", tick, "1 second")
      const unanswered = yield* Unanswered
      const listen = Effect.map(unanswered, (found) => lines.listen(found, monotonic(clock)))
      yield* whenThere("Looking for silent peers", listen, "10 seconds")
      // Whoever has missed that a session was revoked knows it ten seconds later at most, like everybody who asks about credentials.
      yield* whenThere("Looking for sessions that have ended", Effect.orDie(pumping.lookForEnded), "7 seconds")
      yield* whenThere("Renewing event channels", renew, "15 seconds")

      /** Since when it fails, and how often it is only looked after that. */
      let failedAt: number | undefined
      let looks = 0
      const expire = Effect.suspend(() => {
        if (failedAt !== undefined && monotonic(clock) - failedAt > survived) looks = 2
        return looks > 0 ? Effect.as(presence.look, 0) : presence.expire
      }).pipe(
        Effect.onExit((exit) =>
          Effect.sync(() => {
            if (Exit.isFailure(exit)) failedAt ??= monotonic(clock)
            else {
              failedAt = undefined
              looks = Math.max(0, looks - 1)
            }
          })
        ),
        Effect.orDie
      )

      const drain = Effect.gen(function* () {
        draining = true
        const all = lines.all()
        const share = Math.max(200, Math.ceil(all.length / 20))
        for (let from = 0; from < all.length; from += share) {
          if (from > 0) yield* Effect.sleep("50 millis")
          for (const line of all.slice(from, from + share)) lines.end(line, reconnectRequired("shutdown"))
        }
        // Those who were about to begin as well.
        yield* Effect.timeoutOption(registering.settled, "5 seconds")
        for (const line of lines.all()) lines.end(line, reconnectRequired("shutdown"))
        yield* Effect.timeoutOption(registering.settled, "5 seconds")
      })
      yield* Effect.addFinalizer(() => Effect.suspend(() => (lines.size === 0 ? Effect.void : drain)))

      const find = SqlSchema.findOneOption({
        Request: Schema.Struct({ tenant_id: Schema.String, id: Schema.String, now: Schema.Date }),
        Result: Schema.toType(Schema.Struct(Found)),
        execute: ({ id, now, tenant_id }) =>
          sql`SELECT g.id AS agent_id, c.session_id IS NOT NULL AS connected,
              (SELECT min(connected_at) FROM agent_connections WHERE agent_id = g.id AND expires_at > ${now}) AS connected_since,
              coalesce(c.last_seen_at, p.last_seen_at) AS last_seen_at,
              coalesce(c.last_event_id, p.last_event_id) AS last_event_id
            FROM agents g LEFT JOIN agent_presence p ON p.agent_id = g.id
            LEFT JOIN LATERAL (
              SELECT * FROM agent_connections o WHERE o.agent_id = g.id AND o.expires_at > ${now}
              ORDER BY o.last_event_id IS NULL, o.last_seen_at DESC LIMIT 1
            ) c ON true
            WHERE g.id = ${id} AND g.tenant_id = ${tenant_id} AND g.status <> 'deleted'`
      })
      const liveness = Effect.fn("AgentChannel.liveness")(function* (caller: Principal, id: AgentId) {
        const isOther = caller.actor_type === "agent" && caller.actor_id !== id
        const { tenant_id } = caller
        const found = isOther
          ? Option.none()
          : yield* Effect.orDie(find({ tenant_id, id, now: yield* DateTime.nowAsDate }))
        if (Option.isNone(found)) return yield* new NotFound({ resource: "agent", id: toTypeId("agt", id) })
        return { ...found.value, transport: found.value.connected ? ("sse" as const) : null }
      })

      return AgentChannel.of({
        open,
        gone: (line) => lines.lost(line),
        liveness,
        drain,
        copy: pumping.copyAll,
        renew,
        expire,
        prune
      })
    })
  )

  /** What any process does, whether somebody is connected to it or not. */
  static readonly layerWorker = Layer.effectDiscard(
    Effect.gen(function* () {
      const { copy, expire, prune } = yield* AgentChannel
      const { keep } = yield* Lookout
      const sql = yield* SqlClient.SqlClient
      // Who is connected is told sooner, by the process that the connection is to.
      yield* keep({
        failed: "Noting what concerns agents failed",
        isDue: () => Following.isBehind(sql, Copying.follower),
        step: copy,
        every: "2 seconds"
      })
      const many = Effect.repeat(expire, { while: (count) => count >= Presence.mostExpired })
      // Not at once: perhaps it was the database that kept this process from starting, and others as well from renewing.
      yield* Effect.sleep("30 seconds").pipe(
        Effect.andThen(upkeep("Looking for lost event channels failed", many, "15 seconds")),
        Effect.forkScoped
      )
      yield* upkeep("Forgetting what agents were told failed", prune, "10 seconds")
    })
  )
}

const { transport: _, ...Found } = AgentLiveness.fields

/** A time without the database that no lease ends in, in milliseconds: nobody misses more than one renewal. */
const survived = 25_000
/** How many connections are renewed by one statement. */
const renewed = 2_000
