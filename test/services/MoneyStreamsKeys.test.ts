import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { StreamId } from "#domain/Ids.ts"
import type { Principal } from "#domain/Principal.ts"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { newUuid } from "#services/NewId.ts"
import { interrupted } from "./LockHarness.ts"
import { another, eventsOf, faults, money, open, parties, platform, rate } from "./MoneyStreamsHarness.ts"
import { claimOf } from "./WalletsHarness.ts"

/** What can be done to a stream without moving money, in an order in which it can. */
const ways = ["pause", "resume", "changeRate"] as const

/** Does it; another rate is one that the stream does not have. */
const steer = (
  streams: MoneyStreams["Service"],
  way: (typeof ways)[number],
  caller: Principal,
  id: StreamId,
  claim?: IdempotencyClaim
) => (way === "changeRate" ? streams.changeRate(caller, id, rate("0.5"), claim) : streams[way](caller, id, claim))

layer(platform, { timeout: "60 seconds" })("changing a stream under a key", (it) => {
  for (const way of ways) {
    it.effect(`${way}: a hundred times at once, in two processes, changes it once and tells everybody the same`, () =>
      Effect.gen(function* () {
        const both = yield* parties(1_000_000_000n)
        const [here, there] = [yield* MoneyStreams, (yield* another).streams]
        const { id } = (yield* open(both)).stream
        if (way === "resume") yield* here.pause(both.caller, id)
        yield* TestClock.adjust("1 second")
        const answers = yield* Effect.forEach(
          Array.from({ length: 100 }, (_, index) => (index % 2 ? here : there)),
          (streams) => steer(streams, way, both.caller, id, claimOf(both.caller, way)),
          { concurrency: 100 }
        )
        const changed = yield* here.get(both.caller, id)
        for (const { stream } of answers) assert.deepStrictEqual(stream, changed)
        assert.strictEqual(answers.filter(({ replayed }) => !replayed).length, 1)
        assert.deepStrictEqual(yield* faults, [])
      })
    )

    it.effect(`${way}: is told again for a day and not done again, whatever became of the stream since`, () =>
      Effect.gen(function* () {
        const both = yield* parties(1_000_000_000n)
        const { caller } = both
        const streams = yield* MoneyStreams
        const { id } = (yield* open(both)).stream
        if (way === "resume") yield* streams.pause(caller, id)
        const repeated = steer(streams, way, caller, id, claimOf(caller, way))
        const first = yield* repeated
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(yield* repeated, { ...first, replayed: true })
        yield* streams[way === "pause" ? "resume" : "pause"](caller, id)
        yield* streams.changeRate(caller, id, rate("0.25"))
        const before = yield* streams.get(caller, id)
        assert.deepStrictEqual(yield* repeated, { ...first, replayed: true })
        assert.deepStrictEqual(yield* streams.get(caller, id), before)
        yield* streams.cancel(caller, id, {})
        yield* TestClock.adjust("23 hours")
        assert.deepStrictEqual(yield* repeated, { ...first, replayed: true })
        yield* TestClock.adjust("60 minutes")
        assert.strictEqual((yield* Effect.flip(repeated))._tag, "STATE_TRANSITION_INVALID")
        assert.deepStrictEqual(yield* faults, [])
      })
    )

    it.effect(`${way}: changes nothing under the key of another change, whether it could be made or not`, () =>
      Effect.gen(function* () {
        const both = yield* parties(2_000_000_000n)
        const { caller } = both
        const streams = yield* MoneyStreams
        const [{ stream: one }, { stream: other }] = [yield* open(both), yield* open(both)]
        if (way === "resume") for (const { id } of [one, other]) yield* streams.pause(caller, id)
        yield* steer(streams, way, caller, one.id, claimOf(caller, "k", one.id))
        const before = yield* streams.get(caller, other.id)
        for (const id of [other.id, StreamId.make(newUuid())]) {
          const reused = yield* Effect.flip(steer(streams, way, caller, id, claimOf(caller, "k", id)))
          assert.strictEqual(reused._tag, "IDEMPOTENCY_KEY_REUSED")
        }
        assert.deepStrictEqual(yield* streams.get(caller, other.id), before)
      })
    )
  }

  it.effect("that is refused leaves the key free", () =>
    Effect.gen(function* () {
      const both = yield* parties(1_000_000_000n)
      const { caller } = both
      const streams = yield* MoneyStreams
      const { id } = (yield* open(both)).stream
      const refused = yield* Effect.flip(streams.resume(caller, id, claimOf(caller, "k")))
      assert.strictEqual(refused._tag, "STATE_TRANSITION_INVALID")
      yield* streams.pause(caller, id)
      assert.isFalse((yield* streams.resume(caller, id, claimOf(caller, "k"))).replayed)
    })
  )
})

layer(platform, { timeout: "60 seconds" })("opening a stream under a key, in two processes at once,", (it) => {
  it.effect("opens one and tells both of it, although there is money for no other", () =>
    Effect.gen(function* () {
      const both = yield* parties(100_000_000n)
      const { caller, payee, payer } = both
      const here = yield* MoneyStreams
      const there = (yield* another).streams
      const claim = { ...claimOf(caller, "once"), operation: "streams.create" }
      const wanted = { from_wallet_id: payer, to_wallet_id: payee, initial_deposit: 100_000_000n, flow_rate: rate("1") }
      let first: unknown
      const byTheOther = Effect.tap(there.open(caller, wanted, claim), (made) => Effect.sync(() => (first = made)))
      const second = yield* interrupted(here.open(caller, wanted, claim), "FROM ledger_accounts WHERE id", byTheOther)
      assert.deepStrictEqual({ ...second, replayed: false }, first)
      assert.isTrue(second.replayed)
      assert.strictEqual((yield* eventsOf(caller, "stream.started")).length, 1)
      assert.deepStrictEqual(yield* money(both, second.stream.id), [0n, 100_000_000n, 0n])
    })
  )
})
