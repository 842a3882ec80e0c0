import { assert, it } from "@effect/vitest"
import { Cause, Clock, ConfigProvider, Effect, Layer, References } from "effect"
import { SqlError } from "effect/sql"
import { TestClock, TestConsole } from "effect/testing"
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import * as Setting from "#layers/Setting.ts"
import * as Telemetry from "#layers/Telemetry.ts"
import { setClock } from "../services/SetClock.ts"
import { listening } from "./Listening.ts"

/** A collector that keeps what it was sent, by path. */
const collector = Effect.acquireRelease(
  Effect.promise(async () => {
    const received = new Map<string, string>()
    const keys: Array<string | undefined> = []
    const server = createServer(async (request, response) => {
      let body = ""
      for await (const chunk of request) body += chunk
      received.set(request.url ?? "", (received.get(request.url ?? "") ?? "") + body)
      keys.push(`${request.headers["api-key"]}`)
      if (request.headers["api-key"] === "wrong") response.statusCode = 401
      if (request.headers["api-key"] === "moved") response.writeHead(307, { location: "/elsewhere" })
      response.end("{}")
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    return { keys, received, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  }),
  ({ server }) => Effect.sync(() => server.close())
)

it.live("what goes to a collector carries no credential", () =>
  Effect.gen(function* () {
    const { received, url } = yield* collector
    const key = `pk_test_${"a".repeat(32)}`
    // Whoever has the address of a report may read it.
    const signature = "s".repeat(43)
    const config = ConfigProvider.layer(
      ConfigProvider.fromUnknown({ OTEL_EXPORTER_OTLP_ENDPOINT: url, TURNPIKE_LOG_LEVEL: "Error" })
    )
    // What is waiting is sent when the layer ends.
    const report = `http://127.0.0.1/v1/scanner/scan/1/report?signature=${signature}`
    const attributes = { authorization: `Bearer ${key}`, "url.full": report, "url.query": `signature=${signature}` }
    yield* Effect.logError(`refused ${key}`).pipe(
      Effect.withSpan("a call", { attributes }),
      Effect.provide(Telemetry.layer.pipe(Layer.provide(config)))
    )
    assert.include(received.get("/v1/logs"), "refused pk_[redacted]")
    assert.include(received.get("/v1/traces"), "a call")
    for (const secret of [key, signature]) assert.notInclude([...received.values()].join(""), secret)
  })
)

const surroundings = (environment: Record<string, string>) =>
  Telemetry.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(environment))))

/** As if a person watched these of the two streams. */
const watched = (streams: { readonly stdout: boolean; readonly stderr: boolean }) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = { stdout: process.stdout.isTTY, stderr: process.stderr.isTTY }
      process.stdout.isTTY = streams.stdout
      process.stderr.isTTY = streams.stderr
      return before
    }),
    (before) =>
      Effect.sync(() => {
        process.stdout.isTTY = before.stdout
        process.stderr.isTTY = before.stderr
      })
  )

it.effect("logs are for a person when one watches standard error, wherever standard output goes", () =>
  Effect.gen(function* () {
    const line = Effect.provide(Effect.logInfo("hello"), surroundings({}))
    yield* Effect.scoped(Effect.andThen(watched({ stdout: false, stderr: true }), line))
    yield* Effect.scoped(Effect.andThen(watched({ stdout: true, stderr: false }), line))
    const [person, machine] = yield* TestConsole.errorLines
    assert.match(String(person), /INFO\s+hello/)
    assert.include(JSON.parse(String(machine)), { message: "hello", level: "INFO" })
  })
)

it.effect("the level and the format of logs are words in whatever case", () =>
  Effect.gen(function* () {
    const level = Effect.service(References.MinimumLogLevel)
    for (const word of ["warn", "WARN", "Warn"]) {
      const said = yield* Effect.provide(level, surroundings({ TURNPIKE_LOG_LEVEL: word, TURNPIKE_LOG_FORMAT: "JSON" }))
      assert.strictEqual(said, "Warn")
    }
    const refused = yield* Effect.flip(Layer.build(surroundings({ TURNPIKE_LOG_LEVEL: "loud" })))
    assert.strictEqual(
      Setting.sentence(refused),
      "TURNPIKE_LOG_LEVEL: expected one of Trace, Debug, Info, Warn, Error, Fatal, None."
    )
  })
)

it.effect("a collector's address that is none is refused, and not found out by what it never gets", () =>
  Effect.gen(function* () {
    for (const wrong of ["foo", "localhost:4318", "ftp://a", "http://user:password@127.0.0.1:4318"]) {
      const refused = yield* Effect.flip(Layer.build(surroundings({ OTEL_EXPORTER_OTLP_ENDPOINT: wrong })))
      assert.strictEqual(
        Setting.sentence(refused),
        "OTEL_EXPORTER_OTLP_ENDPOINT: expected an http or https address without user and password, such as http://127.0.0.1:4318."
      )
    }
  })
)

it.live("a collector gets the headers and attributes that OpenTelemetry's own settings name", () =>
  Effect.gen(function* () {
    const { keys, received, url } = yield* collector
    const settings = {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_HEADERS: " api-key = a%2Cb=c== , x-tenant=shop",
      OTEL_RESOURCE_ATTRIBUTES: "service.name=tolls,deployment.environment.name=caf%C3%A9"
    }
    yield* Effect.provide(Effect.logInfo("hello").pipe(Effect.withSpan("a call")), surroundings(settings))
    assert.deepStrictEqual([...new Set(keys)], ["a,b=c=="])
    for (const path of ["/v1/logs", "/v1/traces", "/v1/metrics"]) {
      assert.include(received.get(path), '{"key":"service.name","value":{"stringValue":"tolls"}}')
      assert.include(received.get(path), "café")
    }
    received.clear()
    const named = { ...settings, OTEL_SERVICE_NAME: "gateway" }
    yield* Effect.provide(Effect.logInfo("hello"), surroundings(named))
    assert.include(received.get("/v1/logs"), '{"key":"service.name","value":{"stringValue":"gateway"}}')
    assert.notInclude(received.get("/v1/logs"), "tolls")
  })
)

it.effect("what is wrong with a collector's headers is said without them", () =>
  Effect.gen(function* () {
    for (const wrong of [
      "secret",
      "=secret",
      "api-key=%zzsecret",
      "api key=secret",
      "api-key=secret%0A",
      "a=b,secret"
    ]) {
      const refused = yield* Effect.flip(Layer.build(surroundings({ OTEL_EXPORTER_OTLP_HEADERS: wrong })))
      assert.strictEqual(
        Setting.sentence(refused),
        "OTEL_EXPORTER_OTLP_HEADERS: expected headers as name=value with commas between them, values percent-encoded (a comma is %2C, a % is %25), such as api-key=…."
      )
    }
    const refused = yield* Effect.flip(Layer.build(surroundings({ OTEL_RESOURCE_ATTRIBUTES: "a=%zz" })))
    assert.match(Setting.sentence(refused), /^OTEL_RESOURCE_ATTRIBUTES: expected attributes as name=value/)
  })
)

for (const [key, status] of [
  ["wrong", 401],
  ["moved", 307]
] as const) {
  it.live(`a collector that answers ${status} is told of once for each of its addresses, and without its key`, () =>
    Effect.gen(function* () {
      const { keys, received, url } = yield* collector
      const environment = {
        OTEL_EXPORTER_OTLP_ENDPOINT: url,
        OTEL_EXPORTER_OTLP_HEADERS: `api-key=${key}`,
        TURNPIKE_LOG_FORMAT: "json",
        TURNPIKE_LOG_LEVEL: "Debug"
      }
      yield* Effect.provide(Effect.logInfo("hello"), surroundings(environment))
      const lines = (yield* TestConsole.errorLines).map(String)
      assert.lengthOf(
        lines.filter((line) => line.includes(`The collector answers ${status} at ${url}/v1/logs`)),
        1
      )
      assert.notInclude(lines.join(""), key)
      assert.isNotEmpty(keys)
      assert.isFalse(received.has("/elsewhere"))
    }).pipe(Effect.provide(TestConsole.layer))
  )
}

const refused = () =>
  Cause.die(
    new SqlError.SqlError({
      reason: new SqlError.ConnectionError({ cause: new Error("connect ECONNREFUSED"), message: "Failed to connect" })
    })
  )

it.effect(
  "a database that is away is one line a minute without its stack, whoever misses it; the rest is for who debugs",
  () =>
    Effect.gen(function* () {
      const miss = (what: string) => Effect.logError(what, refused())
      const three = Effect.gen(function* () {
        yield* miss("Scans could not be taken")
        yield* miss("Webhooks failed")
        yield* Effect.logWarning("The bus lost its connection", Cause.squash(refused()))
        yield* Effect.logError("A bug", Cause.die(new Error("it is ours")))
        yield* TestClock.adjust("1 minute")
        yield* miss("Webhooks failed")
      })
      const said = Effect.map(TestConsole.errorLines, (lines) => lines.map((line) => JSON.parse(String(line))))
      yield* Effect.provide(three, surroundings({ TURNPIKE_LOG_FORMAT: "json" }))
      const lines = yield* said
      assert.deepStrictEqual(
        lines.map(({ level, message }) => [level, message]),
        [
          ["ERROR", "Scans could not be taken: connect ECONNREFUSED"],
          ["ERROR", "A bug"],
          ["ERROR", "Webhooks failed: connect ECONNREFUSED"]
        ]
      )
      assert.deepStrictEqual(
        lines.map((line) => JSON.stringify(line).includes(" at ")),
        [false, true, false]
      )
      yield* Effect.provide(three, surroundings({ TURNPIKE_LOG_FORMAT: "json", TURNPIKE_LOG_LEVEL: "Debug" }))
      assert.deepStrictEqual(
        (yield* said).slice(lines.length).map(({ level, message }) => [level, message]),
        [
          ["ERROR", "Scans could not be taken: connect ECONNREFUSED"],
          ["DEBUG", "Webhooks failed: connect ECONNREFUSED"],
          ["DEBUG", "The bus lost its connection: connect ECONNREFUSED"],
          ["ERROR", "A bug"],
          ["ERROR", "Webhooks failed: connect ECONNREFUSED"]
        ]
      )
    })
)

it.effect("a database that is away is one line a minute also when the clock is set back", () =>
  Effect.gen(function* () {
    const { clock, set } = yield* setClock
    const miss = Effect.provideService(Effect.logError("Webhooks failed", refused()), Clock.Clock, clock)
    yield* Effect.gen(function* () {
      yield* miss
      set.by = -86_400_000
      yield* miss
      yield* TestClock.adjust("1 minute")
      yield* miss
    }).pipe(Effect.provide(surroundings({ TURNPIKE_LOG_FORMAT: "json" })))
    assert.lengthOf(yield* TestConsole.errorLines, 2)
  })
)

it.live("a collector hears once a minute that the database is away, too", () =>
  Effect.gen(function* () {
    const { received, url } = yield* collector
    const miss = Effect.logError("Webhooks failed", refused())
    yield* Effect.provide(
      Effect.andThen(miss, miss),
      surroundings({ OTEL_EXPORTER_OTLP_ENDPOINT: url, TURNPIKE_LOG_LEVEL: "Error" })
    )
    assert.strictEqual(received.get("/v1/logs")?.split("Webhooks failed: connect ECONNREFUSED").length, 2)
    assert.notInclude(received.get("/v1/logs"), "exception.stacktrace")
  })
)

it.effect("a collector that does not answer is given up, so that what waits for it does not pile up", () =>
  Effect.gen(function* () {
    const asked = Promise.withResolvers<ServerResponse>()
    const server = createServer(({ url }, response) =>
      url === "/v1/logs" ? asked.resolve(response) : void response.end("{}")
    )
    const url = `http://${yield* listening(server)}`
    const context = yield* Layer.build(surroundings({ OTEL_EXPORTER_OTLP_ENDPOINT: url }))
    yield* Effect.provide(Effect.logInfo("hello"), context)
    yield* TestClock.adjust("1 second")
    const response = yield* Effect.promise(() => asked.promise)
    const left = once(response, "close")
    yield* TestClock.adjust("10 seconds")
    yield* Effect.promise(() => left)
  })
)
