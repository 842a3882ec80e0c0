import { assert, layer } from "@effect/vitest"
import { Cause, Context, Duration, Effect, Exit, Fiber, Latch, Layer, References, Result } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { StreamId } from "#domain/Ids.ts"
import { LanePolicy } from "#services/Ledger/LanePolicy.ts"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { another, balance, eventsOf, faults, money, open, parties, platform, rate } from "./MoneyStreamsHarness.ts"
import { claimOf, patient } from "./WalletsHarness.ts"

const tagOf = <A>(outcome: Result.Result<A, { readonly _tag: string }>) =>
  Result.isFailure(outcome) ? outcome.failure._tag : "done"

const patiently = platform.pipe(Layer.provideMerge(patient))

layer(patiently, { timeout: "60 seconds" })("two processes at one stream", (it) => {
  it.effect("asked forty times at once for all that has accrued pay it once", () =>
    Effect.gen(function* () {
      const both = yield* parties(1_000_000_000n)
      const here = yield* MoneyStreams
      const there = (yield* another).streams
      const { id } = (yield* open(both)).stream
      yield* TestClock.adjust("1 hour")
      const outcomes = yield* Effect.all(
        Array.from({ length: 40 }, (_, index) =>
          Effect.result((index % 2 ? here : there).withdraw(both.caller, id, {}))
        ),
        { concurrency: 40 }
      )
      const tags = outcomes.map(tagOf).sort()
      assert.deepStrictEqual(tags, [...Array(39).fill("NOTHING_ACCRUED"), "done"])
      assert.deepStrictEqual(yield* money(both, id), [0n, 996_400_000n, 3_600_000n])
    })
  )

  it.effect("give away exactly what has accrued in parts", () =>
    Effect.gen(function* () {
      const both = yield* parties(1_000_000_000n)
      const here = yield* MoneyStreams
      const there = (yield* another).streams
      const { id } = (yield* open(both)).stream
      yield* TestClock.adjust("10 seconds")
      const outcomes = yield* Effect.all(
        Array.from({ length: 20 }, (_, index) =>
          Effect.result((index % 2 ? here : there).withdraw(both.caller, id, { amount: 1_000n }))
        ),
        { concurrency: 20 }
      )
      assert.strictEqual(outcomes.filter(Result.isSuccess).length, 10)
      assert.strictEqual(yield* balance(both.payee), 10_000n)
      assert.deepStrictEqual(yield* faults, [])
    })
  )

  it.effect("where one cancels and the other withdraws move all the money and no more, in 100 rounds", () =>
    Effect.gen(function* () {
      const both = yield* parties(1_000_000_000n)
      const here = yield* MoneyStreams
      const there = (yield* another).streams
      const outcomes = new Set<string>()
      let [paid, round] = [0n, 0]
      for (; round < 100; round++) {
        const { id } = (yield* open(both, { initial_deposit: 1_000_000n, flow_rate: rate("0.01") })).stream
        yield* TestClock.adjust("1 second")
        const [first, second] = round % 2 ? [here, there] : [there, here]
        const [cancelled, withdrawn] = yield* Effect.all(
          [Effect.result(first.cancel(both.caller, id, {})), Effect.result(second.withdraw(both.caller, id, {}))],
          { concurrency: 2 }
        )
        assert.isTrue(Result.isSuccess(cancelled))
        outcomes.add(tagOf(withdrawn))
        paid += 10_000n
        assert.deepStrictEqual(yield* money(both, id), [1_000_000_000n - paid, 0n, paid])
      }
      assert.isTrue([...outcomes].every((tag) => ["done", "STATE_TRANSITION_INVALID"].includes(tag)))
      assert.deepStrictEqual(yield* faults, [])
    })
  )

  it.effect(
    "of whom one tops up while the other looks after it at the instant it runs dry agree on what came first",
    () =>
      Effect.gen(function* () {
        const both = yield* parties(1_000_000_000n)
        const here = yield* MoneyStreams
        const there = (yield* another).streams
        for (const [millis, status] of [
          [999, "active"],
          [1000, "paused"]
        ] as const) {
          const { id } = (yield* open(both, { initial_deposit: 1_000_000n, flow_rate: rate("1") })).stream
          yield* TestClock.adjust(`${millis} millis`)
          const before = (yield* eventsOf(both.caller, "stream.alert")).length
          yield* Effect.all(
            [here.topUp(both.caller, id, { amount: 1_000_000n }), there.alertDue, here.alertDue, there.alertDue],
            { concurrency: 4 }
          )
          const stream = yield* here.get(both.caller, id)
          assert.deepInclude(stream, { status, deposited: 2_000_000n, recipient_balance: BigInt(millis) * 1000n })
          const alerts = (yield* eventsOf(both.caller, "stream.alert")).slice(before)
          assert.deepStrictEqual(
            alerts.map(({ data }) => data.alert.severity),
            status === "paused" ? ["exhausted"] : []
          )
        }
        assert.deepStrictEqual(yield* faults, [])
      })
  )

  it.effect("topped up a hundred times at once take every top-up", () =>
    Effect.gen(function* () {
      const both = yield* parties(1_000_100_000n)
      const here = yield* MoneyStreams
      const there = (yield* another).streams
      const { id } = (yield* open(both)).stream
      yield* Effect.all(
        Array.from({ length: 100 }, (_, index) =>
          (index % 2 ? here : there).topUp(both.caller, id, { amount: 1_000n })
        ),
        { concurrency: 100 }
      )
      assert.deepStrictEqual(yield* money(both, id), [0n, 1_000_100_000n, 0n])
      assert.strictEqual((yield* here.get(both.caller, id)).deposited, 1_000_100_000n)
    })
  )

  it.effect("asked to cancel under one key, fifty times at once, cancel once and answer the same", () =>
    Effect.gen(function* () {
      const both = yield* parties(1_000_000_000n)
      const here = yield* MoneyStreams
      const there = (yield* another).streams
      const { id } = (yield* open(both)).stream
      yield* TestClock.adjust("1 second")
      const claim = { ...claimOf(both.caller, "cancel"), operation: "streams.cancel" }
      const answers = yield* Effect.all(
        Array.from({ length: 50 }, (_, index) => (index % 2 ? here : there).cancel(both.caller, id, {}, claim)),
        { concurrency: 50 }
      )
      assert.strictEqual(answers.filter(({ replayed }) => !replayed).length, 1)
      assert.strictEqual(new Set(answers.map(({ transfer }) => transfer.id)).size, 1)
      assert.strictEqual(new Set(answers.map(({ stream }) => stream.latest_transfer_id)).size, 1)
      assert.deepStrictEqual(yield* money(both, id), [999_999_000n, 0n, 1_000n])
    })
  )
})

layer(patiently, { timeout: "60 seconds" })("two processes that look after streams", (it) => {
  it.effect("give each of 300 alerts once, although both look at once", () =>
    Effect.gen(function* () {
      const both = yield* parties(1_000_000_000n)
      const here = yield* MoneyStreams
      const there = (yield* another).streams
      yield* Effect.forEach(
        Array.from({ length: 300 }),
        () => open(both, { initial_deposit: 1_000_000n, flow_rate: rate("0.00001") }),
        { concurrency: 50, discard: true }
      )
      yield* TestClock.adjust("5 hours")
      const atOnce = yield* Effect.all([here.alertDue, there.alertDue, here.alertDue, there.alertDue], {
        concurrency: 4
      })
      // Where each was faster at some of them, all may have passed over the same others, which the next look finds.
      const counts = [...atOnce, yield* here.alertDue]
      assert.strictEqual(
        counts.reduce((sum, one) => sum + one, 0),
        300
      )
      const alerts = yield* eventsOf(both.caller, "stream.alert")
      assert.strictEqual(new Set(alerts.map(({ data }) => data.stream.id)).size, 300)
      assert.strictEqual(alerts.length, 300)
    })
  )
})

const policy = Layer.effectContext(
  Effect.map(LanePolicy, (defaults) =>
    Context.make(LanePolicy, {
      ...defaults,
      // Whoever gives a slow server up does not know what it still does; a server that was cut off has ended.
      groupTimeout: Duration.minutes(1),
      commandTimeout: Duration.millis(800),
      reconnect: Duration.millis(10)
    })
  )
)
// What is lost on purpose need not be reported.
const losing = platform.pipe(
  Layer.provide(policy),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)

// Connections are lost in real time.
layer(losing, { timeout: "60 seconds", excludeTestServices: true })("streams whose ledger loses its database", (it) => {
  it.effect("say of every change what came of it, and lose no money", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const streams = yield* MoneyStreams
      const both = yield* parties(1_000_000_000n)
      const ids: Array<StreamId> = []
      for (let index = 0; index < 8; index++) {
        ids.push((yield* open(both, { initial_deposit: 100_000_000n, flow_rate: rate("0.01") })).stream.id)
      }
      let said = 0
      // Cut after so many changes, not after some time: on a slow machine it would cut before any change.
      const tenMore = Latch.makeUnsafe(false)
      const cutting = yield* tenMore.await.pipe(
        Effect.andThen(tenMore.close),
        Effect.andThen(sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = 'turnpike-ledger' AND datname = current_database()`),
        Effect.forever,
        Effect.forkChild
      )
      // Only after an outcome that nobody knows may a change find that it has been made.
      const sure = Effect.fnUntraced(function* <A, E>(change: Effect.Effect<A, E>) {
        const exit = yield* Effect.exit(change)
        if (Exit.isSuccess(exit)) {
          if (++said % 10 === 0) tenMore.openUnsafe()
        } else if (Cause.hasFails(exit.cause)) assert.fail(String(Cause.squash(exit.cause)))
        return Exit.isSuccess(exit)
      })
      const live = Effect.fnUntraced(function* (id: StreamId) {
        for (let round = 0; round < 20; round++) {
          if (!(yield* sure(streams.pause(both.caller, id)))) {
            if ((yield* streams.get(both.caller, id)).status === "active") continue
          }
          yield* sure(streams.topUp(both.caller, id, { amount: 1_000n }))
          if (!(yield* sure(streams.resume(both.caller, id)))) {
            if ((yield* streams.get(both.caller, id)).status === "active") continue
            yield* Effect.repeat(Effect.exit(streams.resume(both.caller, id)), { until: Exit.isSuccess, times: 20 })
          }
        }
        const { status } = yield* streams.get(both.caller, id)
        if (status !== "cancelled") yield* sure(streams.cancel(both.caller, id, {}))
      })
      yield* Effect.forEach(ids, live, { concurrency: 8, discard: true })
      yield* Fiber.interrupt(cutting)
      assert.isAbove(said, 100)
      assert.deepStrictEqual(yield* faults, [])
      const left = yield* Effect.forEach(ids, balance)
      const [payer, payee] = [yield* balance(both.payer), yield* balance(both.payee)]
      assert.strictEqual(payer + payee + left.reduce((sum, one) => sum + one, 0n), 1_000_000_000n)
    })
  )
})
