import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { RequestListener } from "node:http"
import type { NewEndpoint } from "#domain/Endpoint.ts"
import { EventLog } from "#services/EventLog.ts"
import { balance, buyer, charged, openStream, pay, paidCall, seller, send, server } from "./GatewayHarness.ts"

const funds = 1_000_000n

layer(server, { timeout: "60 seconds", excludeTestServices: true })("an origin that fails", (it) => {
  const failures: ReadonlyArray<[string, RequestListener, number, string | undefined, Partial<NewEndpoint>]> = [
    ["answers 500", (_, response) => response.writeHead(500).end("broken"), 500, undefined, {}],
    ["answers 402 itself", (_, response) => response.writeHead(402).end("mine"), 402, undefined, {}],
    ["resets the connection", (request) => request.socket.resetAndDestroy(), 502, "ORIGIN_UNREACHABLE", {}],
    ["answers no HTTP", (request) => request.socket.end("hello"), 502, "ORIGIN_BAD_ANSWER", {}],
    ["never answers", () => {}, 504, "ORIGIN_TIMEOUT", { timeoutMs: 150 }],
    ["is at an address nobody listens on", () => {}, 502, "ORIGIN_UNREACHABLE", { originUrl: "http://127.0.0.1:1" }],
    [
      "sends less than it announced",
      (request, response) => {
        response.writeHead(200, { "content-length": "10" }).write("12345", () => request.socket.destroy())
      },
      502,
      "ORIGIN_UNREACHABLE",
      {}
    ]
  ]
  for (const [name, listener, status, code, endpoint] of failures) {
    it.effect(`${name}: ${status}, and the payer loses nothing`, () =>
      Effect.gen(function* () {
        const shop = yield* seller(listener, endpoint)
        const agent = yield* buyer(funds)
        const answer = yield* paidCall(agent, shop.path)
        assert.strictEqual(answer.status, status, answer.body)
        assert.strictEqual(answer.json?.code, code)
        assert.isUndefined(answer.headers["payment-response"])
        assert.deepStrictEqual(yield* balance(agent.purse), { posted: funds, held: 0n })
        assert.deepStrictEqual(yield* balance(shop.till), { posted: 0n, held: 0n })
      })
    )
  }

  it.effect("the same proof pays for the next try", () =>
    Effect.gen(function* () {
      let tries = 0
      const shop = yield* seller((_, response) => response.writeHead(++tries < 3 ? 503 : 200).end())
      const agent = yield* buyer(funds)
      const paid = yield* pay(agent.key, { url: shop.endpoint.gatewayUrl, from_wallet_id: agent.purse })
      const headers = { "x-payment-proof": paid.json.proof }
      const statuses = [
        (yield* send(shop.path, { headers })).status,
        (yield* send(shop.path, { headers })).status,
        (yield* send(shop.path, { headers })).status,
        (yield* send(shop.path, { headers })).status
      ]
      assert.deepStrictEqual(statuses, [503, 503, 200, 409])
      assert.strictEqual(yield* charged(agent.purse, funds), 10_000n)
      assert.strictEqual(tries, 3)
    })
  )

  it.effect("a released proof cannot be used when the money is gone meanwhile", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.writeHead(500).end())
      const agent = yield* buyer(10_000n)
      const body = { url: shop.endpoint.gatewayUrl, from_wallet_id: agent.purse }
      const first = yield* pay(agent.key, body)
      yield* send(shop.path, { headers: { "x-payment-proof": first.json.proof } })
      assert.strictEqual((yield* pay(agent.key, body)).status, 201)
      const again = yield* send(shop.path, { headers: { "x-payment-proof": first.json.proof } })
      assert.deepStrictEqual([again.status, again.json.error], [402, "insufficient_balance"])
      assert.strictEqual(shop.backend.seen.length, 1)
    })
  )

  it.effect("chargeOn response: every answer of the origin is charged", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.writeHead(404).end("none"), { chargeOn: "response" })
      const agent = yield* buyer(funds)
      const answer = yield* paidCall(agent, shop.path)
      assert.strictEqual(answer.status, 404)
      assert.isDefined(answer.headers["payment-response"])
      assert.strictEqual(yield* charged(agent.purse, funds), 10_000n)
    })
  )

  it.effect("a 402 of the origin's own is never charged, and its challenge reaches nobody", () =>
    Effect.gen(function* () {
      const challenge = 'Payment id="1", realm="a.example", method="evm", intent="charge", request="e30"'
      const shop = yield* seller(
        (_, response) => response.writeHead(402, { "www-authenticate": challenge, "x-mine": "1" }).end("more"),
        { chargeOn: "response" }
      )
      const agent = yield* buyer(funds)
      const { headers, status } = yield* paidCall(agent, shop.path)
      assert.deepStrictEqual([status, headers["x-mine"], headers["www-authenticate"]], [402, "1", undefined])
      assert.isUndefined(headers["payment-response"])
      assert.strictEqual(yield* charged(agent.purse, funds), 0n)
    })
  )

  it.effect("a page may read what the origin lets it read, beside what is ours", () =>
    Effect.gen(function* () {
      const cors = { "access-control-expose-headers": "X-Total-Count", "access-control-allow-credentials": "true" }
      const shop = yield* seller((_, response) => response.writeHead(200, cors).end("ok"))
      const { headers } = yield* paidCall(yield* buyer(funds), shop.path)
      assert.match(String(headers["access-control-expose-headers"]), /PAYMENT-RESPONSE, .*, X-Total-Count$/)
      assert.strictEqual(headers["access-control-allow-origin"], "*")
      assert.isUndefined(headers["access-control-allow-credentials"])
    })
  )

  it.effect("a redirect is the caller's to follow, and is charged", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.writeHead(302, { location: "https://a.example/" }).end())
      const agent = yield* buyer(funds)
      const answer = yield* paidCall(agent, shop.path)
      assert.deepStrictEqual([answer.status, answer.headers.location], [302, "https://a.example/"])
      assert.strictEqual(yield* charged(agent.purse, funds), 10_000n)
    })
  )

  it.effect("the facts are in the event log", () =>
    Effect.gen(function* () {
      const shop = yield* seller((request, response) => response.writeHead(request.headers["x-fail"] ? 500 : 200).end())
      const agent = yield* buyer(funds)
      const log = yield* EventLog
      const before = (yield* log.after(0n, 10_000)).length
      const good = yield* paidCall(agent, shop.path)
      yield* paidCall(agent, shop.path, { headers: { "x-fail": "1" } })
      const facts = (yield* log.after(0n, 10_000)).slice(before)
      assert.deepStrictEqual(
        facts.map(({ data, type }) => {
          const { payment } = data as { payment: Record<string, unknown> }
          return [type, payment["status"], payment["charged"], payment["origin_status"]]
        }),
        [
          ["x402.payment.completed", "captured", "0.01", 200],
          ["x402.payment.failed", "released", null, 500]
        ]
      )
      assert.strictEqual((facts[0]?.data["payment"] as { id: string } | undefined)?.id, good.headers["x-payment-id"])
      assert.strictEqual(facts[0]?.tenant_id, shop.principal.tenant_id)
    })
  )
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })("what passes through the gateway", (it) => {
  it.effect("an event stream's first event arrives while the stream goes on", () =>
    Effect.gen(function* () {
      let end = () => {}
      const shop = yield* seller((_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).write("data: one\n\n")
        end = () => response.end("data: two\n\n")
      })
      const agent = yield* buyer(funds)
      const paid = yield* pay(agent.key, { url: shop.endpoint.gatewayUrl, from_wallet_id: agent.purse })
      const stream = yield* openStream(shop.path, { "x-payment-proof": paid.json.proof })
      assert.strictEqual(yield* stream.next, "data: one\n\n")
      assert.strictEqual(stream.headers["x-payment-id"], paid.json.id)
      end()
      assert.strictEqual(yield* stream.next, "data: two\n\n")
      yield* stream.ended
      assert.strictEqual(yield* charged(agent.purse, funds), 10_000n)
    })
  )

  it.effect("our credentials and payment headers stay here; the origin's claims about payments do too", () =>
    Effect.gen(function* () {
      const shop = yield* seller(
        (request, response) => {
          response.setHeader("payment-response", "forged")
          response.setHeader("x-payment-id", "forged")
          response.setHeader("x-service-signature", "forged")
          response.setHeader("cache-control", "public, max-age=60")
          response.setHeader("x-own", "kept")
          response.end(JSON.stringify(request.headers))
        },
        { forwardHeaders: { "X-Api-Key": "only turnpike knows" } }
      )
      const agent = yield* buyer(funds)
      const answer = yield* paidCall(agent, shop.path, {
        headers: {
          authorization: `Bearer ${agent.key}`,
          cookie: "a=b",
          "x-payment-payer": "forged",
          "x-forwarded-for": "6.6.6.6",
          "x-api-key": "forged",
          accept: "text/plain"
        }
      })
      const seen = JSON.parse(answer.body)
      assert.isUndefined(seen.authorization)
      assert.isUndefined(seen["x-payment-proof"])
      assert.match(seen["x-payment-payer"], /^wal_/)
      assert.strictEqual(seen["x-payment-amount"], "0.01")
      assert.strictEqual(seen["x-payment-id"], answer.headers["x-payment-id"])
      assert.strictEqual(seen["x-forwarded-for"], "127.0.0.1")
      assert.strictEqual(seen["x-api-key"], "only turnpike knows")
      assert.deepStrictEqual([seen.cookie, seen.accept], ["a=b", "text/plain"])
      assert.strictEqual(seen["x-request-id"], answer.headers["x-request-id"])
      assert.notInclude(JSON.stringify(answer.headers), "forged")
      assert.strictEqual(answer.headers["x-own"], "kept")
      assert.strictEqual(answer.headers["cache-control"], "private, max-age=60")
    })
  )

  it.effect("bodies pass both ways", () =>
    Effect.gen(function* () {
      const shop = yield* seller((request, response) => request.pipe(response), { method: "POST" })
      const agent = yield* buyer(funds)
      const body = "x".repeat(300_000)
      const answer = yield* paidCall(agent, shop.path, { method: "POST", body })
      assert.isTrue(answer.body === body)
      assert.strictEqual(yield* charged(agent.purse, funds), 10_000n)
    })
  )

  it.effect("a payer above the endpoint's call rate is told to wait, and keeps its payment", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.end(), { rateLimit: 2 })
      const agent = yield* buyer(funds)
      const statuses = [
        (yield* paidCall(agent, shop.path)).status,
        (yield* paidCall(agent, shop.path)).status,
        (yield* paidCall(agent, shop.path)).status
      ]
      assert.deepStrictEqual(statuses, [200, 200, 429])
      assert.deepStrictEqual(yield* balance(agent.purse), { posted: funds - 20_000n, held: 10_000n })
      assert.strictEqual(shop.backend.seen.length, 2)
    })
  )

  it.effect("a call rate is that of one payer at one endpoint", () =>
    Effect.gen(function* () {
      const one = yield* seller((_, response) => response.end(), { rateLimit: 1 })
      const [agent, beside] = [yield* buyer(funds), yield* buyer(funds)]
      assert.strictEqual((yield* paidCall(agent, one.path)).status, 200)
      assert.strictEqual((yield* paidCall(agent, one.path)).status, 429)
      assert.strictEqual((yield* paidCall(beside, one.path)).status, 200)
      const other = yield* seller((_, response) => response.end(), { rateLimit: 1 })
      assert.strictEqual((yield* paidCall(agent, other.path)).status, 200)
    })
  )

  it.effect("an address that may not be called cannot be registered", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.end())
      const refused = yield* send("/v1/x402/endpoints", {
        method: "POST",
        headers: { authorization: `Bearer ${shop.key}` },
        body: { name: "inside", path: "/", method: "GET", originUrl: "http://10.0.0.1" }
      })
      assert.deepStrictEqual([refused.status, refused.json.code], [422, "ORIGIN_NOT_ALLOWED"])
    })
  )

  it.effect("a WebSocket upgrade is refused and costs nothing", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.end())
      const { headers, status } = yield* send(shop.path, { headers: { connection: "Upgrade", upgrade: "websocket" } })
      assert.deepStrictEqual([status, headers.upgrade, headers.connection], [426, "HTTP/1.1", "Upgrade, close"])
    })
  )
})
