import { assert, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { maxMicros } from "#domain/Money.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"
import { balance, issuance, Test, transfer, wallet } from "./LedgerHarness.ts"

layer(Test, { timeout: "60 seconds" })("what the ledger remembers and can hold", (it) => {
  it.effect("an idempotency key is remembered for 24 hours and not longer", () =>
    Effect.gen(function* () {
      const { post, forgetKeys, recall } = yield* Ledger
      const [payer, payee] = [yield* wallet(10n), yield* wallet()]
      const idempotency = { tenant_id: newUuid(), operation: "test", key: "k", fingerprint: "f" }
      const pay = Effect.suspend(() => post({ ...transfer(payer, payee, 1n), idempotency, result: () => "first" }))
      yield* pay
      yield* TestClock.adjust("23 hours")
      assert.deepInclude(yield* pay, { replayed: true, result: "first" })
      assert.deepStrictEqual(yield* recall(idempotency), Option.some("first"))
      yield* TestClock.adjust("61 minutes")
      assert.deepStrictEqual(yield* recall(idempotency), Option.none())
      assert.strictEqual((yield* pay).replayed, false)
      yield* TestClock.adjust("25 hours")
      assert.strictEqual(yield* forgetKeys, 1)
      assert.deepStrictEqual(yield* balance(payee), { posted: 2n, held: 0n })
    })
  )

  it.effect("an idempotency key is free at the instant at which its 24 hours are over", () =>
    Effect.gen(function* () {
      const { post, recall } = yield* Ledger
      const [payer, payee] = [yield* wallet(10n), yield* wallet()]
      const idempotency = { tenant_id: newUuid(), operation: "test", key: "k", fingerprint: "f" }
      const pay = Effect.suspend(() => post({ ...transfer(payer, payee, 1n), idempotency, result: () => "first" }))
      yield* pay
      yield* TestClock.adjust("24 hours")
      assert.deepStrictEqual(yield* recall(idempotency), Option.none())
      assert.strictEqual((yield* pay).replayed, false)
    })
  )

  it.effect("one key under a hundred commands at once is one movement; with other parameters it is refused", () =>
    Effect.gen(function* () {
      const { post } = yield* Ledger
      const [payer, payee] = [yield* wallet(1_000n), yield* wallet()]
      const idempotency = { tenant_id: newUuid(), operation: "test", key: "k", fingerprint: "f" }
      const answers = yield* Effect.all(
        Array.from({ length: 100 }, () =>
          post({ ...transfer(payer, payee, 1n), idempotency, result: ({ command_id }) => command_id })
        ),
        { concurrency: 100 }
      )
      assert.strictEqual(new Set(answers.map((answer) => answer.result)).size, 1)
      assert.deepStrictEqual(yield* balance(payee), { posted: 1n, held: 0n })
      const other = post({ ...transfer(payer, payee, 2n), idempotency: { ...idempotency, fingerprint: "g" } })
      assert.strictEqual((yield* Effect.flip(other))._tag, "IDEMPOTENCY_KEY_REUSED")
    })
  )

  it.effect("a balance never grows past what the ledger can hold", () =>
    Effect.gen(function* () {
      const { post } = yield* Ledger
      const payee = yield* wallet(maxMicros - 5n - -(yield* balance(issuance)).posted)
      const refused = yield* Effect.flip(post(transfer(issuance, payee, maxMicros)))
      assert.include(["AMOUNT_TOO_LARGE", "INSUFFICIENT_BALANCE"], refused._tag)
    })
  )
})
