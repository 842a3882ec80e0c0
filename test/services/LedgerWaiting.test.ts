import { assert, describe, it } from "@effect/vitest"
import { type Context, Deferred, Duration, Effect } from "effect"
import { LanePolicy } from "#services/Ledger/LanePolicy.ts"
import * as Waiting from "#services/Ledger/Waiting.ts"
import { passed } from "#services/RealTime.ts"

/** A command that came so many milliseconds ago, with so many items. */
const job = (id: string, items = 0, ago = 0, owner = "one"): Waiting.Job => ({
  command: {
    id,
    steps: [],
    owner,
    items: Array.from({ length: items }, (_, item) => ({ id: `${id} ${item}`, steps: [] }))
  },
  since: passed() - ago,
  done: Deferred.makeUnsafe()
})
const ids = (jobs: ReadonlyArray<Waiting.Job>) => jobs.map(({ command }) => command.id)

const line = Effect.fnUntraced(function* (changed: Partial<Context.Service.Shape<typeof LanePolicy>> = {}) {
  return Waiting.make({ ...(yield* LanePolicy), ...changed })
})

describe("commands that wait for the ledger", () => {
  it.effect("are as many as may wait, and there is room again for as many as were taken", () =>
    Effect.gen(function* () {
      const waiting = yield* line({ waiting: 2, group: 1 })
      assert.deepStrictEqual(
        ["a", "b", "c"].map((id) => waiting.add(job(id))),
        [true, true, false]
      )
      assert.deepStrictEqual(ids(waiting.take([])), ["a"])
      assert.deepStrictEqual(
        ["d", "e"].map((id) => waiting.add(job(id))),
        [true, false]
      )
      assert.deepStrictEqual(ids(waiting.takeAll()), ["b", "d"])
      assert.isTrue(waiting.add(job("f")))
      assert.strictEqual(waiting.size(), 1)
    })
  )

  it.effect("have so many items in all, and one that has more waits where no other has any", () =>
    Effect.gen(function* () {
      const waiting = yield* line({ waitingItems: 10, waitingShare: 1 })
      assert.deepStrictEqual(
        [4, 6, 1, 0].map((items) => waiting.add(job("some", items))),
        [true, true, false, true]
      )
      waiting.takeAll()
      assert.deepStrictEqual(
        [11, 1, 0].map((items) => waiting.add(job("many", items))),
        [true, false, true]
      )
    })
  )

  it.effect("have half of those items for one owner, unless it is one command", () =>
    Effect.gen(function* () {
      const waiting = yield* line({ waitingItems: 10, waitingShare: 1 / 2 })
      const adds = (items: number, owner: string) => waiting.add(job("some", items, 0, owner))
      assert.deepStrictEqual([adds(4, "a"), adds(2, "a"), adds(1, "a")], [true, false, true])
      assert.isTrue(adds(0, "a"), "single ones are not counted")
      assert.deepStrictEqual([adds(5, "b"), adds(1, "b"), adds(1, "c")], [true, false, false])
      waiting.takeAll()
      assert.deepStrictEqual([adds(9, "a"), adds(1, "a"), adds(1, "b")], [true, false, true])
    })
  )

  it.effect("are taken in their order, a group at a time, with those that were taken before at its head", () =>
    Effect.gen(function* () {
      const waiting = yield* line({ group: 3 })
      for (const id of ["a", "b", "c", "d"]) waiting.add(job(id))
      assert.deepStrictEqual(ids(waiting.take([job("before")])), ["before", "a", "b"])
      assert.deepStrictEqual(ids(waiting.take([])), ["c", "d"])
    })
  )

  it.effect("that are a group by their items let single ones go by, and keep their place before their like", () =>
    Effect.gen(function* () {
      const waiting = yield* line({ group: 4 })
      for (const [id, items] of Object.entries({ a: 3, b: 2, c: 0, d: 0, e: 1, f: 3 })) waiting.add(job(id, items))
      assert.deepStrictEqual(ids(waiting.take([])), ["a", "c", "d"])
      assert.deepStrictEqual(ids(waiting.take([job("before", 4)])), ["before"], "what was taken counts")
      assert.deepStrictEqual(ids(waiting.take([])), ["b", "e"])
      assert.deepStrictEqual(ids(waiting.take([])), ["f"])
    })
  )

  it.effect("for one thing each do not wait for those of many items twice, which have every second turn", () =>
    Effect.gen(function* () {
      const waiting = yield* line({ group: 4 })
      for (const id of ["a", "b", "c"]) waiting.add(job(id, 4))
      assert.deepStrictEqual(ids(waiting.take([])), ["a"])
      waiting.add(job("d"))
      assert.deepStrictEqual(ids(waiting.take([])), ["d"])
      waiting.add(job("e"))
      assert.deepStrictEqual(ids(waiting.take([])), ["b", "e"])
      waiting.add(job("f"))
      const single = waiting.take([])
      assert.deepStrictEqual(ids(waiting.take(single)), ["f"], "whoever comes to such a group is single, too")
      assert.deepStrictEqual(ids(waiting.take([])), ["c"])
    })
  )

  it.effect("with many items go in turn by owner, however many of one wait", () =>
    Effect.gen(function* () {
      const waiting = yield* line({ group: 4 })
      for (const id of ["a", "b", "c"]) waiting.add(job(id, 4, 0, "one"))
      assert.deepStrictEqual(ids(waiting.take([])), ["a"])
      waiting.add(job("d", 4, 0, "two"))
      const taken = [1, 2, 3].map(() => ids(waiting.take([])))
      assert.deepStrictEqual(taken, [["b"], ["d"], ["c"]])
    })
  )

  it.effect("with few items are a group with all that have room in it, some of each owner first", () =>
    Effect.gen(function* () {
      const waiting = yield* line({ group: 8 })
      for (const id of ["a", "b", "c", "d"]) waiting.add(job(id, 2, 0, "one"))
      for (const id of ["e", "f"]) waiting.add(job(id, 2, 0, "two"))
      assert.deepStrictEqual(ids(waiting.take([])), ["a", "e", "b", "f"])
      assert.deepStrictEqual(ids(waiting.take([])), ["c", "d"])
    })
  )

  it.effect("that had their turn and were put back have it again", () =>
    Effect.gen(function* () {
      const waiting = yield* line({ group: 4 })
      for (const [id, items] of Object.entries({ a: 4, b: 0 })) waiting.add(job(id, items))
      waiting.putBack(waiting.take([]))
      assert.deepStrictEqual(ids(waiting.take([])), ["a", "b"])
    })
  )

  it.effect("that are put back come before all others", () =>
    Effect.gen(function* () {
      const waiting = yield* line()
      for (const id of ["a", "b"]) waiting.add(job(id))
      const taken = waiting.take([])
      waiting.add(job("c"))
      waiting.putBack(taken)
      assert.deepStrictEqual(ids(waiting.take([])), ["a", "b", "c"])
    })
  )

  it.effect("for longer than was promised are told so once, and not posted afterwards", () =>
    Effect.gen(function* () {
      const waiting = yield* line({ commandTimeout: Duration.seconds(8), waitingItems: 5 })
      waiting.add(job("late", 5, 8_100))
      waiting.add(job("in time", 0, 1_000))
      assert.deepStrictEqual(ids(waiting.takeOverdue()), ["late"])
      assert.deepStrictEqual(ids(waiting.takeOverdue()), [])
      assert.isTrue(waiting.add(job("another", 5)), "what it weighed is free")
      assert.deepStrictEqual(ids(waiting.takeAll()), ["another", "in time"])
    })
  )
})
