import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Ledger } from "#services/Ledger.ts"
import type { LedgerCommand } from "#services/Ledger/Group.ts"
import { MoneyStreams, type Steered } from "#services/MoneyStreams.ts"
import { whileHeadIsHeld } from "./LockHarness.ts"
import { another, faults, open, parties, platform, rate } from "./MoneyStreamsHarness.ts"

const flowing = { initial_deposit: 100_000_000n, flow_rate: rate("1") }

layer(platform, { timeout: "60 seconds" })("a stream whose change is late", (it) => {
  for (const way of ["cancel", "pause", "changeRate"] as const) {
    it.effect(`has flowed on until then, as everybody else was told: ${way}`, () =>
      Effect.gen(function* () {
        const both = yield* parties(100_000_000n)
        const { caller } = both
        const here = yield* MoneyStreams
        const there = (yield* another).streams
        const { id } = (yield* open(both, flowing)).stream
        const ways = {
          cancel: Effect.orDie(here.cancel(caller, id, {})),
          pause: Effect.orDie(here.pause(caller, id)),
          changeRate: Effect.orDie(here.changeRate(caller, id, rate("0.000001")))
        }
        const late: Effect.Effect<Steered> = ways[way]
        const { made, seen } = yield* whileHeadIsHeld(
          late,
          Effect.andThen(TestClock.adjust("1 minute"), there.get(caller, id))
        )
        assert.strictEqual(seen.recipient_balance, 60_000_000n)
        assert.strictEqual(made.stream.recipient_balance + made.stream.withdrawn, 60_000_000n)
        assert.deepStrictEqual(yield* faults, [])
      })
    )
  }
})

layer(platform, { timeout: "60 seconds" })("a stream whose opening is late", (it) => {
  it.effect("flows from when its deposit was taken, and not before anybody could see it", () =>
    Effect.gen(function* () {
      const both = yield* parties(100_000_000n)
      const { made } = yield* whileHeadIsHeld(open(both, flowing), TestClock.adjust("1 minute"))
      const { stream, transfer } = made
      const seen = yield* (yield* MoneyStreams).get(both.caller, stream.id)
      assert.strictEqual(seen.recipient_balance, 0n)
      assert.deepStrictEqual(seen, stream)
      assert.deepStrictEqual(stream.created_at, transfer.created_at)
      assert.deepStrictEqual(yield* faults, [])
    })
  )
})

layer(platform, { timeout: "60 seconds" })("a stream, while the ledger takes three seconds for everything,", (it) => {
  it.effect("is paused all the same, after a few attempts", () =>
    Effect.gen(function* () {
      const both = yield* parties(100_000_000n)
      const { id } = (yield* open(both, flowing)).stream
      const ledger = yield* Ledger
      let asked = 0
      const post = (command: LedgerCommand) =>
        Effect.suspend(() => {
          asked++
          return Effect.andThen(TestClock.adjust("3 seconds"), ledger.post(command))
        })
      const slow = Layer.succeed(Ledger, { ...ledger, post: post as Ledger["Service"]["post"] })
      const streams = Context.get(
        yield* Layer.build(Layer.fresh(MoneyStreams.layer).pipe(Layer.provide(slow))),
        MoneyStreams
      )
      const { stream } = yield* streams.pause(both.caller, id)
      assert.deepStrictEqual([stream.status, asked], ["paused", 2])
      assert.deepStrictEqual(yield* faults, [])
    })
  )
})
