import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { toTypeId } from "#domain/Ids.ts"
import type { Role } from "#domain/Principal.ts"
import { Bootstrap } from "#services/Bootstrap.ts"
import { Credentials } from "#services/Credentials.ts"
import { newUuid } from "#services/NewId.ts"
import { type Answer, send, server, tenant } from "./GatewayHarness.ts"
import { login, password, person } from "./People.ts"

const told = ({ json, status }: Answer) => [status, json?.code]
const fresh = () => `${newUuid()}@acme.example`

type Method = "GET" | "POST" | "PATCH" | "DELETE"

/** A tenant, and how its key and its people call. */
const company = Effect.gen(function* () {
  const { key, principal } = yield* tenant
  const with_ = (authorization: string) => (method: Method, path: string, body?: object) =>
    send(path, { method, headers: { authorization }, ...(body === undefined ? {} : { body }) })
  const as = Effect.fnUntraced(function* (role: Role) {
    const { email, id } = yield* person(principal, role)
    const { authorization } = (yield* login(email)).bearer
    return { email, id: toTypeId("usr", id), call: with_(authorization) }
  })
  return { principal, as, with_, call: with_(`Bearer ${key}`) }
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })("users over HTTP", (it) => {
  it.effect("a user is made, listed, changed and removed, and the password is shown nowhere", () =>
    Effect.gen(function* () {
      const { call } = yield* company
      const email = `Ada.${fresh()}`
      const made = yield* call("POST", "/v1/users", { email, role: "member", password })
      assert.strictEqual(made.status, 201)
      assert.deepStrictEqual(made.json, { ...made.json, email: email.toLowerCase(), role: "member" })
      assert.match(made.json.id, /^usr_/)
      assert.deepStrictEqual((yield* call("GET", "/v1/users")).json.data, [made.json])
      const path = `/v1/users/${made.json.id}`
      const changed = yield* call("PATCH", path, { role: "viewer", password: "another password" })
      assert.deepStrictEqual(changed.json, { ...made.json, role: "viewer" })
      for (const { body } of [made, changed]) assert.notMatch(body, /password|scrypt/)
      const body = { email, password: "another password" }
      assert.strictEqual((yield* send("/v1/sessions", { method: "POST", body })).status, 201)
      assert.strictEqual((yield* call("DELETE", path)).status, 204)
      assert.deepStrictEqual(told(yield* call("DELETE", path)), [404, "NOT_FOUND"])
      assert.strictEqual((yield* send("/v1/sessions", { method: "POST", body })).status, 401)
    })
  )

  it.effect("owners and admins manage users; members, viewers and lesser keys do not even look", () =>
    Effect.gen(function* () {
      const { as, principal, with_ } = yield* company
      const target = yield* as("viewer")
      const another = (role: Role) => ({ email: fresh(), role, password })
      const owner = yield* as("owner")
      const admin = yield* as("admin")
      assert.strictEqual((yield* owner.call("POST", "/v1/users", another("owner"))).status, 201)
      assert.strictEqual((yield* admin.call("POST", "/v1/users", another("admin"))).status, 201)
      assert.deepStrictEqual(told(yield* admin.call("POST", "/v1/users", another("owner"))), [403, "FORBIDDEN"])
      assert.deepStrictEqual(told(yield* admin.call("PATCH", `/v1/users/${owner.id}`, { password })), [
        403,
        "FORBIDDEN"
      ])
      const scopes = ["accounts:*", "api_keys:*", "wallets:*"]
      const { key } = yield* (yield* Credentials).issue({
        tenant_id: principal.tenant_id,
        kind: "api_key",
        name: "k",
        scopes
      })
      for (const call of [(yield* as("member")).call, target.call, with_(`Bearer ${key}`)]) {
        const answers = [
          yield* call("GET", "/v1/users"),
          yield* call("POST", "/v1/users", another("viewer")),
          yield* call("PATCH", `/v1/users/${target.id}`, { role: "owner" }),
          yield* call("DELETE", `/v1/users/${target.id}`)
        ]
        for (const { json, status } of answers) {
          assert.deepStrictEqual(
            [status, json.code, json.details],
            [403, "INSUFFICIENT_SCOPE", { required_scope: "*:*" }]
          )
        }
      }
    })
  )

  it.effect("users of every role change their own password, knowing it, and log in again", () =>
    Effect.gen(function* () {
      const { as, call } = yield* company
      const { call: mine, email } = yield* as("viewer")
      const other = (yield* login(email)).bearer
      const change = (current_password: string) => ({ current_password, password: "a better battery staple" })
      const path = "/v1/users/me/password"
      assert.deepStrictEqual(told(yield* mine("POST", path, change("wrong"))), [403, "FORBIDDEN"])
      assert.deepStrictEqual(told(yield* call("POST", path, change(password))), [403, "FORBIDDEN"])
      assert.strictEqual((yield* mine("POST", path, change(password))).status, 204)
      assert.deepStrictEqual(told(yield* mine("GET", "/v1/context")), [401, "INVALID_JWT"])
      assert.deepStrictEqual(told(yield* send("/v1/context", { headers: other })), [401, "INVALID_JWT"])
      const again = (password: string) => send("/v1/sessions", { method: "POST", body: { email, password } })
      assert.strictEqual((yield* again(password)).status, 401)
      assert.strictEqual((yield* again("a better battery staple")).status, 201)
    })
  )

  it.effect("nobody changes their own password without the current one, whatever their role", () =>
    Effect.gen(function* () {
      const { as } = yield* company
      const owner = yield* as("owner")
      const taken = yield* owner.call("PATCH", `/v1/users/${owner.id}`, { password: "a stolen token's password" })
      assert.deepStrictEqual(told(taken), [403, "FORBIDDEN"])
      yield* login(owner.email)
    })
  )

  it.effect("of two changes of one password at once one is made", () =>
    Effect.gen(function* () {
      const { as } = yield* company
      const { call } = yield* as("viewer")
      const passwords = Array.from({ length: 6 }, (_, index) => ({
        current_password: password,
        password: `password number ${index}`
      }))
      const answers = yield* Effect.all(
        passwords.map((body) => call("POST", "/v1/users/me/password", body)),
        { concurrency: 6 }
      )
      assert.strictEqual(answers.filter(({ status }) => status === 204).length, 1)
    })
  )

  it.effect("the last owner stays, and an address is taken once", () =>
    Effect.gen(function* () {
      const { as, call } = yield* company
      const owner = yield* as("owner")
      const path = `/v1/users/${owner.id}`
      assert.deepStrictEqual(told(yield* owner.call("DELETE", path)), [409, "LAST_OWNER"])
      assert.deepStrictEqual(told(yield* owner.call("PATCH", path, { role: "admin" })), [409, "LAST_OWNER"])
      const taken = { email: owner.email.toUpperCase(), role: "viewer", password }
      assert.deepStrictEqual(told(yield* call("POST", "/v1/users", taken)), [409, "EMAIL_TAKEN"])
    })
  )

  it.effect("what a role may do counts for the next call with the same token", () =>
    Effect.gen(function* () {
      const { as } = yield* company
      const [owner, user] = [yield* as("owner"), yield* as("viewer")]
      const make = user.call("POST", "/v1/accounts", { name: "an account" })
      assert.deepStrictEqual(told(yield* make), [403, "INSUFFICIENT_SCOPE"])
      yield* owner.call("PATCH", `/v1/users/${user.id}`, { role: "member" })
      assert.strictEqual((yield* make).status, 201)
      const key = { name: "k", scopes: ["accounts:read"] }
      assert.deepStrictEqual(told(yield* user.call("POST", "/v1/api-keys", key)), [403, "INSUFFICIENT_SCOPE"])
      assert.strictEqual((yield* owner.call("POST", "/v1/api-keys", key)).status, 201)
    })
  )

  it.effect("what does not decode is refused by name", () =>
    Effect.gen(function* () {
      const { call } = yield* company
      const good = { email: fresh(), role: "member", password }
      const bad: ReadonlyArray<readonly [object, string]> = [
        [{ ...good, email: "nobody" }, "email"],
        [{ ...good, email: "a@b@c" }, "email"],
        [{ ...good, email: "a b@c" }, "email"],
        [{ ...good, email: "ä@example.de" }, "email"],
        [{ ...good, email: `${"a".repeat(251)}@b.c` }, "email"],
        [{ ...good, role: "god" }, "role"],
        [{ ...good, password: "eleven char" }, "password"],
        [{ ...good, password: "x".repeat(201) }, "password"],
        [{ ...good, password: undefined }, "password"],
        [{ ...good, tenant_id: newUuid() }, "tenant_id"]
      ]
      for (const [body, wrong] of bad) {
        const { json, status } = yield* call("POST", "/v1/users", body)
        assert.deepStrictEqual([status, json.details.errors[0].path], [400, wrong])
      }
    })
  )
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })("keys and tokens made for others", (it) => {
  it.effect("a portal token shows one customer what its scopes say, and does nothing else", () =>
    Effect.gen(function* () {
      const { call, with_ } = yield* company
      const customer = (yield* call("POST", "/v1/accounts", { name: "A customer" })).json.id
      const order = { customer_reference: customer, scopes: ["transfers:read", "transfers:read"] }
      const made = yield* call("POST", "/v1/portal-tokens", order)
      assert.strictEqual(made.status, 201)
      const { token, warning, ...shown } = made.json
      assert.match(token, /^portal_test_[0-9A-Za-z]{32}$/)
      assert.match(warning, /not shown again/)
      assert.deepInclude(shown, { customer_reference: customer, scopes: ["transfers:read"] })
      assert.strictEqual(Date.parse(shown.expires_at) - Date.parse(shown.created_at) < 3_601_000, true)
      assert.isAtLeast(Date.parse(shown.expires_at), Date.parse(shown.created_at) + 3_599_000)
      const list = (query: string) => Effect.map(call("GET", `/v1/portal-tokens${query}`), ({ json }) => json.data)
      assert.deepStrictEqual(yield* list(`?customer_reference=${customer}`), [{ ...shown, revoked_at: null }])
      const portal = with_(`Bearer ${token}`)
      for (const path of ["/v1/users", "/v1/api-keys", "/v1/portal-tokens", "/v1/scanner/keys", "/v1/accounts"]) {
        assert.deepStrictEqual(told(yield* portal("GET", path)), [403, "FORBIDDEN"], path)
      }
      assert.deepStrictEqual(told(yield* portal("POST", "/v1/transfers", {})), [403, "FORBIDDEN"])
      assert.strictEqual((yield* call("DELETE", `/v1/portal-tokens/${shown.id}`)).status, 204)
      assert.deepStrictEqual(told(yield* portal("GET", "/v1/context")), [401, "INVALID_PORTAL_TOKEN"])
      assert.deepStrictEqual(yield* list(""), [])
      assert.strictEqual((yield* list("?include_revoked=true"))[0].id, shown.id)
      for (const bad of [{ scopes: [] }, { scopes: ["wallets:read"] }, { expires_in: 59 }, { expires_in: 86_401 }]) {
        assert.strictEqual((yield* call("POST", "/v1/portal-tokens", { ...order, ...bad })).status, 400)
      }
      const absent = { ...order, customer_reference: toTypeId("acc", newUuid()) }
      assert.deepStrictEqual(told(yield* call("POST", "/v1/portal-tokens", absent)), [404, "NOT_FOUND"])
    })
  )

  it.effect("a scanner key is made by whoever makes keys, listed apart from API keys, and revoked", () =>
    Effect.gen(function* () {
      const { as, call, with_ } = yield* company
      const order = { name: "nightly", scopes: ["scan", "read"] }
      const owner = yield* as("owner")
      const made = yield* owner.call("POST", "/v1/scanner/keys", order)
      assert.strictEqual(made.status, 201)
      const { key, warning, ...shown } = made.json
      assert.match(key, /^psk_test_[0-9A-Za-z]{32}$/)
      assert.deepStrictEqual((yield* call("GET", "/v1/scanner/keys")).json.data, [{ ...shown, revoked_at: null }])
      assert.strictEqual((yield* call("GET", "/v1/api-keys")).json.pagination.total, 1)
      const scanner = with_(`Bearer ${key}`)
      assert.deepStrictEqual(told(yield* scanner("GET", "/v1/scanner/keys")), [403, "FORBIDDEN"])
      assert.deepStrictEqual(told(yield* call("DELETE", `/v1/api-keys/${shown.id}`)), [404, "NOT_FOUND"])
      assert.strictEqual((yield* call("DELETE", `/v1/scanner/keys/${shown.id}`)).status, 204)
      assert.deepStrictEqual(told(yield* scanner("GET", "/v1/scanner/keys")), [401, "EXPIRED_API_KEY"])
      assert.deepStrictEqual(told(yield* call("DELETE", `/v1/scanner/keys/${shown.id}`)), [404, "NOT_FOUND"])
      for (const bad of [{ scopes: [] }, { scopes: ["*:*"] }, { name: " " }]) {
        assert.strictEqual((yield* call("POST", "/v1/scanner/keys", { ...order, ...bad })).status, 400)
      }
      const member = yield* as("member")
      assert.deepStrictEqual(told(yield* member.call("POST", "/v1/scanner/keys", order)), [403, "INSUFFICIENT_SCOPE"])
      assert.strictEqual((yield* member.call("GET", "/v1/scanner/keys")).status, 200)
    })
  )

  it.effect("a scanner key may do no more than whoever makes it", () =>
    Effect.gen(function* () {
      const { principal, with_ } = yield* company
      const credentials = yield* Credentials
      const making = Effect.fnUntraced(function* (held: ReadonlyArray<string>, scopes: ReadonlyArray<string>) {
        const maker = { tenant_id: principal.tenant_id, kind: "api_key", name: "maker", scopes: held } as const
        const { key } = yield* credentials.issue(maker)
        const made = yield* with_(`Bearer ${key}`)("POST", "/v1/scanner/keys", { name: "nightly", scopes })
        return [made.status, made.json.details?.required_scope]
      })
      for (const [held, scopes, missing] of [
        ["", ["read"], "scanner:read"],
        ["scanner:read", ["read", "scan"], "scanner:write"],
        ["scanner:read", ["batch"], "scanner:write"],
        ["scanner:read", ["tests"], "scanner:write"],
        ["scanner:write", ["scan", "read"], "scanner:read"],
        ["scanner:read", ["read"], undefined],
        ["scanner:write", ["scan", "batch", "tests"], undefined],
        ["scanner:*", ["scan", "batch", "read", "tests"], undefined]
      ] as const) {
        const expected = missing === undefined ? [201, undefined] : [403, missing]
        assert.deepStrictEqual(yield* making(["api_keys:write", held], scopes), expected, `${held} ${scopes}`)
      }
    })
  )
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })("the first start", (it) => {
  it.effect("the owner of the first tenant logs in with what was written down at the first start", () =>
    Effect.gen(function* () {
      const { issued, owner_email } = yield* (yield* Bootstrap).ensure
      const body = { email: owner_email, password: issued?.owner_password }
      const { json, status } = yield* send("/v1/sessions", { method: "POST", body })
      assert.deepStrictEqual([status, json.user.role], [201, "owner"])
    })
  )
})
