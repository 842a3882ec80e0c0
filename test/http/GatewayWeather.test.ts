import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { hash } from "node:crypto"
import { fromTypeId } from "#domain/Ids.ts"
import { flat } from "#domain/Price.ts"
import { Accounts } from "#services/Accounts.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { Payments } from "#services/Payments.ts"
import { Wallets } from "#services/Wallets.ts"
import {
  balance,
  buyer,
  charged,
  openStream,
  pay,
  paidCall,
  seller,
  send,
  server,
  tenant,
  wallet
} from "./GatewayHarness.ts"

const funds = 1_000_000n

/** Nobody can reach the database any more, as if its server were gone. */
const loseDatabase = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE pg_database SET datallowconn = false WHERE datname = current_database()`
  yield* Effect.ignore(
    sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`
  )
  yield* Effect.ignore(sql`SELECT pg_terminate_backend(pg_backend_pid())`)
})

/** The row of a payment by its public id. */
const rowOf = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`SELECT state, charged, delivered_at FROM payments WHERE id = ${fromTypeId("pay", id)}`
  return row
})

/** Repeats a look until it shows what is expected: something else is still on its way. */
const eventually = <A, E, R>(look: Effect.Effect<A, E, R>, expected: (seen: A) => boolean): Effect.Effect<A, E, R> =>
  Effect.flatMap(look, (seen) =>
    expected(seen) ? Effect.succeed(seen) : Effect.andThen(Effect.yieldNow, eventually(look, expected))
  )

layer(server, { timeout: "60 seconds", excludeTestServices: true })("a call that is cut", (it) => {
  it.effect("the caller leaves before the origin answered: the money is free again", () =>
    Effect.gen(function* () {
      const arrived = Promise.withResolvers<void>()
      const shop = yield* seller((request) => {
        arrived.resolve()
        request.socket.once("close", () => closed.resolve())
      })
      const closed = Promise.withResolvers<void>()
      const agent = yield* buyer(funds)
      const paid = yield* pay(agent.key, { url: shop.endpoint.gatewayUrl, from_wallet_id: agent.purse })
      const calling = yield* Effect.forkChild(openStream(shop.path, { "x-payment-proof": paid.json.proof }))
      yield* Effect.promise(() => arrived.promise)
      yield* Effect.sync(() => calling.interruptUnsafe())
      const leave = yield* eventually(rowOf(paid.json.id), (row) => row?.["state"] === "released")
      yield* Effect.promise(() => closed.promise)
      assert.strictEqual(leave?.["state"], "released")
      assert.deepStrictEqual(yield* balance(agent.purse), { posted: funds, held: 0n })
    })
  )

  it.effect("the caller leaves in the middle of a paid stream: charged once, not delivered", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).write("data: one\n\n")
      })
      const agent = yield* buyer(funds)
      const paid = yield* pay(agent.key, { url: shop.endpoint.gatewayUrl, from_wallet_id: agent.purse })
      const stream = yield* openStream(shop.path, { "x-payment-proof": paid.json.proof })
      yield* stream.next
      yield* eventually(rowOf(paid.json.id), (row) => row?.["state"] === "captured")
      yield* stream.leave
      const again = yield* send(shop.path, { headers: { "x-payment-proof": paid.json.proof } })
      assert.strictEqual(again.status, 409)
      assert.strictEqual(shop.backend.seen.length, 1)
      assert.strictEqual(yield* charged(agent.purse, funds), 10_000n)
    })
  )

  it.effect("a small answer that was charged and not seen to arrive is given again, to the same request only", () =>
    Effect.gen(function* () {
      let hits = 0
      const shop = yield* seller((_, response) => response.setHeader("x-hit", ++hits).end(`answer ${hits}`), {
        path: "/a/*"
      })
      const agent = yield* buyer(funds)
      const paid = yield* pay(agent.key, { url: `${shop.endpoint.gatewayUrl}/b`, from_wallet_id: agent.purse })
      const headers = { "x-payment-proof": paid.json.proof }
      const payments = yield* Payments
      const claimed = yield* payments.claim({
        proof: paid.json.proof,
        snapshot: { endpoint: shop.endpoint, price: flat(shop.endpoint.basePrice), origin: undefined },
        method: "GET",
        fingerprint: hash("sha256", `GET\n${shop.path}/b`)
      })
      assert.strictEqual(claimed._tag, "Granted")
      if (claimed._tag !== "Granted") return
      // The process that called the origin charged it, and died before its last byte.
      const kept = { status: 200, headers: ["X-Hit", "1"], body: Buffer.from("the stored one") }
      yield* payments.capture(claimed.payment, { status: 200, millis: 5, kept })
      const early = yield* send(`${shop.path}/b`, { headers })
      assert.deepStrictEqual([early.status, early.json.code], [409, "PAYMENT_IN_PROGRESS"])
      assert.isDefined(early.headers["retry-after"])
      payments.seen(claimed.payment.id, false)
      yield* eventually(send(`${shop.path}/c`, { headers }), (other) => other.json?.code === "PAYMENT_ALREADY_USED")
      const again = yield* eventually(send(`${shop.path}/b`, { headers }), ({ status }) => status === 200)
      assert.strictEqual(again.body, "the stored one")
      assert.strictEqual(again.headers["x-hit"], "1")
      assert.strictEqual(again.headers["x-payment-id"], paid.json.id)
      assert.strictEqual(hits, 0)
      yield* eventually(rowOf(paid.json.id), (row) => row?.["delivered_at"] !== null)
      const third = yield* send(`${shop.path}/b`, { headers })
      assert.deepStrictEqual([third.status, third.json.code], [409, "PAYMENT_ALREADY_USED"])
      assert.deepStrictEqual(third.json.details, {
        payment_id: paid.json.id,
        charged: "0.01",
        currency: "USDC",
        origin_status: 200
      })
      assert.strictEqual(yield* charged(agent.purse, funds), 10_000n)
    })
  )

  it.effect("a small answer is kept when it is charged, also one whose size nobody announced; a large one is not", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE kept (payment_id uuid, status smallint, body bytea, charging text)`
      yield* sql`CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO kept SELECT NEW.payment_id, NEW.status, NEW.body, p.state FROM payments p WHERE p.id = NEW.payment_id;
        RETURN NEW; END $$`
      yield* sql`CREATE TRIGGER keep AFTER INSERT ON payment_answers FOR EACH ROW EXECUTE FUNCTION keep()`
      const shop = yield* seller(
        (request, response) => {
          if (request.url === "/a/streamed") response.write("streamed")
          response.end(request.url === "/a/large" ? Buffer.alloc(65_537) : "small")
        },
        { path: "/a/*" }
      )
      const agent = yield* buyer(funds)
      const small = yield* paidCall(agent, `${shop.path}/small`)
      yield* paidCall(agent, `${shop.path}/large`)
      const streamed = yield* paidCall(agent, `${shop.path}/streamed`)
      const kept = yield* sql`SELECT payment_id, status, convert_from(body, 'UTF8') AS body, charging FROM kept`
      const row = ({ headers }: typeof small, body: string) => ({
        payment_id: fromTypeId("pay", String(headers["x-payment-id"])),
        status: 200,
        body,
        charging: "captured"
      })
      assert.deepStrictEqual(kept, [row(small, "small"), row(streamed, "streamedsmall")])
      yield* eventually(sql`SELECT 1 FROM payment_answers`, (rows) => rows.length === 0)
    })
  )
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })("a test run", (it) => {
  const run = (key: string, id: string) =>
    send(`/v1/x402/endpoints/${id}/test`, { method: "POST", headers: { authorization: `Bearer ${key}` } })

  it.effect("shows the whole cycle, with real sandbox money", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.end("sunny"))
      const { json, status } = yield* run(shop.key, shop.endpoint.id)
      assert.strictEqual(status, 200)
      assert.strictEqual(json.data.status, "passed")
      assert.deepStrictEqual(
        json.data.steps.map(({ http_status, status, step }: Record<string, unknown>) => [step, status, http_status]),
        [
          ["fund", "passed", null],
          ["discover", "passed", 402],
          ["pay", "passed", null],
          ["call", "passed", 200],
          ["verify", "passed", null]
        ]
      )
      assert.deepStrictEqual(yield* balance(shop.till), { posted: 10_000n, held: 0n })
    })
  )

  it.effect("of a stream of events that never ends passes once it has begun and is charged", () =>
    Effect.gen(function* () {
      const left = Promise.withResolvers<void>()
      const shop = yield* seller((request, response) => {
        request.socket.once("close", () => left.resolve())
        response.writeHead(200, { "content-type": "text/event-stream" }).write("data: one\n\n")
      })
      const { data } = (yield* run(shop.key, shop.endpoint.id)).json
      assert.deepStrictEqual([data.status, data.steps[3].http_status], ["passed", 200])
      assert.include(data.steps[3].detail, "stream of events")
      assert.deepStrictEqual(yield* balance(shop.till), { posted: 10_000n, held: 0n })
      yield* Effect.promise(() => left.promise)
    })
  )

  it.effect("has the money for a price above what one call to the faucet gives", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.end("dear"), { basePrice: 25_000_010_000n })
      const { data } = (yield* run(shop.key, shop.endpoint.id)).json
      assert.strictEqual(data.status, "passed")
      assert.strictEqual(data.steps[0].detail, "25000.01 USDC in a new wallet")
      assert.deepStrictEqual(yield* balance(shop.till), { posted: 25_000_010_000n, held: 0n })
    })
  )

  it.effect("names its wallet after the endpoint, in whole characters", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.end("sunny"), { name: "\u{1f600}".repeat(255) })
      yield* run(shop.key, shop.endpoint.id)
      const { json } = yield* send("/v1/wallets?limit=1", { headers: { authorization: `Bearer ${shop.key}` } })
      assert.strictEqual(json.data[0].name, `Test of ${"\u{1f600}".repeat(247)}`)
    })
  )

  it.effect("leaves no wallet behind that the caller's account is paid in, or pays from, by default", () =>
    Effect.gen(function* () {
      const { key, principal } = yield* tenant
      const { id: accountId } = yield* (yield* Accounts).create(principal.tenant_id, { name: "A shop" })
      const wallets = yield* Wallets
      yield* wallets.create(principal, { owner_id: accountId })
      const sold = { name: "Out of order", path: "/a", method: "GET", originUrl: "http://127.0.0.1:1" } as const
      const { create } = yield* Endpoints
      const endpoint = yield* create(principal, { ...sold, accountId })
      assert.strictEqual((yield* run(key, endpoint.id)).json.data.status, "failed")
      assert.strictEqual((yield* Effect.flip(create(principal, sold)))._tag, "NO_RECEIVING_WALLET")
      const purse = yield* wallet(principal, funds)
      const transfers = [{ to_account_id: accountId, amount: "0.50", currency: "USDC" }]
      const headers = { authorization: `Bearer ${key}` }
      const { json } = yield* send("/v1/transfers/batch", { method: "POST", headers, body: { transfers } })
      assert.strictEqual(json.status, "completed")
      assert.deepStrictEqual(yield* balance(purse), { posted: funds - 500_000n, held: 0n })
    })
  )

  it.effect("names the step that failed, and why", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.writeHead(500).end("out of order"))
      const broken = yield* run(shop.key, shop.endpoint.id)
      const call = broken.json.data.steps[3]
      assert.deepStrictEqual([broken.json.data.status, call.status, call.http_status], ["failed", "failed", 500])
      assert.include(call.detail, "out of order")
      assert.strictEqual(broken.json.data.steps[4].status, "skipped")
      yield* (yield* Endpoints).update(shop.principal, shop.endpoint.id, { status: "paused" })
      const paused = yield* run(shop.key, shop.endpoint.id)
      const { detail, http_status, status } = paused.json.data.steps[1]
      assert.deepStrictEqual([status, http_status], ["failed", 503])
      assert.strictEqual(detail, "expected 402, got 503: ENDPOINT_PAUSED: The endpoint is paused by its owner")
    })
  )
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })("without a database", (it) => {
  it.effect("prices are still quoted; what needs money says try again; nothing reaches the origin", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.end(), {
        volumeDiscounts: [{ threshold: 5, priceMultiplier: 0.5 }]
      })
      const agent = yield* buyer(funds)
      yield* paidCall(agent, shop.path)
      const paid = yield* pay(agent.key, { url: shop.endpoint.gatewayUrl, from_wallet_id: agent.purse })
      yield* loseDatabase
      assert.strictEqual((yield* send(shop.path)).status, 402)
      const known = yield* send(shop.path, { headers: { authorization: `Bearer ${agent.key}` } })
      assert.deepStrictEqual([known.status, known.json.price], [402, "0.01"])
      const call = yield* send(shop.path, { headers: { "x-payment-proof": paid.json.proof } })
      assert.deepStrictEqual([call.status, call.json.code], [503, "SERVICE_UNAVAILABLE"])
      assert.isDefined(call.headers["retry-after"])
      const garbage = yield* send(shop.path, { headers: { "x-payment-proof": "garbage" } })
      assert.deepStrictEqual([garbage.status, garbage.json.error], [402, "proof_unknown"])
      assert.strictEqual(shop.backend.seen.length, 1)
    })
  )
})
