import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { toTypeId } from "#domain/Ids.ts"
import { Credentials } from "#services/Credentials.ts"
import { buyer, paidCall, seller, send, server, tenant, wallet } from "./GatewayHarness.ts"

const api = Effect.fnUntraced(function* () {
  const { key, principal } = yield* tenant
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
  const call = (method: string, path = "", body?: object | string) =>
    send(`/v1/x402/endpoints${path}`, { method, headers, ...(body === undefined ? {} : { body }) })
  return { call, principal, receiving: yield* wallet(principal) }
})

const weather = { name: "Weather", path: "/a", method: "GET", basePrice: 0.05, originUrl: "https://origin.example" }

layer(server, { timeout: "60 seconds", excludeTestServices: true })("the endpoints operations", (it) => {
  it.effect("create answers the bare record, the others wrap it in data", () =>
    Effect.gen(function* () {
      const { call, principal } = yield* api()
      const made = yield* call("POST", "", {
        ...weather,
        accountId: principal.account_id,
        currency: "USDC",
        network: "solana-devnet"
      })
      assert.strictEqual(made.status, 201, made.body)
      assert.deepStrictEqual([made.json.basePrice, made.json.totalCalls, made.json.totalRevenue], [0.05, 0, 0])
      assert.deepStrictEqual([made.json.tenantId, made.json.accountId], [principal.tenant_id, principal.account_id])
      assert.match(made.json.createdAt, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
      const { id } = made.json
      assert.deepStrictEqual((yield* call("GET", `/${id}`)).json, { data: made.json })
      assert.deepStrictEqual((yield* call("GET", `/${toTypeId("epd", id)}`)).json, { data: made.json })
      const changed = yield* call("PATCH", `/${id}`, {
        name: "Rain",
        volumeDiscounts: [{ threshold: 5, priceMultiplier: 0.9 }]
      })
      assert.deepStrictEqual([changed.status, changed.json.data.name], [200, "Rain"])
      const list = yield* call("GET")
      assert.deepStrictEqual(list.json, {
        data: [changed.json.data],
        pagination: { page: 1, limit: 50, total: 1, totalPages: 1 }
      })
      const gone = yield* call("DELETE", `/${id}`)
      assert.deepStrictEqual([gone.status, gone.body], [204, ""])
      assert.strictEqual((yield* call("GET", `/${id}`)).json.data.status, "disabled")
    })
  )

  const refused: ReadonlyArray<[string, object]> = [
    ["basePrice", { basePrice: 0.0001 }],
    ["basePrice", { basePrice: 0.00010001 }],
    ["basePrice", { basePrice: 999_999.000001 }],
    ["basePrice", { basePrice: "0.05" }],
    ["name", { name: "" }],
    ["name", { name: "x".repeat(256) }],
    ["description", { description: "x".repeat(1001) }],
    ["path", { path: "a" }],
    ["path", { path: "/a/../b" }],
    ["method", { method: "HEAD" }],
    ["timeoutMs", { timeoutMs: 99 }],
    ["timeoutMs", { timeoutMs: 120_001 }],
    [
      "volumeDiscounts",
      {
        volumeDiscounts: [
          { threshold: 1, priceMultiplier: 0.5 },
          { threshold: 1, priceMultiplier: 0.4 }
        ]
      }
    ],
    ["volumeDiscounts.0.priceMultiplier", { volumeDiscounts: [{ threshold: 1, priceMultiplier: 1.5 }] }],
    ["status", { status: "paused" }]
  ]
  it.effect("what does not fit is refused by the name of its field", () =>
    Effect.gen(function* () {
      const { call } = yield* api()
      for (const [path, part] of refused) {
        const { json, status } = yield* call("POST", "", { ...weather, ...part })
        assert.deepStrictEqual([status, json.code], [400, "INVALID_REQUEST"], JSON.stringify(part))
        assert.strictEqual(json.details.errors[0].path, path, JSON.stringify(json.details))
      }
      for (const basePrice of [0.000101, 999_999]) {
        assert.strictEqual((yield* call("POST", "", { ...weather, basePrice })).status, 201)
      }
    })
  )

  it.effect(
    "a price that JSON numbers would round is refused as any with more than six decimals, when it changes too",
    () =>
      Effect.gen(function* () {
        const { call } = yield* api()
        const made = yield* call("POST", "", weather)
        const priced = (price: string) => JSON.stringify({ ...weather, basePrice: "_" }).replace('"_"', price)
        const changed = (price: string) => call("PATCH", `/${made.json.id}`, `{"basePrice":${price}}`)
        for (const price of ["0.0500001", "0.050000000000000000001", "5.00000000000000000001e-2"]) {
          for (const { json, status } of [yield* call("POST", "", priced(price)), yield* changed(price)]) {
            assert.deepStrictEqual([status, json.code], [400, "INVALID_REQUEST"], price)
            assert.strictEqual(json.details.errors[0].path, "basePrice")
            assert.match(json.details.errors[0].message, /at most 6 decimals/)
          }
        }
        assert.deepStrictEqual((yield* call("GET", `/${made.json.id}`)).json.data, made.json)
        assert.strictEqual((yield* changed("0.06000000000000000000")).json.data.basePrice, 0.06)
      })
  )

  it.effect("what is forwarded to the origin is shown to who may change it, and its names to who may look", () =>
    Effect.gen(function* () {
      const { call, principal } = yield* api()
      const forwardHeaders = { Authorization: "Bearer only-ours", "x-key": "secret" }
      const { id } = (yield* call("POST", "", { ...weather, forwardHeaders })).json
      const { issue } = yield* Credentials
      const seenWith = Effect.fnUntraced(function* (scope: string) {
        const { key } = yield* issue({ tenant_id: principal.tenant_id, kind: "api_key", name: "k", scopes: [scope] })
        const read = (path: string) =>
          send(`/v1/x402/endpoints${path}`, { method: "GET", headers: { authorization: `Bearer ${key}` } })
        const [one, all] = [yield* read(`/${id}`), yield* read("")]
        assert.deepStrictEqual(all.json.data, [one.json.data])
        return one.json.data.forwardHeaders
      })
      for (const scope of ["*:*", "x402:*"]) assert.deepStrictEqual(yield* seenWith(scope), forwardHeaders, scope)
      const names = { Authorization: "[redacted]", "x-key": "[redacted]" }
      assert.deepStrictEqual(yield* seenWith("x402:read"), names)
    })
  )

  it.effect("its payments are listed newest first, page by page", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.end())
      const agent = yield* buyer(1_000_000n)
      const ids: Array<unknown> = []
      for (const _ of [1, 2, 3]) ids.unshift((yield* paidCall(agent, shop.path)).headers["x-payment-id"])
      const page = (query: string) =>
        send(`/v1/x402/endpoints/${shop.endpoint.id}/payments?${query}`, {
          headers: { authorization: `Bearer ${shop.key}` }
        })
      const first = yield* page("limit=2")
      const second = yield* page(`limit=2&cursor=${first.json.pagination.next_cursor}`)
      assert.deepStrictEqual(
        [...first.json.data, ...second.json.data].map(({ id }) => id),
        ids
      )
      assert.isNull(second.json.pagination.next_cursor)
      const [latest] = first.json.data
      assert.deepStrictEqual(
        [latest.status, latest.amount, latest.charged, latest.origin_status],
        ["captured", "0.01", "0.01", 200]
      )
      const stranger = yield* tenant
      const foreign = yield* send(`/v1/x402/endpoints/${shop.endpoint.id}/payments`, {
        headers: { authorization: `Bearer ${stranger.key}` }
      })
      assert.strictEqual(foreign.status, 404)
    })
  )

  it.effect("verify tells what a proof is worth", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.end())
      const agent = yield* buyer(1_000_000n)
      const headers = { authorization: `Bearer ${agent.key}` }
      const paid = yield* send("/v1/x402/pay", {
        method: "POST",
        headers,
        body: { url: shop.endpoint.gatewayUrl, from_wallet_id: toTypeId("wal", agent.purse) }
      })
      const verify = (proof: string) =>
        Effect.map(send("/v1/x402/verify", { method: "POST", headers, body: { proof } }), ({ json }) => json)
      assert.deepStrictEqual(yield* verify(paid.json.proof), {
        valid: true,
        reason: null,
        payment_id: paid.json.id,
        endpoint_id: shop.endpoint.id,
        status: "authorized",
        expires_at: paid.json.expires_at
      })
      yield* send(shop.path, { headers: { "x-payment-proof": paid.json.proof } })
      const used = yield* verify(paid.json.proof)
      assert.deepStrictEqual([used.valid, used.reason, used.status], [false, "proof_used", "captured"])
      assert.strictEqual((yield* verify("pp_x")).reason, "proof_unknown")
    })
  )
})
