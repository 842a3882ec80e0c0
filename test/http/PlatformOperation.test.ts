import { assert, describe, it, layer } from "@effect/vitest"
import * as PgClient from "@effect/sql-pg/PgClient"
import {
  Clock,
  Context,
  Deferred,
  Duration,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  Redacted,
  References,
  Scope
} from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient } from "effect/sql"
import { connect } from "node:net"
import { json, readable } from "#layers/Telemetry.ts"
import { Database } from "#services/Database.ts"
import { Deployment } from "#services/Deployment.ts"
import { Health } from "#services/Health.ts"
import { HttpListener } from "#services/HttpListener.ts"
import { Ledger } from "#services/Ledger.ts"
import { whileLocked } from "../services/CredentialsHarness.ts"
import * as Harness from "./PlatformHarness.ts"
import { ask, bearer, entrance } from "./PlatformHarness.ts"

layer(Harness.layer({ TURNPIKE_RATE_LIMIT: "5", TURNPIKE_TRUSTED_PROXIES: "127.0.0.1" }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("the rate limit", (it) => {
  it.effect("counts every credential and every address for itself, says what is left, and leaves probes alone", () =>
    Effect.gen(function* () {
      const { base, key } = yield* entrance
      const mine = () => ask(`${base}/v1/context`, { headers: bearer(key) })
      const stranger = (address: string) => ask(`${base}/v1/context`, { headers: { "x-forwarded-for": address } })
      const left: Array<string | null> = []
      for (let request = 0; request < 5; request++) left.push((yield* mine()).headers.get("ratelimit-remaining"))
      assert.deepStrictEqual(left, ["4", "3", "2", "1", "0"])
      const refused = yield* mine()
      assert.deepStrictEqual([refused.status, refused.body["code"]], [429, "RATE_LIMIT_EXCEEDED"])
      assert.strictEqual(refused.headers.get("ratelimit-limit"), "5")
      assert.strictEqual(refused.headers.get("x-ratelimit-limit"), "5")
      const wait = Number(refused.headers.get("retry-after"))
      assert.isTrue(wait >= 1 && wait <= 12, String(wait))
      // Somebody else, and the hop that the trusted proxy saw, not the one the caller wrote before it.
      for (let request = 0; request < 5; request++) {
        assert.strictEqual((yield* stranger(`10.0.0.${request}, 203.0.113.9`)).status, 401)
      }
      assert.strictEqual((yield* stranger("10.9.9.9, 203.0.113.9")).status, 429)
      assert.strictEqual((yield* stranger("203.0.113.10")).status, 401)
      for (let request = 0; request < 10; request++) {
        assert.strictEqual((yield* ask(`${base}/health/live`)).status, 200)
      }
    })
  )

  it.effect("is one for all operations, whichever way their requests are read", () =>
    Effect.gen(function* () {
      const { base, key } = yield* entrance
      const headers = { ...bearer(key), "content-type": "application/json" }
      const left: Array<string | null> = []
      for (const path of ["/v1/transfers", "/v1/wallets", "/v1/x402/pay", "/v1/transfers?", "/v1/quotes"]) {
        const answer = yield* ask(`${base}${path}`, { method: "POST", headers, body: "[]" })
        left.push(answer.headers.get("ratelimit-remaining"))
      }
      assert.deepStrictEqual(left, ["4", "3", "2", "1", "0"])
    })
  )

  it.effect("is told in headers, of which the description names each as it does all others of ours", () =>
    Effect.gen(function* () {
      const { base, key } = yield* entrance
      const { text } = yield* ask(`${base}/openapi.json`)
      const { headers } = yield* ask(`${base}/v1/context`, { headers: bearer(key) })
      const ours = [...headers.keys()].filter((name) => /^(?:x-(?!content-type-options)|ratelimit-)/.test(name))
      assert.includeMembers(ours, ["ratelimit-reset", "x-environment", "x-ratelimit-reset", "x-request-id"])
      assert.deepStrictEqual(
        ours.filter((name) => !text.toLowerCase().includes(name)),
        []
      )
    })
  )
})

layer(Harness.layer({ TURNPIKE_RATE_LIMIT: "5", TURNPIKE_TRUSTED_PROXIES: "127.0.0.1" }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("whoever makes up credentials", (it) => {
  it.effect("asks the database no more often than strangers may ask us; what is known is known all the same", () =>
    Effect.gen(function* () {
      const { base, key } = yield* entrance
      const from = (address: string, token: string) =>
        ask(`${base}/v1/context`, { headers: { ...bearer(token), "x-forwarded-for": address } })
      const madeUp = (number: number) => `pk_test_${String(number).padStart(32, "0")}`
      assert.strictEqual((yield* from("203.0.113.9", key)).status, 200)
      for (let number = 0; number < 5; number++) {
        assert.strictEqual((yield* from("203.0.113.9", madeUp(number))).status, 401)
      }
      // Whoever asks for a credential now gets no answer.
      yield* whileLocked(
        Effect.gen(function* () {
          const refused = yield* from("203.0.113.9", madeUp(6))
          assert.deepStrictEqual([refused.status, refused.body["code"]], [429, "RATE_LIMIT_EXCEEDED"])
          assert.isAtLeast(Number(refused.headers.get("retry-after")), 1)
          assert.strictEqual((yield* from("203.0.113.9", key)).status, 200)
        })
      )
      assert.strictEqual((yield* from("203.0.113.10", madeUp(7))).status, 401)
    })
  )
})

layer(Harness.layer(), { excludeTestServices: true, timeout: "60 seconds" })("a server whose database fails", (it) => {
  it.effect("is not ready before its migrations, and shows nothing of a fault of ours", () =>
    Effect.gen(function* () {
      const { base, key } = yield* entrance
      const sql = yield* SqlClient.SqlClient
      yield* sql`ALTER TABLE wallets RENAME TO wallets_gone`
      const broken = yield* ask(`${base}/v1/wallets`, { headers: bearer(key) })
      assert.deepStrictEqual([broken.status, broken.body["code"]], [500, "INTERNAL_ERROR"])
      assert.notMatch(broken.text, /relation|wallets_gone|sql/i)
      yield* sql`ALTER TABLE schema_migrations RENAME TO schema_migrations_gone`
      const ready = yield* ask(`${base}/health/ready`)
      assert.strictEqual(ready.status, 503)
      assert.strictEqual(Object(ready.body["checks"]).migrations, "pending")
      yield* sql`ALTER TABLE schema_migrations_gone RENAME TO schema_migrations`
      yield* sql`ALTER TABLE wallets_gone RENAME TO wallets`
      assert.strictEqual((yield* ask(`${base}/health/ready`)).status, 200)
    })
  )

  it.effect("is not ready while it cannot move money, although the database answers", () =>
    Effect.gen(function* () {
      const { base } = yield* entrance
      const [ledger, health] = [yield* Ledger, yield* Health]
      const look = Effect.map(ask(`${base}/health/ready`), ({ body, status }) => [status, body["checks"]])
      const checks = { postgres: "up", migrations: "done", writable: "up", ledger: "up", bus: "up", serving: "yes" }
      assert.deepStrictEqual(yield* look, [200, checks])
      const { isServing } = ledger
      Object.assign(ledger, { isServing: () => false })
      assert.deepStrictEqual(yield* look, [503, { ...checks, ledger: "down" }])
      Object.assign(ledger, { isServing })
      const { database } = health
      Object.assign(health, { database: Effect.map(database, (found) => ({ ...found, writable: "down" })) })
      assert.deepStrictEqual(yield* look, [503, { ...checks, writable: "down" }])
      Object.assign(health, { database })
      assert.deepStrictEqual(yield* look, [200, checks])
    })
  )

  it.effect("answers 503 with Retry-After while the database lets nobody in, and recovers by itself", () =>
    Effect.gen(function* () {
      const { base, key } = yield* entrance
      const { config } = yield* Database
      const elsewhere = yield* PgClient.makeClient({ ...config, database: "postgres" })
      const name = new URL(Redacted.value(config.url ?? Redacted.make("x:"))).pathname.slice(1)
      const list = ask(`${base}/v1/wallets`, { headers: bearer(key) })
      assert.strictEqual((yield* list).status, 200)
      yield* elsewhere`ALTER DATABASE ${elsewhere(name)} WITH ALLOW_CONNECTIONS false`
      yield* elsewhere`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${name}`
      for (let attempt = 0; attempt < 3; attempt++) {
        const away = yield* list
        assert.deepStrictEqual([away.status, away.body["code"]], [503, "SERVICE_UNAVAILABLE"], away.text)
        assert.match(away.headers.get("retry-after") ?? "", /^[1-9]\d*$/)
        assert.notMatch(away.text, /postgres|connection|sql/i)
      }
      const ready = yield* ask(`${base}/health/ready`)
      assert.deepStrictEqual([ready.status, Object(ready.body["checks"]).postgres], [503, "down"])
      assert.strictEqual((yield* ask(`${base}/health/live`)).status, 200)
      yield* elsewhere`ALTER DATABASE ${elsewhere(name)} WITH ALLOW_CONNECTIONS true`
      assert.strictEqual((yield* list).status, 200)
    }).pipe(Effect.provideServiceEffect(Reactivity.Reactivity, Reactivity.make))
  )
})

describe("stopping", () => {
  it.live("readiness says so first, a request under way is finished, and then nobody is let in", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const over = yield* Deferred.make<void>()
      const server = Harness.layer({ TURNPIKE_DRAIN_DELAY: "5 minutes" })
      const context = yield* Layer.buildWithScope(server, scope)
      const { publicUrl } = Context.get(context, Deployment)
      const { key } = yield* Effect.provideContext(entrance, context)
      const begun = requestOf(Context.get(context, HttpListener))
      const upload = uploading(new URL(publicUrl).port, key, JSON.stringify({ name: "late" }))
      yield* Effect.promise(() => begun)
      const stop = yield* Scope.close(scope, Exit.void).pipe(
        Effect.provideService(Clock.Clock, fiveMinutesAre(Deferred.await(over))),
        Effect.forkChild
      )
      const ready = yield* Effect.repeat(ask(`${publicUrl}/health/ready`), { until: ({ status }) => status !== 200 })
      assert.strictEqual(ready.status, 503, ready.text)
      assert.strictEqual(Object(ready.body["checks"]).serving, "stopping")
      upload.finish()
      assert.match(yield* Effect.promise(() => upload.answer), /^HTTP\/1\.1 201 /)
      yield* Deferred.succeed(over, undefined)
      yield* Fiber.join(stop)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.tryPromise(() => fetch(publicUrl)))))
    })
  )
})

/** The clock that it is, but for five minutes, which are over when somebody says so. */
const fiveMinutesAre = (over: Effect.Effect<void>): Clock.Clock => {
  const real = Clock.Clock.defaultValue()
  return Object.assign(Object.create(real), {
    sleep: (duration: Duration.Duration) => (Duration.toMinutes(duration) === 5 ? over : real.sleep(duration))
  })
}

/** Resolves when the server has read the head of a request. */
const requestOf = ({ server }: HttpListener["Service"]) =>
  new Promise<void>((resolve) => {
    const emit = server.emit.bind(server)
    server.emit = (event: string, ...args: Array<unknown>) => {
      if (event === "request") resolve()
      return emit(event, ...args)
    }
  })

/** Sends a request but for the end of its body. */
const uploading = (port: string, key: string, body: string) => {
  const socket = connect(Number(port), "127.0.0.1")
  socket.write(
    `POST /v1/wallets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 3)}`
  )
  const answer = new Promise<string>((resolve) => {
    let text = ""
    socket.on("data", (chunk) => (text += chunk.toString()))
    socket.on("error", (error) => resolve(String(error)))
    socket.on("end", () => resolve(text))
  })
  return { answer, finish: () => void socket.write(body.slice(3)) }
}

describe("logs", () => {
  for (const [name, logger] of Object.entries({ json, readable })) {
    it.effect(`${name} lines carry no credential and stay one line`, () =>
      Effect.gen(function* () {
        const lines: Array<string> = []
        const secrets = [
          "pk_test_0123456789abcdefghijABCDEFGHIJ01",
          "psk_live_0123456789abcdefghijABCDEFGHIJ01",
          "sess_0123456789abcdefghij",
          "pp_AaH99VfNcM2pV7zeWtkDhawOdlZtSt-rmS599wmLdCo",
          "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        ]
        yield* Effect.logInfo(`told ${secrets.join(" ")}\r\nforged line`, {
          authorization: `Bearer hidden-thing`
        }).pipe(
          Effect.annotateLogs({ "x-payment-proof": "proof-of-something", key: secrets[0] ?? "" }),
          Effect.provide(Logger.layer([Logger.map(logger, (line) => lines.push(line))])),
          Effect.provideService(References.MinimumLogLevel, "Info")
        )
        assert.strictEqual(lines.length, 1)
        for (const secret of [...secrets, "hidden-thing", "proof-of-something"])
          assert.notInclude(lines[0] ?? "", secret)
        assert.include(lines[0] ?? "", "pk_[redacted]")
        assert.notMatch(lines[0] ?? "", /[\r\n]/)
      })
    )
  }
})
