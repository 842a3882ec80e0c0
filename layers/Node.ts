import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cause, Clock, Config, Duration, Effect, Exit, Layer, Option, Predicate, Redacted, Schema } from "effect"
import { HttpServer } from "effect/http"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { isIP, SocketAddress } from "node:net"
import { isPlain } from "#domain/GatewayPath.ts"
import { Environment } from "#domain/Principal.ts"
import { publicPrefix } from "#domain/PublicPrefix.ts"
import { Deployment } from "#services/Deployment.ts"
import { HttpListener } from "#services/HttpListener.ts"
import { HttpPolicy } from "#services/HttpPolicy.ts"
import { monotonic, sleep } from "#services/RealTime.ts"
import { upkeep } from "#services/Upkeep.ts"
import * as DurationSetting from "./DurationSetting.ts"
import * as Connections from "./Node/Connections.ts"
import * as Lines from "./Node/Lines.ts"
import * as OpenFiles from "./Node/OpenFiles.ts"
import * as Starting from "./Node/Starting.ts"
import * as Stopping from "./Node/Stopping.ts"
import * as Setting from "./Setting.ts"

export { reasonOf, tellingWhy } from "./Node/StopReason.ts"

const host = Config.NonEmptyString("HOST").pipe(Config.withDefault("127.0.0.1"))
const port = Setting.whole("PORT", 0, 65_535).pipe(Config.withDefault(4020))
const connections = Setting.whole("TURNPIKE_MAX_CONNECTIONS", 1, 1_000_000).pipe(Config.withDefault(10_000))
/** No balancer takes longer to notice, and whoever waits for this process to end does not wait for ever. */
const longestDelay = Duration.minutes(5)
const drainDelay = Setting.understood(
  "TURNPIKE_DRAIN_DELAY",
  'a duration of at most 5 minutes, such as "3 seconds", "500 ms" or "0"',
  (text) => {
    const delay = DurationSetting.parse(text)
    return delay === undefined || Duration.isGreaterThan(delay, longestDelay) ? undefined : delay
  }
).pipe(Config.withDefault(Duration.zero))
/** `TURNPIKE_ENVIRONMENT`. */
export const environment = Setting.word("TURNPIKE_ENVIRONMENT", Environment.literals).pipe(
  Config.withDefault("sandbox")
)

/** What addresses can start with, without its last slash. Its path stands in cookies and links as well. */
const publicAddress = (text: string): string | undefined => {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  // A lone `?` or `#` leaves nothing behind in the parts.
  const isAddress = url.username === "" && url.password === "" && !/[?#]/.test(text)
  const prefix = publicPrefix(url.href)
  return isAddress && isPlain(prefix) && !prefix.includes(";") ? url.origin + prefix : undefined
}
const address = (name: string) =>
  Config.option(
    Setting.understood(
      name,
      "an http or https address with a plain path or none, without user, query and fragment, such as https://pay.example",
      publicAddress
    )
  )

/** A peer as its connection names it, of IPv4 also where it is written as IPv6 has it; undefined for what is no whole address. */
const peer = (text: string): string | undefined => {
  if (isIP(text) !== 6 || text.includes("%")) return isIP(text) === 0 ? undefined : text
  return new SocketAddress({ address: text, family: "ipv6" }).address.replace(/^::ffff:(?=\d+\.)/, "")
}
const trustedProxies = Setting.list("TURNPIKE_TRUSTED_PROXIES", "IP addresses", peer).pipe(Config.withDefault([]))

/** How long requests that are under way may take when the process is asked to stop. */
const patience = Duration.seconds(10)

/** Nobody can be listened to there. `message` is a sentence for the operator. */
export class ListenerUnusable extends Schema.TaggedError<ListenerUnusable>()("ListenerUnusable", {
  message: Schema.String
}) {}

const unusable = (place: string, cause: unknown) => {
  const code = Predicate.hasProperty(cause, "code") ? String(cause.code) : ""
  const known: Record<string, string> = {
    EADDRINUSE: `${place} is taken by another program; set PORT.`,
    EACCES: `This user may not listen on ${place}; set PORT to 1024 or above.`,
    EADDRNOTAVAIL: `${place} is no address of this machine; set HOST.`,
    ENOTFOUND: `${place} is no address of this machine; set HOST.`
  }
  const message = known[code] ?? `${place} cannot be listened on: ${cause instanceof Error ? cause.message : cause}`
  return new ListenerUnusable({ message })
}

const open = (maxConnections: number) => {
  const server = createServer({
    // Repeated Host, Authorization and Content-Type fields stay visible instead of losing all but the first.
    joinDuplicateHeaders: true,
    // A missing Host is refused by the edge, in the same form as everything else.
    requireHostHeader: false,
    maxHeaderSize: 16_384,
    headersTimeout: 15_000,
    // Bodies are timed by whoever reads them: an upload through the gateway takes as long as it takes.
    requestTimeout: 0,
    keepAliveTimeout: 65_000,
    connectionsCheckingInterval: 5_000,
    shouldUpgradeCallback: () => false
  })
  server.maxHeadersCount = 0
  server.maxConnections = maxConnections
  return server
}

/** Puts `first` before whatever else listens for requests. */
const interceptable = (
  server: Server,
  now: () => number,
  starting: (request: IncomingMessage, response: ServerResponse) => void
) => {
  const state = {
    stopping: false,
    first: undefined as ((q: IncomingMessage, a: ServerResponse) => boolean) | undefined
  }
  const emit = server.emit.bind(server)
  const connections = Connections.make(server, now)
  const { cutStalled, end, take } = Lines.make((event, request, response) => {
    if (state.first?.(request, response) === true) return true
    if (state.first === undefined) starting(request, response)
    else emit(event, request, response)
    return false
  }, connections)
  server.on("connection", connections.opened).on("drop", connections.refused)
  const intercepting = (event: string, ...args: Array<unknown>): boolean => {
    if (event !== "request" && event !== "checkContinue") return emit(event, ...args)
    const [request, response] = args as [IncomingMessage, ServerResponse]
    return take(event, request, response)
  }
  server.emit = intercepting
  return { cutStalled, end, state, tellOfConnections: connections.tell }
}

const boundPort = (server: Server): number | undefined => {
  const bound = server.address()
  return typeof bound === "object" ? bound?.port : undefined
}

/** The next signal to stop. The first one has been heard by whoever runs us, who goes on hearing all of them. */
const signalled = Effect.callback<void>((resume) => {
  const heard = () => {
    for (const signal of signals) process.off(signal, heard)
    resume(Effect.void)
  }
  for (const signal of signals) process.on(signal, heard)
  return Effect.sync(heard)
})
const signals = ["SIGINT", "SIGTERM"] as const

/** The listener, and how it stops: readiness first, then new connections, then what is under way, at most `patience`. */
const listener = Layer.unwrap(
  Effect.gen(function* () {
    const server = open(yield* OpenFiles.bounded(yield* connections))
    const delay = yield* drainDelay
    const place = { host: yield* host, port: yield* port }
    const configured = yield* address("TURNPIKE_PUBLIC_URL")
    const publicUrl = () => Option.getOrElse(configured, () => origin(place.host, boundPort(server) ?? place.port))
    const clock = yield* Clock.Clock
    const now = () => monotonic(clock)
    const starting = Starting.make(yield* environment, publicUrl)
    const { cutStalled, end, state, tellOfConnections } = interceptable(server, now, starting)
    const look = Effect.andThen(
      Effect.sync(() => cutStalled(now())),
      tellOfConnections
    )
    yield* upkeep("Stalled connections could not be looked at", look, "5 seconds")
    yield* Effect.forkScoped(OpenFiles.watch)

    // Who is idle may have sent its next request already, whose answer says that there will be no other here.
    const closeIdle = sleep("100 millis").pipe(
      Effect.andThen(Stopping.read),
      Effect.andThen(Effect.sync(() => server.closeIdleConnections())),
      Effect.forever
    )
    const deadline = yield* Stopping.deadline
    const endings = new Set<Effect.Effect<void>>()
    const drain = Effect.gen(function* () {
      state.stopping = true
      end()
      yield* Effect.raceFirst(Effect.sleep(delay), signalled)
      yield* Effect.forEach([...endings, Stopping.closed(server)], (end) => end, {
        concurrency: endings.size + 1,
        discard: true
      }).pipe(Effect.raceFirst(closeIdle), Effect.timeoutOption(patience))
      server.closeAllConnections()
      yield* deadline
    }).pipe(Effect.interruptible)

    const announced = Layer.succeed(HttpListener, {
      server,
      stopping: () => state.stopping,
      intercept: (first) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            state.first = first
          }),
          () => drain
        ),
      onDrain: (end) =>
        Effect.asVoid(
          Effect.acquireRelease(
            Effect.sync(() => endings.add(end)),
            () => Effect.sync(() => endings.delete(end))
          )
        )
    })
    const http = NodeHttpServer.layer(() => server, { ...place, gracefulShutdownTimeout: patience }).pipe(
      Layer.catchTag("ServeError", ({ cause }) =>
        Layer.effectContext(Effect.fail(unusable(authority(place.host, place.port), cause)))
      )
    )
    return Layer.merge(announced, http)
  })
)

const named = Effect.fnUntraced(function* (bound: string) {
  const publicUrl = Option.getOrElse(yield* address("TURNPIKE_PUBLIC_URL"), () => bound)
  const scannerUrl = Option.getOrElse(yield* address("TURNPIKE_SCANNER_URL"), () => publicUrl)
  return { environment: yield* environment, publicUrl, scannerUrl }
})

const authority = (name: string, number: number) => `${name.includes(":") ? `[${name}]` : name}:${number}`
/** Who listens on every address is named by one that somebody can call. */
const callable: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" }
const origin = (name: string, number: number) => `http://${authority(callable[name] ?? name, number)}`

/** Which Turnpike this is when it listens; without `TURNPIKE_PUBLIC_URL` it is named by the address it got. */
const deployment = Layer.effect(
  Deployment,
  Effect.gen(function* () {
    const server = yield* HttpServer.HttpServer
    const bound = server.address._tag !== "UnixPathAddress" ? server.address.port : yield* port
    return yield* named(origin(yield* host, bound))
  })
)

/** Which Turnpike this is, for a command that does not listen. */
export const layerVisitor = Layer.effect(
  Deployment,
  Effect.gen(function* () {
    return yield* named(origin(yield* host, yield* port))
  })
)

const rateLimit = Setting.understood(
  "TURNPIKE_RATE_LIMIT",
  "on, off, or requests a minute as a whole number from 1",
  (text) => {
    const word = text.toLowerCase()
    if (word === "on" || word === "off") return word
    return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined
  }
).pipe(Config.withDefault("on" as const))

const perMinute = { sandbox: 1_000, live: 6_000 }

/** Only such can stand in an `Authorization` header as we read it. */
const metricsSecret = Setting.understood("TURNPIKE_METRICS_TOKEN", "printable ASCII without spaces", (text) =>
  /^[!-~]{1,8192}$/.test(text) ? text : undefined
)

/** Limits and trust, from `TURNPIKE_RATE_LIMIT` (on, off or requests a minute), `TURNPIKE_TRUSTED_PROXIES`, `TURNPIKE_METRICS_TOKEN`. */
export const policy = Layer.effect(
  HttpPolicy,
  Effect.gen(function* () {
    const limit = yield* rateLimit
    const metricsToken = yield* Config.option(metricsSecret)
    return {
      requestsPerMinute: limit === "on" ? perMinute[yield* environment] : limit === "off" ? undefined : limit,
      trustedProxies: yield* trustedProxies,
      metricsToken: Option.getOrUndefined(Option.map(metricsToken, Redacted.make))
    }
  })
)

/** The listening process: `PORT`, `HOST`, `TURNPIKE_PUBLIC_URL`, `TURNPIKE_ENVIRONMENT` and the rest of its surroundings. */
export const layer = Layer.merge(Layer.provideMerge(deployment, listener), policy)

const run = NodeRuntime.runMain({
  disableErrorReporting: true,
  teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1)
})
/** Runs the process until a signal asks it to stop; a stop that was asked for is a success, anything else is said once. */
export const runMain: typeof run = (effect) => {
  // A terminal that is closed asks as well: who ended without a word would leave its Postgres behind.
  process.on("SIGHUP", () => process.kill(process.pid, "SIGTERM"))
  run(effect)
}
