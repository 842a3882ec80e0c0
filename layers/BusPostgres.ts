import * as PgClient from "@effect/sql-pg/PgClient"
import { Context, Duration, Effect, Latch, Layer, PubSub, Queue, Schedule, Schema } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as SqlClient from "effect/sql/SqlClient"
import { Database } from "#services/Database.ts"
import { EventBus } from "#services/EventBus.ts"
import { sleep } from "#services/RealTime.ts"
import * as Subjects from "./BusSubjects.ts"
import { watched } from "./Postgres/Watched.ts"

const channel = "turnpike_bus"
const probe = "bus.probe"

/** How often it is made sure that what is said is heard, and how long that may take, in real time. */
export const Attention = Context.Reference("turnpike/layers/BusPostgres/Attention", {
  defaultValue: () => ({ every: Duration.seconds(15), patience: Duration.seconds(5) })
})

/** The connection is there, and nothing comes over it. */
class Deaf extends Schema.TaggedError<Deaf>()("Deaf", { message: Schema.String }) {}

const soon = Duration.millis(50)
/** How soon a lost connection is tried again: quickly at first, then every two seconds. */
const reconnect = Schedule.min([Schedule.exponential(soon), Schedule.spaced("2 seconds")]).pipe(Schedule.jittered)

const announcing =
  (sql: SqlClient.SqlClient) =>
  (subject: string, message: string): Effect.Effect<void> =>
    sql`SELECT pg_notify(${channel}, ${`${subject} ${message}`})`.pipe(
      Effect.catch((error) => Effect.logWarning("A message was not announced", error)),
      Effect.asVoid,
      sql.afterCommit
    )

/** For a command, which is over before others say anything: it is heard, and hears nothing. A standby, where nobody may listen, will do. */
export const layerVisitor = Layer.effect(
  EventBus,
  Effect.gen(function* () {
    const { subscribe } = yield* Subjects.make
    const publish = announcing(yield* SqlClient.SqlClient)
    return EventBus.of({ publish, subscribe, reachable: Effect.succeed(true) })
  })
)

/**
 * The bus over LISTEN and NOTIFY, on one connection of its own. What is published inside a transaction goes out when it
 * commits. After a lost connection every subject gets the empty message, because something may have been missed.
 */
export const layer = Layer.effect(
  EventBus,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { config } = yield* Database
    const attention = yield* Attention
    const reactivity = yield* Reactivity.make
    const { deliver, resync, subscribe } = yield* Subjects.make
    const listening = yield* Latch.make(false)
    let connectedBefore = false
    let isThere = false

    const receive = (payload: string) => {
      const end = payload.indexOf(" ")
      return deliver(payload.slice(0, end), payload.slice(end + 1))
    }
    const listen = Effect.gen(function* () {
      const client = yield* PgClient.makeClient(yield* watched({ ...config, applicationName: "turnpike-bus" }))
      const notifications = yield* client.listen(channel)
      if (connectedBefore) yield* resync
      connectedBefore = true
      isThere = true
      yield* listening.open
      const hearing = Effect.forever(Effect.flatMap(Queue.take(notifications), ({ payload }) => receive(payload)))
      return yield* Effect.raceFirst(hearing, deaf)
    }).pipe(Effect.scoped, Effect.provideService(Reactivity.Reactivity, reactivity))

    const publish = announcing(sql)
    // A message of our own has to come back: the only proof that others hear us too.
    const reachable = Effect.scoped(
      Effect.flatMap(subscribe(probe), (heard) =>
        Effect.andThen(publish(probe, ""), Effect.as(PubSub.take(heard), true))
      )
    )

    const say = sql`SELECT pg_notify(${channel}, ${`${probe} `})`
    // What could not be said proves nothing.
    const isLeftUnheard = Effect.matchEffect(say, {
      onFailure: () => Effect.succeed(false),
      onSuccess: () => Effect.as(sleep(attention.patience), true)
    })
    const isDeaf = Effect.scoped(
      Effect.flatMap(subscribe(probe), (heard) => Effect.raceFirst(Effect.as(PubSub.take(heard), false), isLeftUnheard))
    )
    /** Ends when what is said is not heard: whoever only listens does not notice that nobody is there. */
    const deaf = sleep(attention.every).pipe(
      Effect.andThen(isDeaf),
      Effect.repeat({ until: (isDeaf) => isDeaf }),
      Effect.andThen(new Deaf({ message: "What is said is not heard any more" }))
    )
    const untilLost = Effect.suspend(() => {
      isThere = false
      return listen.pipe(
        Effect.tapCause((cause) => Effect.logWarning("The bus lost its database connection", cause)),
        // Each loss begins anew: the tenth is no reason to be deaf for longer than the first.
        Effect.retry({ schedule: reconnect, while: () => !isThere })
      )
    })
    yield* untilLost.pipe(Effect.ignoreCause, Effect.andThen(Effect.sleep(soon)), Effect.forever, Effect.forkScoped)

    // A reader that subscribes once the layer is built misses nothing that is published after that.
    yield* listening.await
    return EventBus.of({ publish, subscribe, reachable })
  })
)
