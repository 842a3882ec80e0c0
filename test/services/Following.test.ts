import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer, Ref } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import * as BusMemory from "#layers/BusMemory.ts"
import * as Postgres from "#layers/Postgres.ts"
import { EventLog } from "#services/EventLog.ts"
import * as Appended from "#services/EventLog/Appended.ts"
import * as Following from "#services/EventLog/Following.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"
import { eventually } from "./CredentialsHarness.ts"
import { transfer, wallet } from "./LedgerHarness.ts"

const Test = Layer.mergeAll(Ledger.layer, EventLog.layer).pipe(
  Layer.provideMerge(Appended.layer),
  Layer.provideMerge(Layer.merge(Postgres.layerTest, BusMemory.layer))
)

const fact = () => ({ tenant_id: newUuid(), type: "transfer.created", data: {} }) as const
const append = (count: number) => Effect.flatMap(EventLog, (log) => log.append(Array.from({ length: count }, fact)))

/** A follower that remembers which stretches it was given. */
const follower = Effect.gen(function* () {
  const seen: Array<readonly [bigint, bigint]> = []
  const { pass } = yield* Following.make(newUuid())
  const page = (limit = 100) =>
    pass(Effect.succeed(limit), ({ after, upTo }) => Effect.sync(() => seen.push([after, upTo])))
  return { seen, pass, page, next: (limit?: number) => Effect.map(page(limit), ({ passed }) => passed) }
})

layer(Test, { timeout: "60 seconds" })("following the event log", (it) => {
  it.effect("begins where the log ended when the name was first used", () =>
    Effect.gen(function* () {
      yield* append(3)
      const { next, seen } = yield* follower
      assert.strictEqual(yield* next(), 0)
      yield* append(2)
      assert.strictEqual(yield* next(), 2)
      assert.strictEqual(yield* next(), 0)
      assert.strictEqual(seen.length, 1)
    })
  )

  it.effect("gives stretches that meet, none longer than was asked for", () =>
    Effect.gen(function* () {
      const { next, seen } = yield* follower
      yield* append(7)
      assert.deepStrictEqual([yield* next(3), yield* next(3), yield* next(3), yield* next(3)], [3, 3, 1, 0])
      for (const [index, [after]] of seen.entries()) if (index > 0) assert.strictEqual(after, seen[index - 1]?.[1])
    })
  )

  it.effect("says whether the log goes on behind the stretch, so that nobody looks for nothing", () =>
    Effect.gen(function* () {
      const { page } = yield* follower
      yield* append(4)
      assert.deepStrictEqual(yield* page(3), { passed: 3, isMore: true })
      assert.deepStrictEqual(yield* page(3), { passed: 1, isMore: false })
    })
  )

  it.effect("a stretch whose handling failed is given again, and what was written for it is gone", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE IF NOT EXISTS handled (upto bigint)`
      const { next, pass } = yield* follower
      yield* append(2)
      const failing = pass(Effect.succeed(10), ({ upTo }) =>
        Effect.andThen(sql`INSERT INTO handled VALUES (${upTo})`, Effect.die("handling failed"))
      )
      assert.strictEqual((yield* Effect.exit(failing))._tag, "Failure")
      assert.deepStrictEqual(yield* sql`SELECT * FROM handled`, [])
      assert.strictEqual(yield* next(), 2)
    })
  )

  it.effect("while one process is at a stretch, another passes it by and does not wait", () =>
    Effect.gen(function* () {
      const { next, pass } = yield* follower
      yield* append(1)
      const [inside, done] = [yield* Latch.make(false), yield* Latch.make(false)]
      const slow = yield* Effect.forkScoped(pass(Effect.succeed(10), () => Effect.andThen(inside.open, done.await)))
      yield* inside.await
      assert.strictEqual(yield* next(), 0)
      yield* done.open
      assert.strictEqual((yield* Fiber.join(slow)).passed, 1)
      assert.strictEqual(yield* next(), 0)
    })
  )

  it.effect("is woken by what the ledger posts and by what is appended, long before it would look by itself", () =>
    Effect.gen(function* () {
      const { post } = yield* Ledger
      const { next, seen } = yield* follower
      const turns = yield* Ref.make(0)
      const turn = Effect.andThen(
        Ref.update(turns, (count) => count + 1),
        Effect.map(next(), (passed) => passed > 0)
      )
      yield* Following.keepUp("Following", turn, { interval: "1 hour", rest: "1 millis" })
      yield* eventually(Ref.get(turns), (count) => count > 0)
      /** Announcements that come close together are gathered for 10 ms. */
      const passedOn = Effect.fnUntraced(function* (stretches: number) {
        const look = Effect.as(TestClock.adjust("10 millis"), seen)
        yield* eventually(look, () => seen.length === stretches)
        assert.strictEqual(seen.length, stretches)
      })
      yield* append(1)
      yield* passedOn(1)
      const [from, to] = [yield* wallet(5n), yield* wallet()]
      yield* post({ ...transfer(from, to, 1n), events: () => [fact()] })
      yield* passedOn(2)
    })
  )

  it.effect("rests between two turns: what is announced meanwhile shares the next one", () =>
    Effect.gen(function* () {
      const counted = Effect.fnUntraced(function* (rest: "1 millis" | "1 hour") {
        const turns = yield* Ref.make(0)
        const turn = Effect.as(
          Ref.update(turns, (count) => count + 1),
          false
        )
        yield* Following.keepUp("Following", turn, { interval: "1 hour", rest })
        return turns
      })
      const [brisk, resting] = [yield* counted("1 millis"), yield* counted("1 hour")]
      for (const turns of [1, 2, 3]) {
        yield* eventually(Effect.andThen(TestClock.adjust("10 millis"), Ref.get(brisk)), (count) => count === turns)
        yield* append(1)
      }
      assert.strictEqual(yield* Ref.get(resting), 2)
    })
  )

  it.effect("looks by itself once per interval when nobody told it", () =>
    Effect.gen(function* () {
      const turns = yield* Ref.make(0)
      const turn = Effect.as(
        Ref.update(turns, (count) => count + 1),
        false
      )
      yield* Following.keepUp("Following", turn, { interval: "1 second", rest: "1 millis" })
      yield* eventually(Ref.get(turns), (count) => count === 1)
      yield* TestClock.adjust("1 second")
      yield* eventually(Ref.get(turns), (count) => count === 2)
    })
  )
})
