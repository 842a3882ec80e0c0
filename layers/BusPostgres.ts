import * as PgClient from "@effect/sql-pg/PgClient"
import { Duration, Effect, Latch, Layer, PubSub, Queue, Schedule } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as SqlClient from "effect/sql/SqlClient"
import { Database } from "#services/Database.ts"
import { EventBus } from "#services/EventBus.ts"
import * as Subjects from "./BusSubjects.ts"

const channel = "turnpike_bus"
const probe = "bus.probe"

/** How soon a lost connection is tried again: quickly at first, then every two seconds. */
export const reconnect = Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("2 seconds")]).pipe(
  Schedule.jittered
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
    const reactivity = yield* Reactivity.make
    const { deliver, resync, subscribe } = yield* Subjects.make
    const listening = yield* Latch.make(false)
    let connectedBefore = false

    const receive = (payload: string) => {
      const end = payload.indexOf(" ")
      return deliver(payload.slice(0, end), payload.slice(end + 1))
    }
    const listen = Effect.gen(function* () {
      const client = yield* PgClient.makeClient({
        ...config,
        applicationName: "turnpike-bus",
        keepAlive: Duration.seconds(10)
      })
      const notifications = yield* client.listen(channel)
      if (connectedBefore) yield* resync
      connectedBefore = true
      yield* listening.open
      return yield* Effect.forever(Effect.flatMap(Queue.take(notifications), ({ payload }) => receive(payload)))
    }).pipe(Effect.scoped, Effect.provideService(Reactivity.Reactivity, reactivity))
    yield* listen.pipe(
      Effect.tapError((error) => Effect.logWarning("The bus lost its database connection", error)),
      Effect.retry(reconnect),
      Effect.forkScoped
    )

    const publish = (subject: string, message: string) =>
      sql`SELECT pg_notify(${channel}, ${`${subject} ${message}`})`.pipe(
        Effect.catch((error) => Effect.logWarning("A message was not announced", error)),
        Effect.asVoid,
        sql.afterCommit
      )

    // A message of our own has to come back: the only proof that others hear us too.
    const reachable = Effect.scoped(
      Effect.flatMap(subscribe(probe), (heard) =>
        Effect.andThen(publish(probe, ""), Effect.as(PubSub.take(heard), true))
      )
    )

    // A reader that subscribes once the layer is built misses nothing that is published after that.
    yield* listening.await
    return EventBus.of({ publish, subscribe, reachable })
  })
)
