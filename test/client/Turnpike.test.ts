import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { turnpike, TurnpikeError } from "#client/client.ts"
import { Deployment } from "#services/Deployment.ts"
import { server, tenant } from "../http/GatewayHarness.ts"
import { contract, tables } from "./Operations.ts"
import { between, json, stranger } from "./Strangers.ts"

const failure = (answer: Promise<unknown>): Promise<TurnpikeError> =>
  answer.then(
    () => assert.fail("expected a refusal"),
    (error) => error
  )

describe("the client's operations", () => {
  it("are those of the contract: `npm run generate:client` writes them", () => {
    const { present, wanted } = tables()
    assert.strictEqual(present, wanted)
  })

  it("call what the contract says, each under its group", async () => {
    const called: Array<string> = []
    const fetch = async (url: unknown, init?: RequestInit) => {
      called.push(`${init?.method} ${decodeURIComponent(String(url).slice("http://localhost".length))}`)
      return new Response("{}")
    }
    const api = Object(turnpike({ baseUrl: "http://localhost", fetch }))
    const names = ["id", "domain", "sessionId", "deliveryId"]
    const params = Object.fromEntries(names.map((name) => [name, `:${name}`]))
    for (const [group, operations] of Object.entries(contract())) {
      assert.hasAllKeys(
        api[group],
        operations.map(({ name }) => name)
      )
      for (const { kind, name, path } of operations) {
        await api[group][name]({ params })
        assert.strictEqual(called.pop(), `${kind.replace(/\+.*/, "")} ${path}`, `${group}.${name}`)
      }
    }
  })
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })("the typed client", (it) => {
  const client = Effect.gen(function* () {
    const { publicUrl: baseUrl } = yield* Deployment
    const { key } = yield* tenant
    return { baseUrl, key, api: turnpike({ baseUrl: `${baseUrl}/`, apiKey: key }) }
  })

  it.effect("calls operations by their names, and answers what the wire carries", () =>
    Effect.gen(function* () {
      const { api } = yield* client
      yield* Effect.promise(async () => {
        const { id } = await api.wallets.create({ payload: { name: "Purse", network: "base-sepolia" } })
        const { wallet } = await api.wallets.fund({ params: { id }, payload: { amount: "2.50", currency: "USDC" } })
        assert.strictEqual(wallet.balance_available, "2.50")
        const [first] = (await api.wallets.list({ query: { network: "base-sepolia", limit: 1 } })).data
        assert.strictEqual(first?.id, id)
        const { id: key } = await api.api_keys.create({ payload: { name: "Other", scopes: ["wallets:read"] } })
        assert.isUndefined(await api.api_keys.revoke({ params: { id: key } }))
        assert.deepStrictEqual(await api.system.live(), { status: "live" })
      })
    })
  )

  it.effect("answers as text what the contract says is no JSON", () =>
    Effect.gen(function* () {
      const { api, baseUrl } = yield* client
      const badge = yield* Effect.promise(() =>
        turnpike({ baseUrl }).badges.badge({ params: { domain: "a-shop.com" } })
      )
      assert.match(badge, /^<svg [\s\S]*not scanned/)
      const id = "019f0000-0000-7000-8000-000000000000"
      const absent = yield* Effect.promise(() => failure(api.scanner_reports.scan({ params: { id } })))
      assert.deepInclude(absent, { code: "NOT_FOUND", status: 404 })
    })
  )

  it.effect("throws a refusal with all that the API says about it", () =>
    Effect.gen(function* () {
      const { api, baseUrl } = yield* client
      const absent = yield* Effect.promise(() =>
        failure(api.wallets.get({ params: { id: "wal_00000000000000000000000000" } }))
      )
      assert.instanceOf(absent, TurnpikeError)
      assert.deepInclude(absent, { code: "NOT_FOUND", status: 404 })
      assert.match(absent.requestId ?? "", /^req_/)
      const wrong = yield* Effect.promise(() => failure(api.wallets.create({ payload: { name: "" } })))
      assert.strictEqual(wrong.code, "INVALID_REQUEST")
      assert.isNotEmpty(wrong.details["errors"])
      const stranger = yield* Effect.promise(() => failure(turnpike({ baseUrl }).wallets.list()))
      assert.deepInclude(stranger, { code: "MISSING_AUTH_HEADER", status: 401 })
    })
  )

  it.effect("moves money once, although the answer was lost", () =>
    Effect.gen(function* () {
      const { api, baseUrl, key } = yield* client
      const { id } = yield* Effect.promise(() => api.wallets.create({ payload: {} }))
      const proxy = yield* Effect.promise(() =>
        between(baseUrl, { after: (attempt) => attempt === 1 }, ({ url = "" }) => url.endsWith("/fund"))
      )
      const careful = turnpike({ baseUrl: proxy.url, apiKey: key, maxRetryDelayMs: 5 })
      const fund = { params: { id }, payload: { amount: "1.00", currency: "USDC" } } as const
      const { wallet } = yield* Effect.promise(() => careful.wallets.fund(fund))
      assert.strictEqual(wallet.balance_available, "1.00")
      assert.lengthOf(proxy.seen, 2)
      yield* Effect.promise(() => careful.wallets.fund(fund, { idempotencyKey: "mine" }))
      const again = yield* Effect.promise(() => careful.wallets.fund(fund, { idempotencyKey: "mine" }))
      assert.strictEqual(again.wallet.balance_available, "2.00")
    })
  )

  it.effect("reads lists to their end, by page and by cursor", () =>
    Effect.gen(function* () {
      const { api } = yield* client
      yield* Effect.promise(async () => {
        const ids: Array<string> = []
        for (let made = 0; made < 5; made++) ids.push((await api.wallets.create({ payload: {} })).id)
        const [id = ""] = ids
        for (const amount of ["1.00", "2.00", "3.00"]) {
          await api.wallets.fund({ params: { id }, payload: { amount, currency: "USDC" } })
        }
        const wallets: Array<string> = []
        for await (const wallet of api.wallets.list.all({ query: { limit: 2 } })) wallets.push(wallet.id)
        assert.deepStrictEqual(wallets, ids.reverse())
        const amounts: Array<string> = []
        for await (const { amount } of api.wallets.entries.all({ params: { id }, query: { limit: 2 } })) {
          amounts.push(amount)
        }
        assert.deepStrictEqual(amounts, ["3.00", "2.00", "1.00"])
      })
    })
  )
})

describe("a call of the API", () => {
  const wallet = { params: { id: "wal_1" } }
  const fund = { ...wallet, payload: { amount: "1.00", currency: "USDC" } } as const
  const quick = (url: string) => turnpike({ baseUrl: url, apiKey: "pk_test_secret", retries: 2, maxRetryDelayMs: 5 })
  const busy = (status: number) => stranger((_, response) => json(response, status, { code: "BUSY", title: "Busy" }))

  it("is repeated as often as agreed where that is safe, under one idempotency key", async () => {
    const server = await busy(503)
    assert.strictEqual((await failure(quick(server.url).wallets.get(wallet))).code, "BUSY")
    assert.lengthOf(server.seen, 3)
    await failure(quick(server.url).wallets.fund(fund))
    const keys = server.seen.slice(3).map(({ headers }) => headers["idempotency-key"])
    assert.lengthOf(keys, 3)
    assert.lengthOf(new Set(keys), 1)
    assert.match(String(keys[0]), /^[0-9a-f]{32}$/)
  })

  it("is not repeated where it might do twice what was meant once", async () => {
    const server = await busy(503)
    await failure(quick(server.url).api_keys.create({ payload: { name: "a", scopes: [] } }))
    await failure(quick(server.url).wallets.freeze({ ...wallet, payload: { reason: "lost" } }))
    assert.lengthOf(server.seen, 2)
  })

  it("that was one too many is repeated whatever it does, for it did nothing", async () => {
    const server = await stranger((_, response) =>
      json(response, 429, { code: "RATE_LIMIT_EXCEEDED" }, { "retry-after": "0" })
    )
    assert.strictEqual((await failure(quick(server.url).wallets.create({ payload: {} }))).retryAfter, 0)
    assert.lengthOf(server.seen, 3)
  })

  it("is not repeated before the server wants it, when that is later than the caller waits", async () => {
    const server = await stranger((_, response) => json(response, 503, { code: "BUSY" }, { "retry-after": "30" }))
    assert.strictEqual((await failure(quick(server.url).wallets.get(wallet))).retryAfter, 30)
    assert.lengthOf(server.seen, 1)
  })

  it("leaves the idempotency key to the caller who names one", async () => {
    const server = await busy(400)
    const api = quick(server.url)
    await failure(api.wallets.fund({ ...fund, headers: { "idempotency-key": "a" } }))
    await failure(api.wallets.fund({ ...fund, payload: { ...fund.payload, idempotency_key: "b" } }))
    await failure(api.wallets.fund(fund, { idempotencyKey: "c" }))
    assert.deepStrictEqual(
      server.seen.map(({ headers }) => headers["idempotency-key"]),
      ["a", undefined, "c"]
    )
  })

  it("ends when its time is over, and when the caller aborts it", async () => {
    const server = await stranger(() => undefined)
    assert.strictEqual(
      (await failure(quick(server.url).wallets.create({ payload: {} }, { timeoutMs: 20 }))).code,
      "TIMEOUT"
    )
    const controller = new AbortController()
    const call = quick(server.url).wallets.get(wallet, { signal: controller.signal })
    const reason = new Error("the user left")
    controller.abort(reason)
    assert.strictEqual(await call.catch((error) => error), reason)
  })

  it("ends in time, and when the caller aborts it, where several signals in one are forgotten as in Node 20", async () => {
    const server = await stranger((_, response) => response.writeHead(200).write("{"))
    const { any } = AbortSignal
    AbortSignal.any = () => new AbortController().signal
    try {
      const { get } = quick(server.url).wallets
      const { signal } = new AbortController()
      assert.strictEqual((await failure(get(wallet, { signal, timeoutMs: 20 }))).code, "TIMEOUT")
      const controller = new AbortController()
      const reason = new Error("the user left")
      setTimeout(() => controller.abort(reason), 20)
      assert.strictEqual(await get(wallet, controller).catch((error) => error), reason)
    } finally {
      AbortSignal.any = any
    }
  })

  it("says when nobody is there, and when the answer is none of ours", async () => {
    assert.strictEqual((await failure(quick("http://127.0.0.1:1").wallets.get(wallet))).code, "NETWORK_ERROR")
    const server = await stranger((_, response) => response.end("<html>"))
    assert.strictEqual((await failure(quick(server.url).wallets.get(wallet))).code, "INVALID_ANSWER")
  })

  it("is made by the `fetch` it is given, which as that of browsers may refuse to be a method of anything else", async () => {
    const server = await stranger((_, response) => json(response, 200, { status: "live" }))
    const strict = function (this: unknown, ...about: Parameters<typeof fetch>) {
      if (this !== undefined) throw new TypeError("Illegal invocation")
      return fetch(...about)
    }
    assert.deepStrictEqual(await turnpike({ baseUrl: server.url, fetch: strict }).system.live(), { status: "live" })
  })

  it("takes its key to no other address", async () => {
    const other = await stranger((_, response) => json(response, 200, {}))
    const server = await stranger((_, response) => response.writeHead(307, { location: other.url }).end())
    assert.strictEqual((await failure(quick(server.url).wallets.list())).code, "NETWORK_ERROR")
    assert.lengthOf(other.seen, 0)
  })

  it("cannot leave its path by the values it is given", async () => {
    const server = await busy(404)
    await failure(quick(server.url).wallets.get({ params: { id: "../accounts?x=1#" } }))
    assert.strictEqual(server.seen[0]?.path, "/v1/wallets/..%2Faccounts%3Fx%3D1%23")
    for (const id of ["..", ".", ""]) {
      assert.instanceOf(await failure(quick(server.url).wallets.get({ params: { id } })), TypeError)
    }
    assert.lengthOf(server.seen, 1)
  })
})
