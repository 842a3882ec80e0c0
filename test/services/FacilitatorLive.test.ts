import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as Platform from "#layers/Platform.ts"
import { ChainSettlements } from "#services/ChainSettlements.ts"
import { Facilitator } from "#services/Facilitator.ts"
import { chained, does, later, live, moved, sale, saleWith } from "./FacilitatorLiveHarness.ts"

layer(chained(live), { timeout: "60 seconds", excludeTestServices: true })("the facilitator of a live server", (it) => {
  it.effect("moves the money on the chain, once however often it is asked", () =>
    Effect.gen(function* () {
      yield* does("settle")
      const { caller, facilitator, payment } = yield* sale
      assert.isTrue((yield* facilitator.verify(payment, caller)).isValid)
      const before = (yield* moved).size
      const settle = facilitator.settle(payment, caller).pipe(
        Effect.repeat({
          until: ({ errorReason }) => errorReason !== "settlement_pending",
          schedule: Schedule.spaced("10 millis")
        })
      )
      const answers = yield* Effect.all(
        Array.from({ length: 10 }, () => settle),
        { concurrency: 10 }
      )
      const transactions = new Set(answers.map(({ transaction }) => transaction))
      assert.strictEqual(transactions.size, 1)
      assert.strictEqual(answers.filter(({ success }) => success).length, 1, "how many were told")
      assert.include([...(yield* moved).values()], [...transactions][0])
      assert.strictEqual((yield* moved).size, before + 1)
    })
  )

  it.effect("never guesses: while the outcome is not known it says so, with the transaction once there is one", () =>
    Effect.gen(function* () {
      yield* does("pending")
      const { caller, facilitator, payment } = yield* sale
      const waiting = yield* Effect.repeat(facilitator.settle(payment, caller), {
        until: ({ transaction }) => transaction !== ""
      })
      assert.deepStrictEqual([waiting.success, waiting.errorReason], [false, "settlement_pending"])
      assert.match(waiting.transaction, /^0x[0-9a-f]{64}$/)
      yield* does("settle")
      yield* later(60_000)
      const settled = yield* Effect.repeat(facilitator.settle(payment, caller), { until: ({ success }) => success })
      assert.strictEqual(settled.transaction, waiting.transaction)

      yield* does("silent")
      const unheard = yield* sale
      const { errorReason, success, transaction } = yield* facilitator.settle(unheard.payment, unheard.caller)
      assert.deepStrictEqual([success, errorReason, transaction], [false, "settlement_pending", ""])
    })
  )

  it.effect("passes on what the chain refuses", () =>
    Effect.gen(function* () {
      yield* does("refuse")
      const { caller, facilitator, payment } = yield* sale
      assert.strictEqual((yield* facilitator.verify(payment, caller)).invalidReason, "insufficient_funds")
      const refused = yield* Effect.repeat(facilitator.settle(payment, caller), {
        until: ({ errorReason }) => errorReason !== "settlement_pending"
      })
      assert.deepStrictEqual([refused.success, refused.errorReason], [false, "insufficient_funds"])
      yield* does("unavailable")
      assert.strictEqual((yield* facilitator.verify(payment, caller)).invalidReason, "unexpected_verify_error")
    })
  )

  it.effect("takes a payment that it refused when it would go through by now, once", () =>
    Effect.gen(function* () {
      yield* does("refuse")
      const { caller, facilitator, payment, wallet } = yield* sale
      const settle = Effect.repeat(facilitator.settle(payment, caller), {
        until: ({ errorReason }) => errorReason !== "settlement_pending"
      })
      assert.strictEqual((yield* settle).errorReason, "insufficient_funds")
      assert.strictEqual((yield* settle).errorReason, "insufficient_funds")
      yield* does("settle")
      assert.isTrue((yield* facilitator.verify(payment, caller)).isValid)
      const answers = yield* Effect.all(
        Array.from({ length: 10 }, () => settle),
        { concurrency: 10 }
      )
      assert.strictEqual(answers.filter(({ success }) => success).length, 1, "how many were told")
      assert.strictEqual(new Set(answers.map(({ transaction }) => transaction)).size, 1)
      yield* does("refuse")
      const again = yield* settle
      assert.deepStrictEqual(
        [again.errorReason, again.transaction],
        ["invalid_exact_evm_nonce_already_used", answers[0]?.transaction],
        "what was settled stays settled"
      )
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`SELECT c.id, c.state FROM chain_settlements c
        JOIN wallets w ON w.address = c."authorization" ->> 'payTo' WHERE w.id = ${wallet.id} ORDER BY c.state`
      const states = rows.map(({ state }) => state)
      assert.deepStrictEqual(states, ["confirmed", "refused"], "what cannot go through yet is not tried again")
      const there = yield* moved
      assert.deepStrictEqual(
        rows.map(({ id }) => there.has(String(id))),
        [true, false]
      )
    })
  )

  it.effect("takes one word to the chain twenty times, however often it is refused there", () =>
    Effect.gen(function* () {
      const { caller, facilitator, payment } = yield* sale
      let asked = 0
      yield* does(() => Effect.sync(() => ({ _tag: "Refused", reason: `refused ${++asked}` }) as const))
      const settle = facilitator.settle(payment, caller)
      for (let time = 1; time <= 22; time++) {
        assert.strictEqual((yield* settle).errorReason, `refused ${Math.min(time, 20)}`)
      }
      assert.strictEqual(asked, 20)
    })
  )

  it.effect("lets a payment be served whose money came later than its seller waited, once", () =>
    Effect.gen(function* () {
      yield* does("pending")
      const { caller, facilitator, payment, wallet } = yield* sale
      const waiting = yield* Effect.repeat(facilitator.settle(payment, caller), {
        until: ({ transaction }) => transaction !== ""
      })
      assert.strictEqual(waiting.errorReason, "settlement_pending")
      yield* does("refuse")
      assert.isFalse((yield* facilitator.verify(payment, caller)).isValid, "nobody knows yet")
      yield* does("settle")
      yield* later(60_000)
      const { reconcileDue } = yield* ChainSettlements
      const sql = yield* SqlClient.SqlClient
      const confirmed = sql`SELECT 1 FROM chain_settlements c JOIN wallets w ON w.address = c."authorization" ->> 'payTo'
        WHERE w.id = ${wallet.id} AND c.state = 'confirmed'`
      yield* Effect.repeat(Effect.andThen(reconcileDue, confirmed), {
        until: (rows) => rows.length > 0,
        schedule: Schedule.spaced("10 millis")
      })
      yield* does("refuse")
      assert.isTrue((yield* facilitator.verify(payment, caller)).isValid, "the chain has it, and nobody was told")
      assert.isFalse((yield* facilitator.verify(payment, undefined)).isValid)
      assert.isTrue((yield* facilitator.settle(payment, caller)).success)
      assert.isFalse((yield* facilitator.verify(payment, caller)).isValid)
      assert.isFalse((yield* facilitator.settle(payment, caller)).success)
    })
  )

  it.effect("never takes money that went to another for its own: a nonce signed twice pays one of the receivers", () =>
    Effect.gen(function* () {
      yield* does("pending")
      const [paid, deceived] = [yield* saleWith("twice"), yield* saleWith("twice")]
      const told = ({ caller, facilitator, payment }: typeof paid) =>
        Effect.map(facilitator.settle(payment, caller), ({ errorReason, success }) => [success, errorReason])
      const used = [false, "invalid_exact_evm_nonce_already_used"]
      assert.deepStrictEqual(yield* told(paid), [false, "settlement_pending"])
      assert.isTrue(
        (yield* deceived.facilitator.verify(deceived.payment, deceived.caller)).isValid,
        "the chain has no word"
      )
      assert.deepStrictEqual(yield* told(deceived), used)
      yield* does("settle")
      const { reconcileDue } = yield* ChainSettlements
      yield* Effect.repeat(Effect.andThen(reconcileDue, told(deceived)), { times: 3 })
      yield* does("refuse")
      assert.isFalse((yield* deceived.facilitator.verify(deceived.payment, deceived.caller)).isValid)
      assert.deepStrictEqual(yield* told(deceived), used)
      yield* does("settle")
      yield* later(60_000)
      yield* Effect.repeat(told(paid), {
        until: ([success]) => success === true,
        schedule: Schedule.spaced("10 millis")
      })
      assert.deepStrictEqual(yield* told(deceived), used)
    })
  )

  it.effect("settles to wallets of the caller's tenant only", () =>
    Effect.gen(function* () {
      yield* does("settle")
      const { facilitator, payment } = yield* sale
      const other = yield* sale
      const before = (yield* moved).size
      for (const caller of [other.caller, undefined]) {
        const { errorReason, success } = yield* facilitator.settle(payment, caller)
        assert.deepStrictEqual([success, errorReason], [false, "invalid_payment_requirements"])
        assert.strictEqual((yield* facilitator.verify(payment, caller)).invalidReason, "invalid_payment_requirements")
      }
      assert.strictEqual((yield* moved).size, before)
    })
  )

  it.effect("supports what its rail settles", () =>
    Effect.gen(function* () {
      const { kinds } = yield* (yield* Facilitator).supported
      assert.deepStrictEqual(kinds, [
        { x402Version: 2, scheme: "exact", network: "eip155:8453" },
        { x402Version: 1, scheme: "exact", network: "base" }
      ])
    })
  )
})

layer(Platform.layer.pipe(Layer.provideMerge(live)), { timeout: "60 seconds", excludeTestServices: true })(
  "the facilitator of a live server without a rail",
  (it) => {
    it.effect("supports nothing, and takes nothing", () =>
      Effect.gen(function* () {
        const { caller, facilitator, payment } = yield* sale
        assert.deepStrictEqual((yield* facilitator.supported).kinds, [])
        assert.strictEqual((yield* facilitator.verify(payment, caller)).invalidReason, "unsupported_scheme")
        assert.strictEqual((yield* facilitator.settle(payment, caller)).errorReason, "unsupported_scheme")
      })
    )
  }
)
