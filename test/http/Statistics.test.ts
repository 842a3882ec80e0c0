import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type EndpointStatistics, slidingWindows } from "#domain/Statistics.ts"
import { toTypeId } from "#domain/Ids.ts"
import { buyer, paidCall, seller, send, server, tenant } from "./GatewayHarness.ts"

type Shown = (typeof EndpointStatistics)["Encoded"]

/** An endpoint whose origin refuses what asks it to, and how its owner looks at it. */
const shop = Effect.gen(function* () {
  const { endpoint, key, path } = yield* seller(
    ({ url = "" }, response) => {
      response.statusCode = url.includes("refuse") ? 503 : 200
      response.end("answered")
    },
    { path: "/forecast/*", volumeDiscounts: [{ threshold: 3, priceMultiplier: 0.5 }] }
  )
  const authorization = `Bearer ${key}`
  const look = (query: string) =>
    send(`/v1/x402/endpoints/${endpoint.id}/stats${query}`, { headers: { authorization } })
  const stats = (window: string) =>
    Effect.map(look(`?window=${window}`), ({ json, status }): Shown => {
      assert.strictEqual(status, 200)
      return json.data
    })
  const record = Effect.map(
    send(`/v1/x402/endpoints/${endpoint.id}`, { headers: { authorization } }),
    ({ json }) => json.data
  )
  return { endpoint, path, look, stats, record }
})

const Ledger = Schema.Struct({ calls: Schema.Int, charged: Schema.Finite, payers: Schema.Int, moved: Schema.Finite })

/** The same numbers from the books: the payments, the tallies of payers, and the movements of money. */
const books = Effect.fnUntraced(function* (endpoint: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] =
    yield* sql`SELECT (SELECT count(*)::int FROM payments WHERE endpoint_id = ${endpoint} AND state = 'captured') AS calls,
      (SELECT sum(charged)::float8 / 1e6 FROM payments WHERE endpoint_id = ${endpoint}) AS charged,
      (SELECT count(*)::int FROM tallies WHERE scope = ${endpoint} AND subject <> '00000000-0000-0000-0000-000000000000') AS payers,
      (SELECT sum(m.amount)::float8 / 1e6 FROM movements m JOIN payments p ON p.hold_id = m.hold_id
        WHERE p.endpoint_id = ${endpoint} AND m.kind = 'capture') AS moved`
  return yield* Schema.decodeUnknownEffect(Ledger)(row)
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })("GET /v1/x402/endpoints/{id}/stats", (it) => {
  it.effect("counts a call before its caller has read the answer's end", () =>
    Effect.gen(function* () {
      const { path, stats } = yield* shop
      const agent = yield* buyer(1_000_000n)
      for (let call = 1; call <= 6; call++) {
        yield* paidCall(agent, `${path}/x`)
        for (const window of ["1h", "24h", "7d", "30d", "all"]) {
          assert.strictEqual((yield* stats(window)).totalCalls, call, window)
        }
      }
      const { topPayers, totalRevenue, uniquePayers } = yield* stats("1h")
      // Three at the list price, and three at half of it.
      assert.deepStrictEqual([uniquePayers, totalRevenue], [1, 0.045])
      assert.deepStrictEqual(topPayers, [{ payer: toTypeId("wal", agent.purse), calls: 6, revenue: 0.045 }])
    })
  )

  it.effect(
    "is what the payments, the tallies, the movements and the endpoint record say, after calls side by side",
    () =>
      Effect.gen(function* () {
        const { endpoint, path, record, stats } = yield* shop
        const agents = yield* Effect.all(
          Array.from({ length: 4 }, () => buyer(1_000_000n)),
          { concurrency: 4 }
        )
        const calls = agents.flatMap((agent, index) =>
          Array.from({ length: 2 + 2 * index }, (_, call) =>
            paidCall(agent, `${path}/${call === 1 ? "refuse" : "serve"}`)
          )
        )
        const looks = Array.from({ length: 10 }, () => stats("24h"))
        yield* Effect.all([...calls, ...looks], { concurrency: 8, discard: true })
        const known = yield* books(endpoint.id)
        assert.strictEqual(known.calls, 16)
        const { totalCalls, totalRevenue } = yield* record
        for (const window of ["1h", "24h", "7d", "30d", "all"]) {
          const found = yield* stats(window)
          assert.deepStrictEqual([found.totalCalls, found.totalRevenue], [totalCalls, totalRevenue])
          assert.deepStrictEqual(
            {
              calls: found.totalCalls,
              charged: found.totalRevenue,
              payers: found.uniquePayers,
              moved: found.totalRevenue
            },
            known
          )
          assert.deepStrictEqual(found.failures, [{ reason: "origin_status", calls: 4 }])
          assert.strictEqual(found.totalFailures, 4)
          assert.strictEqual(found.latency.answers, 20)
          assert.isTrue(
            found.latency.p99 !== null && found.latency.p50 !== null && found.latency.p50 <= found.latency.p99
          )
          const counted = found.buckets.reduce((sum, { calls }) => sum + calls, 0)
          assert.strictEqual(counted, 16)
        }
      })
  )

  it.effect("shows the last day when no window is named, and every bucket of a window", () =>
    Effect.gen(function* () {
      const { look, stats } = yield* shop
      assert.strictEqual((yield* look("")).json.data.window, "24h")
      for (const [window, { buckets, width }] of Object.entries(slidingWindows)) {
        const found = yield* stats(window)
        assert.deepStrictEqual([found.buckets.length, found.bucketSeconds], [buckets, width / 1000])
        assert.strictEqual(found.buckets[0]?.start, found.from)
        assert.isAtMost(Date.parse(found.to) - Date.parse(found.from), buckets * width)
      }
    })
  )

  it.effect("refuses a window that there is not", () =>
    Effect.gen(function* () {
      const { look } = yield* shop
      for (const window of ["2h", "", "1H", "all,1h"]) {
        const { json, status } = yield* look(`?window=${window}`)
        assert.deepStrictEqual([status, json.code], [400, "INVALID_REQUEST"], window)
      }
    })
  )

  it.effect("knows nothing of another tenant's endpoint, and needs a credential that may read", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* shop
      const other = yield* tenant
      const path = `/v1/x402/endpoints/${endpoint.id}/stats`
      const foreign = yield* send(path, { headers: { authorization: `Bearer ${other.key}` } })
      assert.deepStrictEqual([foreign.status, foreign.json.code], [404, "NOT_FOUND"])
      assert.strictEqual((yield* send(path)).status, 401)
    })
  )
})
