import { assert, layer } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Deferred, Effect, Exit, Fiber, Logger, Redacted } from "effect"
import { Command } from "effect/cli"
import { TestClock } from "effect/testing"
import { toTypeId, TransferId } from "#domain/Ids.ts"
import type { Completed, Outcome, Rejected } from "#domain/Settlement.ts"
import { Database } from "#services/Database.ts"
import { newUuid } from "#services/NewId.ts"
import { Settlements } from "#services/Settlements.ts"
import { settlement } from "../../src/cli/Settlements.ts"
import {
  balance,
  begun,
  broken,
  pair,
  rail,
  testLayer,
  transferOf,
  isSettledOnce,
  settleDue,
  stateOf
} from "./SettlementsHarness.ts"

/** What the operator types after `turnpike settlement`. */
const turnpike = Effect.fnUntraced(function* (...words: ReadonlyArray<string>) {
  const { config } = yield* Database
  const settings = ConfigProvider.fromUnknown({
    DATABASE_URL: config.url === undefined ? "" : Redacted.value(config.url)
  })
  return yield* Command.runWith(settlement, { version: "test" })(words).pipe(
    Effect.provide([NodeServices.layer, ConfigProvider.layer(settings)]),
    Effect.exit
  )
})

/** How often the log shouts this while something is done. */
const alertsDuring = Effect.fnUntraced(function* <A, E, R>(work: Effect.Effect<A, E, R>, alert: string) {
  const lines: Array<string> = []
  const logger = Logger.map(Logger.formatJson, (line) => void lines.push(line))
  yield* Effect.provide(work, Logger.layer([logger]))
  return lines.filter((line) => line.includes(`ALERT: ${alert}`)).length
})

layer(testLayer({ silences: 3 }), { timeout: "60 seconds" })("a settlement nobody can answer for", (it) => {
  const unresolved = Effect.gen(function* () {
    yield* rail.does("unavailable")
    const parties = yield* pair()
    const { id } = yield* begun(parties)
    for (let times = 0; times < 3; times++) {
      yield* settleDue
      yield* TestClock.adjust("10 seconds")
    }
    assert.strictEqual(yield* stateOf(id), "unresolved")
    assert.strictEqual((yield* transferOf(parties.caller, id)).status, "processing", "nobody guesses")
    yield* TestClock.adjust("2 days")
    assert.strictEqual(yield* settleDue, 0)
    assert.strictEqual((yield* balance(parties.from)).held, 100_000_000n)
    return { parties, id }
  })

  it.effect("is reported once, when it is left to the operator", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* alertsDuring(unresolved, "a settlement is left to the operator"), 1)
    })
  )

  it.effect("is left to the operator, whose word completes it", () =>
    Effect.gen(function* () {
      const { id, parties } = yield* unresolved
      const { conclude } = yield* Settlements
      assert.isTrue(yield* conclude(id, { _tag: "Completed", rail_reference: "by hand" }))
      assert.strictEqual((yield* transferOf(parties.caller, id)).status, "completed")
      assert.isFalse(yield* conclude(id, { _tag: "Rejected", reason: "rail_timeout" }))
      assert.strictEqual((yield* transferOf(parties.caller, id)).status, "completed")
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("is left to the operator, whose word gives the money back", () =>
    Effect.gen(function* () {
      const { id, parties } = yield* unresolved
      const { conclude } = yield* Settlements
      assert.isTrue(yield* conclude(id, { _tag: "Rejected", reason: "rail_timeout" }))
      assert.deepInclude(yield* transferOf(parties.caller, id), { status: "failed", failure_reason: "rail_timeout" })
      assert.strictEqual((yield* balance(parties.from)).held, 0n)
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("is asked about again when the operator resumes it", () =>
    Effect.gen(function* () {
      const { id, parties } = yield* unresolved
      const { resume } = yield* Settlements
      assert.isTrue(yield* resume(id))
      assert.isFalse(yield* resume(id))
      yield* rail.does("complete")
      assert.strictEqual(yield* settleDue, 1)
      yield* isSettledOnce(parties, id)
    })
  )

  it.effect("may be met with silence again as often as before, once it is resumed", () =>
    Effect.gen(function* () {
      const { id } = yield* unresolved
      yield* (yield* Settlements).resume(id)
      const states: Array<string> = []
      for (let times = 0; times < 3; times++) {
        yield* settleDue
        states.push(yield* stateOf(id))
        yield* TestClock.adjust("10 seconds")
      }
      assert.deepStrictEqual(states, ["unknown", "unknown", "unresolved"])
    })
  )

  it.effect("is listed for the operator, who can end it or have it asked again", () =>
    Effect.gen(function* () {
      const { unresolved: listed } = yield* Settlements
      const [one, two, three] = [yield* unresolved, yield* unresolved, yield* unresolved]
      const rows = (yield* listed).filter(({ id }) => [one.id, two.id, three.id].includes(id))
      assert.deepStrictEqual(
        rows.map(({ amount, id, last_error }) => [id, amount, last_error]),
        [one, two, three].map(({ id }) => [id, 100_000_000n, "simulated"])
      )
      assert.isTrue(Exit.isSuccess(yield* turnpike("list")))
      assert.isTrue(Exit.isSuccess(yield* turnpike("complete", toTypeId("tx", one.id), "--reference", "wire 7")))
      assert.isTrue(Exit.isSuccess(yield* turnpike("reject", two.id, "--reason", "compliance_block")))
      assert.isTrue(Exit.isFailure(yield* turnpike("reject", three.id, "--reason", "bad weather")))
      assert.isTrue(Exit.isSuccess(yield* turnpike("resume", three.id)))
      assert.isTrue(Exit.isFailure(yield* turnpike("complete", two.id, "--reference", "too late")))
      assert.deepInclude((yield* transferOf(one.parties.caller, one.id)).protocol_metadata, {
        rail_reference: "wire 7"
      })
      assert.deepInclude(yield* transferOf(two.parties.caller, two.id), { failure_reason: "compliance_block" })
      assert.strictEqual(yield* stateOf(three.id), "unknown")
      assert.deepStrictEqual(yield* broken, [])
      yield* rail.does("complete")
      yield* settleDue
    })
  )

  it.effect("does not take the operator's word before it is submitted, or on what nobody knows", () =>
    Effect.gen(function* () {
      const { conclude } = yield* Settlements
      const { id } = yield* begun(yield* pair())
      assert.isFalse(yield* conclude(id, { _tag: "Completed", rail_reference: "too early" }))
      assert.strictEqual(yield* stateOf(id), "pending")
      assert.isFalse(yield* conclude(TransferId.make(newUuid()), { _tag: "Rejected", reason: "rail_error" }))
    })
  )
})

layer(testLayer(), { timeout: "60 seconds" })("a settlement that stays pending for a week", (it) => {
  it.effect("is left to the operator", () =>
    Effect.gen(function* () {
      yield* rail.does("pending")
      const { id } = yield* begun(yield* pair())
      yield* settleDue
      yield* TestClock.adjust("6 days")
      yield* settleDue
      assert.strictEqual(yield* stateOf(id), "submitted")
      yield* TestClock.adjust("1 day")
      yield* settleDue
      assert.strictEqual(yield* stateOf(id), "unresolved")
    })
  )
})

layer(testLayer(), { timeout: "60 seconds" })("a settlement that the operator gave back meanwhile", (it) => {
  const alertsAfter = Effect.fnUntraced(function* (late: Completed | Rejected) {
    const answer = yield* Deferred.make<Outcome>()
    yield* rail.does(() => Deferred.await(answer))
    const { id } = yield* begun(yield* pair())
    const alert = "a rail contradicts the outcome of a settlement"
    const asking = yield* Effect.forkChild(alertsDuring(settleDue, alert))
    yield* rail.asked
    assert.isTrue(yield* (yield* Settlements).conclude(id, { _tag: "Rejected", reason: "rail_error" }))
    yield* Deferred.succeed(answer, late)
    const alerts = yield* Fiber.join(asking)
    assert.deepStrictEqual(yield* broken, [])
    return alerts
  })

  it.effect("is reported when the rail says that the money moved, and not when it says the same", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* alertsAfter({ _tag: "Completed", rail_reference: "late" }), 1)
      assert.strictEqual(yield* alertsAfter({ _tag: "Rejected", reason: "compliance_block" }), 0)
    })
  )
})
