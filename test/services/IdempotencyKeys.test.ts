import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { Micros } from "#domain/Money.ts"
import { NotFound } from "#domain/Refusal.ts"
import * as Postgres from "#layers/Postgres.ts"
import { IdempotencyKeys, Kept, nothingYet } from "#services/IdempotencyKeys.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"

const services = IdempotencyKeys.layer.pipe(Layer.provideMerge(Ledger.layer))
const Test = services.pipe(Layer.provideMerge(Postgres.layerTest))

/** Another process on the same database. */
const another = Effect.map(Layer.build(Layer.fresh(services)), Context.get(IdempotencyKeys))

const Thing = Schema.Struct({ id: Schema.String, size: Micros, at: Schema.DateFromString })

/** Things of a test, by what they are made for. */
const things = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE IF NOT EXISTS things (id uuid PRIMARY KEY, made_for text NOT NULL, sole text UNIQUE)`
  const made_for = newUuid()
  const making = Effect.fnUntraced(function* (sole: string | null) {
    const id = newUuid()
    yield* Effect.orDie(sql`INSERT INTO things (id, made_for, sole) VALUES (${id}, ${made_for}, ${sole})`)
    return { id, size: 2n ** 60n, at: new Date(1_767_323_045_678) }
  })
  const count = Effect.map(sql`SELECT id FROM things WHERE made_for = ${made_for}`, ({ length }) => length)
  const claim: IdempotencyClaim = { tenant_id: newUuid(), operation: "things.create", key: "k", fingerprint: "f" }
  return { make: making(null), makeSole: making(made_for), count, claim }
})

/** A key that a command took for work that ends later, and the command. */
const underWay = Effect.gen(function* () {
  const { once, recordOf } = yield* IdempotencyKeys
  const { claim } = yield* things
  yield* once(claim, Kept, Effect.succeed(Effect.succeed(nothingYet)))
  const asked: Array<string> = []
  const goesOn = (id: string) =>
    Effect.sync(() => {
      asked.push(id)
      return false
    })
  assert.deepStrictEqual(yield* recordOf(claim, goesOn), Option.some(null))
  return { claim, goesOn, command: asked[0] ?? assert.fail("nobody was asked") }
})
const ended = () => Effect.succeed(true)

const refused = new NotFound({ resource: "thing", id: "none" })

layer(Test, { timeout: "60 seconds" })("what is made under an idempotency key", (it) => {
  it.effect("is made once, and told again as it was, for 24 hours and not longer", () =>
    Effect.gen(function* () {
      const { once } = yield* IdempotencyKeys
      const { forgetKeys } = yield* Ledger
      const { claim, count, make } = yield* things
      const made = Effect.suspend(() => once(claim, Thing, Effect.succeed(make)))
      const first = yield* made
      assert.isFalse(first.replayed)
      yield* TestClock.adjust("23 hours")
      assert.deepStrictEqual(yield* made, { record: first.record, replayed: true })
      yield* TestClock.adjust("61 minutes")
      const second = yield* made
      assert.deepStrictEqual([second.replayed, yield* count], [false, 2])
      assert.deepStrictEqual(yield* made, { record: second.record, replayed: true })
      assert.strictEqual(yield* forgetKeys, 0)
      yield* TestClock.adjust("25 hours")
      assert.strictEqual(yield* forgetKeys, 1)
    })
  )

  it.effect(
    "is under a key that is free again what its own parameters are, and no longer what the earlier ones were",
    () =>
      Effect.gen(function* () {
        const { once } = yield* IdempotencyKeys
        const { claim, make } = yield* things
        const later = { ...claim, fingerprint: "g" }
        yield* once(claim, Thing, Effect.succeed(make))
        yield* TestClock.adjust("24 hours")
        const { record } = yield* once(later, Thing, Effect.succeed(make))
        assert.deepStrictEqual(yield* once(later, Thing, Effect.succeed(make)), { record, replayed: true })
        assert.strictEqual(
          (yield* Effect.flip(once(claim, Thing, Effect.succeed(make))))._tag,
          "IDEMPOTENCY_KEY_REUSED"
        )
      })
  )

  it.effect("is not made with other parameters, and without a key is made each time", () =>
    Effect.gen(function* () {
      const { once } = yield* IdempotencyKeys
      const { claim, count, make } = yield* things
      yield* once(claim, Thing, Effect.succeed(make))
      const other = yield* Effect.flip(once({ ...claim, fingerprint: "g" }, Thing, Effect.succeed(make)))
      assert.strictEqual(other._tag, "IDEMPOTENCY_KEY_REUSED")
      for (const _ of [1, 2]) assert.isFalse((yield* once(undefined, Thing, Effect.succeed(make))).replayed)
      assert.strictEqual(yield* count, 3)
    })
  )

  it.effect("commits with its key: a refusal leaves neither of them, wherever it comes from", () =>
    Effect.gen(function* () {
      const { once } = yield* IdempotencyKeys
      const { recall } = yield* Ledger
      const { claim, count, make } = yield* things
      const late = Effect.andThen(make, Effect.fail(refused))
      const early = Effect.as(Effect.fail(refused), make)
      assert.strictEqual(yield* Effect.flip(once(claim, Thing, Effect.succeed(late))), refused)
      assert.strictEqual(yield* Effect.flip(once(claim, Thing, early)), refused)
      yield* Effect.exit(once(claim, Thing, Effect.succeed(Effect.andThen(make, Effect.die("a bug")))))
      assert.deepStrictEqual([yield* count, yield* recall(claim)], [0, Option.none()])
      assert.isFalse((yield* once(claim, Thing, Effect.succeed(make))).replayed)
      assert.strictEqual(yield* count, 1)
    })
  )

  it.effect("is decided outside of its transaction, and not again for a repetition", () =>
    Effect.gen(function* () {
      const { once } = yield* IdempotencyKeys
      const { claim, count, make } = yield* things
      // What a transaction had written would be gone.
      yield* Effect.flip(once(claim, Thing, Effect.as(make, Effect.fail(refused))))
      assert.strictEqual(yield* count, 1)
      const { record } = yield* once(claim, Thing, Effect.succeed(make))
      const again = yield* once(claim, Thing, Effect.as(Effect.fail(refused), make))
      assert.deepStrictEqual(again, { record, replayed: true })
    })
  )

  it.effect("is made once by several processes at once, though each would refuse what another made", () =>
    Effect.gen(function* () {
      const { claim, count, makeSole } = yield* things
      const processes = [yield* IdempotencyKeys, yield* another, yield* another, yield* another]
      const answers = yield* Effect.all(
        Array.from({ length: 5 }, () =>
          processes.map(({ once }) => once(claim, Thing, Effect.succeed(makeSole)))
        ).flat(),
        { concurrency: 20 }
      )
      assert.strictEqual(new Set(answers.map(({ record }) => record.id)).size, 1)
      assert.strictEqual(answers.filter(({ replayed }) => !replayed).length, 1)
      assert.strictEqual(yield* count, 1)
    })
  )
})

layer(Test, { timeout: "60 seconds" })("the key of work that ends later", (it) => {
  it.effect("has the record of its command, and of no other, for 24 hours", () =>
    Effect.gen(function* () {
      const { keepRecord, recordOf } = yield* IdempotencyKeys
      const { claim, command, goesOn } = yield* underWay
      yield* keepRecord("another", [{ claim, command_id: newUuid() }])
      assert.deepStrictEqual(yield* recordOf(claim, goesOn), Option.some(null))
      yield* keepRecord("this", [{ claim, command_id: command }])
      assert.deepStrictEqual(yield* recordOf(claim, ended), Option.some("this"))
      yield* TestClock.adjust("24 hours")
      assert.deepStrictEqual(yield* recordOf(claim, goesOn), Option.none())
    })
  )

  it.effect("has a record once the transaction has committed that made it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { keepRecord, recordOf } = yield* IdempotencyKeys
      const { claim, command, goesOn } = yield* underWay
      yield* Effect.flip(
        sql.withTransaction(Effect.andThen(keepRecord("this", [{ claim, command_id: command }]), Effect.fail("late")))
      )
      assert.deepStrictEqual(yield* recordOf(claim, goesOn), Option.some(null))
    })
  )

  it.effect("is another one's when the parameters differ, and free for them when the command came to nothing", () =>
    Effect.gen(function* () {
      const { once, recordOf } = yield* IdempotencyKeys
      const { claim, goesOn } = yield* underWay
      const other = { ...claim, fingerprint: "g" }
      assert.strictEqual((yield* Effect.flip(recordOf(other, goesOn)))._tag, "IDEMPOTENCY_KEY_REUSED")
      assert.deepStrictEqual(yield* recordOf(other, ended), Option.none())
      assert.isFalse((yield* once(other, Kept, Effect.succeed(Effect.succeed(nothingYet)))).replayed)
    })
  )

  it.effect("stays when it has a record by the time that its command is seen to have come to nothing", () =>
    Effect.gen(function* () {
      const { keepRecord, recordOf } = yield* IdempotencyKeys
      const { claim, command, goesOn } = yield* underWay
      yield* recordOf(claim, () => Effect.as(keepRecord("this", [{ claim, command_id: command }]), true))
      assert.deepStrictEqual(yield* recordOf(claim, goesOn), Option.some("this"))
    })
  )

  it.effect("stays when it stands for a later command by then", () =>
    Effect.gen(function* () {
      const { once, recordOf } = yield* IdempotencyKeys
      const { claim, goesOn } = yield* underWay
      const again = once(claim, Kept, Effect.succeed(Effect.succeed(nothingYet)))
      const later = Effect.orDie(Effect.andThen(recordOf(claim, ended), again))
      yield* recordOf(claim, () => Effect.as(later, true))
      assert.deepStrictEqual(yield* recordOf(claim, goesOn), Option.some(null))
    })
  )
})
