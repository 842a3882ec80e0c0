import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId, fromTypeId, TenantId, toTypeId } from "#domain/Ids.ts"
import { Principal } from "#domain/Principal.ts"
import { Doctor } from "#services/Doctor.ts"
import { newUuid } from "#services/NewId.ts"
import { callersOf, callsWith } from "./Callers.ts"
import { type Answer, send, server, tenant } from "./GatewayHarness.ts"
import { callsOf, operator } from "./Operators.ts"

const told = ({ json, status }: Answer) => [status, json?.code]
const replayed = ({ headers }: Answer) => headers["idempotency-replayed"] === "true"

const grants = "/v1/scanner/credits/grants"

/** Every operation of the group, as somebody asks for it who may. */
const operations: ReadonlyArray<readonly [method: string, path: string, body?: object]> = [
  ["GET", "/v1/tenants"],
  ["POST", "/v1/tenants", { name: "Acme" }],
  ["POST", grants, { credits: 5 }],
  ["POST", "/v1/doctor"]
]

/** What administration changes: how many tenants there are, and how many movements of credits. */
const changes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`SELECT (SELECT count(*) FROM tenants) AS tenants, (SELECT count(*) FROM movements) AS movements`
})

/** A tenant that the operator made over HTTP, as its people see it. */
const customer = Effect.fnUntraced(function* (call: ReturnType<typeof callsWith>, name = "Acme") {
  const { json } = yield* call("POST", "/v1/tenants", { name })
  const principal = new Principal({
    tenant_id: TenantId.make(fromTypeId("ten", json.id)!),
    account_id: AccountId.make(fromTypeId("acc", json.account_id)!),
    environment: "sandbox",
    actor_type: "api_key",
    actor_id: "key",
    scopes: ["*:*"]
  })
  return { made: json, principal }
})

/** The credits that whoever calls so has. */
const balance = (call: ReturnType<typeof callsWith>) =>
  Effect.map(call("GET", "/v1/scanner/credits/balance"), ({ json }) => json.balance)

layer(server, { timeout: "60 seconds", excludeTestServices: true })("administration over HTTP", (it) => {
  it.effect(
    "is for owners of the first tenant: to every other credential all of it is closed, and nothing changes",
    () =>
      Effect.gen(function* () {
        const home = yield* operator
        const abroad = yield* tenant
        const callers = [
          ...(yield* callersOf(home.principal, home.key)).filter(({ name }) => name !== "owner"),
          ...(yield* callersOf(abroad.principal, abroad.key))
        ]
        assert.strictEqual(callers.length, 17)
        const before = yield* changes
        for (const { name, token } of callers) {
          for (const [method, path, body] of operations) {
            const { json, status } = yield* callsWith(token)(method, path, body)
            assert.deepStrictEqual([status, json.code], [403, "FORBIDDEN"], `${name} ${method} ${path}`)
          }
        }
        for (const [method, path, body] of operations) {
          const answer = yield* send(path, { method, ...(body && { body }) })
          assert.deepStrictEqual(told(answer), [401, "MISSING_AUTH_HEADER"], path)
        }
        assert.deepStrictEqual(yield* changes, before)
      })
  )

  it.effect("refuses who may not before it looks at what is asked for", () =>
    Effect.gen(function* () {
      yield* operator
      const stranger = yield* callsOf((yield* tenant).principal, "owner")
      assert.deepStrictEqual(told(yield* stranger.call("POST", grants, { credits: "many" })), [403, "FORBIDDEN"])
      assert.deepStrictEqual(told(yield* stranger.call("GET", "/v1/tenants?limit=x")), [403, "FORBIDDEN"])
    })
  )

  it.effect("is over for an owner as soon as the role is another one, also with the token that is out", () =>
    Effect.gen(function* () {
      const { call, principal } = yield* operator
      const second = yield* callsOf(principal, "owner")
      assert.strictEqual((yield* second.call("GET", "/v1/tenants")).status, 200)
      yield* call("PATCH", `/v1/users/${toTypeId("usr", second.id)}`, { role: "admin" })
      assert.deepStrictEqual(told(yield* second.call("GET", "/v1/tenants")), [403, "FORBIDDEN"])
    })
  )

  it.effect("makes a tenant that shares nothing, has no credits, and whose owner administers nothing", () =>
    Effect.gen(function* () {
      const home = yield* operator
      const answer = yield* home.call("POST", "/v1/tenants", { name: "Acme" })
      assert.strictEqual(answer.status, 201)
      assert.deepStrictEqual(Object.keys(answer.json), ["id", "name", "account_id", "created_at"])
      const { made, principal } = yield* customer(home.call)
      const owner = yield* callsOf(principal, "owner")
      const { json } = yield* owner.call("GET", "/v1/accounts")
      assert.deepStrictEqual(
        json.data.map(({ id, tenant_id }: Record<string, string>) => [id, tenant_id]),
        [[made.account_id, made.id]]
      )
      assert.strictEqual(yield* balance(owner.call), 0)
      for (const [method, path, body] of operations) {
        assert.deepStrictEqual(told(yield* owner.call(method, path, body)), [403, "FORBIDDEN"], path)
      }
    })
  )

  it.effect("makes a tenant once under a key", () =>
    Effect.gen(function* () {
      const { call } = yield* operator
      const key = { "idempotency-key": newUuid() }
      const [first, again] = yield* Effect.all(
        [call("POST", "/v1/tenants", { name: "Once" }, key), call("POST", "/v1/tenants", { name: "Once" }, key)],
        { concurrency: 2 }
      )
      assert.deepStrictEqual([first.status, again.status, first.body], [201, 201, again.body])
      assert.strictEqual([first, again].filter(replayed).length, 1)
      const other = yield* call("POST", "/v1/tenants", { name: "Twice" }, key)
      assert.deepStrictEqual(told(other), [409, "IDEMPOTENCY_KEY_REUSED"])
    })
  )

  it.effect("takes a name of 1 to 255 characters for a tenant, and nothing else", () =>
    Effect.gen(function* () {
      const { call } = yield* operator
      const before = yield* changes
      for (const body of [{}, { name: " " }, { name: "x".repeat(256) }, { name: "a", id: newUuid() }]) {
        assert.deepStrictEqual(told(yield* call("POST", "/v1/tenants", body)), [400, "INVALID_REQUEST"])
      }
      assert.deepStrictEqual(yield* changes, before)
    })
  )

  it.effect("lists all tenants in pages, oldest first, and the first is the operator's", () =>
    Effect.gen(function* () {
      const { call, principal } = yield* operator
      const { made } = yield* customer(call)
      const { json } = yield* call("GET", "/v1/tenants?limit=1")
      assert.deepStrictEqual(
        [json.data.length, json.data[0].id, json.data[0].account_id],
        [1, toTypeId("ten", principal.tenant_id), toTypeId("acc", principal.account_id)]
      )
      const { pagination } = json
      assert.deepStrictEqual(pagination, { page: 1, limit: 1, total: pagination.total, totalPages: pagination.total })
      const last = yield* call("GET", `/v1/tenants?limit=1&page=${pagination.total}`)
      assert.deepStrictEqual(last.json.data, [made])
    })
  )

  it.effect("gives credits to the tenant that is named in either spelling, or to the operator's own", () =>
    Effect.gen(function* () {
      const home = yield* operator
      const { made, principal } = yield* customer(home.call)
      const owner = yield* callsOf(principal, "owner")
      const before = yield* balance(home.call)
      const given = yield* home.call("POST", grants, { tenant_id: made.id, credits: 25 })
      assert.strictEqual(given.status, 201)
      const { created_at } = given.json
      assert.deepStrictEqual(given.json, { tenant_id: made.id, credits: 25, balance: 25, created_at })
      const more = yield* home.call("POST", grants, { tenant_id: principal.tenant_id, credits: 5 })
      assert.strictEqual(more.json.balance, 30)
      assert.deepStrictEqual([yield* balance(owner.call), yield* balance(home.call)], [30, before])
      const { json } = yield* owner.call("GET", "/v1/scanner/credits/ledger")
      assert.deepStrictEqual(
        json.data.map(({ delta, reason }: Record<string, unknown>) => [reason, delta]),
        [
          ["grant", 5],
          ["grant", 25]
        ]
      )
      const own = yield* home.call("POST", grants, { credits: 7 })
      assert.deepStrictEqual(
        [own.json.tenant_id, own.json.balance],
        [toTypeId("ten", home.principal.tenant_id), before + 7]
      )
    })
  )

  it.effect("gives credits once under a key, however many ask for it at once, and the books are in order", () =>
    Effect.gen(function* () {
      const { call } = yield* operator
      const { made, principal } = yield* customer(call)
      const key = newUuid()
      const order = { tenant_id: made.id, credits: 25 }
      const asked = Array.from({ length: 20 }, () => call("POST", grants, order, { "idempotency-key": key }))
      const answers = yield* Effect.all(asked, { concurrency: 20 })
      const inBody = yield* call("POST", grants, {
        tenant_id: principal.tenant_id,
        credits: 25,
        idempotency_key: key
      })
      const bodies = [...answers, inBody].map(({ body, status }) => `${status} ${body}`)
      assert.deepStrictEqual([...new Set(bodies)], [`201 ${answers[0]?.body}`])
      assert.strictEqual([...answers, inBody].filter((answer) => !replayed(answer)).length, 1)
      const other = yield* call("POST", grants, { ...order, credits: 26 }, { "idempotency-key": key })
      assert.deepStrictEqual(told(other), [409, "IDEMPOTENCY_KEY_REUSED"])
      const without = yield* call("POST", grants, order)
      assert.deepStrictEqual([without.json.balance, replayed(without)], [50, false])
      const findings = yield* (yield* Doctor).examine
      assert.deepStrictEqual(
        findings.filter(({ broken }) => broken.length > 0),
        []
      )
    })
  )

  it.effect("refuses credits for a tenant that there is not, and what is no whole number above zero", () =>
    Effect.gen(function* () {
      const { call } = yield* operator
      const before = yield* changes
      const nobody = yield* call("POST", grants, { tenant_id: newUuid(), credits: 1 })
      assert.deepStrictEqual(told(nobody), [404, "NOT_FOUND"])
      for (const credits of [0, -1, 1.5, 1e12, "5", null]) {
        assert.deepStrictEqual(told(yield* call("POST", grants, { credits })), [400, "INVALID_REQUEST"], `${credits}`)
      }
      assert.deepStrictEqual(told(yield* call("POST", grants, { tenant_id: "acme", credits: 1 })), [
        400,
        "INVALID_REQUEST"
      ])
      assert.deepStrictEqual(yield* changes, before)
    })
  )

  // The last one: it leaves the ledger next to nothing to give.
  it.effect("gives no more than the ledger holds", () =>
    Effect.gen(function* () {
      const { call } = yield* operator
      const { made } = yield* customer(call)
      const most = { tenant_id: made.id, credits: 999_999_999_999 }
      for (let given = 1; given <= 9; given++) {
        assert.strictEqual((yield* call("POST", grants, most)).json.balance, given * most.credits)
      }
      const refused = yield* call("POST", grants, most)
      assert.deepStrictEqual(told(refused), [422, "AMOUNT_TOO_LARGE"])
      const rest = { ...most, credits: Number(refused.json.details.maximum) }
      assert.strictEqual((yield* call("POST", grants, rest)).json.balance, 9 * most.credits + rest.credits)
    })
  )
})
