import { assert, layer } from "@effect/vitest"
import { Context, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Test from "#layers/Test.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { Ledger } from "#services/Ledger.ts"
import type { LedgerCommand } from "#services/Ledger/Group.ts"
import { newUuid } from "#services/NewId.ts"
import { Payments } from "#services/Payments.ts"
import { AuthorizationRefused, Rail } from "#services/Rail.ts"
import { chain } from "./ChainSettlementsHarness.ts"
import { awaited } from "./LockHarness.ts"
import * as Paid from "./PaymentsHarness.ts"
import { failures, inOrder, kept, live, market, streamed } from "./SignedPaymentsHarness.ts"

const stateOf = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`SELECT state, attempt FROM payments WHERE id = ${id}`
  return row
})

/** A ledger whose first answer never arrives, so that the lane posts the same command again. */
const losing = Layer.effect(
  Ledger,
  Effect.map(Ledger, (ledger) => {
    const post = (command: LedgerCommand) => Effect.andThen(ledger.post(command), ledger.post(command))
    return Ledger.of({ ...ledger, post: post as Ledger["Service"]["post"] })
  })
)

layer(Test.layer, { timeout: "60 seconds" })("a payment for an address", (it) => {
  it.effect("whose first answer was lost on its way from the database is no replay", () =>
    Effect.gen(function* () {
      const { buyer, purse, record } = yield* Paid.market()
      const { pay } = yield* Effect.map(
        Layer.build(Layer.fresh(Payments.layer).pipe(Layer.provide(losing))),
        Context.get(Payments)
      )
      const order = { url: record.gatewayUrl, from_wallet_id: purse }
      const claim = { tenant_id: buyer.tenant_id, operation: "x402.pay", key: "one", fingerprint: "1" }
      const first = yield* pay(buyer, order, claim)
      assert.isFalse(first.replayed)
      assert.deepStrictEqual(yield* pay(buyer, order, claim), { ...first, replayed: true })
      assert.isFalse((yield* pay(buyer, order)).replayed)
    })
  )
})

layer(Test.layer, { timeout: "60 seconds" })("a signed payment", (it) => {
  it.effect("the first answer to whose reservation was lost on its way from the database is its call's", () =>
    Effect.gen(function* () {
      const { money, payments, signs, snapshot } = yield* market("sandbox")
      const other = yield* Effect.map(
        Layer.build(Layer.fresh(Payments.layer).pipe(Layer.provide(losing))),
        Context.get(Payments)
      )
      for (const changed of [{}, { identifier: "pay_1234567890123456" }, { amount: 0n }]) {
        const call = { authorization: signs(changed), snapshot, method: "GET", fingerprint: "f" }
        const grant = yield* other.present(call)
        if (grant._tag !== "Granted") return yield* Effect.die(grant)
        assert.strictEqual((yield* Effect.flip(payments.present(call)))._tag, "PAYMENT_IN_PROGRESS")
        yield* payments.capture(grant.payment, streamed)
      }
      assert.deepStrictEqual(yield* money, { held: 0n, posted: Paid.funds - 20_000n })
    })
  )
})

layer(Test.layer, { timeout: "60 seconds" })("a call whose lease has ended", (it) => {
  it.effect("gives back nothing that the next call has taken", () =>
    Effect.gen(function* () {
      const { granted, payments, reserve } = yield* Paid.market({ timeoutMs: 5000 })
      const { proof } = yield* reserve
      const slow = yield* granted(proof)
      yield* TestClock.adjust("16 seconds")
      yield* payments.resolveDue
      const next = yield* granted(proof)
      yield* payments.unclaim(slow)
      assert.deepStrictEqual(yield* stateOf(next.id), { state: "in_flight", attempt: 2 })
      yield* payments.unclaim(next)
      assert.deepStrictEqual(yield* stateOf(next.id), { state: "released", attempt: 2 })
    })
  )
})

layer(Test.layer, { timeout: "60 seconds" })("a second attempt that was turned away before its origin", (it) => {
  it.effect("leaves its proof as good as it was: the next call is charged, however much later it comes", () =>
    Effect.gen(function* () {
      const { granted, money, payments, purse, reserve } = yield* Paid.market({ timeoutMs: 1000 })
      const { proof } = yield* reserve
      yield* payments.release(yield* granted(proof), "origin_status", Paid.answered(500))
      yield* payments.unclaim(yield* granted(proof))
      assert.deepStrictEqual(yield* money(purse), { held: 0n, posted: Paid.funds })
      yield* TestClock.adjust("50 seconds")
      yield* (yield* Ledger).expireDue
      assert.strictEqual((yield* payments.capture(yield* granted(proof), Paid.answered(200))).charged, 10_000n)
      assert.deepStrictEqual(yield* money(purse), { held: 0n, posted: Paid.funds - 10_000n })
    })
  )
})

layer(Test.layer, { timeout: "60 seconds" })("a payment whose money is not held as its record says", (it) => {
  it.effect("is not taken for one that was given back", () =>
    Effect.gen(function* () {
      const { granted, payments, reserve } = yield* Paid.market({ timeoutMs: 1000 })
      const payment = yield* granted((yield* reserve).proof)
      const ended = yield* Effect.exit(payments.release({ ...payment, hold_id: newUuid() }, "origin_status"))
      assert.isTrue(Exit.hasDies(ended))
      assert.deepStrictEqual(yield* stateOf(payment.id), { state: "in_flight", attempt: 1 })
    })
  )
})

layer(Test.layer, { timeout: "60 seconds" })("a call that may take long", (it) => {
  it.effect("because its endpoint was given more time after it was paid for owns its money as long", () =>
    Effect.gen(function* () {
      const { call, money, payments, purse, record, reserve, seller } = yield* Paid.market({ timeoutMs: 100 })
      const { proof } = yield* reserve
      const endpoint = yield* (yield* Endpoints).update(seller, record.id, { timeoutMs: 120_000 })
      yield* TestClock.adjust("59 seconds")
      const usual = call(proof)
      const grant = yield* payments.claim({ ...usual, snapshot: { ...usual.snapshot, endpoint }, uploads: true })
      assert.strictEqual(grant._tag, "Granted")
      if (grant._tag !== "Granted") return
      yield* TestClock.adjust("245 seconds")
      yield* (yield* Ledger).expireDue
      assert.strictEqual(yield* payments.resolveDue, 0)
      assert.strictEqual((yield* payments.capture(grant.payment, Paid.answered(200))).charged, 10_000n)
      assert.deepStrictEqual(yield* money(purse), { held: 0n, posted: Paid.funds - 10_000n })
    })
  )

  it.effect("because its request has a body owns its money until that has arrived and was answered", () =>
    Effect.gen(function* () {
      const { money, payments, signs, snapshot } = yield* market("sandbox")
      const chargedLater = Effect.fnUntraced(function* (uploads: boolean) {
        const call = { authorization: signs(), snapshot, method: "GET", fingerprint: "f", uploads }
        const grant = yield* payments.present(call)
        if (grant._tag !== "Granted") return yield* Effect.die(grant)
        yield* TestClock.adjust("155 seconds")
        yield* (yield* Ledger).expireDue
        yield* payments.resolveDue
        return yield* payments.capture(grant.payment, Paid.answered(200))
      })
      assert.strictEqual((yield* Effect.flip(chargedLater(false)))._tag, "HOLD_NOT_OPEN")
      assert.strictEqual((yield* chargedLater(true)).charged, 10_000n)
      assert.deepStrictEqual(yield* money, { held: 0n, posted: Paid.funds - 10_000n })
    })
  )
})

layer(Test.layer, { timeout: "60 seconds" })("a delivery for whose mark there is no room", (it) => {
  it.effect("is not taken for one that is about to be written", () =>
    Effect.gen(function* () {
      const { claim, granted, payments, reserve } = yield* Paid.market()
      const { proof } = yield* reserve
      const { id } = yield* granted(proof)
      for (let mark = 0; mark < 20_000; mark++) payments.seen(newUuid(), false)
      payments.seen(id, true)
      assert.strictEqual((yield* Effect.flip(claim(proof)))._tag, "PAYMENT_IN_PROGRESS")
    })
  )
})

layer(Test.layer, { timeout: "60 seconds" })("a caller whose connection broke within its answer", (it) => {
  it.effect("has it as soon as it is back", () =>
    Effect.gen(function* () {
      const { claim, granted, payments, reserve } = yield* Paid.market()
      const { proof } = yield* reserve
      const payment = yield* granted(proof)
      yield* payments.capture(payment, kept("the answer"))
      payments.seen(payment.id, false)
      const again = yield* claim(proof)
      assert.strictEqual(again._tag === "Answered" && Buffer.from(again.answer.body).toString(), "the answer")
    })
  )

  it.effect("and has it, while it is written down that the first one did not arrive, has used its payment", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { claim, granted, payments, reserve } = yield* Paid.market()
      const { proof } = yield* reserve
      const payment = yield* granted(proof)
      yield* payments.capture(payment, kept("the answer"))
      payments.seen(payment.id, false)
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`SELECT 1 FROM payments WHERE id = ${payment.id} FOR UPDATE`
          yield* TestClock.adjust("1 second")
          yield* awaited
          payments.seen(payment.id, true)
        })
      )
      const told = yield* Effect.repeat(Effect.flip(claim(proof)), {
        until: ({ _tag }) => _tag !== "PAYMENT_IN_PROGRESS"
      })
      assert.strictEqual(told._tag, "PAYMENT_ALREADY_USED")
    })
  )
})

layer(live({}), { timeout: "60 seconds" })("a call that is paid on a chain and whose lease has ended", (it) => {
  /** Somebody who signed, an attempt that took too long, and the one after it. */
  const overtaken = Effect.gen(function* () {
    yield* chain.does("settle")
    const shop = yield* market("live", { timeoutMs: 5000 })
    const signed = shop.signs()
    const slow = yield* shop.granted(signed)
    yield* TestClock.adjust("16 seconds")
    yield* shop.payments.resolveDue
    const next = yield* shop.granted(signed)
    assert.deepStrictEqual([slow.attempt, next.attempt], [1, 2])
    return { ...shop, signed, slow, next }
  })

  it.effect("ends no attempt but its own", () =>
    Effect.gen(function* () {
      const { next, payments, slow } = yield* overtaken
      yield* payments.release(slow, "origin_timeout")
      assert.deepStrictEqual(yield* stateOf(next.id), { state: "in_flight", attempt: 2 })
      // Of the first attempt, when its lease ended.
      assert.strictEqual(yield* failures(next), 1)
    })
  )

  it.effect("and that was settled while the chain was asked for a copy is told, and not asked for money again", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { granted, payments, signs, snapshot } = yield* market("live")
      const signed = signs()
      yield* payments.release(yield* granted(signed), "origin_status")
      const used = new AuthorizationRefused({ reason: "invalid_exact_evm_nonce_already_used" })
      const meanwhile = Effect.gen(function* () {
        yield* Effect.orDie(payments.capture(yield* granted(signed), kept("the answer"), signed))
        return yield* used
      })
      const slow = Layer.effect(
        Rail,
        Effect.map(Rail, (rail) =>
          Rail.of({ ...rail, verify: () => Effect.catchDefect(meanwhile, Effect.die) as never })
        )
      )
      const other = yield* Effect.map(
        Layer.build(Layer.fresh(Payments.layer).pipe(Layer.provide(slow))),
        Context.get(Payments)
      )
      const told = yield* other.present({ authorization: signed, snapshot, method: "GET", fingerprint: "f" })
      assert.strictEqual(told._tag, "Answered")
    })
  )

  it.effect("takes no money in the place of the next", () =>
    Effect.gen(function* () {
      const { next, payments, signed, slow } = yield* overtaken
      const late = yield* Effect.flip(payments.capture(slow, kept("late"), signed))
      // Not asked for money: the next may have paid.
      assert.strictEqual(late._tag, "HOLD_NOT_OPEN")
      assert.deepStrictEqual(yield* stateOf(next.id), { state: "in_flight", attempt: 2 })
      assert.strictEqual((yield* payments.capture(next, kept("in time"), signed)).charged, 10_000n)
      assert.deepStrictEqual(yield* inOrder, [])
    })
  )

  it.effect("has another minute to ask for the money that it is about to take", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { next, payments } = yield* overtaken
      // The chain is to be asked in a moment: its process stands still here.
      yield* sql`UPDATE payments SET state = 'settling' WHERE id = ${next.id}`
      yield* TestClock.adjust("74 seconds")
      yield* payments.resolveDue
      assert.deepStrictEqual(yield* stateOf(next.id), { state: "settling", attempt: 2 })
      yield* TestClock.adjust("2 seconds")
      yield* payments.resolveDue
      assert.deepStrictEqual(yield* stateOf(next.id), { state: "released", attempt: 2 })
    })
  )

  it.effect("leaves the next no answer of its own when its process dies before it asks for the money", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { bring, granted, next, payments, signed } = yield* overtaken
      yield* sql`UPDATE payments SET state = 'settling' WHERE id = ${next.id}`
      yield* sql`INSERT INTO payment_answers (payment_id, status, headers, body, expires_at)
        VALUES (${next.id}, 200, '[]', 'its own', '2100-01-01')`
      yield* TestClock.adjust("76 seconds")
      yield* payments.resolveDue
      const last = yield* granted(signed)
      assert.strictEqual(last.attempt, 3)
      yield* payments.capture(last, streamed, signed)
      payments.seen(last.id, false)
      assert.strictEqual((yield* Effect.flip(bring(signed)))._tag, "PAYMENT_ALREADY_USED")
    })
  )
})
