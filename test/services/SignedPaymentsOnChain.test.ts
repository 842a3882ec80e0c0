import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { Authorization } from "#domain/protocol/Authorization.ts"
import { transactionOf } from "#layers/RailSimulated.ts"
import { ChainSettlements } from "#services/ChainSettlements.ts"
import { UnresolvedOnChain } from "#services/ChainSettlements/UnresolvedOnChain.ts"
import { chain, unattended } from "./ChainSettlementsHarness.ts"
import { failures, free, inOrder, kept, live, market, streamed, twoProcesses } from "./SignedPaymentsHarness.ts"

layer(live({}), { timeout: "60 seconds" })("a signed payment whose money is on a chain", (it) => {
  it.effect("is not served again when the chain would not give it any more", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { bring, granted, payments, signs } = yield* market("live")
      const signed = signs()
      const first = yield* granted(signed)
      yield* chain.does("refuse")
      yield* Effect.flip(payments.capture(first, kept("a"), signed))
      assert.deepStrictEqual(yield* bring(signed), { _tag: "Refused", reason: "insufficient_funds" })
      yield* chain.does("settle")
      const second = yield* granted(signed)
      assert.strictEqual(second.attempt, 2)
      yield* chain.does("refuse")
      yield* Effect.flip(payments.capture(second, kept("b"), signed))
      yield* chain.does("settle")
      assert.strictEqual((yield* granted(signed)).attempt, 3)
    })
  )

  it.effect("that was given back is tried again by one call of many", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { bring, granted, payments, signs } = yield* market("live")
      const signed = signs()
      yield* payments.release(yield* granted(signed), "origin_status")
      const grants = yield* Effect.all(
        Array.from({ length: 20 }, () => Effect.result(bring(signed))),
        { concurrency: 20 }
      )
      const won = grants.flatMap((grant) =>
        grant._tag === "Success" && grant.success._tag === "Granted" ? [grant.success.payment.attempt] : []
      )
      assert.deepStrictEqual(won, [2])
    })
  )

  it.effect("under one identifier is one payment", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { bring, granted, payments, signs } = yield* market("live")
      const identifier = "order-0123456789abcdef"
      const signed = signs({ identifier })
      yield* payments.capture(yield* granted(signed), kept("named"), signed)
      assert.strictEqual((yield* bring(signed))._tag, "Answered")
      // Whatever the chain would say: it is not asked.
      yield* chain.does("refuse")
      assert.strictEqual((yield* Effect.flip(bring(signs({ identifier }))))._tag, "IDEMPOTENCY_KEY_REUSED")
      // Another payer may call his own payment the same.
      yield* chain.does("settle")
      assert.strictEqual((yield* bring(signs({ identifier, payer: `0xc${"0".repeat(39)}` })))._tag, "Granted")
    })
  )

  it.effect("from the receiver to itself is none", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { bring, payTo, record, signs } = yield* market("live")
      assert.deepStrictEqual(yield* bring(signs({ payer: payTo })), { _tag: "Refused", reason: "payer_is_receiver" })
      assert.isUndefined(yield* record)
    })
  )

  it.effect("is not served when it would end before the origin must have answered", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { bring, signs } = yield* market("live", { timeoutMs: 60_000 })
      assert.deepStrictEqual(yield* bring(signs({ validUntil: new Date(65_000) })), {
        _tag: "Refused",
        reason: "invalid_exact_evm_payload_authorization_valid_before"
      })
      assert.strictEqual((yield* bring(signs({ validUntil: new Date(66_000) })))._tag, "Granted")
    })
  )

  it.effect("that was given back and has ended since is said to have ended, not to be used", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { granted, payments, signs, snapshot } = yield* market("live")
      const signed = signs({ validUntil: new Date(120_000) })
      yield* payments.release(yield* granted(signed), "origin_status")
      yield* TestClock.adjust("2 minutes")
      const call = { authorization: signed, snapshot, method: "GET", fingerprint: "f" }
      assert.deepStrictEqual(yield* payments.again(call), {
        _tag: "Refused",
        reason: "invalid_exact_evm_payload_authorization_valid_before"
      })
    })
  )

  it.effect("never answers with what an earlier attempt was answered", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { bring, granted, payments, signs } = yield* market("live")
      const signed = signs()
      const first = yield* granted(signed, "one")
      yield* chain.does("refuse")
      yield* Effect.flip(payments.capture(first, kept("for one"), signed))
      yield* chain.does("settle")
      const other = yield* granted(signed, "other")
      yield* payments.capture(other, streamed, signed)
      payments.seen(other.id, false)
      assert.strictEqual((yield* Effect.flip(bring(signed, "other")))._tag, "PAYMENT_ALREADY_USED")
    })
  )

  it.effect("keeps its answer as long as others once it is settled, and no answer that nobody paid", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { bring, granted, payments, signs } = yield* market("live")
      const [paid, unpaid] = [signs(), signs()]
      yield* payments.capture(yield* granted(paid), kept("a"), paid)
      const refused = yield* granted(unpaid)
      yield* chain.does("refuse")
      yield* Effect.flip(payments.capture(refused, kept("b"), unpaid))
      const sql = yield* SqlClient.SqlClient
      yield* TestClock.adjust("1 second")
      assert.isAbove(yield* payments.dropOldAnswers, 0)
      assert.deepStrictEqual(yield* sql`SELECT 1 FROM payment_answers WHERE payment_id = ${refused.id}`, [])
      assert.strictEqual((yield* bring(paid))._tag, "Answered")
      yield* TestClock.adjust("16 minutes")
      yield* payments.resolveDue
      assert.strictEqual((yield* Effect.flip(bring(paid)))._tag, "PAYMENT_ALREADY_USED")
    })
  )

  it.effect("whose process died before the origin answered fails once, by whichever process finds it", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const processes = yield* twoProcesses
      const { granted, record, signs } = yield* market("live")
      const payment = yield* granted(signs())
      yield* TestClock.adjust("41 seconds")
      yield* Effect.all(
        processes.map((one) => one.resolveDue),
        { concurrency: 2 }
      )
      assert.deepInclude(yield* record, { status: "released", failure: "interrupted" })
      assert.strictEqual(yield* failures(payment), 1)
    })
  )

  it.effect("that costs nothing does not trouble the chain", () =>
    Effect.gen(function* () {
      yield* chain.does("refuse")
      const { bring, granted, payments, record, signs } = yield* market("live")
      const signed = signs(free)
      yield* payments.release(yield* granted(signed), "origin_status")
      const payment = yield* granted(signed)
      assert.deepStrictEqual(yield* payments.capture(payment, kept("gift"), signed), { charged: 0n, transaction: null })
      assert.strictEqual((yield* bring(signed))._tag, "Answered")
      // Nor does it look abandoned, because the chain knows nothing of it.
      yield* TestClock.adjust("5 minutes")
      yield* payments.resolveDue
      assert.strictEqual((yield* record)?.status, "captured")
    })
  )

  it.effect("of a maximum costs its payer's own price, or what the origin says if that is less", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { granted, payments, signs } = yield* market("live", {
        volumeDiscounts: [{ threshold: 1, priceMultiplier: 0.5 }]
      })
      const take = Effect.fnUntraced(function* (changed: Partial<Authorization>, reported?: bigint) {
        const signed = signs(changed)
        return (yield* payments.capture(yield* granted(signed), { ...streamed, reported }, signed)).charged
      })
      assert.strictEqual(yield* take({ scheme: "upto", method: "permit2" }), 10_000n)
      assert.strictEqual(yield* take({ scheme: "upto", method: "permit2" }), 5_000n)
      assert.strictEqual(yield* take({ scheme: "upto", method: "permit2" }, 9_000n), 5_000n)
      assert.strictEqual(yield* take({ scheme: "upto", method: "permit2" }, 2_000n), 2_000n)
      // The price rose after it was signed.
      assert.strictEqual(yield* take({ scheme: "upto", method: "permit2", amount: 4_000n }), 4_000n)
      // What was signed as a price is that price on a chain: nothing less can be taken.
      assert.strictEqual(yield* take({}), 10_000n)
      assert.deepStrictEqual(yield* inOrder, [])
    })
  )
})

layer(live(unattended), { timeout: "60 seconds" })("a signed payment that the chain decides late", (it) => {
  it.effect("is booked although another attempt began meanwhile", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { granted, payments, record, signs } = yield* market("live")
      const signed = signs()
      const payment = yield* granted(signed)
      yield* chain.does("pending")
      yield* Effect.flip(payments.capture(payment, kept("late"), signed))
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE payments SET attempt = 2, state = 'released' WHERE id = ${payment.id}`
      yield* chain.does("settle")
      yield* Effect.gen(function* () {
        yield* TestClock.adjust("2 minutes")
        yield* (yield* ChainSettlements).reconcileDue
        yield* payments.resolveDue
        const rows =
          yield* sql`SELECT 1 FROM chain_settlements WHERE payment_id = ${payment.id} AND concluded_at IS NOT NULL`
        return rows.length
      }).pipe(Effect.repeat({ until: (concluded) => concluded === 1 }))
      yield* TestClock.adjust("10 minutes")
      yield* payments.resolveDue
      assert.deepInclude(yield* record, { status: "captured", charged: 10_000n })
      assert.deepStrictEqual(yield* inOrder, [])
    })
  )

  it.effect("to be refused fails once, however often the refusal is booked", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { granted, payments, record, signs } = yield* market("live")
      const signed = signs()
      const payment = yield* granted(signed)
      yield* chain.does("refuse")
      yield* Effect.flip(payments.capture(payment, kept("late"), signed))
      const sql = yield* SqlClient.SqlClient
      const booked = Effect.gen(function* () {
        yield* TestClock.adjust("2 minutes")
        yield* (yield* ChainSettlements).reconcileDue
        yield* payments.resolveDue
        return (yield* sql`SELECT 1 FROM chain_settlements WHERE payment_id = ${payment.id} AND booked_at > 'epoch'`)
          .length
      }).pipe(Effect.repeat({ until: (rows) => rows === 1 }))
      yield* booked
      // As after a connection that was lost with the commit under way.
      yield* sql`UPDATE chain_settlements SET booked_at = NULL, due_at = 'epoch' WHERE payment_id = ${payment.id}`
      yield* payments.resolveDue
      assert.strictEqual((yield* record)?.status, "released")
      assert.strictEqual(yield* failures(payment), 1)
    })
  )
})

layer(live(unattended), { timeout: "60 seconds" })("the kept answer of a signed payment", (it) => {
  /** A payment whose answer is kept, and about which the chain says nothing. */
  const waiting = Effect.fnUntraced(function* (changed: Partial<Authorization>) {
    yield* chain.does("settle")
    const { bring, granted, payments, signs } = yield* market("live")
    const signed = signs(changed)
    const payment = yield* granted(signed)
    yield* chain.does("silent")
    assert.strictEqual((yield* Effect.flip(payments.capture(payment, kept("late"), signed)))._tag, "SETTLEMENT_PENDING")
    const answered = Effect.map(bring(signed), (grant) =>
      grant._tag === "Answered" ? Buffer.from(grant.answer.body).toString() : grant._tag
    )
    return { answered, payments }
  })

  it.effect("is there when the operator ends the payment, days later, and is forgotten after that", () =>
    Effect.gen(function* () {
      const { reconcileDue } = yield* ChainSettlements
      const { conclude, list } = Context.get(yield* Layer.build(UnresolvedOnChain.layer), UnresolvedOnChain)
      const { answered, payments } = yield* waiting({ validUntil: new Date(300_000) })
      for (let days = 0; days < 3; days++) {
        yield* TestClock.adjust("1 day")
        yield* reconcileDue
        assert.strictEqual(yield* payments.dropOldAnswers, 0)
      }
      const [one] = yield* list
      const id = one?.id ?? assert.fail("it is not left to the operator")
      assert.isTrue(yield* conclude(id, { _tag: "Settled", transaction: transactionOf(id) }))
      yield* TestClock.adjust("6 seconds")
      yield* payments.resolveDue
      assert.strictEqual(yield* answered, "late")
      yield* TestClock.adjust("2 hours")
      assert.strictEqual(yield* payments.dropOldAnswers, 1)
      assert.strictEqual((yield* Effect.flip(answered))._tag, "PAYMENT_ALREADY_USED")
    })
  )

  it.effect("may be asked for minutes after the chain has decided, when its time was nearly over", () =>
    Effect.gen(function* () {
      const { answered, payments } = yield* waiting({ validUntil: new Date(864_000_000) })
      yield* TestClock.adjust("1439 minutes")
      yield* chain.does("settle")
      yield* (yield* ChainSettlements).reconcileDue
      yield* TestClock.adjust("6 seconds")
      yield* payments.resolveDue
      yield* TestClock.adjust("4 minutes")
      yield* payments.dropOldAnswers
      assert.strictEqual(yield* answered, "late")
    })
  )
})
