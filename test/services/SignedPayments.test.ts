import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Fiber, Latch } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { Authorization } from "#domain/protocol/Authorization.ts"
import * as Test from "#layers/Test.ts"
import { Ledger } from "#services/Ledger.ts"
import { Wallets } from "#services/Wallets.ts"
import { awaited } from "./LockHarness.ts"
import { failures, free, funds, inOrder, kept, market, streamed, twoProcesses } from "./SignedPaymentsHarness.ts"

layer(Test.layer, { timeout: "60 seconds" })("a signed payment that costs nothing", (it) => {
  it.effect("is used by one call of many, counts, and answers again", () =>
    Effect.gen(function* () {
      const { bring, endpoint, money, payments, purse, signs } = yield* market("sandbox")
      const signed = signs(free)
      const grants = yield* Effect.all(
        Array.from({ length: 20 }, () => Effect.result(bring(signed))),
        { concurrency: 20 }
      )
      const won = grants.flatMap((grant) =>
        grant._tag === "Success" && grant.success._tag === "Granted" ? [grant.success.payment] : []
      )
      assert.strictEqual(won.length, 1)
      for (const payment of won) assert.strictEqual((yield* payments.capture(payment, kept("gift"))).charged, 0n)
      assert.strictEqual((yield* (yield* Ledger).tally(endpoint.id, purse)).count, 1n)
      assert.deepStrictEqual(yield* money, { held: 0n, posted: funds })
      assert.strictEqual((yield* bring(signed))._tag, "Answered")
      assert.deepStrictEqual(yield* inOrder, [])
    })
  )

  it.effect("may be tried again by one call when the origin failed", () =>
    Effect.gen(function* () {
      const { bring, granted, payments, signs } = yield* market("sandbox")
      const signed = signs(free)
      yield* payments.release(yield* granted(signed), "origin_status")
      const grants = yield* Effect.all([Effect.result(bring(signed)), Effect.result(bring(signed))], { concurrency: 2 })
      assert.strictEqual(
        grants.filter((grant) => grant._tag === "Success" && grant.success._tag === "Granted").length,
        1
      )
    })
  )

  it.effect("whose process died is ended once, by whichever process finds it", () =>
    Effect.gen(function* () {
      const processes = yield* twoProcesses
      const { granted, record, signs } = yield* market("sandbox")
      const payment = yield* granted(signs(free))
      yield* TestClock.adjust("41 seconds")
      yield* Effect.all(
        processes.map((one) => one.resolveDue),
        { concurrency: 2 }
      )
      assert.deepInclude(yield* record, { status: "released", failure: "interrupted" })
      assert.strictEqual(yield* failures(payment), 1)
    })
  )
})

layer(Test.layer, { timeout: "60 seconds" })("a signed payment whose money is in the ledger", (it) => {
  it.effect("and whose hold ended before its call was found dead still says that it failed, once", () =>
    Effect.gen(function* () {
      const processes = yield* twoProcesses
      const { granted, money, record, signs } = yield* market("sandbox")
      const payment = yield* granted(signs())
      yield* TestClock.adjust("2 minutes")
      yield* (yield* Ledger).expireDue
      yield* Effect.all(
        processes.map((one) => one.resolveDue),
        { concurrency: 2 }
      )
      assert.strictEqual((yield* record)?.status, "released")
      assert.strictEqual(yield* failures(payment), 1)
      assert.deepStrictEqual(yield* money, { held: 0n, posted: funds })
    })
  )

  it.effect("and whose answer may be kept yet is waited for in every process, until its call is over", () =>
    Effect.gen(function* () {
      const [here, there] = yield* twoProcesses
      const { endpoint, granted, signs, snapshot } = yield* market("sandbox")
      const bring = (signed: Authorization) =>
        there!.present({ authorization: signed, snapshot, method: endpoint.method, fingerprint: "f" })
      const [lost, late] = [signs(), signs()]
      for (const signed of [lost, late]) {
        const payment = yield* granted(signed)
        yield* here!.capture(payment, streamed)
        assert.strictEqual((yield* Effect.flip(bring(signed)))._tag, "PAYMENT_IN_PROGRESS")
        if (signed === late) yield* here!.keep(payment, kept("late").kept)
        else here!.seen(payment.id, false)
      }
      assert.strictEqual((yield* bring(late))._tag, "Answered")
      yield* TestClock.adjust("1 second")
      const told = yield* Effect.repeat(Effect.flip(bring(lost)), {
        until: ({ _tag }) => _tag !== "PAYMENT_IN_PROGRESS"
      })
      assert.strictEqual(told._tag, "PAYMENT_ALREADY_USED")
    })
  )

  it.effect("and whose call is over by the time its answer was looked for is not waited for", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { bring, granted, payments, signs } = yield* market("sandbox")
      const signed = signs()
      const payment = yield* granted(signed)
      yield* payments.capture(payment, streamed)
      const locked = Latch.makeUnsafe()
      const asking = yield* Effect.forkChild(Effect.andThen(locked.await, Effect.flip(bring(signed))))
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`LOCK TABLE payment_answers`
          yield* locked.open
          // It has read the payment, of a call that goes on.
          yield* awaited
          yield* sql`UPDATE payments SET lease_until = created_at WHERE id = ${payment.id}`
        })
      )
      assert.strictEqual((yield* Fiber.join(asking))._tag, "PAYMENT_ALREADY_USED")
    })
  )

  it.effect("says what is missing when it is tried again without money", () =>
    Effect.gen(function* () {
      const { bring, buyer, granted, payments, purse, signs } = yield* market("sandbox")
      const signed = signs({ amount: funds })
      yield* payments.release(yield* granted(signed), "origin_status")
      const other = yield* granted(signs())
      assert.deepStrictEqual(yield* bring(signed), { _tag: "Refused", reason: "insufficient_funds" })
      yield* payments.release(other, "origin_status")
      yield* (yield* Wallets).freeze(buyer, purse, "lost")
      assert.deepStrictEqual(yield* bring(signed), { _tag: "Refused", reason: "wallet_frozen" })
    })
  )

  it.effect("is tried again while what was signed is valid, and at most a quarter of an hour", () =>
    Effect.gen(function* () {
      const { granted, money, payments, signs, snapshot } = yield* market("sandbox")
      for (const [validUntil, reason] of [
        [120_000, "invalid_exact_evm_payload_authorization_valid_before"],
        [864_000_000, "invalid_exact_evm_nonce_already_used"]
      ] as const) {
        const began = yield* Clock.currentTimeMillis
        const signed = signs({ validUntil: new Date(began + validUntil) })
        const again = payments.again({ authorization: signed, snapshot, method: "GET", fingerprint: "f" })
        yield* payments.release(yield* granted(signed), "origin_status")
        const last = Math.min(validUntil, 900_000)
        yield* TestClock.adjust(last - 1)
        const grant = yield* again
        if (grant?._tag !== "Granted") return assert.fail(grant?._tag)
        yield* payments.release(grant.payment, "origin_status")
        yield* TestClock.adjust(1)
        assert.deepStrictEqual(yield* again, { _tag: "Refused", reason })
      }
      assert.deepStrictEqual(yield* money, { held: 0n, posted: funds })
    })
  )

  it.effect("is not tried without end", () =>
    Effect.gen(function* () {
      const { bring, granted, signs } = yield* market("sandbox")
      const signed = signs()
      const { id } = yield* granted(signed)
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE payments SET attempt = 1000, state = 'released' WHERE id = ${id}`
      assert.deepStrictEqual(yield* bring(signed), {
        _tag: "Refused",
        reason: "invalid_exact_evm_nonce_already_used"
      })
    })
  )

  it.effect("of a maximum costs its payer's own price, or what the origin says if that is less", () =>
    Effect.gen(function* () {
      const { granted, money, payments, signs } = yield* market("sandbox", {
        volumeDiscounts: [
          { threshold: 1, priceMultiplier: 0.5 },
          { threshold: 4, priceMultiplier: 0 }
        ]
      })
      const maximum: Partial<Authorization> = { scheme: "upto", method: "permit2" }
      assert.strictEqual((yield* payments.capture(yield* granted(signs(maximum)), streamed)).charged, 10_000n)
      assert.strictEqual((yield* payments.capture(yield* granted(signs(maximum)), streamed)).charged, 5_000n)
      for (const [reported, charged] of [
        [9_000n, 5_000n],
        [2_000n, 2_000n],
        [9_000n, 0n]
      ] as const) {
        const answer = { ...streamed, reported }
        assert.strictEqual((yield* payments.capture(yield* granted(signs(maximum)), answer)).charged, charged)
      }
      assert.deepStrictEqual(yield* money, { held: 0n, posted: funds - 22_000n })
    })
  )
})
