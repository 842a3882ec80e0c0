import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import type { NewEndpoint } from "#domain/Endpoint.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { Wallets } from "#services/Wallets.ts"
import { send, server, tenant, wallet } from "./GatewayHarness.ts"
import * as Harness from "./PlatformHarness.ts"
import { ask } from "./PlatformHarness.ts"

const shop = Effect.gen(function* () {
  const { key, principal } = yield* tenant
  const till = yield* wallet(principal)
  const endpoints = yield* Endpoints
  const open = Effect.fnUntraced(function* (wanted: Partial<NewEndpoint> = {}) {
    const made = yield* endpoints.create(principal, {
      name: "Weather",
      path: "/inner/forecast",
      method: "GET",
      originUrl: "https://origin.example",
      ...wanted
    })
    // A new endpoint shows within seconds; a changed one at once.
    return yield* endpoints.update(principal, made.id, { description: wanted.description ?? null })
  })
  const change = (id: Parameters<typeof endpoints.update>[1], wanted: Parameters<typeof endpoints.update>[2]) =>
    endpoints.update(principal, id, wanted)
  return { key, principal, till, open, change }
})

/** Asks again until the answer is as it should be: an announcement takes a moment to arrive. */
const until = (path: string, holds: (body: string) => boolean) =>
  Effect.repeat(send(path), { until: ({ body }) => holds(body), schedule: Schedule.spaced("20 millis") })

const documents = [
  "/v1/x402/discovery?limit=100",
  "/v1/x402/facilitator/discovery/resources?limit=100",
  "/.well-known/x402",
  "/.well-known/x402.json",
  "/v1/x402/discovery/openapi.json"
]

layer(server, { timeout: "60 seconds", excludeTestServices: true })("discovery", (it) => {
  it.effect("lists what is active and has an origin, in every document, and nothing else", () =>
    Effect.gen(function* () {
      const { change, open } = yield* shop
      const paused = yield* open()
      const disabled = yield* open()
      const without = yield* open({ originUrl: null })
      const active = yield* open()
      yield* change(paused.id, { status: "paused" })
      yield* change(disabled.id, { status: "disabled" })
      for (const path of documents) {
        const { body, status } = yield* until(path, (text) => text.includes(active.id) && !text.includes(disabled.id))
        assert.strictEqual(status, 200)
        for (const { id } of [paused, without]) assert.notInclude(body, id, path)
      }
      yield* change(paused.id, { status: "active" })
      for (const path of documents) yield* until(path, (text) => text.includes(paused.id))
    })
  )

  it.effect("shows the price of an endpoint as soon as it was changed", () =>
    Effect.gen(function* () {
      const { change, open } = yield* shop
      const { id } = yield* open({ basePrice: 70_000n })
      const priceOf = (body: string) =>
        JSON.parse(body).items.find(({ resource }: { readonly resource: string }) => resource.endsWith(id))?.accepts[0]
          .amount
      yield* until("/v1/x402/discovery", (body) => priceOf(body) === "70000")
      yield* change(id, { basePrice: 80_000n })
      yield* until("/v1/x402/discovery", (body) => priceOf(body) === "80000")
    })
  )

  it.effect("says what a stranger needs, and nothing of the owner, the origin or the business", () =>
    Effect.gen(function* () {
      const { open, principal, till } = yield* shop
      const made = yield* open({
        name: "A name for the owner",
        description: "Forecasts for any place",
        forwardHeaders: { "x-origin-key": "a-key-of-the-origin" },
        webhookUrl: "https://hooks.example/in",
        volumeDiscounts: [{ threshold: 3, priceMultiplier: 0.123 }]
      })
      const list = yield* until("/v1/x402/discovery", (body) => body.includes(made.id))
      const item = list.json.items.find(({ resource }: { readonly resource: string }) => resource === made.gatewayUrl)
      assert.deepStrictEqual(item, {
        resource: made.gatewayUrl,
        type: "http",
        x402Version: 2,
        accepts: [
          {
            scheme: "exact",
            network: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
            amount: "10000",
            asset: made.assetAddress,
            payTo: made.paymentAddress,
            maxTimeoutSeconds: 300,
            extra: {}
          }
        ],
        lastUpdated: made.updatedAt.toISOString(),
        description: "Forecasts for any place",
        metadata: {
          description: "Forecasts for any place",
          methods: ["GET"],
          routeTemplate: `/x402/${made.id}`,
          price: "0.01",
          currency: "USDC",
          protocols: ["x402", "mpp"]
        }
      })
      const secret = [
        "A name for the owner",
        "origin.example",
        "/inner/",
        "a-key-of-the-origin",
        "hooks.example",
        "0.123",
        principal.tenant_id,
        principal.account_id,
        till
      ]
      for (const path of documents) {
        const { body } = yield* until(path, (text) => text.includes(made.id))
        for (const word of secret) assert.notInclude(body, word, path)
      }
    })
  )

  it.effect("shows every endpoint once, page by page, newest first, and says where the list goes on", () =>
    Effect.gen(function* () {
      const { open } = yield* shop
      const made: Array<string> = []
      for (let index = 0; index < 5; index++) made.unshift((yield* open({ name: `N${index}` })).gatewayUrl)
      yield* until("/v1/x402/discovery?limit=2", (body) => body.includes(made[0] ?? ""))
      const seen: Array<string> = []
      let next: string | undefined = "/v1/x402/discovery?limit=2"
      let total = 0
      while (next !== undefined) {
        const page: Effect.Success<ReturnType<typeof send>> = yield* send(next)
        seen.push(...page.json.items.map(({ resource }: { readonly resource: string }) => resource))
        total = page.json.pagination.total
        next = /^<([^>]+)>; rel="next"$/.exec(String(page.headers.link))?.[1]
      }
      assert.deepStrictEqual(seen.slice(0, 5), made)
      assert.strictEqual(new Set(seen).size, seen.length)
      assert.strictEqual(total, seen.length)
      const beyond = yield* send(`/v1/x402/discovery?offset=${total}`)
      assert.deepStrictEqual([beyond.status, beyond.json.items, beyond.headers.link], [200, [], undefined])
    })
  )

  it.effect("lets a page of another origin read where the list goes on", () =>
    Effect.gen(function* () {
      const { headers } = yield* send("/.well-known/x402", { headers: { origin: "https://market.example" } })
      assert.include(String(headers["access-control-expose-headers"]).split(", "), "link")
    })
  )

  it.effect("takes a type, a limit up to a thousand and an offset, and nothing that is none", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* send("/v1/x402/discovery?type=http&limit=1000&offset=1000000")).status, 200)
      assert.strictEqual((yield* send("/v1/x402/discovery")).json.pagination.limit, 20)
      for (const query of [
        "type=mcp",
        "limit=0",
        "limit=1001",
        "limit=x",
        "offset=-1",
        "offset=1000001",
        "offset=0.5"
      ]) {
        const refused = yield* send(`/v1/x402/discovery?${query}`)
        assert.deepStrictEqual([refused.status, refused.json.code], [400, "INVALID_REQUEST"], query)
      }
    })
  )

  it.effect("writes one line for each method and path; what takes any method is shown with GET and POST", () =>
    Effect.gen(function* () {
      const { open } = yield* shop
      const posted = yield* open({ method: "POST" })
      const any = yield* open({ method: "ANY", path: "/files/*" })
      const { json } = yield* until("/.well-known/x402", (body) => body.includes(any.id))
      assert.strictEqual(json.version, 1)
      const of = (id: string) => json.resources.filter((line: string) => line.includes(id))
      assert.deepStrictEqual(of(posted.id), [`POST /x402/${posted.id}`])
      assert.deepStrictEqual(of(any.id), [`GET /x402/${any.id}/*`, `POST /x402/${any.id}/*`])
    })
  )

  it.effect("describes paid operations in an OpenAPI document whose paths ask for that very price", () =>
    Effect.gen(function* () {
      const { open } = yield* shop
      const made = yield* open({ method: "POST", basePrice: 1_234_500n })
      const { json } = yield* until("/v1/x402/discovery/openapi.json", (body) => body.includes(made.id))
      assert.strictEqual(json.openapi, "3.1.0")
      assert.isArray(json["x-service-info"].categories)
      const path = `/x402/${made.id}`
      const info = json.paths[path].post["x-payment-info"]
      assert.deepStrictEqual(info.price, { mode: "fixed", amount: "1.2345", currency: "USDC" })
      const challenge = yield* send(path, { method: "POST" })
      assert.deepStrictEqual([challenge.status, challenge.json.price], [402, info.price.amount])
      assert.strictEqual(info.accepts[0].amount, challenge.json.accepts[0].maxAmountRequired)
      assert.isDefined(json.paths[path].post.responses["402"])
    })
  )

  it.effect("offers machine payments by the method of the network, unless the endpoint does not want them", () =>
    Effect.gen(function* () {
      const { open, principal } = yield* shop
      yield* (yield* Wallets).create(principal, { network: "base-sepolia" })
      const spoken = yield* open({ network: "base-sepolia", schemes: ["exact", "upto"] })
      const solana = yield* open({ network: "solana-devnet" })
      const silent = yield* open({ network: "base-sepolia", mpp: false })
      const { json } = yield* until("/v1/x402/discovery/openapi.json", (body) => body.includes(silent.id))
      const infoOf = (id: string) => json.paths[`/x402/${id}`].get["x-payment-info"]
      assert.deepStrictEqual(infoOf(spoken.id).protocols, ["x402", "mpp"])
      assert.deepStrictEqual(infoOf(spoken.id).offers, [
        { intent: "charge", method: "evm", amount: "10000", currency: spoken.assetAddress, description: "Weather" }
      ])
      assert.strictEqual(infoOf(solana.id).offers[0].method, "solana")
      assert.deepStrictEqual(
        infoOf(spoken.id).accepts.map(({ scheme }: { readonly scheme: string }) => scheme),
        ["exact", "upto"]
      )
      assert.deepStrictEqual([infoOf(silent.id).protocols, infoOf(silent.id).offers], [["x402"], undefined])
    })
  )

  it.effect(
    "begins where MPP looks first: the description of the API says how an endpoint is called, and what is sold",
    () =>
      Effect.gen(function* () {
        const { json } = yield* send("/openapi.json")
        const operations = Object.entries(Object(json.paths)).flatMap(([path, methods]) =>
          Object.entries(Object(methods)).map(([method, operation]) => ({
            name: `${method} ${path}`,
            ...Object(operation)
          }))
        )
        const asks = operations.filter(({ responses }) => responses["402"]?.content["application/json"] !== undefined)
        const [called, sold] = ["/x402/{endpointId}", "/v1/"].map((path) =>
          asks.filter(({ name }) => name.includes(path))
        )
        assert.deepStrictEqual(
          called?.map(({ name }) => name),
          ["get /x402/{endpointId}", "post /x402/{endpointId}"]
        )
        const paid = operations.filter((operation) => operation["x-payment-info"] !== undefined)
        assert.deepStrictEqual(paid, sold)
        assert.include(
          paid.map(({ name }) => name),
          "post /v1/scanner/scan"
        )
        for (const { "x-payment-info": info, name } of paid) {
          assert.deepStrictEqual(info.protocols, ["x402", "mpp"], name)
          assert.deepInclude(info.offers[0], { intent: "charge", method: "evm", amount: null }, name)
        }
        const { llms } = json["x-service-info"].docs
        const text = yield* send(new URL(llms).pathname)
        assert.deepStrictEqual([text.status, text.headers["content-type"]], [200, "text/plain"])
        assert.match(text.body, /^# Turnpike\n\n> /)
      })
  )

  it.effect("may be kept for seconds, and read from any page", () =>
    Effect.gen(function* () {
      for (const path of documents) {
        const { headers } = yield* send(path, { headers: { origin: "https://elsewhere.example" } })
        assert.match(headers["cache-control"] ?? "", /^public, max-age=\d$/)
        assert.strictEqual(headers["access-control-allow-origin"], "*")
      }
    })
  )
})

layer(Harness.layer({ TURNPIKE_RATE_LIMIT: "2" }), { excludeTestServices: true, timeout: "60 seconds" })(
  "discovery by strangers",
  (it) => {
    it.effect("is counted by address", () =>
      Effect.gen(function* () {
        const { base } = yield* Harness.entrance
        const statuses: Array<number> = []
        for (const path of documents.slice(0, 4)) statuses.push((yield* ask(base + path)).status)
        assert.deepStrictEqual(statuses, [200, 200, 429, 429])
      })
    )
  }
)
