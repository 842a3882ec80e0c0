import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as fc from "fast-check"
import type { StreamState } from "#domain/MoneyStream.ts"
import * as Change from "#domain/MoneyStream/Change.ts"
import { shownAt } from "#domain/MoneyStream/Flow.ts"
import { begin, later, started } from "./MoneyStreamHarness.ts"
import { type Act, Model, stories } from "./MoneyStreamModel.ts"

const apply = (stream: StreamState, now: Date, act: Act): Result.Result<Change.Change, { readonly _tag: string }> => {
  switch (act.kind) {
    case "top_up":
      return Change.topUp(stream, now, act.amount)
    case "pause":
      return Change.pause(stream, now)
    case "resume":
      return Change.resume(stream, now)
    case "rate":
      return Change.changeRate(stream, now, act.rate)
    case "withdraw":
      return Change.withdraw(stream, now, act.amount)
    case "cancel":
      return Change.cancel(stream, now)
    case "look":
      return Change.observe(stream, now)
  }
}

describe("any life of a stream", () => {
  it("moves what a plain model says, to the last micro-unit, and keeps all money", () =>
    fc.assert(
      fc.property(stories(20), (story) => {
        const model = new Model(story)
        const first = started(story.deposit, story.rate, story.buffer)
        const alerts = first.alerts.map(({ severity }) => String(severity))
        let { stream } = first
        let now = begin
        let [payer, held, recipient] = [story.funds - story.deposit, story.deposit, 0n]
        for (const [millis, act] of story.acts) {
          now = later(millis, now)
          model.pass(millis)
          const expected = model.act(act)
          const change = apply(stream, now, act)
          if (Result.isFailure(change)) {
            const cancelled = stream.status === "cancelled" && act.kind === "look"
            assert.strictEqual(cancelled ? undefined : change.failure._tag, expected)
          } else if (change.success.taken > payer) assert.strictEqual(expected, "INSUFFICIENT_BALANCE")
          else {
            assert.isUndefined(expected)
            const { paid, returned, taken } = change.success
            stream = change.success.stream
            payer += returned - taken
            held += taken - paid - returned
            recipient += paid
            alerts.push(...change.success.alerts.map(({ severity }) => severity))
          }
          const shown = shownAt(stream, now)
          assert.deepStrictEqual([payer, held, recipient], [model.payer, model.stream, model.recipient])
          assert.strictEqual(shown.recipient_balance, model.ready)
          assert.strictEqual(shown.deposited - shown.withdrawn - shown.returned, held)
          assert.strictEqual(shown.wrapped_balance + shown.buffer + shown.recipient_balance, held)
          assert.isTrue(shown.wrapped_balance >= 0n && shown.runway_seconds >= 0)
          assert.deepStrictEqual(alerts, model.alerts)
          assert.strictEqual(payer + held + recipient, story.funds)
        }
        if (stream.status === "cancelled") assert.strictEqual(held, 0n)
      }),
      { numRuns: 5000 }
    ))
})
