import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Ref, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { toTypeId } from "#domain/Ids.ts"
import type { Outcome } from "#domain/Settlement.ts"
import { Settlements } from "#services/Settlements.ts"
import {
  another,
  balance,
  begun,
  broken,
  pair,
  rail,
  settlementOf,
  testLayer,
  transferOf,
  isSettledOnce,
  settleDue,
  stateOf
} from "./SettlementsHarness.ts"

/** A process that dies while it waits for the rail's answer. */
const dyingWhile = Effect.fnUntraced(function* (behaviour: "lose" | "hang") {
  yield* rail.questions
  yield* rail.does(behaviour)
  const scope = yield* Scope.make()
  const { settlements } = yield* Scope.provide(another(), scope)
  const asking = yield* Effect.forkIn(settlements.settleDue, scope)
  yield* rail.asked
  yield* Scope.close(scope, Exit.void)
  yield* Fiber.interrupt(asking)
})

layer(testLayer(), { timeout: "60 seconds" })("a settlement", (it) => {
  it.effect("is processing before the rail hears of it, and cannot be taken back from then on", () =>
    Effect.gen(function* () {
      const parties = yield* pair()
      const { id } = yield* begun(parties)
      const seen: Array<string> = []
      const status = yield* Deferred.make<void>()
      yield* rail.does(() => Effect.as(Deferred.await(status), { _tag: "Completed", rail_reference: "r" }))
      yield* rail.questions
      const working = yield* Effect.forkChild(settleDue)
      yield* rail.asked
      seen.push((yield* transferOf(parties.caller, id)).status)
      yield* Deferred.succeed(status, undefined)
      yield* Fiber.join(working)
      assert.deepStrictEqual(seen, ["processing"])
    })
  )

  for (const silence of ["unavailable", "break"] as const) {
    it.effect(`whose rail is ${silence} is not guessed: it is submitted again until there is an answer`, () =>
      Effect.gen(function* () {
        yield* rail.does(silence)
        const parties = yield* pair()
        const { id } = yield* begun(parties)
        yield* rail.questions
        assert.strictEqual(yield* settleDue, 1)
        assert.strictEqual(yield* stateOf(id), "unknown")
        assert.strictEqual((yield* transferOf(parties.caller, id)).status, "processing")
        assert.strictEqual((yield* balance(parties.from)).held, 100_000_000n)
        yield* rail.does("complete")
        assert.strictEqual(yield* settleDue, 0, "it is not asked again at once")
        yield* TestClock.adjust("500 millis")
        assert.strictEqual(yield* settleDue, 1)
        const questions = yield* rail.questions
        assert.deepStrictEqual(
          questions.map(({ order, question }) => [question, order.reference]),
          [
            ["submit", toTypeId("tx", id)],
            ["submit", toTypeId("tx", id)]
          ]
        )
        yield* isSettledOnce(parties, id)
      })
    )
  }

  it.effect("that the rail has is asked about, and not submitted again", () =>
    Effect.gen(function* () {
      yield* rail.does("pending")
      const parties = yield* pair()
      const { id } = yield* begun(parties)
      yield* rail.questions
      yield* settleDue
      assert.strictEqual(yield* stateOf(id), "submitted")
      yield* rail.does("unavailable")
      yield* TestClock.adjust("1 second")
      yield* settleDue
      assert.strictEqual(yield* stateOf(id), "submitted", "what the rail had it has")
      yield* rail.does("complete")
      yield* TestClock.adjust("1 second")
      yield* settleDue
      assert.deepStrictEqual(
        (yield* rail.questions).map(({ question }) => question),
        ["submit", "status", "status"]
      )
      yield* isSettledOnce(parties, id)
    })
  )

  it.effect("is asked about when the rail expects to know", () =>
    Effect.gen(function* () {
      const again_at = new Date((yield* Effect.clockWith((clock) => clock.currentTimeMillis)) + 3000)
      yield* rail.does(() => Effect.succeed({ _tag: "Pending", again_at }))
      const { id } = yield* begun(yield* pair())
      yield* settleDue
      assert.deepStrictEqual((yield* settlementOf(id)).due_at, again_at)
      yield* rail.does("complete")
      yield* TestClock.adjust("2999 millis")
      assert.strictEqual(yield* settleDue, 0)
      yield* TestClock.adjust("1 milli")
      assert.strictEqual(yield* settleDue, 1)
    })
  )

  it.effect("is asked about after the longest pause, however far off the rail's word is", () =>
    Effect.gen(function* () {
      const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
      yield* rail.does(() => Effect.succeed({ _tag: "Pending", again_at: new Date(now + 86_400_000) }))
      const { id } = yield* begun(yield* pair())
      yield* settleDue
      assert.deepStrictEqual((yield* settlementOf(id)).due_at, new Date(now + 300_000))
      yield* rail.does("complete")
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual(yield* settleDue, 1)
    })
  )

  it.effect("is asked about less often the longer the rail knows nothing yet", () =>
    Effect.gen(function* () {
      yield* rail.does("pending")
      const { id } = yield* begun(yield* pair())
      const pauses: Array<number> = []
      for (let turn = 0; turn < 3; turn++) {
        yield* settleDue
        const { due_at } = yield* settlementOf(id)
        pauses.push(due_at.getTime() - (yield* Effect.clockWith((clock) => clock.currentTimeMillis)))
        yield* TestClock.adjust(pauses.at(-1) ?? 0)
      }
      assert.deepStrictEqual(pauses, [500, 750, 1125])
      yield* rail.does("complete")
      assert.strictEqual(yield* settleDue, 1)
    })
  )

  it.effect("that hangs is given up after the call's timeout and asked again", () =>
    Effect.gen(function* () {
      yield* rail.does("hang")
      const parties = yield* pair()
      const { id } = yield* begun(parties)
      yield* rail.questions
      const asking = yield* Effect.forkChild(settleDue)
      yield* rail.asked
      yield* TestClock.adjust("31 seconds")
      yield* Fiber.join(asking)
      assert.strictEqual(yield* stateOf(id), "unknown")
      yield* rail.does("complete")
      yield* TestClock.adjust("1 second")
      yield* settleDue
      yield* isSettledOnce(parties, id)
    })
  )

  it.effect("moves money once although the process dies after the rail moved it and before it was written down", () =>
    Effect.gen(function* () {
      const parties = yield* pair()
      const { id } = yield* begun(parties)
      yield* dyingWhile("lose")
      assert.isTrue((yield* rail.settled).has(toTypeId("tx", id)))
      assert.strictEqual(yield* stateOf(id), "submitting")
      yield* rail.does("reject")
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual(yield* settleDue, 0, "still leased")
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* settleDue, 1)
      yield* isSettledOnce(parties, id)
      assert.strictEqual(yield* settleDue, 0)
    })
  )

  it.effect("is settled by whoever is left when the process dies before the rail did anything", () =>
    Effect.gen(function* () {
      const parties = yield* pair()
      const { id } = yield* begun(parties)
      yield* dyingWhile("hang")
      yield* rail.does("complete")
      yield* TestClock.adjust("61 seconds")
      assert.strictEqual(yield* settleDue, 1)
      yield* isSettledOnce(parties, id)
    })
  )

  it.effect("a late rejection does not count when somebody asked again meanwhile; a late success does", () =>
    Effect.gen(function* () {
      const answeredLate = Effect.fnUntraced(function* (late: Outcome) {
        const answer = yield* Deferred.make<Outcome>()
        yield* rail.does(() => Deferred.await(answer))
        const { id } = yield* begun(yield* pair())
        yield* rail.questions
        const slow = yield* Effect.forkChild(settleDue)
        yield* rail.asked
        // The lease of a process that stands still ends without it.
        yield* (yield* SqlClient.SqlClient)`UPDATE settlements SET due_at = 'epoch' WHERE transfer_id = ${id}`
        yield* rail.does("pending")
        yield* settleDue
        yield* Deferred.succeed(answer, late)
        yield* Fiber.join(slow)
        return yield* stateOf(id)
      })
      assert.strictEqual(yield* answeredLate({ _tag: "Rejected", reason: "rail_error" }), "submitted")
      assert.strictEqual(yield* answeredLate({ _tag: "Completed", rail_reference: "late" }), "completed")
      yield* rail.does("complete")
      yield* TestClock.adjust("10 minutes")
      yield* settleDue
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("that ended is not changed by a rail that contradicts itself", () =>
    Effect.gen(function* () {
      const answer = yield* Deferred.make<Outcome>()
      yield* rail.does(() => Deferred.await(answer))
      const parties = yield* pair()
      const { id } = yield* begun(parties)
      yield* rail.questions
      const slow = yield* Effect.forkChild(settleDue)
      yield* rail.asked
      yield* (yield* SqlClient.SqlClient)`UPDATE settlements SET due_at = 'epoch' WHERE transfer_id = ${id}`
      yield* rail.does("reject")
      yield* settleDue
      yield* Deferred.succeed(answer, { _tag: "Completed", rail_reference: "contradiction" })
      yield* Fiber.join(slow)
      assert.strictEqual((yield* transferOf(parties.caller, id)).status, "failed")
      assert.deepStrictEqual(yield* balance(parties.from), { posted: 1_000_000_000n, held: 0n })
      assert.deepStrictEqual(yield* broken, [])
    })
  )
})

layer(testLayer(), { timeout: "60 seconds" })("two processes", (it) => {
  it.effect("ask about each settlement one at a time, and settle each once", () =>
    Effect.gen(function* () {
      const here = yield* Settlements
      const { settlements: there } = yield* another()
      const asking = yield* Ref.make<ReadonlyArray<string>>([])
      const twice: Array<string> = []
      // The first answer to each is lost.
      const lost = new Set<string>()
      yield* rail.does(({ reference }) =>
        Effect.gen(function* () {
          if ((yield* Ref.get(asking)).includes(reference)) twice.push(reference)
          yield* Ref.update(asking, (now) => [...now, reference])
          for (let turn = 0; turn < 5; turn++) yield* Effect.yieldNow
          yield* Ref.update(asking, (now) => now.filter((one) => one !== reference))
          if (lost.has(reference)) return { _tag: "Completed", rail_reference: reference } as const
          lost.add(reference)
          return yield* Effect.die("lost")
        })
      )
      const all = yield* Effect.forEach(
        Array.from({ length: 60 }),
        () => Effect.flatMap(pair(), (parties) => Effect.map(begun(parties), ({ id }) => ({ parties, id }))),
        { concurrency: 10 }
      )
      yield* rail.questions
      for (let round = 0; round < 3; round++) {
        yield* Effect.all([here.settleDue, there.settleDue, here.settleDue, there.settleDue], { concurrency: 4 })
        yield* TestClock.adjust("1 second")
      }
      assert.deepStrictEqual(twice, [])
      assert.strictEqual((yield* rail.questions).length, 120)
      for (const { id, parties } of all) {
        assert.strictEqual((yield* transferOf(parties.caller, id)).status, "completed")
        assert.deepStrictEqual(yield* balance(parties.from), { posted: 900_000_000n, held: 0n })
        assert.strictEqual((yield* settlementOf(id)).attempts, 2)
      }
      assert.deepStrictEqual(yield* broken, [])
      const { settlements: restarted } = yield* another()
      yield* TestClock.adjust("2 days")
      assert.strictEqual(yield* restarted.settleDue, 0)
    })
  )
})
