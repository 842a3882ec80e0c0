import { NodeHttpServer } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientRequest, HttpRouter } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { AccountsApi } from "#api/Accounts.ts"
import { Decoding } from "#api/Api.ts"
import { ApiKeysApi } from "#api/ApiKeys.ts"
import { ContextApi } from "#api/ContextApi.ts"
import { toTypeId } from "#domain/Ids.ts"
import * as AccountsHttp from "#http/Accounts.ts"
import * as ApiKeysHttp from "#http/ApiKeys.ts"
import * as AuthorizationHttp from "#http/Authorization.ts"
import * as ContextHttp from "#http/ContextApi.ts"
import * as DecodingHttp from "#http/Decoding.ts"
import { Patience } from "#http/Patience.ts"
import { RateLimiter } from "#http/RateLimiter.ts"
import * as BusMemory from "#layers/BusMemory.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Accounts } from "#services/Accounts.ts"
import { BoughtCalls } from "#services/BoughtCalls.ts"
import { Credentials } from "#services/Credentials.ts"
import { Deployment } from "#services/Deployment.ts"
import { IdempotencyKeys } from "#services/IdempotencyKeys.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"
import { Secrets } from "#services/Secrets.ts"
import { Tenants } from "#services/Tenants.ts"
import { UserSessions } from "#services/UserSessions.ts"
import { Wallets } from "#services/Wallets.ts"

/** This family of the contract alone, as the whole of it serves it. */
const Contract = HttpApi.make("turnpike")
  .add(ContextApi)
  .add(ApiKeysApi)
  .add(AccountsApi)
  .middleware(Decoding)
  .annotate(HttpApi.PayloadParseOptions, { errors: "all", onExcessProperty: "error" })

const Test = HttpRouter.serve(
  HttpApiBuilder.layer(Contract).pipe(
    Layer.provide(Layer.mergeAll(ContextHttp.layer, ApiKeysHttp.layer, AccountsHttp.layer)),
    Layer.provide(Layer.merge(AuthorizationHttp.layer, DecodingHttp.layer)),
    Layer.provide(Layer.merge(RateLimiter.layer, Patience.layer))
  ),
  { disableLogger: true, disableListenLog: true }
).pipe(
  Layer.provideMerge(NodeHttpServer.layerTest),
  Layer.provideMerge(
    Layer.mergeAll(
      Accounts.layer,
      BoughtCalls.layer,
      Credentials.layer,
      IdempotencyKeys.layer,
      UserSessions.layer,
      Tenants.layer,
      Wallets.layer
    )
  ),
  Layer.provideMerge(Layer.mergeAll(Ledger.layer, Secrets.layer, BusMemory.layer)),
  Layer.provideMerge(
    Layer.mergeAll(
      Postgres.layerTest,
      Layer.succeed(Deployment, {
        environment: "sandbox",
        publicUrl: "http://localhost:4020",
        scannerUrl: "http://localhost:4020"
      })
    )
  )
)

type Method = "GET" | "POST" | "DELETE"

/** A caller with a key of its own tenant, and how it calls. */
const caller = Effect.fn(function* (scopes: ReadonlyArray<string> = ["*:*"]) {
  const tenant = yield* (yield* Tenants).create({ name: "Acme" })
  const { id, key } = yield* (yield* Credentials).issue({
    tenant_id: tenant.id,
    kind: "api_key",
    name: "first",
    scopes
  })
  return { tenant, key, key_id: toTypeId("key", id), call: yield* callWith(`Bearer ${key}`) }
})

const callWith = Effect.fn(function* (authorization: string | undefined) {
  const client = yield* HttpClient.HttpClient
  return Effect.fnUntraced(function* (method: Method, path: string, body?: unknown) {
    let request = HttpClientRequest.make(method)(path)
    if (authorization !== undefined) request = HttpClientRequest.setHeader(request, "authorization", authorization)
    if (body !== undefined) request = HttpClientRequest.bodyJsonUnsafe(request, body)
    const response = yield* client.execute(request)
    const text = yield* response.text
    return { status: response.status, body: text === "" ? undefined : JSON.parse(text) }
  })
})

layer(Test, { timeout: "60 seconds" })("tenancy over HTTP", (it) => {
  it.effect("context shows who a key is", () =>
    Effect.gen(function* () {
      const { call, key_id, tenant } = yield* caller(["wallets:read"])
      assert.deepStrictEqual(yield* call("GET", "/v1/context"), {
        status: 200,
        body: {
          tenant_id: toTypeId("ten", tenant.id),
          environment: "test",
          actor_type: "api_key",
          actor_id: key_id,
          account_id: toTypeId("acc", tenant.account_id),
          scopes: ["wallets:read"],
          api_key_id: key_id,
          agent_id: null,
          wallet_id: null
        }
      })
    })
  )

  it.effect("every operation asks for a credential, and says what is wrong with it", () =>
    Effect.gen(function* () {
      const { key } = yield* caller()
      const refusals: ReadonlyArray<readonly [string | undefined, string]> = [
        [undefined, "MISSING_AUTH_HEADER"],
        ["Bearer", "MALFORMED_AUTH_HEADER"],
        [`Basic ${key}`, "MALFORMED_AUTH_HEADER"],
        [`Bearer ${"x".repeat(5_000)}`, "INVALID_API_KEY"],
        [`Bearer pk_test_${"0".repeat(32)}`, "INVALID_API_KEY"],
        [`Bearer ${key.replace("test", "live")}`, "ENVIRONMENT_MISMATCH"]
      ]
      const operations = [
        ["GET", "/v1/context"],
        ["POST", "/v1/api-keys"],
        ["GET", "/v1/accounts"]
      ] as const
      for (const [authorization, code] of refusals) {
        const call = yield* callWith(authorization)
        for (const [method, path] of operations) {
          const { body, status } = yield* call(method, path)
          assert.deepStrictEqual(
            [status, body.code],
            [401, code],
            `${method} ${path} with ${authorization?.slice(0, 20)}`
          )
        }
      }
      const lower = yield* callWith(`bearer ${key}`)
      assert.strictEqual((yield* lower("GET", "/v1/context")).status, 200)
      const inQuery = yield* callWith(undefined)
      assert.strictEqual((yield* inQuery("GET", `/v1/context?api_key=${key}`)).status, 401)
    })
  )

  it.effect("a key is made, shown once, listed without its secret, and revoked", () =>
    Effect.gen(function* () {
      const { call } = yield* caller()
      const made = yield* call("POST", "/v1/api-keys", { name: "ci", scopes: ["accounts:read"], environment: "test" })
      assert.strictEqual(made.status, 201)
      const { key, warning, ...shown } = made.body
      assert.match(key, /^pk_test_[0-9A-Za-z]{32}$/)
      assert.match(warning, /not shown again/)
      assert.deepStrictEqual(
        { ...shown, id: "", created_at: "" },
        {
          id: "",
          name: "ci",
          environment: "test",
          scopes: ["accounts:read"],
          prefix: "pk_test_",
          last_four: key.slice(-4),
          created_at: ""
        }
      )
      const list = yield* call("GET", "/v1/api-keys")
      assert.deepStrictEqual(list.body.data[0], { ...shown, revoked_at: null })
      assert.deepStrictEqual(list.body.pagination, { page: 1, limit: 50, total: 2, totalPages: 1 })
      assert.notInclude(JSON.stringify(list.body), key.slice(8))

      const withIt = yield* callWith(`Bearer ${key}`)
      assert.strictEqual((yield* withIt("GET", "/v1/accounts")).status, 200)
      assert.deepStrictEqual(yield* call("DELETE", `/v1/api-keys/${shown.id}`), { status: 204, body: undefined })
      const revoked = yield* withIt("GET", "/v1/accounts")
      assert.deepStrictEqual([revoked.status, revoked.body.code], [401, "EXPIRED_API_KEY"])
      const again = yield* call("DELETE", `/v1/api-keys/${shown.id}`)
      assert.deepStrictEqual([again.status, again.body.code], [404, "NOT_FOUND"])
    })
  )

  it.effect("a key acts within its scopes, and passes on no more than them", () =>
    Effect.gen(function* () {
      const { call } = yield* caller(["api_keys:write", "accounts:read"])
      const refused = [
        [yield* call("POST", "/v1/accounts", { name: "a" }), "accounts:write"],
        [yield* call("GET", "/v1/api-keys"), "api_keys:read"],
        [yield* call("POST", "/v1/api-keys", { name: "n", scopes: ["accounts:*"] }), "accounts:*"],
        [yield* call("POST", "/v1/api-keys", { name: "n", scopes: ["*:*"] }), "*:*"]
      ] as const
      for (const [{ body, status }, required_scope] of refused) {
        assert.deepStrictEqual([status, body.code, body.details], [403, "INSUFFICIENT_SCOPE", { required_scope }])
      }
      assert.strictEqual((yield* call("POST", "/v1/api-keys", { name: "n", scopes: ["accounts:read"] })).status, 201)
    })
  )

  it.effect("an account comes back as it was made", () =>
    Effect.gen(function* () {
      const { call, tenant } = yield* caller()
      const given = { name: "Ключ", type: "person", email: "a@b.example", country: "DE", metadata: { a: [1, null] } }
      const made = yield* call("POST", "/v1/accounts", given)
      assert.strictEqual(made.status, 201)
      assert.match(made.body.id, /^acc_[0-9a-hjkmnp-tv-z]{26}$/)
      assert.deepInclude(made.body, { ...given, tenant_id: toTypeId("ten", tenant.id), environment: "test" })
      assert.deepStrictEqual((yield* call("GET", `/v1/accounts/${made.body.id}`)).body, made.body)
      const { body } = yield* call("GET", "/v1/accounts?limit=1&page=2")
      assert.deepStrictEqual(
        body.data.map((one: { id: string }) => one.id),
        [toTypeId("acc", tenant.account_id)]
      )
      assert.deepStrictEqual(body.pagination, { page: 2, limit: 1, total: 2, totalPages: 2 })
      const asUuid = yield* call("GET", `/v1/accounts/${tenant.account_id.toUpperCase()}`)
      assert.strictEqual(asUuid.body.id, toTypeId("acc", tenant.account_id))
    })
  )

  it.effect("what does not decode is refused by name, and nothing can be assigned that is not asked for", () =>
    Effect.gen(function* () {
      const { call } = yield* caller()
      const bodies: ReadonlyArray<readonly [string, unknown, string]> = [
        ["/v1/accounts", {}, "name"],
        ["/v1/accounts", { name: "" }, "name"],
        ["/v1/accounts", { name: "a", country: "Germany" }, "country"],
        ["/v1/accounts", { name: "a", country: "ZZ" }, "country"],
        ["/v1/accounts", { name: "a", metadata: { a: "x".repeat(17_000) } }, "metadata"],
        ["/v1/accounts", { name: "a\u0000" }, "name"],
        ["/v1/accounts", { name: "a", tenant_id: "ten_01h455vb4pex5vsknk084sn02p" }, "tenant_id"],
        ["/v1/accounts", { name: "a", is_default: true }, "is_default"],
        ["/v1/accounts", { name: "a", id: "acc_01h455vb4pex5vsknk084sn02p" }, "id"],
        ["/v1/api-keys", { name: "a", scopes: ["everything"] }, "scopes.0"],
        ["/v1/api-keys", { name: "a", scopes: [] }, "scopes"],
        ["/v1/api-keys", { name: "a", scopes: ["*:*"], environment: "live" }, "environment"],
        ["/v1/api-keys", { name: "a", scopes: ["*:*"], hash: "00" }, "hash"]
      ]
      for (const [path, body, wrong] of bodies) {
        const refused = yield* call("POST", path, body)
        assert.deepStrictEqual([refused.status, refused.body.code], [400, "INVALID_REQUEST"], wrong)
        assert.include(
          refused.body.details.errors.map((error: { path: string }) => error.path),
          wrong
        )
      }
      for (const query of ["limit=0", "limit=201", "page=0", "limit=abc", "limit=1e9", "page=9223372036854775808"]) {
        assert.strictEqual((yield* call("GET", `/v1/accounts?${query}`)).status, 400, query)
      }
    })
  )

  it.effect("another tenant's things are not found, exactly as things that never were", () =>
    Effect.gen(function* () {
      const [mine, theirs] = [yield* caller(), yield* caller()]
      const { body } = yield* mine.call("POST", "/v1/accounts", { name: "secret" })
      const foreign = yield* theirs.call("GET", `/v1/accounts/${body.id}`)
      const absent = yield* theirs.call("GET", `/v1/accounts/${toTypeId("acc", newUuid())}`)
      assert.strictEqual(foreign.status, 404)
      const told = ({ body: { detail, details, ...body } }: typeof foreign) => [body, detail.replace(details.id, "")]
      assert.deepStrictEqual(told(foreign), told(absent))
      assert.strictEqual((yield* theirs.call("DELETE", `/v1/api-keys/${mine.key_id}`)).status, 404)
      assert.strictEqual((yield* mine.call("GET", "/v1/context")).status, 200)
      const lists = [yield* theirs.call("GET", "/v1/accounts"), yield* theirs.call("GET", "/v1/api-keys")]
      assert.deepStrictEqual(
        lists.map((list) => list.body.pagination.total),
        [1, 1]
      )
      for (const id of ["acc_", "nonsense", "%00", "..", mine.key_id, `acc_${"z".repeat(26)}`]) {
        assert.strictEqual((yield* theirs.call("GET", `/v1/accounts/${id}`)).status, 404, id)
      }
    })
  )
})
