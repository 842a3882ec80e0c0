import {
  jetstream,
  type JetStreamClient,
  type JetStreamManager,
  jetstreamManager,
  JetStreamApiCodes,
  JetStreamApiError
} from "@nats-io/jetstream"
import { headers, type NatsConnection, TimeoutError } from "@nats-io/transport-node"
import { Context, Duration, Effect, Schema } from "effect"

export const streamName = "TURNPIKE_EVENTS"
export const subjects = "events.>"

/** The place of an event in our log, beside the standard `Nats-Msg-Id`. */
const placeHeader = "Turnpike-Seq"

const nanoseconds = { week: 7 * 86_400 * 1e9, twoMinutes: 120 * 1e9 }
/** What the stream may take of the disk; the smaller one where the server does not grant the larger. */
const sizes = [1_073_741_824, 134_217_728] as const

/** How long JetStream may take to answer. */
export const Patience = Context.Reference("turnpike/layers/EventRelay/JetStream/Patience", {
  defaultValue: (): Duration.Input => "5 seconds"
})

/** The stream does not take what it is given, or says nothing to it. */
export class StreamRefused extends Schema.TaggedError<StreamRefused>()("StreamRefused", {
  message: Schema.String,
  isSilent: Schema.Boolean
}) {}

const refused = (cause: unknown) =>
  new StreamRefused({
    message: cause instanceof Error ? cause.message : String(cause),
    isSilent: cause instanceof TimeoutError
  })

/** Where nobody takes a subject the library says that JetStream is off. It has just told of the stream. */
const untaken = (cause: unknown) =>
  cause instanceof Error && cause.name === "JetStreamNotEnabled"
    ? new StreamRefused({
        message: `no stream takes ${subjects}: ${streamName} was deleted, or given other subjects`,
        isSilent: false
      })
    : refused(cause)

/** What stands last in the stream, and which of the streams of this name it is. */
export interface Tip {
  readonly client: JetStreamClient
  readonly created: string
  /** The stream's own number of its last message. */
  readonly last: number
  /** The last message that is there, with its place in the log it came from. */
  readonly message: { readonly id: string; readonly place: bigint } | undefined
  readonly isEmpty: boolean
}

/** A message for the stream. */
export interface Message {
  readonly id: string
  readonly place: bigint
  readonly subject: string
  readonly body: string
}

const create = (manager: JetStreamManager, size: number) =>
  Effect.tryPromise({
    try: () =>
      manager.streams.add({
        name: streamName,
        subjects: [subjects],
        description: "A copy of the event log of Turnpike, which may be made again",
        retention: "limits",
        storage: "file",
        discard: "old",
        max_age: nanoseconds.week,
        max_bytes: size,
        duplicate_window: nanoseconds.twoMinutes
      }),
    catch: refused
  })

const isMissing = (cause: unknown) =>
  cause instanceof JetStreamApiError && cause.code === JetStreamApiCodes.StreamNotFound

/** Finds the stream as it is; one that is missing is made. A stream that somebody made otherwise is left as it is. */
export const look = Effect.fnUntraced(function* (connection: NatsConnection) {
  const timeout = Duration.toMillis(yield* Patience)
  const manager = yield* Effect.tryPromise({
    try: () => jetstreamManager(connection, { checkAPI: false, timeout }),
    catch: refused
  })
  const info = yield* Effect.tryPromise({
    try: () => manager.streams.info(streamName),
    catch: (cause) => (isMissing(cause) ? "missing" : refused(cause))
  }).pipe(
    Effect.catch((error) =>
      error === "missing"
        ? Effect.catch(create(manager, sizes[0]), () => create(manager, sizes[1]))
        : Effect.fail(error)
    )
  )
  const { last_seq, messages } = info.state
  const stored =
    messages === 0
      ? null
      : yield* Effect.tryPromise({
          try: () => manager.streams.getMessage(streamName, { seq: last_seq }),
          catch: refused
        })
  const place = stored?.header.get(placeHeader) ?? ""
  const tip: Tip = {
    client: jetstream(connection, { timeout }),
    created: String(info.created),
    last: last_seq,
    isEmpty: stored === null,
    message: /^\d{1,18}$/.test(place)
      ? { id: stored?.header.get("Nats-Msg-Id") ?? "", place: BigInt(place) }
      : undefined
  }
  return tip
})

/** After which message the next one belongs: a number of the stream, an id, or anywhere. */
export type After = { readonly lastSequence: number } | { readonly lastMsgID: string } | undefined

const publish = (client: JetStreamClient, { body, id, place, subject }: Message, after: After) => {
  const header = headers()
  header.set(placeHeader, String(place))
  return client.publish(subject, body, {
    msgID: id,
    headers: header,
    ...(after ? { expect: after } : {})
  })
}

/**
 * Adds the messages, each after the one before it: when one is not taken, none that follows is. Without `after` others write to
 * the stream too, and each message waits for the one before it.
 */
export const append = Effect.fnUntraced(function* (
  client: JetStreamClient,
  messages: ReadonlyArray<Message>,
  after: After
) {
  if (after === undefined) {
    for (const message of messages) {
      yield* Effect.tryPromise({ try: () => publish(client, message, undefined), catch: untaken })
    }
    return
  }
  const answers = yield* Effect.promise(() =>
    Promise.allSettled(
      messages.map((message, index) => {
        const previous = messages[index - 1]
        return publish(client, message, previous === undefined ? after : { lastMsgID: previous.id })
      })
    )
  )
  const failed = answers.find((answer) => answer.status === "rejected")
  if (failed !== undefined) return yield* untaken(failed.reason)
})
