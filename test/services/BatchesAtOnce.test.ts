import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Batches } from "#services/Batches.ts"
import { balance, broken, children, claims, item, paying, platform } from "./BatchesHarness.ts"

layer(platform)("batches at once", (it) => {
  it.effect("from one wallet spend what it has and not more, and the sum of what they made is the change", () =>
    Effect.gen(function* () {
      const batches = yield* Batches
      const { caller, purse, till } = yield* paying(1_000n)
      const answers = yield* Effect.forEach(
        Array.from({ length: 8 }),
        () =>
          batches.create(
            caller,
            {
              from_wallet_id: purse,
              transfers: Array.from({ length: 60 }, (_, index) => item(till, BigInt(index % 7) + 1n))
            },
            claims(caller)
          ),
        { concurrency: 8 }
      )
      const made = (yield* Effect.forEach(answers, ({ batch }) => children(caller, batch.batch_id))).flat()
      assert.strictEqual(made.length, 480)
      const paid = made.reduce((sum, { amount, status }) => (status === "completed" ? sum + amount : sum), 0n)
      assert.deepStrictEqual([yield* balance(purse), yield* balance(till)], [1_000n - paid, paid])
      assert.strictEqual(paid, 1_000n)
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("of 1,000 items are complete and read back whole", () =>
    Effect.gen(function* () {
      const batches = yield* Batches
      const { caller, purse, till } = yield* paying(999n)
      const transfers = Array.from({ length: 1_000 }, (_, index) => item(till, 1n, { idempotency_key: `key ${index}` }))
      const { batch } = yield* batches.create(caller, { from_wallet_id: purse, transfers }, claims(caller, "big"))
      assert.deepInclude(batch, { total: 1_000, completed: 999, failed: 1 })
      assert.deepStrictEqual(batch.transfers[999]?.failure_reason, "insufficient_funds")
      assert.deepStrictEqual(yield* batches.get(caller, batch.batch_id), batch)
      assert.deepStrictEqual([yield* balance(purse), yield* balance(till)], [0n, 999n])
    })
  )
})
