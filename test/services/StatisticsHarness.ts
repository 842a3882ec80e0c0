import { assert } from "@effect/vitest"
import { DateTime, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { Endpoint } from "#domain/Endpoint.ts"
import type { EventDraft } from "#domain/Event.ts"
import { toTypeId } from "#domain/Ids.ts"
import { formatDecimal, Micros } from "#domain/Money.ts"
import type { Principal } from "#domain/Principal.ts"
import { type EndpointStatistics, StatisticsWindow } from "#domain/Statistics.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { EventLog } from "#services/EventLog.ts"
import { newUuid } from "#services/NewId.ts"
import { Statistics } from "#services/Statistics.ts"
import { Wallets } from "#services/Wallets.ts"
import { tenant } from "../http/GatewayHarness.ts"

export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour
export const windows = StatisticsWindow.literals

export interface Shop {
  readonly seller: Principal
  readonly endpoint: Endpoint
}

/** A tenant with an endpoint. */
export const shop = Effect.gen(function* () {
  const { principal: seller } = yield* tenant
  yield* (yield* Wallets).create(seller, {})
  const endpoint = yield* (yield* Endpoints).create(seller, { name: "Weather", path: "/a", method: "GET" })
  return { seller, endpoint } satisfies Shop
})

/**
 * Some time in March 2026, on a clock that is the test's alone: nothing of the platform waits on it, so it goes over years at
 * once.
 */
export const inMarch = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  TestClock.setTime(Date.UTC(2026, 2, 10, 11, 22, 33, 444)).pipe(
    Effect.andThen(test),
    Effect.provide(TestClock.layer())
  )

export const wallets = Array.from({ length: 40 }, () => toTypeId("wal", newUuid()))

/** The fact that a call ended. */
export const ended = (
  { endpoint, seller }: Shop,
  call: {
    readonly payer?: string
    readonly charged?: bigint
    readonly failure?: string
    readonly origin_ms?: number | null
  }
): EventDraft => ({
  tenant_id: seller.tenant_id,
  type: call.failure === undefined ? "x402.payment.completed" : "x402.payment.failed",
  data: {
    payment: {
      endpoint_id: endpoint.id,
      payer_wallet_id: call.payer ?? wallets[0],
      charged: call.failure === undefined ? formatDecimal(call.charged ?? 10_000n) : null,
      failure: call.failure ?? null,
      origin_ms: call.origin_ms ?? null
    }
  }
})

export const record = Effect.fnUntraced(function* (facts: ReadonlyArray<EventDraft>) {
  yield* (yield* EventLog).append(facts)
})

export const read = Effect.fnUntraced(function* ({ endpoint, seller }: Shop, window: StatisticsWindow) {
  return yield* (yield* Statistics).read(seller, endpoint.id, window)
})

const Fact = Schema.Struct({
  type: Schema.String,
  created_at: Schema.Date,
  payer: Schema.String,
  charged: Schema.NullOr(Micros),
  failure: Schema.NullOr(Schema.String),
  origin_ms: Schema.NullOr(Schema.Int)
})

/** Every end of a call of the endpoint, from the log itself. */
const factsOf = Effect.fnUntraced(function* (endpoint: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT type, created_at, p ->> 'payer_wallet_id' AS payer, p ->> 'charged' AS charged,
      p ->> 'failure' AS failure, (p ->> 'origin_ms')::int AS origin_ms
    FROM events, json_extract_path(data, 'payment') AS p WHERE p ->> 'endpoint_id' = ${endpoint}`
  return yield* Schema.decodeUnknownEffect(Schema.Array(Fact))(rows)
})

const lengths = { "1h": 60, "24h": 96, "7d": 168, "30d": 120 }
const widths = { "1h": minute, "24h": 15 * minute, "7d": hour, "30d": 6 * hour }
const sum = (values: ReadonlyArray<bigint>) => values.reduce((total, one) => total + one, 0n)

/** Holds what was answered against the log, read from its beginning to its end. `moment` is when it was asked. */
export const checked = Effect.fnUntraced(function* ({ endpoint }: Shop, moment: number, found: EndpointStatistics) {
  const { window } = found
  const all = yield* factsOf(endpoint.id)
  if (window !== "all") {
    const width = widths[window]
    assert.strictEqual(found.from.getTime(), Math.floor(moment / width) * width - (lengths[window] - 1) * width)
    assert.deepStrictEqual([found.buckets.length, found.bucketSeconds * 1000], [lengths[window], width])
  }
  const inside = all.filter(({ created_at }) => created_at >= found.from)
  if (window === "all") assert.strictEqual(inside.length, all.length)
  const calls = inside.filter(({ type }) => type === "x402.payment.completed")
  const failures = inside.filter(({ type }) => type === "x402.payment.failed")
  const revenue = sum(calls.map(({ charged }) => charged ?? 0n))
  assert.deepStrictEqual(
    [found.totalCalls, found.totalRevenue, found.totalFailures],
    [BigInt(calls.length), revenue, BigInt(failures.length)]
  )

  const payers = [...Map.groupBy(calls, ({ payer }) => payer)].map(([payer, paid]) => ({
    payer,
    calls: BigInt(paid.length),
    revenue: sum(paid.map(({ charged }) => charged ?? 0n))
  }))
  assert.strictEqual(found.uniquePayers, BigInt(payers.length))
  const ranked = payers.toSorted(
    (one, other) =>
      Number(other.revenue - one.revenue) || Number(other.calls - one.calls) || (one.payer < other.payer ? -1 : 1)
  )
  assert.deepStrictEqual(found.topPayers, ranked.slice(0, 10))

  for (const [index, { calls: counted, revenue, start }] of found.buckets.entries()) {
    assert.strictEqual(start.getTime(), found.from.getTime() + index * found.bucketSeconds * 1000)
    const end = start.getTime() + found.bucketSeconds * 1000
    const there = calls.filter(({ created_at }) => created_at >= start && created_at.getTime() < end)
    assert.strictEqual(counted, BigInt(there.length), `calls of bucket ${index} of ${window}`)
    assert.strictEqual(revenue, sum(there.map(({ charged }) => charged ?? 0n)))
  }

  const reasons = Object.entries(Object.groupBy(failures, ({ failure }) => failure ?? ""))
  assert.deepStrictEqual(
    Object.fromEntries(found.failures.map(({ calls, reason }) => [reason, calls])),
    Object.fromEntries(reasons.map(([reason, those]) => [reason, BigInt(those?.length ?? 0)]))
  )

  const millis = inside.flatMap(({ origin_ms }) => origin_ms ?? []).sort((one, other) => one - other)
  assert.strictEqual(found.latency.answers, BigInt(millis.length))
  for (const percent of [50, 90, 95, 99] as const) {
    const exact = millis[Math.ceil((millis.length * percent) / 100) - 1]
    const shown = found.latency[`p${percent}`]
    if (exact === undefined) assert.isNull(shown)
    else
      assert.isTrue(shown !== null && shown >= exact && shown <= exact * 1.0625, `p${percent}: ${shown} for ${exact}`)
  }
})

/** Every window of these endpoints is what the log says. */
export const allChecked = Effect.fnUntraced(function* (shops: ReadonlyArray<Shop>) {
  for (const one of shops) {
    for (const window of windows) {
      yield* checked(one, (yield* DateTime.now).epochMilliseconds, yield* read(one, window))
    }
  }
})

/** The same numbers for the same seed, each from 0 up to its bound. */
export const dice = (seed: number) => {
  let state = seed
  return (bound: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }
}
