import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Test from "#layers/Test.ts"
import * as Paid from "./PaymentsHarness.ts"

const kept = { status: 200, headers: [], body: Buffer.from("served") }

layer(Test.layer, { timeout: "60 seconds" })("the answer to a charged call that is over", (it) => {
  for (const { delivered, keeps, stays } of [
    { delivered: false, keeps: false, stays: 1 },
    { delivered: true, keeps: true, stays: 1 },
    { delivered: true, keeps: false, stays: 0 }
  ]) {
    const ended = delivered ? "arrived" : "was lost"
    const good = keeps ? "may be asked for again" : "is for one call"
    it.effect(`and ${ended}, where it ${good}, ${stays === 1 ? "stays" : "is forgotten"}`, () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { granted, payments, reserve } = yield* Paid.market()
        const payment = yield* granted((yield* reserve).proof)
        yield* payments.capture(payment, { ...Paid.answered(200), kept })
        payments.seen(payment.id, delivered, keeps)
        const marked = Effect.andThen(
          TestClock.adjust("1 second"),
          sql`SELECT 1 FROM payments WHERE id = ${payment.id}
            AND (delivered_at IS NOT NULL OR lease_until < ${payment.lease_until})`
        )
        yield* Effect.repeat(marked, { until: (rows) => rows.length === 1 })
        const answers = yield* sql`SELECT 1 FROM payment_answers WHERE payment_id = ${payment.id}`
        assert.strictEqual(answers.length, stays)
      })
    )
  }
})
