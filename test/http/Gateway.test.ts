import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { toTypeId } from "#domain/Ids.ts"
import { SqlClient } from "effect/sql"
import { Endpoints } from "#services/Endpoints.ts"
import { balance, buyer, charged, pay, paidCall, seller, send, server, tenant } from "./GatewayHarness.ts"

const decoded = (header: unknown) => JSON.parse(Buffer.from(String(header), "base64").toString())

layer(server, { timeout: "60 seconds", excludeTestServices: true })("the gateway", (it) => {
  it.effect("a paid call: 402, pay, retry, 200, and the money has moved", () =>
    Effect.gen(function* () {
      const shop = yield* seller((request, response) => {
        response.setHeader("content-type", "application/json")
        response.end(JSON.stringify({ sunny: true, payer: request.headers["x-payment-payer"] }))
      })
      const agent = yield* buyer(1_000_000n)

      const challenge = yield* send(shop.path)
      assert.strictEqual(challenge.status, 402)
      const { payment_request_id } = challenge.json
      const paid = yield* pay(agent.key, { payment_request_id, from_wallet_id: agent.purse })
      assert.strictEqual(paid.status, 201, paid.body)
      assert.deepStrictEqual(yield* balance(agent.purse), { posted: 1_000_000n, held: 10_000n })

      const answer = yield* send(shop.path, { headers: { "x-payment-proof": paid.json.proof } })
      assert.strictEqual(answer.status, 200, answer.body)
      assert.deepStrictEqual(answer.json, { sunny: true, payer: toTypeId("wal", agent.purse) })
      assert.strictEqual(answer.headers["x-payment-id"], paid.json.id)
      assert.strictEqual(answer.headers["cache-control"], "private, no-store")
      assert.deepStrictEqual(decoded(answer.headers["payment-response"]), {
        success: true,
        transaction: paid.json.id,
        network: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
        payer: toTypeId("wal", agent.purse),
        amount: "10000"
      })
      assert.deepStrictEqual(yield* balance(agent.purse), { posted: 990_000n, held: 0n })
      assert.deepStrictEqual(yield* balance(shop.till), { posted: 10_000n, held: 0n })
      const record = yield* (yield* Endpoints).get(shop.principal, shop.endpoint.id)
      assert.deepStrictEqual([record.totalCalls, record.totalRevenue], [1n, 10_000n])
    })
  )

  it.effect("two 402 name two payment requests; paying one twice is one payment", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.end())
      const agent = yield* buyer(1_000_000n)
      const [first, second] = [yield* send(shop.path), yield* send(shop.path)]
      assert.notStrictEqual(first.json.payment_request_id, second.json.payment_request_id)
      const body = { payment_request_id: first.json.payment_request_id, from_wallet_id: agent.purse }
      const payments = yield* Effect.all(
        Array.from({ length: 10 }, () => pay(agent.key, body)),
        { concurrency: 10 }
      )
      assert.strictEqual(new Set(payments.map((one) => one.json.id)).size, 1)
      assert.strictEqual(new Set(payments.map((one) => one.json.expires_at)).size, 1)
      assert.strictEqual(payments.filter((one) => one.headers["idempotency-replayed"] === "true").length, 9)
      assert.deepStrictEqual(yield* balance(agent.purse), { posted: 1_000_000n, held: 10_000n })
    })
  )

  it.effect("the path and the query reach the origin as they were written", () =>
    Effect.gen(function* () {
      const shop = yield* seller((request, response) => response.end(request.url), { path: "/files/*", method: "ANY" })
      const agent = yield* buyer(1_000_000n)
      const path = `${shop.path}/a%20b;v=1/caf%C3%A9?q=%2F..//&q=2`
      const answer = yield* paidCall(agent, path)
      assert.strictEqual(answer.body, "/files/a%20b;v=1/caf%C3%A9?q=%2F..//&q=2")
    })
  )

  it.effect("a path that two readers could read differently is refused before anything else", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.end(), { path: "/files/*" })
      for (const rest of [
        "/a%2Fb",
        "/a%5Cb",
        "//a",
        "/../x",
        "/%2e%2e/x",
        "/%252Fa",
        "/%25%32%65%25%32%65/",
        "/a%00",
        "/..;/x",
        "/%ff",
        "/a\\b"
      ]) {
        const answer = yield* send(shop.path + rest)
        assert.strictEqual(answer.status, 400, rest)
        assert.strictEqual(answer.json.code, "AMBIGUOUS_PATH", rest)
        assert.strictEqual(answer.headers["content-type"], "application/problem+json")
      }
      assert.strictEqual(shop.backend.seen.length, 0)
    })
  )

  it.effect("what is not the endpoint's is not found; another method is refused; nobody is asked for money", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.end())
      const codeOf = (path: string, method = "GET") =>
        Effect.map(send(path, { method }), ({ headers, json, status }) => [status, json?.code, headers["allow"]])
      assert.deepStrictEqual(yield* codeOf(`${shop.path}/`), [404, "NOT_FOUND", undefined])
      assert.deepStrictEqual(yield* codeOf(`${shop.path}/more`), [404, "NOT_FOUND", undefined])
      const { details } = (yield* send(`${shop.path}/more`)).json
      assert.deepStrictEqual(details, { resource: "path", id: "/more" }, "the endpoint is there")
      assert.deepStrictEqual(yield* codeOf("/x402/nothing"), [404, "NOT_FOUND", undefined])
      assert.deepStrictEqual(yield* codeOf(`/x402/${shop.principal.tenant_id}`), [404, "NOT_FOUND", undefined])
      assert.deepStrictEqual(yield* codeOf(shop.path, "POST"), [405, "METHOD_NOT_ALLOWED", "GET, OPTIONS"])
      const typed = `/x402/${toTypeId("epd", shop.endpoint.id)}`
      assert.strictEqual((yield* send(typed)).status, 402)
    })
  )

  it.effect("a preflight may send payment headers, and costs nothing", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.end())
      const { headers, status } = yield* send(shop.path, {
        method: "OPTIONS",
        headers: { origin: "https://a.example", "access-control-request-headers": "x-api-version, a b, if-none-match" }
      })
      assert.strictEqual(status, 204)
      assert.match(String(headers["access-control-allow-headers"]), /, last-event-id, x-api-version, if-none-match$/)
      assert.include(String(headers["access-control-allow-headers"]), "x-payment-proof")
      assert.strictEqual(headers["access-control-allow-methods"], "GET, OPTIONS")
    })
  )

  it.effect("a preflight is let through where there is nothing, so that a page reads what its call is answered", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.end())
      yield* (yield* Endpoints).update(shop.principal, shop.endpoint.id, { status: "disabled" })
      const asking = { "access-control-request-method": "PUT", "access-control-request-headers": "x-payment-proof" }
      for (const path of [shop.path, "/x402/nothing", `/x402/${shop.principal.tenant_id}`, "/v1/nothing"]) {
        const asked = yield* send(path, { method: "OPTIONS", headers: asking })
        assert.strictEqual(asked.status, 204, path)
        assert.include(String(asked.headers["access-control-allow-headers"]), "x-payment-proof")
        assert.strictEqual((yield* send(path, { method: "OPTIONS" })).status, 404, path)
        assert.strictEqual((yield* send(path)).json.code, "NOT_FOUND", path)
      }
    })
  )

  it.effect("paused, disabled and unconfigured endpoints ask for nothing and charge nothing", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.end("ok"))
      const agent = yield* buyer(1_000_000n)
      const endpoints = yield* Endpoints
      const paid = yield* pay(agent.key, { url: shop.endpoint.gatewayUrl, from_wallet_id: agent.purse })
      const headers = { "x-payment-proof": paid.json.proof }
      yield* endpoints.update(shop.principal, shop.endpoint.id, { status: "paused" })
      const paused = yield* send(shop.path, { headers })
      assert.deepStrictEqual([paused.status, paused.json.code], [503, "ENDPOINT_PAUSED"])
      assert.strictEqual(paused.headers["retry-after"], "60")
      yield* endpoints.update(shop.principal, shop.endpoint.id, { status: "disabled" })
      assert.strictEqual((yield* send(shop.path, { headers })).status, 404)
      yield* endpoints.update(shop.principal, shop.endpoint.id, { status: "active", originUrl: null })
      const unconfigured = yield* send(shop.path)
      assert.deepStrictEqual([unconfigured.status, unconfigured.json.code], [503, "ORIGIN_NOT_CONFIGURED"])
      const refused = yield* pay(agent.key, { url: shop.endpoint.gatewayUrl, from_wallet_id: agent.purse })
      assert.deepStrictEqual([refused.status, refused.json.code], [503, "ORIGIN_NOT_CONFIGURED"])
      yield* endpoints.update(shop.principal, shop.endpoint.id, { originUrl: shop.backend.url })
      assert.strictEqual((yield* send(shop.path, { headers })).status, 200)
      assert.strictEqual(shop.backend.seen.length, 1)
    })
  )

  it.effect("an origin that may not be called any more is told as such, and asks for nothing", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.end("ok"))
      const agent = yield* buyer(1_000_000n)
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE endpoints SET origin_url = 'http://10.0.0.1/' WHERE id = ${shop.endpoint.id}`
      ;(yield* Endpoints).directory.forget(shop.endpoint.id)
      for (const answer of [
        yield* send(shop.path),
        yield* pay(agent.key, { url: shop.endpoint.gatewayUrl, from_wallet_id: agent.purse })
      ]) {
        assert.deepStrictEqual([answer.status, answer.json.code], [502, "ORIGIN_FORBIDDEN_ADDRESS"])
        assert.deepStrictEqual(answer.json.details, { reason: "AddressNotPublic" })
      }
    })
  )

  it.effect("a proof that pays for nothing here gets a 402 with the reason, and the origin is not reached", () =>
    Effect.gen(function* () {
      const one = yield* seller((_, response) => response.end())
      const two = yield* seller((_, response) => response.end(), { method: "ANY" })
      const agent = yield* buyer(1_000_000n)
      const forOne = yield* pay(agent.key, { url: one.endpoint.gatewayUrl, from_wallet_id: agent.purse })
      const { json } = yield* send(two.path, { method: "POST" })
      const forPost = yield* pay(agent.key, {
        payment_request_id: json.payment_request_id,
        from_wallet_id: agent.purse
      })
      const reason = (path: string, headers: Record<string, string>) =>
        Effect.map(send(path, { headers }), ({ headers, json, status }) => [
          status,
          json.error,
          decoded(headers["payment-required"]).error
        ])
      const refused = (why: string) => [402, why, why]
      const proof = (text: string) => ({ "x-payment-proof": text })
      assert.deepStrictEqual(yield* reason(two.path, proof(forOne.json.proof)), refused("proof_for_another_endpoint"))
      assert.deepStrictEqual(yield* reason(two.path, proof(forPost.json.proof)), refused("proof_for_another_method"))
      assert.deepStrictEqual(yield* reason(one.path, proof("garbage")), refused("proof_unknown"))
      assert.deepStrictEqual(yield* reason(one.path, proof(`pp_${"A".repeat(43)}`)), refused("proof_unknown"))
      assert.deepStrictEqual(
        yield* reason(one.path, proof(`${forOne.json.proof}, ${forOne.json.proof}`)),
        refused("proof_unknown")
      )
      const unreadable = yield* send(one.path, { headers: { "payment-signature": "e30=" } })
      assert.deepStrictEqual([unreadable.status, unreadable.json.code], [400, "PAYMENT_MALFORMED"])
      assert.strictEqual(one.backend.seen.length + two.backend.seen.length, 0)
      assert.strictEqual((yield* send(one.path, { headers: proof(forOne.json.proof) })).status, 200)
    })
  )

  it.effect("another tenant's wallet pays for nothing, and does not exist", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.end())
      const [agent, stranger] = [yield* buyer(1_000_000n), yield* tenant]
      const refused = yield* pay(stranger.key, { url: shop.endpoint.gatewayUrl, from_wallet_id: agent.purse })
      assert.deepStrictEqual([refused.status, refused.json.code], [404, "NOT_FOUND"])
      assert.deepStrictEqual(yield* balance(agent.purse), { posted: 1_000_000n, held: 0n })
    })
  )

  it.effect("pay refuses what cannot be paid, with its own code each", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.end(), { basePrice: 500_000n })
      const agent = yield* buyer(700_000n)
      const url = shop.endpoint.gatewayUrl
      const codeOf = (body: object) => Effect.map(pay(agent.key, body), ({ json, status }) => [status, json.code])
      const from_wallet_id = agent.purse
      assert.deepStrictEqual(yield* codeOf({ url, from_wallet_id, max_amount: "0.49" }), [422, "PRICE_ABOVE_MAXIMUM"])
      assert.deepStrictEqual(yield* codeOf({ from_wallet_id }), [400, "INVALID_REQUEST"])
      assert.deepStrictEqual(yield* codeOf({ url: "https://example.com/x402/a", from_wallet_id }), [
        422,
        "PAYMENT_REQUEST_INVALID"
      ])
      assert.deepStrictEqual(yield* codeOf({ url: `${url}/more`, from_wallet_id }), [422, "PAYMENT_REQUEST_INVALID"])
      assert.deepStrictEqual(yield* codeOf({ payment_request_id: "pr_x", from_wallet_id }), [
        422,
        "PAYMENT_REQUEST_INVALID"
      ])
      assert.strictEqual((yield* pay(agent.key, { url, from_wallet_id })).status, 201)
      const poor = yield* pay(agent.key, { url, from_wallet_id })
      assert.deepStrictEqual(poor.json.details, { required: "0.50", available: "0.20", currency: "USDC" })
      assert.strictEqual(poor.json.code, "INSUFFICIENT_BALANCE")
      const own = yield* pay(shop.key, { url, from_wallet_id: shop.till })
      assert.deepStrictEqual([own.status, own.json.code], [422, "SAME_WALLET"])
    })
  )

  it.effect("a caller that says who it is sees its own price", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.end(), {
        volumeDiscounts: [{ threshold: 1, priceMultiplier: 0.5 }]
      })
      const agent = yield* buyer(1_000_000n)
      yield* paidCall(agent, shop.path)
      const known = yield* send(shop.path, { headers: { authorization: `Bearer ${agent.key}` } })
      const stranger = yield* send(shop.path)
      assert.deepStrictEqual([known.json.price, stranger.json.price], ["0.005", "0.01"])
      yield* paidCall(agent, shop.path)
      assert.strictEqual(yield* charged(agent.purse, 1_000_000n), 15_000n)
    })
  )
})
