import { assert, describe, it } from "@effect/vitest"
import { Cause, ConfigProvider, Effect, Layer, Redacted } from "effect"
import { connect, createServer } from "node:net"
import * as Node from "#layers/Node.ts"
import * as Postgres from "#layers/Postgres.ts"
import { addressOf, partsOf, PostgresUnusable } from "#layers/Postgres/Unusable.ts"
import { Database } from "#services/Database.ts"

/** What an operator reads when this is the DATABASE_URL. */
const refusal = (url: string) => {
  const environment = ConfigProvider.layer(ConfigProvider.fromUnknown({ DATABASE_URL: url }))
  return Effect.flip(Layer.build(Layer.fresh(Postgres.layer).pipe(Layer.provide(environment))))
}

describe("TURNPIKE_DATABASE_CONNECTIONS", () => {
  for (const size of ["0", "-1", "1001", "many"]) {
    it.effect(`is named when it is no size of a pool: ${size}`, () =>
      Effect.gen(function* () {
        const settings = { DATABASE_URL: "postgres://127.0.0.1:1/none", TURNPIKE_DATABASE_CONNECTIONS: size }
        const environment = ConfigProvider.layer(ConfigProvider.fromUnknown(settings))
        const pool = Layer.build(Layer.fresh(Postgres.layer).pipe(Layer.provide(environment)))
        const said = Node.reasonOf(Cause.fail(yield* Effect.flip(pool)))
        assert.strictEqual(said, "TURNPIKE_DATABASE_CONNECTIONS: expected a whole number from 1 to 1000.")
      })
    )
  }
})

/** Nobody listens on port 1; whatever the name, it has two addresses. */
const nobodyTwice = () =>
  connect({
    host: "localhost",
    port: 1,
    autoSelectFamily: true,
    lookup: (_name, _options, callback) =>
      callback(null, [
        { address: "127.0.0.1", family: 4 },
        { address: "127.0.0.2", family: 4 }
      ])
  })

/** The connection of a pooler that keeps to itself what a session sets: of its greeting only who comes, and to what, is passed on. */
const throughPooler = (path: string) => () => {
  const socket = connect({ path })
  const write = socket.write.bind(socket)
  const greet = (bytes: Uint8Array) => {
    socket.write = write
    const words = Buffer.from(bytes.subarray(8)).toString("latin1").split("\0")
    const kept = words.flatMap((word, index) =>
      index % 2 === 0 && ["user", "database"].includes(word) ? [word, words[index + 1]] : []
    )
    const body = Buffer.from(`${kept.join("\0")}\0\0`, "latin1")
    const head = Buffer.from(bytes.subarray(0, 8))
    head.writeInt32BE(8 + body.length)
    return write(Buffer.concat([head, body]))
  }
  return Object.assign(socket, { write: greet })
}

/** Refuses whoever comes, with these words. */
const refusing = (code: string, words: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
      const said = Buffer.from(`SFATAL\0C${code}\0M${words}\0\0`)
      const head = Buffer.from([69, 0, 0, 0, said.length + 4])
      const server = createServer((socket) => void socket.once("data", () => socket.end(Buffer.concat([head, said]))))
      server.listen(0, "127.0.0.1", () => {
        const url = `postgres://turnpike:secret@127.0.0.1:${Object(server.address()).port}/turnpike`
        resume(Effect.succeed({ url, close: () => server.close() }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

describe("a pooler that does not take the settings of a session", () => {
  it.live("is called one where it ignores them", () =>
    Effect.gen(function* () {
      const { config } = yield* Database
      const path = config.path ?? assert.fail("the database of tests is behind a socket")
      const error = yield* Effect.flip(Postgres.prepare({ ...config, stream: throughPooler(path) }))
      assert.include(error, { _tag: "PostgresUnusable", reason: "Pooled" })
    }).pipe(Effect.provide(Postgres.layerTest))
  )

  it.live("is called one where it refuses them", () =>
    Effect.gen(function* () {
      // As PgBouncer does unless it is told to ignore them.
      const pooler = yield* refusing("08P01", "unsupported startup parameter: statement_timeout")
      const error = yield* refusal(pooler.url)
      assert.include(error, { _tag: "PostgresUnusable", reason: "Pooled" })
      assert.match(error.message, /^What answers at 127\.0\.0\.1:\d+ \(DATABASE_URL\) is a pooler/)
    })
  )
})

describe("a server that is too old to know the settings of a session", () => {
  it.live("is called too old, in whatever language it refuses them", () =>
    Effect.gen(function* () {
      const old = yield* refusing("42704", "unbekannter Konfigurationsparameter »idle_session_timeout«")
      const { message } = yield* refusal(old.url)
      assert.strictEqual(message, "The database server is Postgres 13 or older; Turnpike needs 15 or newer.")
    })
  )

  it.live("is not whoever does not know a setting of the address", () =>
    Effect.gen(function* () {
      const other = yield* refusing("42704", 'unrecognized configuration parameter "nosuch"')
      assert.include(yield* refusal(other.url), { _tag: "PostgresUnusable", reason: "Unreachable" })
    })
  )
})

describe("a DATABASE_URL that cannot be used", () => {
  for (const word of ["ssl=true", "ssl=1", "ssl=false&ssl=yes"]) {
    it.effect(`does not ask for encryption by a word that brings none: ${word}`, () =>
      Effect.gen(function* () {
        const error = yield* refusal(`postgres://turnpike:secret@127.0.0.1:1/turnpike?${word}`)
        assert(error instanceof PostgresUnusable)
        assert.match(error.message, /^DATABASE_URL has ssl=.*sslmode=require/)
      })
    )
  }

  for (const word of ["ssl=false", "ssl=true&sslmode=require", "sslmode=require"]) {
    it.effect(`is asked where it says ${word}`, () =>
      Effect.gen(function* () {
        const error = yield* refusal(`postgres://turnpike:secret@127.0.0.1:1/turnpike?${word}`)
        assert(error instanceof PostgresUnusable)
        assert.match(error.message, /ECONNREFUSED/)
      })
    )
  }

  it.live("is named by host and port, with the reason, when nobody answers there", () =>
    Effect.gen(function* () {
      const error = yield* refusal("postgres://turnpike:secret@127.0.0.1:1/turnpike")
      assert.include(error, { _tag: "PostgresUnusable", reason: "Unreachable" })
      assert.strictEqual(
        error.message,
        "The database at 127.0.0.1:1 (DATABASE_URL) cannot be used: connect ECONNREFUSED 127.0.0.1:1"
      )
    })
  )

  it.live("has the reason of each address where a name has several", () =>
    Effect.gen(function* () {
      const url = Redacted.make("postgres://turnpike:secret@localhost:1/turnpike")
      const error = yield* Effect.flip(Postgres.prepare({ ...Postgres.fromUrl(url), stream: nobodyTwice }))
      assert.strictEqual(
        error.message,
        "The database at localhost:1 (DATABASE_URL) cannot be used: " +
          "connect ECONNREFUSED 127.0.0.1:1, connect ECONNREFUSED 127.0.0.2:1"
      )
    })
  )

  for (const url of [
    "turnpike",
    "localhost:5432/turnpike",
    "mysql://turnpike:secret@localhost/turnpike",
    "postgres://turnpike:sec/ret@localhost/turnpike",
    "postgres://turnpike:5432/secret@localhost/turnpike",
    "postgres://turnpike:5432?secret@localhost/turnpike",
    "postgres://turnpike:5432#secret@localhost/turnpike",
    "postgres://turnpike:100%secret@localhost/turnpike",
    "postgres://turnpike:secret@one,two/turnpike",
    "postgres:///turnpike?host=one,two&password=secret"
  ]) {
    it.effect(`is said to be unreadable, without a word of it: ${url}`, () =>
      Effect.gen(function* () {
        const error = yield* refusal(url)
        assert.include(error, { _tag: "PostgresUnusable", reason: "Unreadable" })
        assert.match(error.message, /^DATABASE_URL cannot be read\./)
        assert.notMatch(error.message, /secret|sec\/|localhost/)
      })
    )
  }

  for (const url of [
    "postgres://turnpike:secret@db.internal:6432/turnpike?sslmode=require",
    "postgresql://turnpike:a%2Fb%40c@[::1]/turnpike",
    "postgres://turnpike@localhost/turnpike?host=/run/postgresql",
    "postgres:///turnpike"
  ]) {
    it(`is not: ${url}`, () => assert.isDefined(partsOf(Redacted.make(url))))
  }

  it("says where the database is as the driver reads it: the last of several, and an address of IPv6 without brackets", () => {
    const at = (url: string) => addressOf(Redacted.make(url))
    assert.deepStrictEqual(at("postgres://turnpike@[::1]:5433/turnpike"), { host: "::1", port: 5433 })
    assert.deepStrictEqual(at("postgres:///turnpike?host=/one&host=/other&port=1&port=2"), { host: "/other", port: 2 })
    assert.deepStrictEqual(at("postgres:///turnpike"), { host: "localhost", port: 5432 })
  })
})
