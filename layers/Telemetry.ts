import { Config, Effect, Layer, Logger, Option, References, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { FetchHttpClient, HttpBody } from "effect/http"
import { Otlp, OtlpSerialization } from "effect/observability"
import { redact } from "#domain/Redaction.ts"

/** A setting that is one of these words, in whatever case. */
const word = <const Words extends ReadonlyArray<string>>(name: string, words: Words) => {
  const decode = (text: string): Effect.Effect<Words[number], SchemaIssue.Issue> => {
    const found = words.find((known) => known.toLowerCase() === text.trim().toLowerCase())
    return found === undefined
      ? Effect.fail(new SchemaIssue.InvalidValue({ message: `must be one of ${words.join(", ")}` }))
      : Effect.succeed(found)
  }
  const encode = (said: Words[number]) => Effect.succeed(said)
  const Word = Schema.String.pipe(
    Schema.decodeTo(Schema.Literals(words), SchemaTransformation.transformEffect({ decode, encode }))
  )
  return Config.schema(Word, name)
}

const format = Config.option(word("TURNPIKE_LOG_FORMAT", ["json", "pretty"]))
const level = word("TURNPIKE_LOG_LEVEL", ["Trace", "Debug", "Info", "Warn", "Error", "Fatal", "None"]).pipe(
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

const logs = Layer.unwrap(
  Effect.gen(function* () {
    const chosen = Option.getOrElse(yield* format, () => (process.stderr.isTTY ? "pretty" : "json"))
    return Layer.merge(
      Logger.layer([Logger.withConsoleError(chosen === "json" ? json : readable)]),
      Layer.succeed(References.MinimumLogLevel, yield* level)
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

/** Traces, metrics and logs to an OpenTelemetry collector, when `OTEL_EXPORTER_OTLP_ENDPOINT` names one. */
const collector = Layer.unwrap(
  Effect.gen(function* () {
    const endpoint = yield* Config.option(Config.NonEmptyString("OTEL_EXPORTER_OTLP_ENDPOINT"))
    const serviceName = yield* Config.NonEmptyString("OTEL_SERVICE_NAME").pipe(Config.withDefault("turnpike"))
    if (Option.isNone(endpoint)) return Layer.empty
    return Otlp.layer({ baseUrl: endpoint.value, resource: { serviceName } }).pipe(
      Layer.provide([serialization, FetchHttpClient.layer])
    )
  })
)

/** Logs to standard error: JSON unless a person is watching; and whatever a collector wants. */
// The collector comes on top: its logger joins those that are there.
export const layer = collector.pipe(Layer.provideMerge(logs))
