import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { request as httpRequest } from "node:http"
import { refreshCookie } from "#domain/Cookies.ts"
import { fromTypeId } from "#domain/Ids.ts"
import { Deployment } from "#services/Deployment.ts"
import { balance, buyer, charged, pay, paidCall, seller, send, server, serverWith } from "./GatewayHarness.ts"

const funds = 1_000_000n

layer(server, { timeout: "60 seconds", excludeTestServices: true })("a request on its way to the origin", (it) => {
  it.effect("that asks for a method the endpoint does not serve is refused, with and without payment", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.end(), { method: "POST" })
      const agent = yield* buyer(funds)
      const paid = yield* pay(agent.key, { url: shop.endpoint.gatewayUrl, from_wallet_id: agent.purse })
      const proof = { "x-payment-proof": paid.json.proof }
      for (const name of ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"]) {
        for (const more of [{}, proof]) {
          const refused = yield* send(shop.path, { method: "POST", headers: { ...more, [name]: "DELETE" } })
          assert.deepStrictEqual([refused.status, refused.json.code], [405, "METHOD_NOT_ALLOWED"])
          assert.strictEqual(refused.headers.allow, "POST, OPTIONS")
        }
      }
      for (const query of ["_method=DELETE", "a=b&%5Fmethod=delete", "_method=POST&_method=put"]) {
        const refused = yield* send(`${shop.path}?${query}`, { method: "POST", headers: proof })
        assert.deepStrictEqual([refused.status, refused.json.code], [405, "METHOD_NOT_ALLOWED"], query)
      }
      assert.strictEqual(shop.backend.seen.length, 0)
      assert.deepStrictEqual(yield* balance(agent.purse), { posted: funds, held: 10_000n })
      for (const query of ["_method=POST", "_method=sms", "method=DELETE"]) {
        assert.strictEqual((yield* paidCall(agent, `${shop.path}?${query}`, { method: "POST" })).status, 200, query)
      }
    })
  )

  it.effect("that names its address in full is the same request: paid for once, and sent on with path and query", () =>
    Effect.gen(function* () {
      const { publicUrl } = yield* Deployment
      const shop = yield* seller((request, response) => response.end(request.url), { path: "/a/*" })
      const agent = yield* buyer(funds)
      const whole = `${publicUrl}${shop.path}`
      assert.strictEqual((yield* paidCall(agent, `${whole}/b?c=%20d`)).body, "/a/b?c=%20d")
      assert.strictEqual(yield* charged(agent.purse, funds), 10_000n)
      const [ambiguous, foreign] = [yield* send(`${whole}/b/../c`), yield* send(`http://elsewhere${shop.path}/b`)]
      assert.deepStrictEqual([ambiguous.status, ambiguous.json.code], [400, "AMBIGUOUS_PATH"])
      assert.deepStrictEqual([foreign.status, foreign.json.code], [400, "INVALID_REQUEST"])
    })
  )

  it.effect("shows nothing of a user's session here, and that it came through us", () =>
    Effect.gen(function* () {
      const shop = yield* seller((request, response) => response.end(JSON.stringify(request.headers)))
      const headers = { cookie: `a=1; ${refreshCookie}=secret; b=2`, via: "1.0 fred" }
      const seen = JSON.parse((yield* paidCall(yield* buyer(funds), shop.path, { headers })).body)
      assert.deepStrictEqual([seen.cookie, seen.via], ["a=1; b=2", "1.0 fred, 1.1 turnpike"])
    })
  )

  it.effect("whose caller leaves before there is an answer counts as 499, and other statuses by what they are", () =>
    Effect.gen(function* () {
      const counted = Effect.map(send("/metrics"), ({ body }) =>
        [...body.matchAll(/requests_total\{(?=[^}]*method="PATCH")(?=[^}]*route="\/x402\/\*")[^}]*status="(\w+)"/g)]
          .map(([, status]) => status)
          .sort()
      )
      let called = () => {}
      const shop = yield* seller(() => called(), { method: "ANY" })
      const agent = yield* buyer(funds)
      const paid = yield* pay(agent.key, { url: shop.endpoint.gatewayUrl, from_wallet_id: agent.purse })
      yield* Effect.callback<void>((resume) => {
        const headers = { "x-payment-proof": paid.json.proof }
        const request = httpRequest(shop.endpoint.gatewayUrl, { method: "PATCH", headers })
        called = () => resume(Effect.sync(() => void request.destroy()))
        request.on("error", () => {}).end()
      })
      const gone = yield* Effect.repeat(counted, {
        until: ({ length }) => length > 0,
        schedule: Schedule.spaced("20 millis")
      })
      assert.deepStrictEqual(gone, ["499"])
      const odd = yield* seller((_, response) => response.writeHead(666).end(), { method: "ANY" })
      const options = { method: "PATCH" }
      assert.strictEqual((yield* paidCall(yield* buyer(funds), odd.path, options)).status, 666)
      assert.deepStrictEqual(yield* counted, ["402", "499", "6xx"])
    })
  )

  it.effect("says nothing there of another method or address than those that were paid for", () =>
    Effect.gen(function* () {
      const shop = yield* seller((request, response) => response.end(JSON.stringify(request.headers)), {
        method: "ANY"
      })
      const agent = yield* buyer(funds)
      const overrides = { "x-http-method-override": "DELETE", x_http_method: "DELETE", "x-original-url": "/admin" }
      const answer = yield* paidCall(agent, shop.path, { method: "POST", headers: { ...overrides, "x-kept": "1" } })
      const seen = JSON.parse(answer.body)
      assert.strictEqual(seen["x-kept"], "1")
      for (const name of Object.keys(overrides)) assert.isUndefined(seen[name], name)
    })
  )
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })("an answer on its way to the caller", (it) => {
  it.effect("keeps what every line of the origin's Vary and Cache-Control says", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => {
        response.writeHead(200, [
          "Vary",
          "Origin",
          "vary",
          "Cookie",
          "Cache-Control",
          "public",
          "Cache-Control",
          "no-transform"
        ])
        response.end()
      })
      const { headers } = yield* paidCall(yield* buyer(funds), shop.path)
      assert.match(String(headers["vary"]), /^Origin, Cookie, Accept, /)
      assert.strictEqual(headers["cache-control"], "private, no-transform")
    })
  )

  it.effect("sets its cookies for its own endpoint, and none of ours or of the whole host", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => {
        response.setHeader("Set-Cookie", [
          "session=a; Domain=127.0.0.1; Path=/; HttpOnly",
          `${refreshCookie}=chosen; Path=/v1/sessions`,
          `=${refreshCookie}=chosen; Path=/v1/sessions`,
          "__Host-a=1; Secure; Path=/",
          "b=2"
        ])
        response.end("served")
      })
      const { headers } = yield* paidCall(yield* buyer(funds), shop.path)
      assert.deepStrictEqual(headers["set-cookie"], [
        `session=a; HttpOnly; Path=${shop.path}`,
        `b=2; Path=${shop.path}`
      ])
    })
  )

  it.effect("orders nothing from the proxies and caches in front of us, charged or not", () =>
    Effect.gen(function* () {
      const orders = ["X-Accel-Redirect", "X-Sendfile", "X-Envoy-Degraded", "Surrogate-Control", "Edge-Control"]
      const toCaches = ["Vercel-CDN-Cache-Control", "Akamai-Cache-Control"]
      const shop = yield* seller(
        ({ url }, response) => {
          for (const name of [...orders, ...toCaches]) response.setHeader(name, "v")
          response.writeHead(url === "/a/lost" ? 404 : 200, { "X-Accel-Buffering": "no" }).end()
        },
        { path: "/a/*" }
      )
      const agent = yield* buyer(funds)
      const served = yield* paidCall(agent, shop.path)
      const lost = yield* paidCall(agent, `${shop.path}/lost`)
      assert.deepStrictEqual([served.status, lost.status], [200, 404])
      for (const { headers } of [served, lost]) {
        assert.strictEqual(headers["x-accel-buffering"], "no")
        for (const name of orders) assert.isUndefined(headers[name.toLowerCase()], name)
      }
      for (const name of toCaches) assert.isUndefined(served.headers[name.toLowerCase()], name)
    })
  )

  it.effect("is not kept back by a proxy in front of us when it is an event stream, unless the origin wants that", () =>
    Effect.gen(function* () {
      const shop = yield* seller(
        ({ url }, response) => {
          if (url === "/a/kept") response.setHeader("x-accel-buffering", "yes")
          response.writeHead(200, { "content-type": url === "/a/text" ? "text/plain" : "text/event-stream" })
          response.end("data: 1\n\n")
        },
        { path: "/a/*" }
      )
      const agent = yield* buyer(funds)
      const orders = []
      for (const path of ["events", "kept", "text"]) {
        orders.push((yield* paidCall(agent, `${shop.path}/${path}`)).headers["x-accel-buffering"])
      }
      assert.deepStrictEqual(orders, ["no", "yes", undefined])
    })
  )

  it.effect("that leads elsewhere is the origin's, as it is, and is charged", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.writeHead(302, { location: "http://10.0.0.1/a" }).end())
      const agent = yield* buyer(funds)
      const { headers, status } = yield* paidCall(agent, shop.path)
      assert.deepStrictEqual([status, headers.location], [302, "http://10.0.0.1/a"])
      assert.strictEqual(yield* charged(agent.purse, funds), 10_000n)
    })
  )

  it.effect("that may not have arrived is given to the same method again: what HEAD announces has no body", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.setHeader("Content-Length", "6").end("served"), {
        method: "ANY"
      })
      const agent = yield* buyer(funds)
      const paid = yield* pay(agent.key, { url: shop.endpoint.gatewayUrl, from_wallet_id: agent.purse })
      const headers = { "x-payment-proof": paid.json.proof }
      const head = yield* send(shop.path, { method: "HEAD", headers })
      assert.deepStrictEqual([head.status, head.headers["content-length"]], [200, "6"])
      const sql = yield* SqlClient.SqlClient
      const id = fromTypeId("pay", paid.json.id)
      yield* Effect.repeat(sql`SELECT 1 FROM payments WHERE id = ${id} AND delivered_at IS NOT NULL`, {
        until: (delivered) => delivered.length === 1,
        schedule: Schedule.spaced("20 millis")
      })
      // As if its caller had gone before it arrived.
      yield* sql`UPDATE payments SET delivered_at = NULL, lease_until = created_at WHERE id = ${id}`
      yield* sql`INSERT INTO payment_answers (payment_id, status, headers, body, expires_at)
        SELECT id, 200, '["Content-Length", "6"]', '', now() + interval '1 hour' FROM payments WHERE id = ${id}`
      const get = yield* send(shop.path, { headers })
      assert.deepStrictEqual([get.status, get.json.code], [409, "PAYMENT_ALREADY_USED"])
      const again = yield* send(shop.path, { method: "HEAD", headers })
      assert.deepStrictEqual([again.status, again.headers["idempotency-replayed"]], [200, "true"])
      assert.strictEqual(yield* charged(agent.purse, funds), 10_000n)
    })
  )

  it.effect("that may not have arrived is given to the same form again, whose boundary is another every time", () =>
    Effect.gen(function* () {
      const { publicUrl } = yield* Deployment
      const shop = yield* seller((request, response) => request.resume().on("end", () => response.end("served")), {
        method: "POST"
      })
      const agent = yield* buyer(funds)
      const paid = yield* pay(agent.key, { url: shop.endpoint.gatewayUrl, from_wallet_id: agent.purse })
      const headers = { "x-payment-proof": paid.json.proof }
      const filled = (place: string) => {
        const body = new FormData()
        body.append("place", place)
        return Effect.promise(() => fetch(`${publicUrl}${shop.path}`, { method: "POST", headers, body }))
      }
      assert.strictEqual((yield* filled("Lisbon")).status, 200)
      const sql = yield* SqlClient.SqlClient
      const id = fromTypeId("pay", paid.json.id)
      yield* Effect.repeat(sql`SELECT 1 FROM payments WHERE id = ${id} AND delivered_at IS NOT NULL`, {
        until: (delivered) => delivered.length === 1,
        schedule: Schedule.spaced("20 millis")
      })
      // As if its caller had gone before it arrived.
      yield* sql`UPDATE payments SET delivered_at = NULL, lease_until = created_at WHERE id = ${id}`
      yield* sql`INSERT INTO payment_answers (payment_id, status, headers, body, expires_at)
        SELECT id, 200, '[]', 'served', now() + interval '1 hour' FROM payments WHERE id = ${id}`
      assert.strictEqual((yield* filled("Kuala Lumpur")).status, 409)
      const again = yield* filled("Lisbon")
      assert.deepStrictEqual([again.status, again.headers.get("idempotency-replayed")], [200, "true"])
      assert.strictEqual(shop.backend.seen.length, 1)
    })
  )
})

const behindProxy = serverWith({ TURNPIKE_TRUSTED_PROXIES: "127.0.0.1" })
layer(behindProxy, { timeout: "60 seconds", excludeTestServices: true })("behind a proxy of ours", (it) => {
  it.effect("an origin is told the whole address of the caller, and nothing that the caller made up", () =>
    Effect.gen(function* () {
      const shop = yield* seller((request, response) => response.end(String(request.headers["x-forwarded-for"])))
      const agent = yield* buyer(funds)
      for (const [chain, caller] of [
        ["6.6.6.6, 203.0.113.9", "203.0.113.9"],
        ["6.6.6.6, 2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6"],
        ["203.0.113.9, 127.0.0.1", "203.0.113.9"]
      ] as const) {
        const answer = yield* paidCall(agent, shop.path, { headers: { "x-forwarded-for": chain } })
        assert.strictEqual(answer.body, caller)
      }
    })
  )
})
