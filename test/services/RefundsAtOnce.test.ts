import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { IdempotencyClaim } from "#domain/Command.ts"
import type { Principal } from "#domain/Principal.ts"
import { Refunds } from "#services/Refunds.ts"
import { Wallets } from "#services/Wallets.ts"
import {
  available,
  empty,
  hundred,
  paid,
  platform,
  refund,
  refundOf,
  services,
  sound,
  tagsOf
} from "./RefundsHarness.ts"
import { patient, tenant } from "./WalletsHarness.ts"

const claimOf = ({ tenant_id }: Principal, key: string, fingerprint = "1"): IdempotencyClaim => ({
  tenant_id,
  operation: "refunds.create",
  key,
  fingerprint
})

const patiently = platform.pipe(Layer.provideMerge(patient))

layer(patiently, { timeout: "60 seconds" })("refunds at once", (it) => {
  it.effect("60 and 60 of 100: exactly one", () =>
    Effect.gen(function* () {
      const { caller, id, payer } = yield* paid
      const elsewhere = yield* Layer.build(Layer.fresh(services))
      const sixty = Effect.result(refund(caller, id, 60_000_000n))
      const answers = yield* Effect.all([sixty, Effect.provide(sixty, elsewhere)], { concurrency: 2 })
      assert.deepStrictEqual(tagsOf(answers), ["AMOUNT_EXCEEDS_REMAINING", "done"])
      assert.strictEqual(yield* available(caller, payer), 60_000_000n)
      yield* sound
    })
  )

  it.effect("50 of 3.00 of 100.00, in two processes: exactly 33", () =>
    Effect.gen(function* () {
      const { caller, id, payer } = yield* paid
      const elsewhere = yield* Layer.build(Layer.fresh(services))
      const three = Effect.result(refund(caller, id, 3_000_000n))
      const answers = yield* Effect.all(
        Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? three : Effect.provide(three, elsewhere))),
        { concurrency: 50 }
      )
      assert.deepStrictEqual(tagsOf(answers), [
        ...Array.from({ length: 17 }, () => "AMOUNT_EXCEEDS_REMAINING"),
        ...Array.from({ length: 33 }, () => "done")
      ])
      assert.strictEqual(yield* available(caller, payer), 99_000_000n)
      yield* sound
    })
  )

  it.effect("of two transfers to a receiver with money for one: exactly one", () =>
    Effect.gen(function* () {
      const { caller, id, pay, payer, receiver } = yield* paid
      yield* (yield* Wallets).fund(caller, payer, { amount: hundred, currency: "USDC" })
      const other = yield* pay()
      yield* (yield* empty(caller, receiver))(hundred)
      const answers = yield* Effect.all(
        [id, other.id].map((each) => Effect.result(refund(caller, each))),
        { concurrency: 2 }
      )
      assert.deepStrictEqual(tagsOf(answers), ["INSUFFICIENT_BALANCE", "done"])
      yield* sound
    })
  )
})

layer(patiently, { timeout: "60 seconds" })("one idempotency key", (it) => {
  it.effect("100 times at once refunds once, and every answer is the first one", () =>
    Effect.gen(function* () {
      const { create } = yield* Refunds
      const { caller, id, payer } = yield* paid
      const once = create(caller, refundOf(id), claimOf(caller, "k"))
      const answers = yield* Effect.all(
        Array.from({ length: 100 }, () => once),
        { concurrency: 100 }
      )
      assert.strictEqual(new Set(answers.map(({ refund }) => refund.id)).size, 1)
      assert.strictEqual(answers.filter(({ replayed }) => !replayed).length, 1)
      assert.strictEqual(yield* available(caller, payer), hundred)
    })
  )

  it.effect("answers what it answered although nothing is left, and although the window is over", () =>
    Effect.gen(function* () {
      const { create } = yield* Refunds
      const { caller, id } = yield* paid
      yield* TestClock.adjust("89 days")
      yield* TestClock.adjust("23 hours")
      const first = yield* create(caller, refundOf(id), claimOf(caller, "k"))
      yield* TestClock.adjust("2 hours")
      assert.deepStrictEqual(yield* create(caller, refundOf(id), claimOf(caller, "k")), { ...first, replayed: true })
    })
  )

  it.effect("with other parameters is refused, also when nothing is left", () =>
    Effect.gen(function* () {
      const { create } = yield* Refunds
      const { caller, id } = yield* paid
      yield* create(caller, refundOf(id), claimOf(caller, "k"))
      const refused = yield* Effect.flip(create(caller, refundOf(id, 1n), claimOf(caller, "k", "2")))
      assert.strictEqual(refused._tag, "IDEMPOTENCY_KEY_REUSED")
    })
  )

  it.effect("of a refused refund is free", () =>
    Effect.gen(function* () {
      const { create } = yield* Refunds
      const { caller, id } = yield* paid
      yield* Effect.flip(create(caller, refundOf(id, hundred + 1n), claimOf(caller, "k", "2")))
      assert.isFalse((yield* create(caller, refundOf(id), claimOf(caller, "k"))).replayed)
    })
  )
})

// In real time, which is in the ids.
layer(platform, { timeout: "60 seconds", excludeTestServices: true })("the list of refunds", (it) => {
  it.effect("is newest first, in stretches, and narrowed by every filter", () =>
    Effect.gen(function* () {
      const { list } = yield* Refunds
      const { caller, id } = yield* paid
      const made = []
      for (const amount of [1n, 2n, 3n]) made.unshift((yield* refund(caller, id, amount)).refund)
      assert.deepStrictEqual(yield* list(caller, {}, { limit: 2 }), made.slice(0, 2))
      assert.deepStrictEqual(yield* list(caller, {}, { limit: 2, before: made[1]!.id }), made.slice(2))
      const ids = (filter: Parameters<typeof list>[1]) => list(caller, filter, { limit: 10 })
      assert.deepStrictEqual(yield* ids({ transfer_id: id, status: "completed" }), made)
      assert.deepStrictEqual(yield* ids({ status: "pending" }), [])
      assert.deepStrictEqual(yield* ids({ transfer_id: made[0]!.refund_transfer_id ?? id }), [])
      assert.deepStrictEqual(yield* ids({ account_id: caller.account_id }), made)
      const stranger = yield* tenant()
      assert.deepStrictEqual(yield* ids({ account_id: stranger.account_id }), [])
      const { created_at: first } = made[2]!
      const end = new Date(made[0]!.created_at.getTime() + 1)
      assert.deepStrictEqual(yield* ids({ created_after: first, created_before: end }), made)
      assert.deepStrictEqual(yield* ids({ created_after: end }), [])
      assert.deepStrictEqual(yield* ids({ created_before: first }), [])
    })
  )
})
