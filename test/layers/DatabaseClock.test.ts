import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as DatabaseClock from "#layers/DatabaseClock.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Database } from "#services/Database.ts"
import { newUuid } from "#services/NewId.ts"

const real = Clock.Clock.defaultValue()
const hour = 3_600_000

/** A machine whose monotonic clock is moved by hand. */
const machine = () => {
  const state = { monotonic: 5_000 }
  const local: Clock.Clock = Object.assign(Object.create(real), {
    monotonicTimeNanosUnsafe: () => BigInt(Math.round(state.monotonic * 1e6))
  })
  return { state, local }
}

/** The clock of a database that is `difference` ahead of the machine's monotonic clock, asked for `rtt` milliseconds. */
const look = (state: { readonly monotonic: number }, difference: number, rtt = 2): DatabaseClock.Look => ({
  asked: state.monotonic - rtt,
  told: state.monotonic - rtt / 2 + difference,
  heard: state.monotonic
})

describe("a clock that follows another", () => {
  it("tells the other's time from the first look on", () => {
    const { local, state } = machine()
    const clock = new DatabaseClock.FollowedClock(local, look(state, 1_000_000))
    assert.strictEqual(clock.currentTimeMillisUnsafe(), 1_005_000)
    state.monotonic += 250
    assert.strictEqual(clock.currentTimeMillisUnsafe(), 1_005_250)
    assert.strictEqual(clock.currentTimeNanosUnsafe(), 1_005_250_000_000n)
  })

  it("a slow answer that contradicts nothing changes nothing", () => {
    const { local, state } = machine()
    const clock = new DatabaseClock.FollowedClock(local, look(state, 1_000_000))
    // The database read its clock at the very end of eight seconds.
    clock.learn({ asked: state.monotonic - 8_000, told: state.monotonic + 1_000_000, heard: state.monotonic })
    state.monotonic += 60_000
    assert.strictEqual(clock.currentTimeMillisUnsafe(), 1_065_000)
  })

  for (const wrong of [-2_000, 2_000]) {
    it(`makes ${wrong} ms good bit by bit, and never goes back`, () => {
      const { local, state } = machine()
      const clock = new DatabaseClock.FollowedClock(local, look(state, 1_000_000))
      clock.learn(look(state, 1_000_000 + wrong))
      let before = clock.currentTimeMillisUnsafe()
      const first = before
      for (let step = 0; step < 2_500; step++) {
        state.monotonic += 10
        const now = clock.currentTimeMillisUnsafe()
        assert.isAtLeast(now, before)
        assert.isAtMost(now - before, 12)
        before = now
      }
      assert.approximately(before - first, 25_000 + wrong, 2)
    })
  }

  it("a look in the middle of making good neither jumps nor goes back", () => {
    const { local, state } = machine()
    const clock = new DatabaseClock.FollowedClock(local, look(state, 1_000_000))
    clock.learn(look(state, 1_002_000))
    state.monotonic += 10_000
    const before = clock.currentTimeMillisUnsafe()
    clock.learn(look(state, 1_000_500))
    assert.approximately(clock.currentTimeMillisUnsafe(), before, 1)
    state.monotonic += 10_000
    assert.approximately(clock.currentTimeMillisUnsafe(), 1_025_500, 2)
  })

  for (const moved of [-hour, hour]) {
    it(`follows at once when the other was set by ${moved / hour} h`, () => {
      const { local, state } = machine()
      const clock = new DatabaseClock.FollowedClock(local, look(state, 10_000_000))
      clock.learn(look(state, 10_000_000 + moved))
      assert.approximately(clock.currentTimeMillisUnsafe(), 10_005_000 + moved, 2)
    })
  }
})

const ahead: Clock.Clock = Object.assign(Object.create(real), {
  currentTimeMillisUnsafe: () => real.currentTimeMillisUnsafe() + hour,
  currentTimeMillis: Effect.map(real.currentTimeMillis, (now) => now + hour)
})
const skewed = DatabaseClock.layer.pipe(
  Layer.provide(Layer.succeed(Clock.Clock, ahead)),
  Layer.provideMerge(Postgres.layerTest)
)

layer(skewed, { excludeTestServices: true })("on a machine that is an hour ahead", (it) => {
  it.effect("time is the database's", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const told = sql`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`
      const [[before], now, [after]] = yield* Effect.all([told, Clock.currentTimeMillis, told])
      assert.isAtLeast(now, Number(before?.["now"]) - 1_000)
      assert.isAtMost(now, Number(after?.["now"]) + 1_000)
    })
  )

  it.effect("whoever watches is told by how much, in seconds", () =>
    Effect.gen(function* () {
      const told = /^turnpike_clock_lead_seconds (.*)$/m.exec(yield* PrometheusMetrics.format())?.[1]
      assert.approximately(Number(told), hour / 1000, 60)
    })
  )

  it.effect("ids carry it too", () =>
    Effect.gen(function* () {
      const before = yield* Clock.currentTimeMillis
      const made = Number.parseInt(newUuid().replace("-", "").slice(0, 12), 16)
      assert.isAtLeast(made, before)
      assert.isAtMost(made, (yield* Clock.currentTimeMillis) + 1_000)
    })
  )
})

/** A machine of virtual time that slept for an hour once: its monotonic clock stands so far behind the others. */
const sleeper = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const state = { slept: 0 }
  const monotonicTimeNanosUnsafe = () => clock.monotonicTimeNanosUnsafe() - BigInt(state.slept) * 1_000_000n
  const local: Clock.Clock = Object.assign(Object.create(clock), { monotonicTimeNanosUnsafe })
  return { state, local }
})

/** The clock that a server on this machine lives by, and how far it is behind the database's, in milliseconds. */
const followedOn = Effect.fnUntraced(function* (local: Clock.Clock) {
  const sql = yield* SqlClient.SqlClient
  const built = yield* Effect.provideService(Layer.build(Layer.fresh(DatabaseClock.layer)), Clock.Clock, local)
  const clock = yield* Effect.provide(Clock.Clock, built)
  const behind = (teller = sql) =>
    Effect.map(
      teller`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`,
      ([row]) => Number(row?.["now"]) - clock.currentTimeMillisUnsafe()
    )
  // By the time of an answer the clock's first turn is over, which would see at once that the machine slept.
  assert.isBelow(Math.abs(yield* behind()), 60_000)
  return behind
})

layer(Postgres.layerTest)("on a machine that slept for an hour", (it) => {
  it.effect("time is the database's a second after it woke", () =>
    Effect.gen(function* () {
      const { local, state } = yield* sleeper
      const behind = yield* followedOn(local)
      state.slept = hour
      assert.isAbove(yield* behind(), hour - 60_000)
      yield* TestClock.adjust("1 second")
      const last = yield* Effect.repeat(behind(), { until: (millis) => millis < 60_000, times: 200 })
      assert.isBelow(last, 60_000)
    })
  )

  it.effect("so it is a second after the database answers, where it did not when the machine woke", () =>
    Effect.gen(function* () {
      const { local, state } = yield* sleeper
      const other = yield* SqlClient.SqlClient
      const { config } = yield* Database
      const sql = yield* PgClient.makeClient(config)
      const behind = yield* Effect.provideService(followedOn(local), SqlClient.SqlClient, sql)
      state.slept = hour
      // The only connection is taken for longer than an answer is waited for.
      const second = TestClock.adjust("1 second")
      yield* sql.withTransaction(Effect.repeat(second, { times: 5 }))
      yield* Effect.repeat(second, { times: 2 })
      const last = yield* Effect.repeat(behind(other), { until: (millis) => millis < 60_000, times: 200 })
      assert.isBelow(last, 60_000)
    }).pipe(Effect.provide(Reactivity.layer))
  )
})

layer(Postgres.layerTest)("on a machine whose clocks run fast", (it) => {
  it.effect("time is still the database's after an hour: it is asked again, though nobody slept", () =>
    Effect.gen(function* () {
      const behind = yield* followedOn(yield* Clock.Clock)
      yield* TestClock.adjust("1 hour")
      const aMomentLater = Effect.andThen(TestClock.adjust("1 second"), behind())
      const last = yield* Effect.repeat(aMomentLater, { until: (millis) => millis > -60_000, times: 200 })
      assert.isAbove(last, -60_000)
    })
  )
})
