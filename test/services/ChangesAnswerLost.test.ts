import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import * as Postgres from "#layers/Postgres.ts"
import { Disputes } from "#services/Disputes.ts"
import { EventLog } from "#services/EventLog.ts"
import { Ledger } from "#services/Ledger.ts"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { Refunds } from "#services/Refunds.ts"
import { Schedules } from "#services/Schedules.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { losing } from "./LedgerHarness.ts"
import { faults, open, parties, rate } from "./MoneyStreamsHarness.ts"
import { disputeOf, paid, sound } from "./RefundsHarness.ts"
import { isSound, pair } from "./SchedulesHarness.ts"

const services = Layer.mergeAll(MoneyStreams.layer, Schedules.layer, Disputes.layer)
const platform = Layer.mergeAll(services, Transfers.layer, Refunds.layer).pipe(
  Layer.provideMerge(Wallets.layer),
  Layer.provideMerge(Layer.mergeAll(Ledger.layer, EventLog.layer)),
  Layer.provideMerge(Postgres.layerTest)
)

/** The same services of a process whose first answers are lost, while somebody else does this. */
const unlucky = (meanwhile: Effect.Effect<unknown>) =>
  Effect.map(Layer.build(Layer.fresh(services).pipe(Layer.provide(losing(meanwhile)))), (context) => ({
    disputes: Context.get(context, Disputes),
    schedules: Context.get(context, Schedules),
    streams: Context.get(context, MoneyStreams)
  }))

layer(platform, { timeout: "60 seconds" })(
  "a change without a key whose answer is lost while somebody else makes another",
  (it) => {
    it.effect("of a stream is not made once more on top of the other", () =>
      Effect.gen(function* () {
        const both = yield* parties(1_000_000_000n)
        const { caller } = both
        const streams = yield* MoneyStreams
        const { id } = (yield* open(both)).stream
        const { pause } = (yield* unlucky(Effect.orDie(streams.resume(caller, id)))).streams
        assert.strictEqual((yield* pause(caller, id)).stream.status, "paused")
        assert.strictEqual((yield* streams.get(caller, id)).status, "active")
        const { changeRate } = (yield* unlucky(Effect.orDie(streams.changeRate(caller, id, rate("2"))))).streams
        assert.strictEqual((yield* changeRate(caller, id, rate("1"))).stream.flow_rate, rate("1"))
        assert.strictEqual((yield* streams.get(caller, id)).flow_rate, rate("2"))
        yield* streams.pause(caller, id)
        const { resume } = (yield* unlucky(Effect.orDie(streams.pause(caller, id)))).streams
        assert.strictEqual((yield* resume(caller, id)).stream.status, "active")
        assert.strictEqual((yield* streams.get(caller, id)).status, "paused")
        assert.deepStrictEqual(yield* faults, [])
      })
    )

    it.effect("of a schedule is not made once more on top of the other", () =>
      Effect.gen(function* () {
        const { caller, schedule } = yield* pair(100n)
        const schedules = yield* Schedules
        const { id } = yield* schedule({ frequency: "daily" })
        const first = yield* unlucky(Effect.orDie(schedules.change(caller, id, "resume")))
        assert.strictEqual((yield* first.schedules.change(caller, id, "pause")).schedule.status, "paused")
        assert.strictEqual((yield* schedules.get(caller, id)).status, "scheduled")
        yield* schedules.change(caller, id, "pause")
        const second = yield* unlucky(Effect.orDie(schedules.change(caller, id, "pause")))
        assert.strictEqual((yield* second.schedules.change(caller, id, "resume")).schedule.status, "scheduled")
        assert.strictEqual((yield* schedules.get(caller, id)).status, "paused")
        yield* isSound
      })
    )

    it.effect("of a dispute is not made once more on top of the other", () =>
      Effect.gen(function* () {
        const { caller, id } = yield* paid
        const disputes = yield* Disputes
        const { dispute } = yield* disputes.open(caller, disputeOf(id))
        const piece = (type: string) => ({ type, description: "said" })
        const theirs = Effect.orDie(disputes.addEvidence(caller, dispute.id, [piece("theirs")]))
        yield* (yield* unlucky(theirs)).disputes.addEvidence(caller, dispute.id, [piece("ours")])
        const { evidence } = yield* disputes.get(caller, dispute.id)
        assert.deepStrictEqual(
          evidence.map(({ type }) => type),
          ["ours", "theirs"]
        )
        yield* sound
      })
    )
  }
)

layer(platform, { timeout: "60 seconds" })("a dispute that is opened, and whose answer is lost", (it) => {
  it.effect("stays resolved when it is resolved meanwhile", () =>
    Effect.gen(function* () {
      const { caller, id } = yield* paid
      const disputes = yield* Disputes
      const verdict = { resolution: "no_refund", refund_amount: undefined, notes: null } as const
      const all = Effect.map(disputes.list(caller, {}, { limit: 10, offset: 0 }), (found) => found.disputes)
      const resolved = Effect.flatMap(all, ([found]) =>
        found === undefined ? Effect.void : disputes.resolve(caller, found.id, verdict)
      )
      const opened = yield* (yield* unlucky(Effect.orDie(resolved))).disputes.open(caller, disputeOf(id))
      assert.strictEqual(opened.dispute.status, "open")
      assert.deepStrictEqual(
        (yield* all).map(({ id, status }) => [id, status]),
        [[opened.dispute.id, "resolved"]]
      )
      yield* sound
    })
  )
})
