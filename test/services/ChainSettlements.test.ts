import { assert, layer } from "@effect/vitest"
import { Clock, Deferred, Duration, Effect, Exit, Fiber, Option, Queue, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { type Outcome, settlementOf } from "#domain/ChainSettlement.ts"
import { transactionOf } from "#layers/RailSimulated.ts"
import { ChainSettlements } from "#services/ChainSettlements.ts"
import { another, authorization, chain, order, testLayer, unattended } from "./ChainSettlementsHarness.ts"

const stateOf = Effect.fnUntraced(function* (id: string) {
  const row = yield* (yield* ChainSettlements).get(id)
  return Option.isSome(row) ? row.value.state : undefined
})

/** Turns of the worker, minutes apart, until the settlement has come to this state. */
const workedUntil = (id: string, state: string) =>
  Effect.gen(function* () {
    yield* TestClock.adjust("2 minutes")
    yield* (yield* ChainSettlements).reconcileDue
    return yield* stateOf(id)
  }).pipe(Effect.repeat({ until: (now) => now === state }))

layer(testLayer(), { timeout: "60 seconds" })("a settlement somebody waits for", (it) => {
  it.effect("is answered with its transaction, and told again to whoever asks again", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { settle } = yield* ChainSettlements
      const wanted = order()
      const settled = { _tag: "Settled", transaction: transactionOf(wanted.id) } as const
      assert.deepStrictEqual(yield* settle(wanted), settled)
      yield* chain.does("refuse")
      assert.deepStrictEqual(yield* settle(wanted), settled)
    })
  )

  it.effect("is refused with the reason of the chain, for good", () =>
    Effect.gen(function* () {
      yield* chain.does("refuse")
      const { reconcileDue, settle } = yield* ChainSettlements
      const wanted = order()
      assert.deepStrictEqual(yield* settle(wanted), { _tag: "Refused", reason: "insufficient_funds" })
      yield* chain.does("settle")
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* reconcileDue, 0)
      assert.deepStrictEqual(yield* settle(wanted), { _tag: "Refused", reason: "insufficient_funds" })
      assert.isFalse((yield* chain.moved).has(wanted.id))
    })
  )

  it.effect("asked for a hundred times at once is settled once, and all hear the same", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { get, settle } = yield* ChainSettlements
      const wanted = order()
      const before = (yield* chain.moved).size
      const all = yield* Effect.all(
        Array.from({ length: 100 }, () => settle(wanted)),
        { concurrency: 100 }
      )
      assert.strictEqual(new Set(all.map((outcome) => JSON.stringify(outcome))).size, 1)
      assert.strictEqual(all[0]?._tag, "Settled")
      assert.strictEqual((yield* chain.moved).size, before + 1)
      assert.strictEqual(Option.getOrThrow(yield* get(wanted.id)).attempts, 1)
    })
  )

  it.effect(
    "of an authorisation that is settled under another id is refused; after a refusal it may be tried again",
    () =>
      Effect.gen(function* () {
        const { settle } = yield* ChainSettlements
        const signed = authorization()
        yield* chain.does("refuse")
        yield* settle(order({ authorization: signed }))
        yield* chain.does("settle")
        assert.strictEqual((yield* settle(order({ authorization: signed })))._tag, "Settled")
        const third = order({ authorization: signed })
        assert.deepStrictEqual(yield* settle(third), { _tag: "Refused", reason: "duplicate_settlement" })
        assert.isFalse((yield* chain.moved).has(third.id))
      })
  )

  it.effect("that the chain does not confirm in time is pending, and confirmed later", () =>
    Effect.gen(function* () {
      yield* chain.does("pending")
      const { settle } = yield* ChainSettlements
      const wanted = order()
      const waiting = yield* Effect.forkChild(settle(wanted))
      yield* Effect.repeat(stateOf(wanted.id), { until: (state) => state === "pending" })
      yield* TestClock.adjust("16 seconds")
      assert.deepStrictEqual(yield* Fiber.join(waiting), { _tag: "Pending", transaction: transactionOf(wanted.id) })
      assert.strictEqual(yield* stateOf(wanted.id), "pending")
      yield* chain.does("settle")
      yield* workedUntil(wanted.id, "confirmed")
      assert.strictEqual((yield* settle(wanted))._tag, "Settled")
    })
  )

  it.effect("that another process or the worker asks about is told soon after it knows", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const answered = yield* Deferred.make<void>()
      const moved: Outcome = { _tag: "Settled", transaction: transactionOf("another") }
      yield* chain.does(() =>
        Effect.as(Effect.andThen(Deferred.succeed(asked, undefined), Deferred.await(answered)), moved)
      )
      const other = yield* another()
      const wanted = order()
      const first = yield* Effect.forkChild(other.settle(wanted))
      yield* Deferred.await(asked)
      const clock = yield* Clock.Clock
      const pauses = yield* Queue.unbounded<number>()
      const watched: Clock.Clock = Object.assign(Object.create(clock), {
        sleep: (pause: Duration.Duration) =>
          Effect.andThen(Queue.offer(pauses, Duration.toMillis(pause)), clock.sleep(pause))
      })
      const { settle } = yield* ChainSettlements
      const second = yield* Effect.forkChild(Effect.provideService(settle(wanted), Clock.Clock, watched))
      const looksAgain = yield* Effect.repeat(Queue.take(pauses), { until: (pause) => pause <= 1000 })
      yield* Deferred.succeed(answered, undefined)
      yield* Fiber.join(first)
      yield* TestClock.adjust(Duration.millis(looksAgain))
      assert.deepStrictEqual(yield* Fiber.join(second), moved)
      yield* chain.does("settle")
    })
  )

  it.effect("whose caller goes away goes on", () =>
    Effect.gen(function* () {
      yield* chain.does("hang")
      const { settle } = yield* ChainSettlements
      const wanted = order()
      const waiting = yield* Effect.forkChild(settle(wanted))
      yield* chain.asked(wanted.id)
      yield* Fiber.interrupt(waiting)
      yield* chain.does("settle")
      yield* workedUntil(wanted.id, "confirmed")
    })
  )

  it.effect("keeps everything the authorisation said", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { get, settle } = yield* ChainSettlements
      const signed = authorization({ quote: "pr_x", identifier: "pay_1234567890123456", protocol: "mpp" })
      const wanted = order({ authorization: signed })
      yield* settle(wanted)
      assert.deepStrictEqual(settlementOf(Option.getOrThrow(yield* get(wanted.id))).authorization, signed)
    })
  )
})

layer(testLayer({ concurrency: 0 }), { timeout: "60 seconds" })("a settlement too many to wait for", (it) => {
  it.effect("is pending at once; whoever cannot come back hears what the worker finds out", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { reconcileDue, settle } = yield* ChainSettlements
      assert.strictEqual((yield* settle(order()))._tag, "Pending")
      const held = order()
      const waiting = yield* Effect.forkChild(settle(held, Duration.minutes(1)))
      yield* Effect.repeat(stateOf(held.id), { until: (state) => state === "prepared" })
      yield* reconcileDue
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* Fiber.join(waiting), { _tag: "Settled", transaction: transactionOf(held.id) })
    })
  )

  it.effect("is pending for such a caller as well when that takes too long", () =>
    Effect.gen(function* () {
      yield* chain.does("silent")
      const { settle } = yield* ChainSettlements
      const held = order()
      const waiting = yield* Effect.forkChild(settle(held, Duration.minutes(1)))
      yield* Effect.repeat(
        Effect.andThen(
          TestClock.adjust("30 seconds"),
          Effect.sync(() => waiting.pollUnsafe())
        ),
        { until: (exit) => exit !== undefined }
      )
      assert.strictEqual((yield* Fiber.join(waiting))._tag, "Pending")
    })
  )
})

layer(testLayer(unattended), { timeout: "60 seconds" })("a settlement left to the worker", (it) => {
  it.effect("that the chain never answered is asked about until it is known", () =>
    Effect.gen(function* () {
      const { reconcileDue, settle } = yield* ChainSettlements
      for (const silence of ["unavailable", "silent", "break"] as const) {
        yield* chain.does(silence)
        const wanted = order()
        assert.deepStrictEqual(yield* settle(wanted), { _tag: "Pending", transaction: undefined })
        assert.strictEqual(yield* reconcileDue, 1)
        assert.strictEqual(yield* stateOf(wanted.id), "unknown", silence)
        yield* chain.does("settle")
        assert.strictEqual(yield* reconcileDue, 0, "it is not asked again at once")
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* reconcileDue, 1)
        assert.strictEqual(yield* stateOf(wanted.id), "confirmed")
      }
    })
  )

  it.effect("moves money once although the process dies after the chain moved it and before it was written down", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const dying = yield* Scope.provide(another(unattended), scope)
      yield* chain.does("lose")
      const wanted = order()
      yield* dying.settle(wanted)
      const asking = yield* Effect.forkIn(dying.reconcileDue, scope)
      yield* chain.asked(wanted.id)
      yield* Scope.close(scope, Exit.void)
      yield* Fiber.interrupt(asking)
      assert.isTrue((yield* chain.moved).has(wanted.id))
      assert.strictEqual(yield* stateOf(wanted.id), "submitting")

      yield* chain.does("refuse")
      const { reconcileDue } = yield* ChainSettlements
      yield* TestClock.adjust("89 seconds")
      assert.strictEqual(yield* reconcileDue, 0, "still leased")
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* reconcileDue, 1)
      assert.strictEqual(yield* stateOf(wanted.id), "confirmed")
    })
  )

  it.effect("that hangs is given up after the call's timeout and asked again", () =>
    Effect.gen(function* () {
      const { reconcileDue, settle } = yield* ChainSettlements
      yield* chain.does("hang")
      const wanted = order()
      yield* settle(wanted)
      const asking = yield* Effect.forkChild(reconcileDue)
      yield* chain.asked(wanted.id)
      yield* TestClock.adjust("61 seconds")
      yield* Fiber.join(asking)
      assert.strictEqual(yield* stateOf(wanted.id), "unknown")
      yield* chain.does("settle")
      yield* TestClock.adjust("1 second")
      yield* reconcileDue
      assert.strictEqual(yield* stateOf(wanted.id), "confirmed")
    })
  )

  it.effect("a late refusal does not count when somebody asked again meanwhile; a late success does", () =>
    Effect.gen(function* () {
      const { reconcileDue, settle } = yield* ChainSettlements
      const answeredLate = Effect.fnUntraced(function* (late: Outcome) {
        const answer = yield* Deferred.make<Outcome>()
        yield* chain.does(() => Deferred.await(answer))
        const wanted = order()
        yield* settle(wanted)
        const slow = yield* Effect.forkChild(reconcileDue)
        yield* chain.asked(wanted.id)
        // The lease of a process that stands still ends without it.
        yield* (yield* SqlClient.SqlClient)`UPDATE chain_settlements SET due_at = 'epoch' WHERE id = ${wanted.id}`
        yield* chain.does("pending")
        yield* reconcileDue
        yield* Deferred.succeed(answer, late)
        yield* Fiber.join(slow)
        return yield* stateOf(wanted.id)
      })
      assert.strictEqual(
        yield* answeredLate({ _tag: "Refused", reason: "invalid_exact_evm_nonce_already_used" }),
        "pending"
      )
      assert.strictEqual(yield* answeredLate({ _tag: "Settled", transaction: "0x1" }), "confirmed")
      yield* chain.does("settle")
      yield* TestClock.adjust("2 minutes")
      yield* reconcileDue
    })
  )

  it.effect("of two processes one asks about each", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const here = yield* ChainSettlements
      const there = yield* another(unattended)
      const orders = Array.from({ length: 40 }, () => order())
      yield* Effect.forEach(orders, (one) => here.settle(one), { concurrency: 10, discard: true })
      const counts = yield* Effect.all([here.reconcileDue, there.reconcileDue, here.reconcileDue, there.reconcileDue], {
        concurrency: 4
      })
      assert.strictEqual(
        counts.reduce((sum, one) => sum + one, 0),
        40
      )
      for (const { id } of orders) {
        assert.strictEqual(Option.getOrThrow(yield* here.get(id)).attempts, 1)
        assert.strictEqual(yield* stateOf(id), "confirmed")
      }
    })
  )
})
