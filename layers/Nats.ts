import type { ConnectionOptions, NatsConnection } from "@nats-io/transport-node"
import { Clock, Context, Effect, Latch, Layer, Metric, Redacted, Result, Schedule, Schema, type Scope } from "effect"
import { realTime } from "#services/RealTime.ts"

/** What `NATS_URL` names. */
export interface Servers {
  /** `host:port` of each; who we are is not in it. */
  readonly names: ReadonlyArray<string>
  readonly options: ConnectionOptions
}

/** `NATS_URL` cannot be used. `message` is a sentence for the operator and repeats nothing of it: it may hold a password. */
export class NatsMisconfigured extends Schema.TaggedError<NatsMisconfigured>()("NatsMisconfigured", {
  message: Schema.String
}) {}

/** A part of an address as it was meant; undefined where a percent sign begins nothing. */
const plain = (part: string): string | undefined => {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

/** `nats://` or `tls://` addresses with commas between them. User and password, or a token, are those of the first that has any. */
export const parse = (text: string): Result.Result<Servers, NatsMisconfigured> => {
  const parts = text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((part) => (part.includes("://") ? part : `nats://${part}`))
  const urls = parts.filter((part) => URL.canParse(part)).map((part) => new URL(part))
  const usable = urls.filter(({ hostname, protocol }) => ["nats:", "tls:"].includes(protocol) && hostname !== "")
  if (parts.length === 0 || usable.length < parts.length) {
    return Result.fail(
      new NatsMisconfigured({
        message: "NATS_URL is not a list of nats:// or tls:// addresses with commas between them."
      })
    )
  }
  const names = usable.map(({ hostname, port }) => `${hostname}:${port || "4222"}`)
  const known = usable.find(({ username }) => username !== "")
  const identities = [known?.username ?? "", known?.password ?? ""].map(plain)
  if (identities.includes(undefined)) {
    return Result.fail(
      new NatsMisconfigured({
        message: "NATS_URL has a user, password or token with a stray percent sign: there it is written %25."
      })
    )
  }
  const [username = "", password = ""] = identities
  const identity = username === "" ? {} : password === "" ? { token: username } : { user: username, pass: password }
  const tls = usable.some(({ protocol }) => protocol === "tls:") ? { tls: {} } : {}
  return Result.succeed({ names, options: { servers: names, ...identity, ...tls } })
}

/** A connection to NATS that is made again whenever it is lost, for ever. */
export interface Client {
  readonly names: ReadonlyArray<string>
  /** The connection, while there is one. */
  readonly current: () => NatsConnection | undefined
  /** Waits for a connection. */
  readonly connection: Effect.Effect<NatsConnection>
  /** Another one to the same servers, for what may be held up without holding up the rest. Of its comings and goings nothing is said. */
  readonly beside: Effect.Effect<Client, never, Scope.Scope>
}

/** NATS, where `NATS_URL` names one. */
export const Nats = Context.Reference<Client | undefined>("turnpike/layers/Nats", { defaultValue: () => undefined })

class NatsAway extends Schema.TaggedError<NatsAway>()("NatsAway", { message: Schema.String }) {}

const connected = Metric.gauge("turnpike_nats_connected", { description: "1 while this process is connected to NATS" })
const reconnects = Metric.counter("turnpike_nats_reconnects_total", {
  description: "How often a lost connection to NATS was made again",
  incremental: true
})

/** How long a server may take to greet us, in milliseconds. */
const greeting = 2_000

/** How many reasons are told of one absence. */
const mostReasons = 8

/** Quickly at first, then every two seconds. */
const again = Schedule.min([Schedule.exponential("25 millis"), Schedule.spaced("2 seconds")])

type Connect = (options: ConnectionOptions) => Promise<NatsConnection>

/** One connection, or why none of the servers gives one. */
const openBy = (connect: Connect, options: ConnectionOptions) =>
  Effect.callback<NatsConnection, NatsAway>((resume) => {
    const state = { stopped: false }
    connect({
      ...options,
      name: "turnpike",
      noEcho: true,
      timeout: greeting,
      ignoreAuthErrorAbort: true,
      // A lost connection is replaced as a whole, so that everybody who used it knows; the library would also wait by a clock that may be set.
      reconnect: false
    }).then(
      (connection) => (state.stopped ? void connection.close() : resume(Effect.succeed(connection))),
      (error: unknown) =>
        resume(Effect.fail(new NatsAway({ message: error instanceof Error ? error.message : String(error) })))
    )
    return Effect.sync(() => {
      state.stopped = true
    })
  })

/** Connects to these servers, and stays connected until the scope ends. Waits for the outcome of the first attempt only. */
export const make = Effect.fnUntraced(function* (servers: Servers) {
  // One that never came is seen to be away as well.
  yield* Metric.update(connected, 0)
  yield* Metric.update(reconnects, 0)
  return yield* keep(servers, {
    connected: (is) => Metric.update(connected, is ? 1 : 0),
    reconnected: Metric.update(reconnects, 1),
    warn: Effect.logWarning,
    there: Effect.logInfo("NATS is there")
  })
})

/** Who is told how a connection fares. */
interface Told {
  readonly connected: (is: boolean) => Effect.Effect<void>
  readonly reconnected: Effect.Effect<void>
  readonly warn: (message: string) => Effect.Effect<void>
  readonly there: Effect.Effect<void>
}

const nobody: Told = {
  connected: () => Effect.void,
  reconnected: Effect.void,
  warn: () => Effect.void,
  there: Effect.void
}

const keep: (servers: Servers, told: Told) => Effect.Effect<Client, never, Scope.Scope> = Effect.fnUntraced(function* (
  servers: Servers,
  told: Told
) {
  const { names, options } = servers
  // The library takes 20 MB, which a server without NATS need not have.
  const { connect } = yield* Effect.promise(() => import("@nats-io/transport-node"))
  const open = openBy(connect, options)
  let current: NatsConnection | undefined
  let times = 0
  const present = Latch.makeUnsafe(false)
  const tried = Latch.makeUnsafe(false)

  const arrive = Effect.fnUntraced(function* (connection: NatsConnection) {
    current = connection
    present.openUnsafe()
    tried.openUnsafe()
    yield* told.connected(true)
    if (times++ > 0) yield* told.reconnected
  })
  const leave = Effect.suspend(() => {
    current = undefined
    present.closeUnsafe()
    return told.connected(false)
  })
  const opened = open.pipe(
    Effect.catch(({ message }) => {
      tried.openUnsafe()
      const said = new Set([message])
      // Once it is there again it may refuse us: its restart is when a password changes.
      const sayWhatIsNew = ({ message }: NatsAway) => {
        if (said.has(message) || said.size >= mostReasons) return Effect.void
        said.add(message)
        return told.warn(`NATS is still away (${message})`)
      }
      return Effect.andThen(
        told.warn(`NATS is away (${message}); signals between processes are late until it is back`),
        Effect.tap(Effect.retry(Effect.tapError(open, sayWhatIsNew), again), told.there)
      )
    })
  )
  const serve = Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(restore(opened), (connection) =>
      arrive(connection).pipe(
        Effect.andThen(restore(Effect.promise(() => connection.closed()))),
        Effect.ensuring(leave),
        Effect.ensuring(Effect.promise(() => connection.close()))
      )
    )
  )
  yield* serve.pipe(
    Effect.catchCause((cause) => Effect.logError("The connection to NATS failed", cause)),
    Effect.andThen(Effect.sleep("50 millis")),
    Effect.forever,
    Effect.provideService(Clock.Clock, realTime),
    Effect.forkScoped
  )

  const connection: Effect.Effect<NatsConnection> = Effect.andThen(
    present.await,
    Effect.suspend(() =>
      current === undefined || current.isClosed()
        ? Effect.andThen(Effect.provideService(Effect.sleep("10 millis"), Clock.Clock, realTime), connection)
        : Effect.succeed(current)
    )
  )
  yield* tried.await
  const client: Client = {
    names,
    current: () => (current?.isClosed() === true ? undefined : current),
    connection,
    beside: Effect.suspend(() => keep(servers, nobody))
  }
  return client
})

/** NATS at this address, there or not. */
export const layer = (url: Redacted.Redacted) =>
  Layer.effect(Nats, Effect.flatMap(Effect.fromResult(parse(Redacted.value(url))), make))
