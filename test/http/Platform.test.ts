import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { described } from "./Description.ts"
import * as Harness from "./PlatformHarness.ts"
import { ask, bearer, entrance, raw } from "./PlatformHarness.ts"

const nobody = "01a1fdc6-1992-77b7-a573-70f61dfa0f38"

/** Checks that the answer is this refusal, complete, and returns its details. */
const refused = (answer: Harness.Answer, status: number, code: string) => {
  assert.deepStrictEqual([answer.status, answer.body["code"]], [status, code], answer.text)
  assert.strictEqual(answer.headers.get("content-type"), "application/problem+json")
  assert.strictEqual(answer.body["status"], status)
  assert.strictEqual(answer.body["request_id"], answer.headers.get("x-request-id"))
  assert.match(String(answer.body["type"]), new RegExp(`^http://.*/docs/errors#${code}$`))
  assert.isString(answer.body["title"])
  assert.isString(answer.body["detail"])
  return answer.body.details
}

/** Status and code of an answer that came over a bare socket. */
const refusedRaw = (text: string) => [/^HTTP\/1\.1 (\d+)/.exec(text)?.[1], /"code":"([A-Z_]+)"/.exec(text)?.[1]]

layer(Harness.layer(), { excludeTestServices: true, timeout: "60 seconds" })("the HTTP edge", (it) => {
  const send = Effect.fnUntraced(function* (body: RequestInit["body"], headers: Record<string, string> = {}) {
    const { base, key } = yield* entered
    const init = { method: "POST", body: body ?? null, duplex: "half" as const }
    return yield* ask(`${base}/v1/wallets`, {
      ...init,
      headers: { "content-type": "application/json", ...bearer(key), ...headers }
    })
  })
  const get = Effect.fnUntraced(function* (path: string, init: RequestInit = {}) {
    const { base, key } = yield* entered
    return yield* ask(`${base}${path}`, { ...init, headers: { ...bearer(key), ...init.headers } })
  })
  let once: Effect.Success<typeof entrance> | undefined
  const entered = Effect.suspend(() =>
    once === undefined ? Effect.tap(entrance, (found) => Effect.sync(() => (once = found))) : Effect.succeed(once)
  )

  it.effect("an unknown path is NOT_FOUND, a wrong method METHOD_NOT_ALLOWED with Allow", () =>
    Effect.gen(function* () {
      refused(yield* get("/v1/nothing"), 404, "NOT_FOUND")
      const answer = yield* get("/v1/context", { method: "DELETE" })
      refused(answer, 405, "METHOD_NOT_ALLOWED")
      assert.strictEqual(answer.headers.get("allow"), "GET, HEAD, OPTIONS")
      assert.strictEqual((yield* get("/v1/context", { method: "HEAD" })).status, 200)
    })
  )

  const paths = [...new Set(described.map(({ path }) => path))]
  // `/v1/transfers/batch` beside `/v1/transfers/{id}`.
  const named = paths.filter((path) =>
    paths.some((other) => other !== path && new RegExp(`^${other.replaceAll(/\{\w+\}/g, "[^/{}]+")}$`).test(path))
  )
  for (const path of named) {
    it.effect(`${path} is named in full and takes its own methods only, as no id is its name`, () =>
      Effect.gen(function* () {
        const own = described.filter((one) => one.path === path).map(({ method }) => method)
        const allow = [...own, ...(own.includes("GET") ? ["HEAD"] : []), "OPTIONS"].sort().join(", ")
        for (const method of ["DELETE", "GET", "PATCH", "POST", "PUT"].filter((one) => !own.includes(one))) {
          for (const spelled of [path, `${path}/`]) {
            const answer = yield* get(spelled, { method })
            refused(answer, 405, "METHOD_NOT_ALLOWED")
            assert.strictEqual(answer.headers.get("allow"), allow)
          }
        }
        assert.strictEqual((yield* get(path, { method: "OPTIONS" })).headers.get("allow"), allow)
      })
    )
  }

  it.effect("TRACE is METHOD_NOT_ALLOWED everywhere", () =>
    Effect.gen(function* () {
      const { port } = yield* entered
      for (const path of ["/v1/context", "/nothing"]) {
        const text = yield* raw(port, `TRACE ${path} HTTP/1.1\r\nHost: a\r\n\r\n`, 1)
        assert.deepStrictEqual(refusedRaw(text), ["405", "METHOD_NOT_ALLOWED"])
        assert.match(text, /^allow: /m)
      }
    })
  )

  it.effect(
    "an absolute target, two Host headers and malformed HTTP are INVALID_REQUEST on a connection that closes",
    () =>
      Effect.gen(function* () {
        const { port } = yield* entered
        for (const head of [
          "GET http://evil.example/v1/context HTTP/1.1\r\nHost: a\r\n\r\n",
          "GET /v1/context HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
          "GET /v1/context HTTP/1.1\r\n\r\n",
          "GET /v1/context HTTP/1.1\r\nHost : a\r\n\r\n",
          "POST /v1/wallets HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}"
        ]) {
          const text = yield* raw(port, head)
          assert.deepStrictEqual(refusedRaw(text), ["400", "INVALID_REQUEST"], head)
          assert.match(text, /^connection: close\r$/im)
          assert.match(text, /^x-request-id: req_/m)
          assert.match(text, /^x-environment: test\r$/m)
        }
      })
  )

  it.effect("headers above 16 KB are HEADERS_TOO_LARGE", () =>
    Effect.gen(function* () {
      const { port } = yield* entered
      const text = yield* raw(port, `GET / HTTP/1.1\r\nHost: a\r\nx: ${"y".repeat(20_000)}\r\n\r\n`)
      assert.deepStrictEqual(refusedRaw(text), ["431", "HEADERS_TOO_LARGE"])
    })
  )

  it.effect("a body over 1 MiB is BODY_TOO_LARGE, announced or not, and exactly 1 MiB is read", () =>
    Effect.gen(function* () {
      const { port, key } = yield* entered
      refused(yield* send("x".repeat(1_048_577)), 413, "BODY_TOO_LARGE")
      const endless = new ReadableStream({
        pull: (controller) => controller.enqueue(new TextEncoder().encode("x".repeat(65_536)))
      })
      // The client may see the connection close under its upload before it reads the answer.
      const answer = yield* Effect.exit(Effect.timeout(send(endless), "5 seconds"))
      if (answer._tag === "Success") refused(answer.value, 413, "BODY_TOO_LARGE")
      const chunk = `${(1_048_577).toString(16)}\r\n${"x".repeat(1_048_577)}\r\n0\r\n\r\n`
      const head = `POST /v1/wallets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
      assert.deepStrictEqual(refusedRaw(yield* raw(port, head + chunk)), ["413", "BODY_TOO_LARGE"])
      refused(yield* send("x".repeat(1_048_576)), 400, "INVALID_REQUEST")
      // Whoever announces too much is told so before it sends any of it.
      const announced = head.replace("Transfer-Encoding: chunked", "Content-Length: 1048577")
      assert.deepStrictEqual(refusedRaw(yield* raw(port, announced, 1)), ["413", "BODY_TOO_LARGE"])
    })
  )

  it.effect("anything but plain UTF-8 JSON is UNSUPPORTED_MEDIA_TYPE", () =>
    Effect.gen(function* () {
      for (const type of ["text/plain", "application/json; charset=utf-16", "application/x-www-form-urlencoded", ""]) {
        refused(yield* send(new TextEncoder().encode("{}"), { "content-type": type }), 415, "UNSUPPORTED_MEDIA_TYPE")
      }
      refused(yield* send("{}", { "content-encoding": "gzip" }), 415, "UNSUPPORTED_MEDIA_TYPE")
      assert.strictEqual((yield* send("{}", { "content-type": "application/json; charset=UTF-8" })).status, 201)
      assert.strictEqual((yield* send("{}", { "content-encoding": "Identity" })).status, 201)
    })
  )

  it.effect("a body that is no JSON, too deep, not UTF-8 or unstorable is INVALID_REQUEST with the path", () =>
    Effect.gen(function* () {
      for (const body of ["{", " ", "{} trailing", "[".repeat(100_000)]) {
        refused(yield* send(body), 400, "INVALID_REQUEST")
      }
      for (const [body, message] of [
        [`[${"1,".repeat(20_000)}1]`, "has more than 20000 values"],
        [`${"[".repeat(65)}${"]".repeat(65)}`, "is nested deeper than 64 levels"]
      ] as const) {
        const details = refused(yield* send(body), 400, "INVALID_REQUEST")
        assert.deepStrictEqual(details["errors"] as unknown, [{ path: "", message }])
      }
      const notUtf8 = Buffer.from('{"name":"\xff"}', "latin1")
      assert.deepStrictEqual(refused(yield* send(notUtf8), 400, "INVALID_REQUEST")["errors"] as unknown, [
        { path: "", message: "is not UTF-8" }
      ])
      for (const bad of ["\\u0000", "\\ud800", "\\uDC00x"]) {
        const details = refused(yield* send(`{"metadata":{"note":"a${bad}"}}`), 400, "INVALID_REQUEST")
        assert.deepStrictEqual(Object(details["errors"])[0].path, "metadata.note")
      }
      for (const [body, path] of [
        ['{"name":"a","name":"b"}', "name"],
        ['{"metadata":{"a":"1","b":"\\"{:,","\\u0061":"2"}}', "metadata.a"],
        ['{"metadata":{"__proto__":"1","__proto__":"2"}}', "metadata.__proto__"],
        ['[[{"a":1}],{"b":[{"c":1,"d":2},{"c":1,"c":2}],"c":1}]', "1.b.1.c"]
      ] as const) {
        const details = refused(yield* send(body), 400, "INVALID_REQUEST")
        assert.deepStrictEqual(details["errors"] as unknown, [{ path, message: "must be given once" }])
      }
      // Backslashes and whole pairs are ordinary text.
      assert.strictEqual((yield* send('{"name":"\\\\u0000 \\ud83d\\ude00"}')).body["name"], "\\u0000 \u{1f600}")
    })
  )

  it.effect("every wrong and every unknown field is named at once", () =>
    Effect.gen(function* () {
      const details = refused(yield* send('{"currency":"DOGE","nope":1,"__proto__":2}'), 400, "INVALID_REQUEST")
      const paths = (details["errors"] as Array<{ path: string }>).map(({ path }) => path)
      assert.includeMembers(paths, ["currency", "nope", "__proto__"])
      const many = JSON.stringify(Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, 1])))
      assert.lengthOf(refused(yield* send(many), 400, "INVALID_REQUEST")["errors"] as Array<unknown>, 50)
    })
  )

  it.effect("a wrong amount has a code of its own", () =>
    Effect.gen(function* () {
      const fund = (amount: unknown) =>
        get(`/v1/wallets/${nobody}/fund`, {
          method: "POST",
          body: JSON.stringify({ amount, currency: "USDC" }),
          headers: { "content-type": "application/json" }
        })
      assert.strictEqual(refused(yield* fund("1e3"), 422, "INVALID_AMOUNT")["param"], "amount")
      refused(yield* fund("0"), 422, "AMOUNT_TOO_SMALL")
      refused(yield* fund("9223372036855"), 422, "AMOUNT_TOO_LARGE")
    })
  )

  it.effect("an id that cannot be one is NOT_FOUND, as an id of nobody's is", () =>
    Effect.gen(function* () {
      const missing = refused(yield* get(`/v1/wallets/${nobody}`), 404, "NOT_FOUND")
      for (const id of ["zzz", "wal_zzz", "%00", "%2e%2e", "a%2Fb", "%ff", "é", "x".repeat(5_000)]) {
        const details = refused(yield* get(`/v1/wallets/${id}`), 404, "NOT_FOUND")
        if (id === "zzz") assert.deepStrictEqual(Object.keys(details), Object.keys(missing))
      }
    })
  )

  it.effect("query parameters that do not decode are INVALID_REQUEST", () =>
    Effect.gen(function* () {
      for (const query of [
        "limit=0",
        "limit=201",
        "limit=1e9",
        "limit=abc",
        "limit=1&limit=2",
        "page=0",
        "status=%00"
      ]) {
        refused(yield* get(`/v1/wallets?${query}`), 400, "INVALID_REQUEST")
      }
    })
  )

  it.effect("without a good credential the answer is 401 with WWW-Authenticate, and never more", () =>
    Effect.gen(function* () {
      const { base, key, scannerKey } = yield* entered
      const as = (authorization?: string) =>
        ask(`${base}/v1/context`, authorization === undefined ? {} : { headers: { authorization } })
      const missing = yield* as()
      refused(missing, 401, "MISSING_AUTH_HEADER")
      assert.strictEqual(missing.headers.get("www-authenticate"), "Bearer")
      for (const header of ["Bearer", "Bearer ", "Basic YTpi", key, `Bearer ${key} ${key}`]) {
        refused(yield* as(header), 401, "MALFORMED_AUTH_HEADER")
      }
      const wrong = yield* as(`Bearer pk_test_${"0".repeat(32)}`)
      refused(wrong, 401, "INVALID_API_KEY")
      assert.match(wrong.headers.get("www-authenticate") ?? "", /^Bearer/)
      assert.strictEqual((yield* as(`Bearer ${"x".repeat(10_000)}`)).status, 401)
      refused(yield* as(`Bearer ${key.replace("pk_test_", "pk_live_")}`), 401, "ENVIRONMENT_MISMATCH")
      refused(yield* ask(`${base}/v1/context?api_key=${key}`), 401, "MISSING_AUTH_HEADER")
      assert.strictEqual((yield* as(`bearer ${key}`)).status, 200)
      assert.strictEqual((yield* as(`Bearer ${scannerKey}`)).status, 200)
      const scanner = { headers: { authorization: `Bearer ${scannerKey}` } }
      refused(yield* ask(`${base}/v1/accounts`, scanner), 403, "FORBIDDEN")
    })
  )

  it.effect("two Authorization headers are MALFORMED_AUTH_HEADER", () =>
    Effect.gen(function* () {
      const { port, key } = yield* entered
      const line = `Authorization: Bearer ${key}\r\n`
      const text = yield* raw(port, `GET /v1/context HTTP/1.1\r\nHost: a\r\n${line}${line}\r\n`, 1)
      assert.deepStrictEqual(refusedRaw(text), ["401", "MALFORMED_AUTH_HEADER"])
    })
  )

  it.effect("credentials are looked at before bodies, scopes before both", () =>
    Effect.gen(function* () {
      const { base, key } = yield* entered
      refused(yield* ask(`${base}/v1/wallets`, { method: "POST", body: "{" }), 401, "MISSING_AUTH_HEADER")
      const made = yield* ask(`${base}/v1/api-keys`, {
        method: "POST",
        headers: { "content-type": "application/json", ...bearer(key) },
        body: JSON.stringify({ name: "reader", scopes: ["wallets:read"] })
      })
      assert.strictEqual(made.status, 201, made.text)
      const answer = yield* send("{", bearer(String(made.body["key"])))
      assert.strictEqual(refused(answer, 403, "INSUFFICIENT_SCOPE")["required_scope"], "wallets:write")
    })
  )
})
