import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Layer, Logger, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Postgres from "#layers/Postgres.ts"
import { type Duty, Lookout } from "#services/Lookout.ts"

const Test = Layer.provideMerge(Lookout.layer, Postgres.layerTest)

/** A duty that is due when its SQL says so, and how many turns it has had. */
const duty = (isDue: string, rest: Partial<Duty> = {}) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const kept = { turns: 0 }
    const step = Effect.sync(() => void kept.turns++)
    yield* (yield* Lookout).keep({ failed: "A turn failed", isDue: () => sql.literal(isDue), step, ...rest })
    return kept
  })

/** Lets second after second pass until it is so; a look takes its own time, which no clock of a test moves. */
const passUntil = (isSo: () => boolean) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const second = Effect.andThen(sql`SELECT 1`, TestClock.adjust("1 second"))
    yield* Effect.repeat(second, { until: isSo, times: 500 })
    assert.isTrue(isSo())
  })

const hearing = (said: Array<string>) =>
  Logger.layer([Logger.make(({ message }) => void said.push(String([message].flat()[0])))])

layer(Test, { timeout: "60 seconds" })("the lookout", (it) => {
  it.effect("gives everybody a first turn, and others to those who are due", () =>
    Effect.gen(function* () {
      const [due, idle, unknown] = [yield* duty("true"), yield* duty("false"), yield* duty("NULL::boolean")]
      yield* passUntil(() => due.turns >= 5)
      assert.deepStrictEqual([idle.turns, unknown.turns], [1, 1])
    })
  )

  it.effect("asks with the time of the clock that everybody goes by", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const later = yield* duty("true", { isDue: (now) => sql`${now} > '1970-01-01 12:00:00Z'::timestamptz` })
      const due = yield* duty("true")
      yield* passUntil(() => due.turns >= 3)
      assert.strictEqual(later.turns, 1)
      yield* TestClock.adjust("12 hours")
      yield* passUntil(() => later.turns >= 2)
    })
  )

  it.effect("gives no turn sooner than it was asked to", () =>
    Effect.gen(function* () {
      const [often, seldom] = [yield* duty("true"), yield* duty("true", { every: "1 hour" })]
      yield* passUntil(() => often.turns >= 5)
      assert.strictEqual(seldom.turns, 1)
      yield* TestClock.adjust("1 hour")
      yield* passUntil(() => seldom.turns >= 2)
    })
  )

  it.effect("gives a turn every other second to who asked for that, also when a look comes a little early", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("300 millis")
      const [often, other] = [yield* duty("true"), yield* duty("true", { every: "2 seconds" })]
      yield* passUntil(() => often.turns >= 21)
      assert.approximately(other.turns, often.turns / 2, 1.5)
    })
  )

  it.effect("ends nothing when a turn fails, and says so", () => {
    const said: Array<string> = []
    return Effect.gen(function* () {
      let turns = 0
      const step = Effect.suspend(() => (turns++ === 0 ? Effect.die("broken") : Effect.void))
      yield* duty("true", { step })
      yield* passUntil(() => turns >= 3)
      assert.deepStrictEqual(said, ["A turn failed"])
    }).pipe(Effect.provide(hearing(said)))
  })

  it.effect("gives everybody a turn where the database cannot say what is due", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const idle = yield* duty("false")
      yield* Scope.provide(duty("EXISTS (SELECT FROM no_such_table)"), scope)
      yield* passUntil(() => idle.turns >= 3)
      yield* Scope.close(scope, Exit.void)
      const due = yield* duty("true")
      // The look that was under way may still have been about both.
      yield* passUntil(() => due.turns >= 3)
      const before = idle.turns
      yield* passUntil(() => due.turns >= 6)
      assert.strictEqual(idle.turns, before)
    })
  )
})
