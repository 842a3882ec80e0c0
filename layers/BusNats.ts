import type { NatsConnection } from "@nats-io/transport-node"
import { Clock, Context, type Duration, Effect, Latch, Layer, Option, Schema } from "effect"
import * as SqlClient from "effect/sql/SqlClient"
import { EventBus } from "#services/EventBus.ts"
import { Secrets } from "#services/Secrets.ts"
import { realTime } from "#services/RealTime.ts"
import * as Subjects from "./BusSubjects.ts"
import { type Client, Nats } from "./Nats.ts"

/** How many messages may wait to be written, and how many characters are written before NATS has to confirm them. */
const waiting = 1_024
const unconfirmed = 32_768

/** How long NATS may take to confirm, and how long a quiet connection goes unproved. */
export const Patience = Context.Reference("turnpike/layers/BusNats/Patience", {
  defaultValue: (): Duration.Input => "5 seconds"
})

/** The connection does not carry what is written to it. */
class Stalled extends Schema.TaggedError<Stalled>()("Stalled", { message: Schema.String }) {}

const confirm = (connection: NatsConnection, patience: Duration.Input) =>
  Effect.tryPromise({
    try: () => connection.flush(),
    catch: (cause) => new Stalled({ message: cause instanceof Error ? cause.message : "" })
  }).pipe(
    // A connection that closes leaves unanswered what it was asked.
    Effect.raceFirst(
      Effect.andThen(
        Effect.promise(() => connection.closed()),
        new Stalled({ message: "The connection is closed" })
      )
    ),
    Effect.timeoutOrElse({ duration: patience, orElse: () => new Stalled({ message: "NATS does not confirm" }) }),
    Effect.provideService(Clock.Clock, realTime)
  )

/**
 * The bus over NATS core, under a namespace that only the processes of one database share. What this process says reaches its own
 * readers at once, with or without NATS, and the others when it is connected. Whoever was away may have missed something, so its
 * readers get the empty message; and when something could not be sent, so do the readers of everybody else once NATS is back.
 */
const over = Effect.fnUntraced(function* (nats: Client, namespace: string) {
  const sql = yield* SqlClient.SqlClient
  const patience = yield* Patience
  const flush = (connection: NatsConnection) => confirm(connection, patience)
  const { deliver, resync, subscribe } = yield* Subjects.make
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const subjectPrefix = `turnpike.${namespace}.bus.`
  const resyncSubject = `turnpike.${namespace}.resync`
  const pending: Array<readonly [subject: string, message: string]> = []
  const woken = Latch.makeUnsafe(false)
  /** Whether this process takes part in what the others say. */
  let listening = false
  /** Whether it may not hear what the others say. */
  let refused = false
  /** Whether somebody said something that the others were not told. */
  let lost = false

  const send = (subject: string, message: string) => {
    if (!listening) lost = true
    else {
      if (pending.length >= waiting) {
        pending.shift()
        lost = true
      }
      pending.push([subjectPrefix + subject, message])
      woken.openUnsafe()
    }
  }

  const write = Effect.fnUntraced(function* (connection: NatsConnection) {
    let room = unconfirmed
    while (pending.length > 0 && room > 0) {
      const [[subject, message] = ["", ""]] = pending.splice(0, 1)
      connection.publish(subject, message)
      room -= message.length
    }
    yield* flush(connection)
  })
  const join = Effect.fnUntraced(function* (connection: NatsConnection) {
    refused = false
    connection.subscribe(`${subjectPrefix}>`, {
      callback: (error, message) => {
        if (error === null) run(deliver(message.subject.slice(subjectPrefix.length), message.string()))
        else {
          refused = true
          run(Effect.logError(`NATS refuses to let us listen: ${error.message}`))
        }
      }
    })
    connection.subscribe(resyncSubject, { callback: (error) => void (error === null && run(resync)) })
    yield* flush(connection)
    listening = true
    yield* resync
  })
  const keepWriting = Effect.fnUntraced(function* (connection: NatsConnection) {
    for (;;) {
      if (lost) {
        lost = false
        connection.publish(resyncSubject)
      }
      yield* write(connection)
      if (pending.length > 0) continue
      woken.closeUnsafe()
      yield* Effect.provideService(Effect.timeoutOption(woken.await, patience), Clock.Clock, realTime)
    }
  })
  const leave = Effect.sync(() => {
    listening = false
    pending.length = 0
    lost = true
  })
  const attend = Effect.fnUntraced(function* (connection: NatsConnection) {
    yield* join(connection)
    yield* joined.open
    return yield* Effect.raceFirst(
      keepWriting(connection),
      Effect.promise(() => connection.closed())
    )
  })
  const joined = Latch.makeUnsafe(false)
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      const connection = nats.current()
      // What was said last, such as by a command that ends now, is still told.
      return connection === undefined || !listening ? Effect.void : Effect.ignore(write(connection))
    })
  )
  yield* Effect.flatMap(nats.connection, (connection) =>
    attend(connection).pipe(
      Effect.catchCause((cause) => Effect.logWarning("The bus lost its connection to NATS", cause)),
      Effect.ensuring(leave),
      Effect.ensuring(Effect.promise(() => connection.close()))
    )
  ).pipe(Effect.forever, Effect.forkScoped)
  if (nats.current() !== undefined) {
    yield* Effect.provideService(Effect.timeoutOption(joined.await, patience), Clock.Clock, realTime)
  }

  return EventBus.of({
    publish: (subject, message) =>
      sql.afterCommit(
        Effect.andThen(
          deliver(subject, message),
          Effect.sync(() => send(subject, message))
        )
      ),
    subscribe,
    reachable: Effect.suspend(() => {
      const connection = nats.current()
      if (connection === undefined || !listening || refused) return Effect.succeed(false)
      return Effect.map(Effect.option(flush(connection)), Option.isSome)
    })
  })
})

/** The bus of the processes that share this database, over `Nats`. */
export const layer = Layer.effect(
  EventBus,
  Effect.gen(function* () {
    const { secret } = yield* Secrets
    const nats = yield* Nats
    if (nats === undefined) return yield* Effect.die("There is no NATS to build a bus on")
    const random = yield* secret("nats.namespace")
    return yield* over(nats, Buffer.from(random).toString("hex").slice(0, 16))
  })
)
