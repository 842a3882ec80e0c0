import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { connect, type Socket } from "node:net"
import { text } from "node:stream/consumers"
import { refreshCookie } from "#domain/Cookies.ts"
import * as Harness from "./PlatformHarness.ts"

const code = (text: string) => [text.slice(9, 12), /"code":"([A-Z_]+)"/.exec(text)?.[1]]

layer(Harness.layer(), { excludeTestServices: true, timeout: "60 seconds" })("what a request may look like", (it) => {
  const raw = Effect.fnUntraced(function* (head: string, body = "") {
    const { key, port } = yield* Harness.entrance
    const authorization = `Authorization: Bearer ${key}\r\n`
    return yield* Harness.raw(port, `${head}\r\nHost: a\r\n${authorization}Connection: close\r\n${body}`)
  })
  const json = "Content-Type: application/json\r\n"
  /** Calls something that does not answer as long as `meanwhile` lasts, which gets its connection. */
  const asking = Effect.fnUntraced(function* <A, E, R>(meanwhile: (socket: Socket) => Effect.Effect<A, E, R>) {
    const { key, port } = yield* Harness.entrance
    const sql = yield* SqlClient.SqlClient
    const waiting = sql`SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'disputes'::regclass`
    return yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`LOCK TABLE disputes IN ACCESS EXCLUSIVE MODE`
        const socket = connect(port, "127.0.0.1")
        socket.write(`GET /v1/disputes HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`)
        yield* Effect.repeat(waiting, { until: ({ length }) => length > 0, schedule: Schedule.spaced("20 millis") })
        return yield* meanwhile(socket)
      })
    )
  })

  it.effect("a path has one spelling", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(code(yield* raw("GET /v1/wallets HTTP/1.1", "\r\n")), ["200", undefined])
      for (const path of [
        "//v1/wallets",
        "/v1//wallets",
        "/V1/wallets",
        "/v1/Wallets",
        "/v1/wallets;a=b",
        "/v1/wallets/..;/wallets",
        "/v1/wallets#a",
        "//metrics",
        "/METRICS",
        "/metrics;a"
      ]) {
        assert.deepStrictEqual(code(yield* raw(`GET ${path} HTTP/1.1`, "\r\n")), ["404", "NOT_FOUND"], path)
      }
      assert.deepStrictEqual(code(yield* raw("GET /v1/wallets?limit=1;a HTTP/1.1", "\r\n")), ["400", "INVALID_REQUEST"])
    })
  )

  it.effect("CONNECT is refused: this is no proxy", () =>
    Effect.gen(function* () {
      const { port } = yield* Harness.entrance
      const head = "CONNECT shop.example:443 HTTP/1.1\r\nHost: shop.example:443\r\n\r\n"
      const answer = yield* Harness.raw(port, `${head}GET /v1/wallets HTTP/1.1\r\nHost: a\r\n\r\n`)
      assert.deepStrictEqual(code(answer), ["405", "METHOD_NOT_ALLOWED"])
      assert.match(answer, /\r\nconnection: close\r\n/i)
      assert.strictEqual(answer.match(/HTTP\/1\.1/g)?.length, 1)
    })
  )

  it.effect("what stands behind a request for another protocol is not answered, and the answer says so", () =>
    Effect.gen(function* () {
      const { port } = yield* Harness.entrance
      const get = (more: string) => `GET /health/live HTTP/1.1\r\nHost: a\r\n${more}\r\n`
      for (const upgrade of ["websocket", "h2c, websocket", "websocket, h2c"]) {
        const answer = yield* Harness.raw(port, get(`Connection: Upgrade\r\nUpgrade: ${upgrade}\r\n`) + get(""))
        assert.deepStrictEqual(answer.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 200"], upgrade)
        assert.match(answer, /\r\nconnection: close\r\n/i)
      }
    })
  )

  it.effect.each([
    [
      "HTTP/2 in clear text",
      "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAA\r\n"
    ],
    ["TLS", "Connection: upgrade\r\nUpgrade: TLS/1.2\r\n"],
    // As proxies send it whose settings say so of every connection.
    ["nothing", "Connection: upgrade\r\n"],
    ["another protocol that is none for this connection", "Upgrade: websocket\r\n"]
  ])("an offer of %s is passed over, and the connection stays for the next request", ([, offer]) =>
    Effect.gen(function* () {
      const { port } = yield* Harness.entrance
      const answer = yield* Harness.raw(port, `GET /health/live HTTP/1.1\r\nHost: a\r\n${offer}\r\n`, 1)
      assert.match(answer, /^HTTP\/1\.1 200/)
      assert.match(answer, /\r\nconnection: keep-alive\r\n/i)
    })
  )

  it.effect("other versions, other transfer codings than chunked, and any in HTTP/1.0 are INVALID_REQUEST", () =>
    Effect.gen(function* () {
      const chunked = "2\r\n{}\r\n0\r\n\r\n"
      for (const [head, body] of [
        ["GET /v1/wallets HTTP/2.0", "\r\n"],
        ["GET /v1/wallets", "\r\n"],
        ["POST /v1/wallets HTTP/1.1", `${json}Transfer-Encoding: gzip, chunked\r\n\r\n${chunked}`],
        ["POST /x402/nothing HTTP/1.1", `${json}Transfer-Encoding: gzip, chunked\r\n\r\n${chunked}`],
        ["POST /x402/nothing HTTP/1.1", `${json}Transfer-Encoding: xchunked\r\n\r\n${chunked}`],
        ["POST /v1/wallets HTTP/1.0", `${json}Transfer-Encoding: chunked\r\n\r\n${chunked}`],
        ["POST /x402/nothing HTTP/1.0", `${json}Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`]
      ] as const) {
        const text = yield* raw(head, body)
        assert.deepStrictEqual(code(text), ["400", "INVALID_REQUEST"], head + body)
        assert.lengthOf(text.match(/HTTP\/1\.1 \d/g) ?? [], 1, "one request has one answer")
      }
      const plain = `${json}Transfer-Encoding: Chunked\r\n\r\n${chunked}`
      assert.deepStrictEqual(code(yield* raw("POST /v1/wallets HTTP/1.1", plain)), ["201", undefined])
    })
  )

  it.effect("an address in place of the path is that path, with everything that is refused there", () =>
    Effect.gen(function* () {
      const { base } = yield* Harness.entrance
      for (const authority of ["http://a", "HTTP://A", "https://a", base]) {
        for (const [path, found] of [
          ["/v1/wallets?limit=1", ["200", undefined]],
          ["/v1/wallets?limit=1;a", ["400", "INVALID_REQUEST"]],
          ["//v1/wallets", ["404", "NOT_FOUND"]],
          ["/v1//wallets", ["404", "NOT_FOUND"]],
          ["/v1/wallets#a", ["404", "NOT_FOUND"]],
          ["/x402/a/../b", ["400", "AMBIGUOUS_PATH"]],
          ["/x402/nothing", ["404", "NOT_FOUND"]]
        ] as const) {
          assert.deepStrictEqual(code(yield* raw(`GET ${path} HTTP/1.1`, "\r\n")), [...found], path)
          const target = authority + path
          assert.deepStrictEqual(code(yield* raw(`GET ${target} HTTP/1.1`, "\r\n")), [...found], target)
        }
      }
      const post = `${json}Content-Length: 2\r\n\r\n{}`
      assert.deepStrictEqual(code(yield* raw(`POST ${base}/v1/wallets HTTP/1.1`, post)), ["201", undefined])
    })
  )

  it.effect("an address of another host is INVALID_REQUEST, and so is one that says who asks", () =>
    Effect.gen(function* () {
      const { base, port } = yield* Harness.entrance
      const others = ["http://b", "http://a:1", "http://u@a", "http://a@b", "ftp://a", "http:/", "a", "http://a\\"]
      for (const other of [...others, base.replace("//", "//u:p@")]) {
        const text = yield* raw(`GET ${other}/v1/wallets HTTP/1.1`, "\r\n")
        assert.deepStrictEqual(code(text), ["400", "INVALID_REQUEST"], other)
      }
      // The address does not make up for a `Host` that is missing, or there twice.
      for (const host of ["", "Host: a\r\nHost: a\r\n"]) {
        const text = yield* Harness.raw(port, `GET ${base}/v1/context HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
        assert.deepStrictEqual(code(text), ["400", "INVALID_REQUEST"])
      }
    })
  )

  it.effect("the host of an address counts in place of Host", () =>
    Effect.gen(function* () {
      const { base } = yield* Harness.entrance
      const refresh = (target: string) =>
        raw(`POST ${target} HTTP/1.1`, `Origin: http://a\r\nCookie: ${refreshCookie}=x\r\nContent-Length: 0\r\n\r\n`)
      assert.deepStrictEqual(code(yield* refresh("/v1/sessions/refresh")), ["401", "INVALID_SESSION_TOKEN"])
      assert.deepStrictEqual(code(yield* refresh(`${base}/v1/sessions/refresh`)), ["403", "FORBIDDEN"])
    })
  )

  it.effect("a caller who leaves before there is an answer counts as 499", () =>
    Effect.gen(function* () {
      const { base } = yield* Harness.entrance
      const counted = Effect.gen(function* () {
        const { text } = yield* Harness.ask(`${base}/metrics`)
        return /requests_total\{(?=[^}]*method="GET")(?=[^}]*route="\/v1\/disputes")[^}]*status="(\d+)"/.exec(text)?.[1]
      })
      const leave = (socket: Socket) => {
        socket.destroy()
        return Effect.repeat(counted, {
          until: (status) => status !== undefined,
          schedule: Schedule.spaced("20 millis")
        })
      }
      assert.strictEqual(yield* asking(leave), "499")
    })
  )

  it.effect("an expectation that nobody knows is ignored", () =>
    Effect.gen(function* () {
      const text = yield* raw("POST /v1/wallets HTTP/1.1", `${json}Expect: 200-maybe\r\nContent-Length: 2\r\n\r\n{}`)
      assert.deepStrictEqual(code(text), ["201", undefined])
      assert.match(text, /^x-request-id: req_/m)
    })
  )

  it.effect("a type that is not JSON is UNSUPPORTED_MEDIA_TYPE of a body, and nothing where none follows", () =>
    Effect.gen(function* () {
      const types = ["application/x-www-form-urlencoded", "text/plain;charset=UTF-8", "multipart/form-data; boundary=x"]
      for (const type of types) {
        const header = `Content-Type: ${type}\r\n`
        for (const empty of ["\r\n", "Content-Length: 0\r\n\r\n"]) {
          assert.deepStrictEqual(code(yield* raw("POST /v1/wallets HTTP/1.1", header + empty)), ["201", undefined])
        }
        assert.deepStrictEqual(code(yield* raw("GET /v1/wallets HTTP/1.1", `${header}\r\n`)), ["200", undefined])
        const full = yield* raw("POST /v1/wallets HTTP/1.1", `${header}Content-Length: 3\r\n\r\na=b`)
        assert.deepStrictEqual(code(full), ["415", "UNSUPPORTED_MEDIA_TYPE"])
      }
    })
  )

  const nobodys = "POST /x402/nothing HTTP/1.1\r\nHost: a\r\n"

  it.effect("a refused request whose long body does not end is answered, and holds its connection no longer", () =>
    Effect.gen(function* () {
      const { port } = yield* Harness.entrance
      for (const length of ["Content-Length: 1000000000", "Transfer-Encoding: chunked"]) {
        const text = yield* Harness.raw(port, `${nobodys}${length}\r\n\r\n5\r\nhello`)
        assert.deepStrictEqual(code(text), ["404", "NOT_FOUND"])
        assert.match(text, /^connection: close\r$/im)
      }
    })
  )

  it.effect("a preflight whose body does not end is answered, and holds its connection no longer", () =>
    Effect.gen(function* () {
      const { port } = yield* Harness.entrance
      const preflight = "OPTIONS /v1/agents/any/connect HTTP/1.1\r\nHost: a\r\n"
      for (const endless of ["Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n", "Content-Length: 9\r\n\r\nx"]) {
        // Its end is waited for.
        assert.deepStrictEqual(code(yield* Harness.raw(port, preflight + endless)), ["204", undefined], endless)
      }
    })
  )

  it.effect("what is no HTTP behind a request ends the connection after its answer", () =>
    Effect.gen(function* () {
      const { port } = yield* Harness.entrance
      for (const target of ["GET /health/live", "OPTIONS /v1/agents/any/connect"]) {
        const text = yield* Harness.raw(port, `${target} HTTP/1.1\r\nHost: a\r\n\r\nhello\r\n\r\n`)
        assert.deepStrictEqual(text.match(/HTTP\/1\.1 \d/g), ["HTTP/1.1 2"], target)
      }
    })
  )

  it.effect("whoever sends no HTTP without end behind a request gets its answer, and leaves nothing with us", () =>
    Effect.gen(function* () {
      const { base } = yield* Harness.entrance
      const warnings: Array<string> = []
      const warned = ({ message }: Error) => warnings.push(message)
      yield* Effect.acquireRelease(
        Effect.sync(() => process.on("warning", warned)),
        () => Effect.sync(() => process.off("warning", warned))
      )
      const scope = yield* Effect.scope
      const babble = Effect.fnUntraced(function* (socket: Socket) {
        const answer = yield* Effect.forkIn(
          Effect.promise(() => text(socket)),
          scope
        )
        for (let piece = 0; piece < 20; piece++) {
          socket.write("hello\r\n\r\n")
          // It has come before the answer to somebody who asks later.
          yield* Harness.ask(`${base}/health/live`)
        }
        return answer
      })
      const answer = yield* Effect.flatMap(asking(babble), Fiber.join)
      assert.deepStrictEqual(answer.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 200"])
      assert.deepStrictEqual(warnings, [])
    }).pipe(Effect.scoped)
  )

  it.effect("a refused request with a short body leaves its connection to the next one", () =>
    Effect.gen(function* () {
      const { port } = yield* Harness.entrance
      const short = `${nobodys}Content-Length: 5\r\n\r\nhello`
      const text = yield* Harness.raw(port, short + short, 2)
      assert.lengthOf([...text.matchAll(/HTTP\/1\.1 404 /g)], 2)
      assert.notMatch(text, /^connection: close\r$/im)
    })
  )
})
