import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Metric, Result } from "effect"
import type { Posted } from "#domain/Command.ts"
import type { PostingRefused, Superseded } from "#domain/PostingRefused.ts"
import * as Pipeline from "#services/Database/Pipeline.ts"
import * as Presence from "#services/Ledger/Presence.ts"
import * as Telling from "#services/Ledger/Telling.ts"
import { passed } from "#services/RealTime.ts"

const crowded = Cause.fail(
  new Pipeline.StatementFailed({ code: "53300", message: "too many connections", cause: undefined })
)
const posted: Posted = { command_id: "", movements: [], at: new Date(0), replayed: false }
const refusal = new Pipeline.StatementFailed({ code: "53100", message: "the disk is full", cause: undefined })

describe("a process whose ledger", () => {
  it.effect("finds no place for its connection gives up one of its own, not one at each of many trials", () =>
    Effect.gen(function* () {
      let given = 0
      const { crowded: latch, failed } = Presence.make(Effect.sync(() => void given++))
      for (let trial = 0; trial < 5; trial++) yield* failed(crowded)
      assert.isTrue(latch.isOpen())
      assert.strictEqual(given, 1)
    })
  )

  it.effect("is refused again is said to be refused since then, whatever was refused before something was taken", () =>
    Effect.gen(function* () {
      const { refused, took } = Presence.make(Effect.void)
      const seconds = Effect.map(Metric.value(Presence.refusing), ({ value }) => value)
      for (let time = 0; time < 200; time++) yield* refused(refusal)
      assert.isAbove(yield* seconds, 0)
      yield* took
      assert.strictEqual(yield* seconds, 0)
      const before = passed()
      yield* refused(refusal)
      assert.isAtMost(yield* seconds, (passed() - before) / 1000)
    })
  )

  it.effect("gets no answer, from whoever waits for the head of the log, is said to be refused as well", () =>
    Effect.gen(function* () {
      const { refused, took } = Presence.make(Effect.void)
      const seconds = Effect.map(Metric.value(Presence.refusing), ({ value }) => value)
      yield* Metric.update(Presence.refusing, 0)
      for (let time = 0; time < 200; time++) yield* refused(new Cause.TimeoutError("no answer"))
      assert.isAbove(yield* seconds, 0)
      yield* took
      assert.strictEqual(yield* seconds, 0)
    })
  )

  it("has posted a group tells those of the group, and once", () => {
    const told: Array<string> = []
    const job = (id: string) => ({
      command: { id, steps: [] },
      since: 0,
      get done() {
        told.push(id)
        return Deferred.makeUnsafe<Posted, PostingRefused | Superseded>()
      }
    })
    const telling = Telling.make()
    for (const id of ["a", "b"]) {
      telling.add([job(id)], [Result.succeed(posted)])
      telling.now()
    }
    assert.deepStrictEqual(told, ["a", "b"])
  })
})
