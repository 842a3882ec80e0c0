import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { Ledger } from "#services/Ledger.ts"
import { Test, transfer, wallet } from "./LedgerHarness.ts"

const told = (name: string) =>
  Effect.map(PrometheusMetrics.format(), (text) =>
    Number(new RegExp(`^${name} (.+)$`, "m").exec(text)?.[1] ?? Number.NaN)
  )

layer(Test, { timeout: "60 seconds" })("what is measured of the ledger", (it) => {
  it.effect("is how long each commit took, from the first of its commands to the disk, and how many it had", () =>
    Effect.gen(function* () {
      const { post } = yield* Ledger
      const [payer, payee] = [yield* wallet(10n), yield* wallet()]
      const [commits, seconds, commands] = [
        yield* told("turnpike_ledger_post_duration_seconds_count"),
        yield* told("turnpike_ledger_post_duration_seconds_sum"),
        yield* told("turnpike_ledger_group_size_sum")
      ]
      for (let paid = 0; paid < 3; paid++) yield* post(transfer(payer, payee, 1n))
      assert.strictEqual(yield* told("turnpike_ledger_post_duration_seconds_count"), commits + 3)
      assert.strictEqual(yield* told("turnpike_ledger_group_size_sum"), commands + 3)
      const each = ((yield* told("turnpike_ledger_post_duration_seconds_sum")) - seconds) / 3
      assert.isTrue(each > 0.000_05 && each < 10, `${each} s`)
    })
  )
})
