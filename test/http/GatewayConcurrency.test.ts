import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Endpoints } from "#services/Endpoints.ts"
import { balance, buyer, charged, paidCall, pay, seller, send, server } from "./GatewayHarness.ts"

const count = <A extends PropertyKey>(things: ReadonlyArray<A>) =>
  Object.fromEntries([...Map.groupBy(things, (one) => one)].map(([one, all]) => [one, all.length]))

layer(server, { timeout: "60 seconds", excludeTestServices: true })("many calls at once", (it) => {
  it.effect("one proof, a hundred calls: one 200, one call of the origin, one movement of money", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.end("once"))
      const agent = yield* buyer(1_000_000n)
      const paid = yield* pay(agent.key, { url: shop.endpoint.gatewayUrl, from_wallet_id: agent.purse })
      const headers = { "x-payment-proof": paid.json.proof }
      const answers = yield* Effect.all(
        Array.from({ length: 100 }, () => send(shop.path, { headers })),
        {
          concurrency: 100
        }
      )
      assert.deepStrictEqual(count(answers.map(({ status }) => status)), { 200: 1, 409: 99 })
      assert.strictEqual(shop.backend.seen.length, 1)
      assert.strictEqual(yield* charged(agent.purse, 1_000_000n), 10_000n)
      const sql = yield* SqlClient.SqlClient
      const captures = yield* sql`SELECT 1 FROM movements m JOIN ledger_accounts a ON a.key = m.debit
        WHERE a.id = ${agent.purse} AND m.kind = 'capture'`
      assert.strictEqual(captures.length, 1)
      const record = yield* (yield* Endpoints).get(shop.principal, shop.endpoint.id)
      assert.strictEqual(record.totalCalls, 1n)
      const late = yield* send(shop.path, { headers })
      assert.strictEqual(late.status, 409)
      assert.include(["PAYMENT_ALREADY_USED", "PAYMENT_IN_PROGRESS"], late.json.code)
    })
  )

  it.effect(
    "one proof, a hundred calls, and a connection that the origin closes: it is asked once more, for one payment",
    () =>
      Effect.gen(function* () {
        const used = new WeakSet<object>()
        const shop = yield* seller(({ socket }, response) => {
          if (used.has(socket)) return void socket.destroy()
          used.add(socket)
          response.end("once")
        })
        const agent = yield* buyer(1_000_000n)
        assert.strictEqual((yield* paidCall(agent, shop.path)).status, 200)
        const paid = yield* pay(agent.key, { url: shop.endpoint.gatewayUrl, from_wallet_id: agent.purse })
        const headers = { "x-payment-proof": paid.json.proof }
        const calls = Array.from({ length: 100 }, () => send(shop.path, { headers }))
        const answers = yield* Effect.all(calls, { concurrency: 100 })
        assert.deepStrictEqual(count(answers.map(({ status }) => status)), { 200: 1, 409: 99 })
        const [first, second, third] = shop.backend.seen.map(({ headers }) => headers["x-payment-id"])
        assert.deepStrictEqual([second, third, shop.backend.seen.length], [paid.json.id, paid.json.id, 3])
        assert.notStrictEqual(first, second)
        assert.strictEqual(yield* charged(agent.purse, 1_000_000n), 20_000n)
      })
  )

  it.effect("a wallet with 10.00 and a hundred payments of 1.00: exactly ten", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.end(), { basePrice: 1_000_000n })
      const agent = yield* buyer(10_000_000n)
      const body = { url: shop.endpoint.gatewayUrl, from_wallet_id: agent.purse }
      const payments = yield* Effect.all(
        Array.from({ length: 100 }, () => pay(agent.key, body)),
        { concurrency: 100 }
      )
      assert.deepStrictEqual(count(payments.map(({ status }) => status)), { 201: 10, 422: 90 })
      const proofs = payments.filter(({ status }) => status === 201).map(({ json }) => json.proof)
      const calls = yield* Effect.all(
        proofs.map((proof) => send(shop.path, { headers: { "x-payment-proof": proof } })),
        { concurrency: 10 }
      )
      assert.deepStrictEqual(count(calls.map(({ status }) => status)), { 200: 10 })
      assert.deepStrictEqual(yield* balance(agent.purse), { posted: 0n, held: 0n })
      assert.deepStrictEqual(yield* balance(shop.till), { posted: 10_000_000n, held: 0n })
    })
  )

  it.effect("fifty calls of one payer across a discount's threshold cost what fifty calls in a row cost", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => response.end(), {
        volumeDiscounts: [
          { threshold: 20, priceMultiplier: 0.5 },
          { threshold: 40, priceMultiplier: 0 }
        ]
      })
      const agent = yield* buyer(1_000_000n)
      const answers = yield* Effect.all(
        Array.from({ length: 50 }, () => paidCall(agent, shop.path)),
        { concurrency: 50 }
      )
      assert.deepStrictEqual(count(answers.map(({ status }) => status)), { 200: 50 })
      assert.strictEqual(yield* charged(agent.purse, 1_000_000n), 20n * 10_000n + 20n * 5_000n)
      const record = yield* (yield* Endpoints).get(shop.principal, shop.endpoint.id)
      assert.deepStrictEqual([record.totalCalls, record.totalRevenue], [50n, 300_000n])
      const told = answers.map(({ headers }) => String(headers["x-payment-amount"]))
      assert.deepStrictEqual(count(told), { "0.01": 20, "0.005": 20, "0.00": 10 })
      assert.deepStrictEqual(yield* balance(agent.purse), { posted: 700_000n, held: 0n })

      const free = yield* paidCall(agent, shop.path)
      assert.deepStrictEqual([free.status, free.headers["x-payment-amount"]], [200, "0.00"])
      const after = yield* (yield* Endpoints).get(shop.principal, shop.endpoint.id)
      assert.strictEqual(after.totalCalls, 51n)
    })
  )
})
