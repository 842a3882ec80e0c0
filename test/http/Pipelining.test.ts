import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HttpServer } from "effect/http"
import { Credentials } from "#services/Credentials.ts"
import { raw } from "./PlatformHarness.ts"
import { callerOf, options, serverOf, withWallet } from "./WalletsServer.ts"

/** A funded payer, a payee, and the bytes of requests that somebody may send one after the other without waiting. */
const scene = Effect.gen(function* () {
  const { call, fund, id, tenant } = yield* withWallet
  yield* fund({ amount: "10.00", currency: "USDC" })
  const { body: payee } = yield* call("POST", "/v1/wallets", {})
  const { key } = yield* (yield* Credentials).issue({
    tenant_id: tenant.id,
    kind: "api_key",
    name: "test",
    scopes: ["*:*"]
  })
  const { address } = yield* HttpServer.HttpServer
  const port = address._tag === "UnixPathAddress" ? 0 : address.port
  const bytes = (path: string, body: object, headers: Record<string, string> = {}) => {
    const text = JSON.stringify(body)
    const all = {
      host: "turnpike.test",
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "content-length": String(text.length),
      ...headers
    }
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
    return `POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n${text}`
  }
  const transfer = (headers?: Record<string, string>) =>
    bytes("/v1/transfers", { from_wallet_id: id, to_wallet_id: payee.id, amount: "1.00", currency: "USDC" }, headers)
  const arrived = Effect.map(call("GET", `/v1/wallets/${payee.id}`), ({ body }) => body.balance_available)
  return { arrived, bytes, call, fund, id, payee: payee.id, port, tenant, transfer }
})
const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))

layer(serverOf("sandbox"), options)("requests behind one another on a connection", (it) => {
  for (const [name, refused] of Object.entries({
    "without a credential": { authorization: "" },
    "of another media type": { "content-type": "text/plain" },
    "with a coded body": { "content-encoding": "gzip" }
  })) {
    it.effect(`are not carried out behind one ${name}, whose answer ends the connection`, () =>
      Effect.gen(function* () {
        const { arrived, port, transfer } = yield* scene
        const [first = 0, ...others] = statuses(yield* raw(port, transfer(refused) + transfer() + transfer(), 3))
        assert.include([401, 415], first)
        // What was answered was done, and nothing else.
        assert.strictEqual(yield* arrived, `${others.length}.00`)
        assert.isTrue(others.every((status) => status === 201))
      })
    )
  }

  it.effect("are carried out in their order: what comes behind a freeze finds the wallet frozen", () =>
    Effect.gen(function* () {
      const { arrived, bytes, id, port, transfer } = yield* scene
      const freeze = bytes(`/v1/wallets/${id}/freeze`, { reason: "stolen" })
      assert.deepStrictEqual(statuses(yield* raw(port, freeze + transfer(), 2)), [200, 403])
      assert.strictEqual(yield* arrived, "0.00")
    })
  )

  it.effect("are not answered by the refusal of a CONNECT that stands behind them", () =>
    Effect.gen(function* () {
      const { port, transfer } = yield* scene
      const tunnel = "CONNECT shop.example:443 HTTP/1.1\r\nHost: shop.example:443\r\n\r\n"
      const [first = 0] = statuses(yield* raw(port, transfer() + tunnel, 2))
      assert.include([0, 201], first)
    })
  )

  it.effect("are a hundred at most that wait: a connection with more of them is cut", () =>
    Effect.gen(function* () {
      const { port } = yield* scene
      const answered = (count: number) =>
        Effect.map(raw(port, "GET /health/live HTTP/1.1\r\nhost: turnpike.test\r\n\r\n".repeat(count), count), statuses)
      assert.lengthOf(yield* answered(101), 101)
      assert.isBelow((yield* answered(102)).length, 102)
    })
  )

  it.effect("are answered in their order, as many as there are", () =>
    Effect.gen(function* () {
      const { arrived, port, transfer } = yield* scene
      const answers = yield* raw(port, Array.from({ length: 12 }, () => transfer()).join(""), 12)
      assert.deepStrictEqual(statuses(answers), new Array<number>(12).fill(201))
      assert.strictEqual((answers.match(/"status":"completed"/g) ?? []).length, 10)
      assert.strictEqual(yield* arrived, "10.00")
    })
  )
})

layer(serverOf("sandbox"), options)("a transfer", (it) => {
  it.effect("under a repeated Idempotency-Key line is 400, and moves nothing", () =>
    Effect.gen(function* () {
      const { arrived, port, transfer } = yield* scene
      const twice = transfer().replace("\r\n", "\r\nIdempotency-Key: one\r\nIdempotency-Key: one\r\n")
      assert.deepStrictEqual(statuses(yield* raw(port, twice)), [400])
      assert.strictEqual(yield* arrived, "0.00")
    })
  )

  it.effect("with a field that says null is the same under its key as one without it", () =>
    Effect.gen(function* () {
      const { call, id, payee } = yield* scene
      const body = {
        from_wallet_id: id,
        to_wallet_id: payee,
        amount: "1.00",
        currency: "USDC",
        idempotency_key: "null"
      }
      const first = yield* call("POST", "/v1/transfers", body)
      const again = yield* call("POST", "/v1/transfers", { ...body, memo: null })
      assert.deepStrictEqual([again.status, again.body], [201, first.body])
    })
  )

  it.effect("of a money stream takes the scope for streams too", () =>
    Effect.gen(function* () {
      const { id, payee, tenant } = yield* scene
      const start = { type: "stream_start", from_wallet_id: id, to_wallet_id: payee, amount: "1.00", currency: "USDC" }
      const order = { ...start, flow_rate: "0.001" }
      const few = yield* callerOf(tenant, ["transfers:write"])
      const refused = yield* few("POST", "/v1/transfers", order)
      assert.deepStrictEqual([refused.status, refused.body.code], [403, "INSUFFICIENT_SCOPE"])
      const both = yield* callerOf(tenant, ["transfers:write", "streams:write"])
      assert.strictEqual((yield* both("POST", "/v1/transfers", order)).status, 201)
    })
  )

  it.effect("that the faucet made can be read by the id that the funding told, by its tenant only", () =>
    Effect.gen(function* () {
      const { call, fund, id } = yield* scene
      const { body: funding } = yield* fund({ amount: "2.50", currency: "USDC" })
      const { body, status } = yield* call("GET", `/v1/transfers/${funding.transfer_id}`)
      assert.strictEqual(status, 200)
      assert.deepInclude(body, { amount: "2.50", from_wallet_id: null, to_wallet_id: id, status: "completed" })
      const stranger = yield* scene
      assert.strictEqual((yield* stranger.call("GET", `/v1/transfers/${funding.transfer_id}`)).status, 404)
    })
  )
})
