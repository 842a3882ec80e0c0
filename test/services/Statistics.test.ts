import { jsonOf } from "#domain/Event.ts"
import { assert, layer } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Platform from "#layers/Platform.ts"
import * as Test from "#layers/Test.ts"
import { Statistics } from "#services/Statistics.ts"
import {
  allChecked,
  checked,
  day,
  dice,
  ended,
  hour,
  inMarch,
  minute,
  read,
  record,
  type Shop,
  shop,
  wallets,
  windows
} from "./StatisticsHarness.ts"

const now = Effect.map(DateTime.now, ({ epochMilliseconds }) => epochMilliseconds)
const reasons = ["origin_status", "origin_timeout", "origin_unreachable", "caller_gone"]

/** Some calls of some endpoints, cheap and dear, free and failed, fast and slow. */
const calls = (roll: (bound: number) => number, shops: ReadonlyArray<Shop>, atMost: number) =>
  Array.from({ length: 1 + roll(atMost) }, () => {
    const at = shops[roll(shops.length)]
    if (at === undefined) throw new Error("no shop")
    const origin_ms = roll(4) === 0 ? null : roll(2) === 0 ? roll(40) : roll(100_000)
    const failure = roll(5) === 0 ? reasons[roll(reasons.length)] : undefined
    const charged = roll(6) === 0 ? 0n : BigInt(1 + roll(5)) * 2_500n
    return ended(at, {
      payer: wallets[roll(1 + roll(wallets.length))] ?? "",
      charged,
      origin_ms,
      ...(failure === undefined ? {} : { failure })
    })
  })

/** Moves on: not at all, a little, to an edge of a bucket, to just before one, or so far that everything leaves. */
const wait = Effect.fnUntraced(function* (roll: (bound: number) => number) {
  const width = [minute, 15 * minute, hour, 6 * hour, day][roll(5)] ?? minute
  const left = width - ((yield* now) % width)
  const steps = [0, 1, left, left - 1, roll(3 * minute), roll(2 * hour), roll(3 * day), width, 40 * day]
  yield* TestClock.adjust(steps[roll(roll(3) === 0 ? steps.length : steps.length - 1)] ?? 0)
})

layer(Test.layer, { timeout: "120 seconds" })("statistics", (it) => {
  for (const seed of [1, 2, 3, 4, 5]) {
    it.effect(`are what the log says after every step of a random history (${seed})`, () =>
      Effect.gen(function* () {
        const roll = dice(seed)
        const statistics = yield* Statistics
        const shops = [yield* shop, yield* shop, yield* shop]
        for (let step = 0; step < 40; step++) {
          yield* record(calls(roll, shops, 12))
          yield* wait(roll)
          if (roll(3) === 0) yield* statistics.rollUp
          if (roll(6) === 0) yield* statistics.tidy
          const [at, window] = [shops[roll(3)], windows[roll(windows.length)]]
          if (at !== undefined && window !== undefined) yield* checked(at, yield* now, yield* read(at, window))
        }
        yield* allChecked(shops)
      }).pipe(inMarch)
    )
  }

  it.effect("of an endpoint that nobody called are zeros, in every bucket", () =>
    Effect.gen(function* () {
      const quiet = yield* shop
      yield* allChecked([quiet])
      const found = yield* read(quiet, "7d")
      assert.deepStrictEqual([found.topPayers, found.failures, found.latency.p50], [[], [], null])
      assert.strictEqual((yield* read(quiet, "all")).buckets.length, 1)
    }).pipe(inMarch)
  )

  it.effect("leave a window at the edge of its last bucket, to the millisecond", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.UTC(2026, 4, 1, 12, 30))
      const one = yield* shop
      yield* record([ended(one, {})])
      yield* TestClock.adjust(hour - 1)
      assert.strictEqual((yield* read(one, "1h")).totalCalls, 1n)
      yield* TestClock.adjust(1)
      const { totalCalls, uniquePayers } = yield* read(one, "1h")
      assert.deepStrictEqual([totalCalls, uniquePayers], [0n, 0n])
      assert.strictEqual((yield* read(one, "24h")).totalCalls, 1n)
    }).pipe(inMarch)
  )

  it.effect("count all of a log that nobody counted for long", () =>
    Effect.gen(function* () {
      const shops = [yield* shop, yield* shop]
      const roll = dice(99)
      for (let part = 0; part < 6; part++) {
        yield* record(Array.from({ length: 30 }, () => calls(roll, shops, 30)).flat())
        yield* TestClock.adjust(5 * hour)
      }
      const sql = yield* SqlClient.SqlClient
      const [behind] = yield* sql`SELECT (event_seq - seq)::int AS n FROM ledger_head, statistics_cursor`
      assert.isAbove(Number(behind?.["n"]), 1000)
      yield* allChecked(shops)
    }).pipe(inMarch)
  )

  it.effect("keep what is no word of ours under one name", () =>
    Effect.gen(function* () {
      const one = yield* shop
      yield* record(["a b", "Ä", "", "x".repeat(65)].map((failure) => ended(one, { failure })))
      assert.deepStrictEqual((yield* read(one, "all")).failures, [{ reason: "other", calls: 4n }])
    }).pipe(inMarch)
  )

  it.effect("know a payer on the chain by its address", () =>
    Effect.gen(function* () {
      const one = yield* shop
      const fact = ended(one, { charged: 5n })
      const payment = { ...JSON.parse(jsonOf(fact)).payment, payer_wallet_id: null, payer_address: "0xabc" }
      yield* record([{ ...fact, data: { payment } }])
      assert.deepStrictEqual((yield* read(one, "all")).topPayers, [{ payer: "0xabc", calls: 1n, revenue: 5n }])
    }).pipe(inMarch)
  )

  it.effect("drop what left every window, also when nobody looks", () =>
    Effect.gen(function* () {
      const one = yield* shop
      const { rollUp, tidy } = yield* Statistics
      const roll = dice(7)
      yield* record(calls(roll, [one], 200))
      yield* Effect.repeat(rollUp, { while: (passed) => passed > 0 })
      yield* TestClock.adjust(35 * day)
      yield* Effect.repeat(tidy, { while: (tidied) => tidied > 0 })
      const sql = yield* SqlClient.SqlClient
      const id = one.endpoint.id
      const left = yield* sql`SELECT span FROM statistics_cells WHERE endpoint_id = ${id}
        UNION ALL SELECT span FROM statistics_sums WHERE endpoint_id = ${id} AND span <> 'all'
        UNION ALL SELECT span FROM statistics_buckets WHERE endpoint_id = ${id} AND span <> 'all'
        UNION ALL SELECT span FROM statistics_windows WHERE endpoint_id = ${id} AND span <> 'all' AND calls + payers > 0`
      assert.deepStrictEqual(left, [])
      yield* allChecked([one])
    }).pipe(inMarch)
  )

  it.effect("are exact for a clock that is behind the one that looked before", () =>
    Effect.gen(function* () {
      const one = yield* shop
      const roll = dice(11)
      for (let step = 0; step < 30; step++) {
        yield* record(calls(roll, [one], 5))
        yield* TestClock.adjust(3 * minute)
      }
      const ahead = (yield* now) + 2 * minute
      const behind = yield* now
      yield* TestClock.setTime(ahead)
      yield* read(one, "1h")
      yield* TestClock.setTime(behind)
      yield* checked(one, ahead, yield* read(one, "1h"))
    }).pipe(inMarch)
  )

  it.effect("are whole when who counts is stopped in the middle", () =>
    Effect.gen(function* () {
      const shops = [yield* shop, yield* shop]
      const sql = yield* SqlClient.SqlClient
      const { rollUp } = yield* Statistics
      yield* Effect.repeat(rollUp, { while: (passed) => passed > 0 })
      yield* record(calls(dice(5), shops, 300))
      const cursor = sql`SELECT seq, (SELECT sum(calls) FROM statistics_windows) AS calls FROM statistics_cursor`
      const before = yield* cursor
      // The last table that it writes is held back until it is gone.
      const [locked, gone] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const holder = yield* sql`LOCK TABLE statistics_sums IN ACCESS EXCLUSIVE MODE`.pipe(
        Effect.andThen(Deferred.succeed(locked, undefined)),
        Effect.andThen(Deferred.await(gone)),
        sql.withTransaction,
        Effect.forkChild
      )
      yield* Deferred.await(locked)
      const counting = yield* Effect.forkChild(rollUp)
      yield* Effect.repeat(sql`SELECT 1 FROM pg_locks WHERE relation = 'statistics_sums'::regclass AND NOT granted`, {
        until: (waiting) => waiting.length > 0
      })
      yield* Fiber.interrupt(counting)
      yield* Deferred.succeed(gone, undefined)
      yield* Fiber.join(holder)
      assert.deepStrictEqual(yield* cursor, before)
      yield* allChecked(shops)
    }).pipe(inMarch)
  )
})

/** A second process on the same database. */
const twoProcesses = Effect.gen(function* () {
  const context = yield* Layer.build(Layer.fresh(Platform.layer))
  return [yield* Statistics, yield* Effect.provide(Statistics, context)] as const
})

layer(Test.layer, { timeout: "120 seconds" })("two processes", (it) => {
  it.effect("count, look and tidy at once, and each call is counted once", () =>
    Effect.flatMap(twoProcesses, (processes) =>
      Effect.gen(function* () {
        const shops = [yield* shop, yield* shop]
        const roll = dice(3)
        for (let round = 0; round < 6; round++) {
          const facts = Array.from({ length: 10 }, () => calls(roll, shops, 15))
          yield* TestClock.adjust([0, 20 * minute, 70 * minute, 2 * day][roll(4)] ?? 0)
          const work = processes.flatMap((one) => [
            one.rollUp,
            one.tidy,
            ...shops.flatMap(({ endpoint, seller }) => windows.map((window) => one.read(seller, endpoint.id, window)))
          ])
          yield* Effect.all([...facts.map(record), ...work], { concurrency: 16, discard: true })
          yield* allChecked(shops)
        }
      }).pipe(inMarch)
    )
  )

  it.effect("see a call in either, as soon as it is recorded", () =>
    Effect.flatMap(twoProcesses, ([first, second]) =>
      Effect.gen(function* () {
        const one = yield* shop
        for (let call = 1n; call <= 20n; call++) {
          yield* record([ended(one, {})])
          const seen = yield* Effect.all(
            [first, second].map((each) => each.read(one.seller, one.endpoint.id, "1h")),
            { concurrency: 2 }
          )
          assert.deepStrictEqual(
            seen.map(({ totalCalls }) => totalCalls),
            [call, call]
          )
        }
      }).pipe(inMarch)
    )
  )
})
