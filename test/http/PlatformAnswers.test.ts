import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { globSync } from "node:fs"
import { join } from "node:path"
import * as Harness from "./PlatformHarness.ts"
import { ask, bearer, entrance } from "./PlatformHarness.ts"

/** What visitors may do as well; some of it only in the sandbox. */
const open =
  /\/v1\/(?:sandbox|sessions(?:\/refresh)?|agents\/\{id\}\/(?:challenge|authenticate|auth-keys\/rotate)|x402\/(?:discovery|facilitator)|scanner\/(?:badge|rubric|\w+\/\{id\}\/report))\//

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

const root = join(import.meta.dirname, "../..")

/** The code of every class that says which status it is refused with. */
const refusalCodes = async () => {
  const codes = new Set<string>()
  for (const file of globSync("{src/domain,src/api,src/http,services}/**/*.ts", { cwd: root })) {
    for (const found of Object.values(await import(join(root, file)))) {
      if (!Schema.isSchema(found) || !("identifier" in found)) continue
      if (found.ast.annotations?.["httpApiStatus"] !== undefined) codes.add(String(found.identifier))
    }
  }
  return codes
}

/** Whoever gets one of these makes something else of it: a reason, another try, a failed transfer. */
const unseen = ["AUTHORIZATION_REFUSED", "HOLD_NOT_OPEN", "SETTLEMENT_REFUSED", "SUPERSEDED"]

layer(Harness.layer(), { excludeTestServices: true, timeout: "60 seconds" })("every answer", (it) => {
  const get = Effect.fnUntraced(function* (path: string, init: RequestInit = {}) {
    const { base, key } = yield* entered
    return yield* ask(`${base}${path}`, { ...init, headers: { ...bearer(key), ...init.headers } })
  })
  let once: Effect.Success<typeof entrance> | undefined
  const entered = Effect.suspend(() =>
    once === undefined ? Effect.tap(entrance, (found) => Effect.sync(() => (once = found))) : Effect.succeed(once)
  )

  it.effect("a sane request id is echoed, any other is replaced", () =>
    Effect.gen(function* () {
      const sent = (id: string) =>
        Effect.map(get("/v1/context", { headers: { "x-request-id": id } }), ({ headers }) =>
          headers.get("x-request-id")
        )
      assert.strictEqual(yield* sent("order-17/a.b"), "order-17/a.b")
      assert.strictEqual(yield* sent("x".repeat(128)), "x".repeat(128))
      for (const id of ["x".repeat(129), "a b", "é", ""]) assert.match((yield* sent(id)) ?? "", /^req_[0-9a-z]{26}$/)
    })
  )

  it.effect(
    "every answer says its environment and forbids sniffing, storing and referring; none names the server",
    () =>
      Effect.gen(function* () {
        for (const path of ["/v1/context", "/nothing", "/health/live", "/openapi.json", "/docs/errors"]) {
          const { headers } = yield* get(path)
          assert.strictEqual(headers.get("x-environment"), "test", path)
          assert.strictEqual(headers.get("x-content-type-options"), "nosniff")
          // What is the same for everybody may be kept, and is asked for again.
          assert.strictEqual(headers.get("cache-control"), path === "/openapi.json" ? "no-cache" : "no-store")
          assert.strictEqual(headers.get("referrer-policy"), "no-referrer")
          assert.isNull(headers.get("strict-transport-security"))
          assert.isNull(headers.get("server"))
          assert.isNull(headers.get("x-powered-by"))
        }
      })
  )

  it.effect("a problem that quotes the caller's own request_id is as complete as any other", () =>
    Effect.gen(function* () {
      const body = JSON.stringify({ request_id: "mine" })
      const headers = { "content-type": "application/json" }
      refused(yield* get("/v1/wallets", { method: "POST", headers, body }), 400, "INVALID_REQUEST")
    })
  )

  it.effect("any origin may ask without credentials, and learns our headers", () =>
    Effect.gen(function* () {
      const { headers } = yield* get("/v1/context", { headers: { origin: "https://shop.example" } })
      assert.strictEqual(headers.get("access-control-allow-origin"), "*")
      assert.isNull(headers.get("access-control-allow-credentials"))
      assert.include(headers.get("access-control-expose-headers") ?? "", "x-request-id")
      const preflight = yield* get("/v1/wallets", { method: "OPTIONS", headers: { origin: "https://shop.example" } })
      assert.strictEqual(preflight.status, 204)
      assert.strictEqual(preflight.headers.get("access-control-allow-methods"), "GET, HEAD, OPTIONS, POST")
      // Every other header goes by the star, which browsers do not take for this one.
      const sent = (preflight.headers.get("access-control-allow-headers") ?? "").split(", ")
      assert.includeMembers(sent, ["authorization", "*"])
      refused(yield* get("/nothing", { method: "OPTIONS" }), 404, "NOT_FOUND")
    })
  )

  it.effect("probes answer, and metrics count requests by route", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* get("/health/live")).body, { status: "live" } as never)
      const ready = yield* get("/health/ready")
      assert.strictEqual(ready.status, 200, ready.text)
      const { text } = yield* ask(`${(yield* entered).base}/metrics`)
      assert.match(text, /turnpike_http_requests_total\{[^}]*route="\/v1\/context"[^}]*status="200"[^}]*\} \d+/)
      assert.match(text, /turnpike_http_request_duration_seconds_bucket/)
      for (const headers of [
        { "x-forwarded-for": "1.2.3.4" },
        { "x-forwarded-proto": "https" },
        { "x-real-ip": "1.2.3.4" },
        { forwarded: "for=1.2.3.4" },
        { via: "1.1 proxy" },
        { origin: "https://elsewhere.example" }
      ]) {
        refused(yield* ask(`${(yield* entered).base}/metrics`, { headers }), 401, "INVALID_API_KEY")
      }
    })
  )

  it.effect("the description covers every operation with summary, description and problems", () =>
    Effect.gen(function* () {
      const { body } = yield* get("/openapi.json")
      assert.strictEqual(body["openapi"], "3.1.0")
      const operations = Object.entries(Object(body["paths"])).flatMap(([path, item]) =>
        Object.entries(Object(item)).map(([method, operation]) => ({
          name: `${method} ${path}`,
          operation: Object(operation)
        }))
      )
      assert.isAbove(operations.length, 10)
      for (const { name, operation } of operations) {
        assert.isString(operation.summary, name)
        assert.isString(operation.description, name)
        if (!name.includes("/v1/") || open.test(`${name}/`)) continue
        // What is sold may be asked for without a credential; it answers with an offer.
        const isSold = operation.responses["402"]?.content["application/json"] !== undefined
        assert.deepStrictEqual(operation.security, [...(isSold ? [{}] : []), { bearer: [] }], name)
        assert.property(operation.responses["401"].content, "application/problem+json", name)
      }
      assert.notMatch(JSON.stringify(body), /Encoded"/)
    })
  )

  it.effect("each schema of the description has a name of its own: none is told from another by a number", () =>
    Effect.gen(function* () {
      const { body } = yield* get("/openapi.json")
      const names = Object.keys(Object(Object(body["components"])["schemas"]))
      assert.isAbove(names.length, 100)
      assert.deepStrictEqual(
        names.filter((name) => /_\d+$/.test(name)),
        []
      )
    })
  )

  it.effect("the reference and the catalogue run under their own policy, and every code has its anchor", () =>
    Effect.gen(function* () {
      const docs = yield* get("/docs")
      const policy = docs.headers.get("content-security-policy") ?? ""
      assert.match(policy, /script-src 'sha256-[^']+'; /)
      assert.include(policy, "frame-ancestors 'none'")
      const catalogue = yield* get("/docs/errors")
      const codes = yield* Effect.promise(refusalCodes)
      assert.isAbove(codes.size, 80)
      assert.deepStrictEqual(
        [...codes].filter((code) => !catalogue.text.includes(`<tr id="${code}">`)).sort(),
        [...unseen].sort()
      )
      assert.include(catalogue.headers.get("content-security-policy") ?? "", "script-src 'none'")
    })
  )
})
