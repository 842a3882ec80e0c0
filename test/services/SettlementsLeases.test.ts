import { assert, layer } from "@effect/vitest"
import { Context, Deferred, Duration, Effect, Fiber, Layer, Ref } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { Outcome } from "#domain/Settlement.ts"
import { SettlementPolicy } from "#services/Settlements/Policy.ts"
import { Settlements } from "#services/Settlements.ts"
import { heldUp, losing } from "./LedgerHarness.ts"
import { whileOthersHave } from "./LockHarness.ts"
import { begun, broken, pair, rail, settlementOf, testLayer, transferOf } from "./SettlementsHarness.ts"

// A process that stands still for longer than its lease: its questions do not end by themselves before.
layer(testLayer({ callTimeout: Duration.minutes(10) }), { timeout: "60 seconds" })(
  "a process that lost its lease",
  (it) => {
    it.effect("does not submit what another has begun", () =>
      Effect.gen(function* () {
        const { settleDue, takeDue } = yield* Settlements
        const parties = yield* pair()
        const { id } = yield* begun(parties)
        const works = yield* takeDue(1)
        yield* TestClock.adjust("61 seconds")
        yield* rail.does("hang")
        const other = yield* Effect.forkChild(settleDue)
        yield* rail.asked
        yield* rail.does("complete")
        yield* Effect.all(works)
        assert.strictEqual((yield* rail.questions).length, 0)
        assert.deepInclude(yield* settlementOf(id), { state: "submitting", attempts: 2 })
        yield* Fiber.interrupt(other)
        yield* TestClock.adjust("61 seconds")
        yield* settleDue
        assert.strictEqual((yield* transferOf(parties.caller, id)).status, "completed")
        assert.deepStrictEqual(yield* broken, [])
      })
    )

    it.effect("keeps it while it writes down a rejection, so that nobody asks what is about to fail", () =>
      Effect.gen(function* () {
        const { takeDue } = yield* Settlements
        const parties = yield* pair()
        const { id } = yield* begun(parties)
        const others = yield* Ref.make(-1)
        const meanwhile = Effect.gen(function* () {
          yield* TestClock.adjust("2 seconds")
          yield* Ref.set(others, (yield* takeDue(1)).length)
        })
        const patient = Layer.succeed(SettlementPolicy, {
          ...SettlementPolicy.defaultValue(),
          callTimeout: Duration.minutes(10)
        })
        const slow = Layer.fresh(Settlements.layer).pipe(Layer.provide([patient, heldUp(meanwhile)]))
        const { settleDue } = yield* Effect.map(Layer.build(slow), Context.get(Settlements))
        const answer = yield* Deferred.make<Outcome>()
        yield* rail.questions
        yield* rail.does(() => Deferred.await(answer))
        const settling = yield* Effect.forkChild(settleDue)
        yield* rail.asked
        yield* TestClock.adjust("59 seconds")
        yield* Deferred.succeed(answer, { _tag: "Rejected", reason: "compliance_block" })
        yield* Fiber.join(settling)
        assert.strictEqual(yield* Ref.get(others), 0)
        assert.strictEqual((yield* transferOf(parties.caller, id)).status, "failed")
        assert.deepStrictEqual(yield* broken, [])
      })
    )

    it.effect("notes nothing while another asks", () =>
      Effect.gen(function* () {
        const { settleDue } = yield* Settlements
        const parties = yield* pair()
        const { id } = yield* begun(parties)
        const answer = yield* Deferred.make<Outcome>()
        yield* rail.questions
        yield* rail.does(() => Deferred.await(answer))
        const slow = yield* Effect.forkChild(settleDue)
        yield* rail.asked
        yield* TestClock.adjust("61 seconds")
        yield* rail.does("hang")
        const other = yield* Effect.forkChild(settleDue)
        yield* rail.asked
        const before = yield* settlementOf(id)
        assert.deepInclude(before, { state: "submitting", attempts: 2 })
        yield* Deferred.succeed(answer, { _tag: "Pending" })
        yield* Fiber.join(slow)
        assert.deepStrictEqual(yield* settlementOf(id), before)
        yield* Fiber.interrupt(other)
      })
    )
  }
)

layer(testLayer(), { timeout: "60 seconds" })("a process whose every first answer of the ledger is lost", (it) => {
  it.effect("asks the rail about what it has begun, without waiting for its own lease to end", () =>
    Effect.gen(function* () {
      const forgetful = Layer.fresh(Settlements.layer).pipe(Layer.provide(losing(Effect.void)))
      const { settleDue } = yield* Effect.map(Layer.build(forgetful), Context.get(Settlements))
      const parties = yield* pair()
      const { id } = yield* begun(parties)
      yield* rail.does("complete")
      assert.strictEqual(yield* settleDue, 1)
      assert.strictEqual((yield* transferOf(parties.caller, id)).status, "completed")
      assert.deepStrictEqual(yield* broken, [])
    })
  )
})

layer(testLayer(), { timeout: "60 seconds" })("a settlement that another process has in hand", (it) => {
  it.effect("is left to it, and keeps nobody waiting", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { settleDue } = yield* Settlements
      yield* begun(yield* pair())
      yield* rail.does("complete")
      assert.strictEqual(yield* whileOthersHave(sql`SELECT 1 FROM settlements FOR UPDATE`, settleDue), 0)
      assert.strictEqual(yield* settleDue, 1)
    })
  )
})
