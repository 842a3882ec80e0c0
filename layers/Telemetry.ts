import {
  Cause,
  Clock,
  Config,
  Console,
  Duration,
  Effect,
  Layer,
  Logger,
  LogLevel,
  Metric,
  Option,
  Redacted,
  References
} from "effect"
import { FetchHttpClient, HttpBody, HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { OtlpLogger, OtlpMetrics, OtlpSerialization, OtlpTracer } from "effect/observability"
import { redact } from "#domain/Redaction.ts"
import { ServiceUnavailable } from "#domain/Refusal.ts"
import { sayingOf } from "#services/Database/Reasons.ts"
import { isDatabaseAway } from "#services/Health.ts"
import { monotonic } from "#services/RealTime.ts"
import * as Setting from "./Setting.ts"

const format = Config.option(Setting.word("TURNPIKE_LOG_FORMAT", ["json", "pretty"]))
const level = Setting.word("TURNPIKE_LOG_LEVEL", ["Trace", "Debug", "Info", "Warn", "Error", "Fatal", "None"]).pipe(
  Config.withDefault("Info")
)

/** One JSON object a line, without credentials. */
export const json = Logger.map(Logger.formatJson, redact)

/** One line for a person, without credentials: time, level, message, annotations; the cause follows. */
export const readable = Logger.map(Logger.formatStructured, ({ level, timestamp, message, cause, annotations }) => {
  const said = (Array.isArray(message) ? message : [message]).map((part) =>
    typeof part === "string" ? part : JSON.stringify(part)
  )
  const facts = Object.entries(annotations).map(([name, value]) => `${name}=${String(value)}`)
  // A caller's text cannot start a line of its own.
  const line = [timestamp.slice(11, 23), level.toUpperCase().padEnd(5), ...said, ...facts]
    .join(" ")
    .replace(/[\r\n]+/g, " ")
  return redact(cause === undefined ? line : `${line}\n${cause}`)
})

/** So long one of those who miss the database speaks for all of them. */
const silence = Duration.toMillis("1 minute")

const isAway = (fault: unknown) => isDatabaseAway(fault) || fault instanceof ServiceUnavailable

/** What went wrong in what is logged: its cause, and the errors among what is said. */
const faultsOf = (cause: Cause.Cause<unknown>, said: ReadonlyArray<unknown>): ReadonlyArray<unknown> => [
  ...cause.reasons.flatMap((reason) =>
    reason._tag === "Interrupt" ? [] : [reason._tag === "Fail" ? reason.error : reason.defect]
  ),
  ...said.filter((part) => part instanceof Error)
]

/**
 * While the database is away every worker says so with each of its tries. One line a minute is for everybody, the others are for who
 * debugs; the ledger, whose connection is always wanted, says when it went and came.
 */
const once = (logger: Logger.Logger<unknown, void>, minimum: LogLevel.LogLevel) => {
  let saidAt = Number.NEGATIVE_INFINITY
  return Logger.make<unknown, void>((options) => {
    const said = [options.message].flat()
    const faults = faultsOf(options.cause, said)
    if (faults.length === 0 || !faults.every(isAway)) return logger.log(options)
    // A clock that is set back would keep all of them silent until it is where it was.
    const now = monotonic(options.fiber.getRef(Clock.Clock))
    const isSaid = now - saidAt >= silence
    if (isSaid) saidAt = now
    else if (!LogLevel.isLessThanOrEqualTo(minimum, "Debug")) return
    const [what, ...others] = said.filter((part) => !faults.includes(part))
    const message = [`${what}: ${sayingOf(faults[0])}`, ...others]
    return logger.log({ ...options, logLevel: isSaid ? options.logLevel : "Debug", cause: Cause.empty, message })
  })
}

const lost = Metric.counter("turnpike_log_lines_lost_total", {
  description: "Lines for standard error and output that the disk had no room for, or that nobody read any more",
  incremental: true
})

let isHeard = false
/**
 * A line that cannot be written is lost, and nothing else is: an error of these streams that nobody hears ends the process. Those of
 * the last lines come when everything else is over, so it is heard for as long as there is a process.
 */
const unwritten = Layer.effectDiscard(
  Effect.gen(function* () {
    const context = yield* Effect.context<never>()
    if (isHeard) return
    isHeard = true
    lost.updateUnsafe(0, context)
    for (const stream of [process.stderr, process.stdout]) stream.on("error", () => lost.updateUnsafe(1, context))
  })
)

/** How much may wait for whoever reads what is written, in bytes. Who has stopped, and holds the pipe open, would fill the memory. */
const mostWaiting = 1_048_576

/** Deno throws at whoever writes what has no room: a loop that logs would end with it. */
const outlived = Layer.effect(
  Console.Console,
  Effect.gen(function* () {
    const context = yield* Effect.context<never>()
    const usual = yield* Console.Console
    const attempt = (stream: NodeJS.WriteStream, write: (...line: ReadonlyArray<unknown>) => void) => {
      return (...line: ReadonlyArray<unknown>): void => {
        try {
          if (stream.writableLength > mostWaiting) lost.updateUnsafe(1, context)
          else write(...line)
        } catch {
          lost.updateUnsafe(1, context)
        }
      }
    }
    const written = { log: attempt(process.stdout, usual.log), error: attempt(process.stderr, usual.error) }
    return Object.assign(Object.create(usual), written) as Console.Console
  })
)

const logs = Layer.unwrap(
  Effect.gen(function* () {
    const chosen = Option.getOrElse(yield* format, () => (process.stderr.isTTY ? "pretty" : "json"))
    const minimum = yield* level
    return Layer.mergeAll(
      unwritten,
      outlived,
      Logger.layer([once(Logger.withConsoleError(chosen === "json" ? json : readable), minimum)]),
      Layer.succeed(References.MinimumLogLevel, minimum)
    )
  })
)

// As text, because that is what is redacted; OTLP/JSON writes numbers that are none as strings.
const redacted = (data: unknown) =>
  HttpBody.text(
    redact(
      JSON.stringify(data, (_, value) => (typeof value === "number" && !Number.isFinite(value) ? String(value) : value))
    ),
    "application/json"
  )
const serialization = Layer.succeed(OtlpSerialization.OtlpSerialization, {
  traces: redacted,
  metrics: redacted,
  logs: redacted
})

/** How long a collector may take to answer. */
const patience = Duration.seconds(10)

/** Says that a collector refuses what it gets, once for each of its addresses until it takes it again: a wrong key shows nowhere else. */
const telling = () => {
  const refused = new Set<string>()
  return ({ request, status }: HttpClientResponse.HttpClientResponse) => {
    if (status < 300) refused.delete(request.url)
    if (status < 300 || refused.has(request.url)) return Effect.void
    refused.add(request.url)
    return Effect.logWarning(`The collector answers ${status} at ${request.url}: what it does not take is lost`)
  }
}

// What it has not answered is held in memory, and so is what it would be asked again: one that hangs is left alone for a minute.
const client = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(HttpClient.HttpClient, (sending) =>
    HttpClient.transformResponse(HttpClient.tap(sending, telling()), (response) =>
      Effect.timeoutOrElse(response, { duration: patience, orElse: () => Effect.die("The collector does not answer") })
    )
  )
).pipe(
  Layer.provide(FetchHttpClient.layer),
  // Its headers are for the collector alone, not for where it sends us.
  Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "manual" }))
)

/** `name=value` pairs with commas between them, values percent-encoded, as OpenTelemetry writes lists; undefined for anything else. */
const pairs = (text: string): ReadonlyArray<readonly [name: string, value: string]> | undefined => {
  const read: Array<readonly [string, string]> = []
  for (const entry of text.split(",").filter((part) => part.trim() !== "")) {
    const [, name = "", value = ""] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/s.exec(entry) ?? []
    try {
      if (name === "") return undefined
      read.push([decodeURIComponent(name), decodeURIComponent(value)])
    } catch {
      return undefined
    }
  }
  return read
}

const headers = Setting.understood(
  "OTEL_EXPORTER_OTLP_HEADERS",
  "headers as name=value with commas between them, values percent-encoded (a comma is %2C, a % is %25), such as api-key=…",
  (text) => {
    const read = pairs(text)
    // Whatever `fetch` would not send is none.
    const isHeader = ([name, value]: readonly [string, string]) =>
      /^[!#$%&'*+.^_`|~\w-]+$/.test(name) && /^[\t -~]*$/.test(value)
    return read?.every(isHeader) === true ? Redacted.make(Object.fromEntries(read)) : undefined
  }
)

const attributes = Setting.understood(
  "OTEL_RESOURCE_ATTRIBUTES",
  "attributes as name=value with commas between them, values percent-encoded, such as deployment.environment.name=production",
  (text) => {
    const read = pairs(text)
    return read === undefined ? undefined : Object.fromEntries(read)
  }
)

/** Traces, metrics and logs to an OpenTelemetry collector, when `OTEL_EXPORTER_OTLP_ENDPOINT` names one. */
const collector = Layer.unwrap(
  Effect.gen(function* () {
    const endpoint = yield* Config.option(
      Setting.understood(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "an http or https address without user and password, such as http://127.0.0.1:4318",
        (text) => {
          const url = URL.parse(text)
          // Nothing is ever sent to one with a password in it, and nobody would say so.
          return url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === "" ? text : undefined
        }
      )
    )
    const named = yield* Config.option(Config.NonEmptyString("OTEL_SERVICE_NAME"))
    const about: { readonly [name: string]: string } = yield* attributes.pipe(Config.withDefault({}))
    const secret = yield* headers.pipe(Config.withDefault(Redacted.make({})))
    if (Option.isNone(endpoint)) return Layer.empty
    const minimum = yield* level
    const base = HttpClientRequest.get(endpoint.value)
    // Who says nothing else is `turnpike`.
    const resource = {
      serviceName: Option.getOrElse(named, () => about["service.name"] ?? "turnpike"),
      attributes: about
    }
    const to = (path: string) => ({
      url: HttpClientRequest.appendUrl(base, path).url,
      headers: Redacted.value(secret),
      resource
    })
    // What is one line a minute on standard error is one here, too.
    const logger = Effect.map(OtlpLogger.make(to("/v1/logs")), (logger) => once(logger, minimum))
    return Logger.layer([logger], { mergeWithExisting: true }).pipe(
      Layer.provideMerge(Layer.merge(OtlpMetrics.layer(to("/v1/metrics")), OtlpTracer.layer(to("/v1/traces")))),
      Layer.provide([serialization, client])
    )
  })
)

/** Logs to standard error: JSON unless a person is watching; and whatever a collector wants. */
// The collector comes on top: its logger joins those that are there.
export const layer = collector.pipe(Layer.provideMerge(logs))
