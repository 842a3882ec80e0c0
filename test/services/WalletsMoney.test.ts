import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Funding } from "#domain/Wallet.ts"
import { Wallets } from "#services/Wallets.ts"
import { claimOf, hold, movementsInto, patient, platform, tenant, usdc, walletOf } from "./WalletsHarness.ts"

layer(platform.pipe(Layer.provide(patient)))("the faucet", (it) => {
  it.effect("gives exactly what was asked, in one transfer that the answer names", () =>
    Effect.gen(function* () {
      const wallets = yield* Wallets
      const caller = yield* tenant()
      const { id } = yield* walletOf(caller)
      const { funding, replayed } = yield* wallets.fund(caller, id, usdc(1_000_001n))
      assert.isFalse(replayed)
      assert.strictEqual(funding.wallet.balance_available, 1_000_001n)
      const [entry] = yield* wallets.entries(caller, id, { limit: 1 })
      assert.strictEqual(entry?.transfer_id, funding.transfer_id)
      assert.deepStrictEqual(yield* wallets.get(caller, id), funding.wallet)
    })
  )

  it.effect("gives the balance that holds leave available", () =>
    Effect.gen(function* () {
      const wallets = yield* Wallets
      const caller = yield* tenant()
      const { id } = yield* walletOf(caller)
      const payee = yield* walletOf(caller)
      yield* wallets.fund(caller, id, usdc(5n))
      yield* hold(id, payee.id, 2n)
      const { funding } = yield* wallets.fund(caller, id, usdc(10n))
      assert.deepInclude(funding.wallet, { balance_available: 13n, balance_pending: 2n })
    })
  )

  it.effect("adds 10,000 of the smallest amount without losing any", () =>
    Effect.gen(function* () {
      const wallets = yield* Wallets
      const caller = yield* tenant()
      const { id } = yield* walletOf(caller)
      yield* Effect.forEach(Array.from({ length: 10_000 }), () => wallets.fund(caller, id, usdc(1n)), {
        concurrency: 200,
        discard: true
      })
      assert.strictEqual((yield* wallets.get(caller, id)).balance_available, 10_000n)
    })
  )

  it.effect("gives 10,000.00 in one call, and not one micro-unit more", () =>
    Effect.gen(function* () {
      const wallets = yield* Wallets
      const caller = yield* tenant()
      const { id } = yield* walletOf(caller)
      const refused = yield* Effect.flip(wallets.fund(caller, id, usdc(10_000_000_001n)))
      assert.deepInclude(refused, { _tag: "AMOUNT_TOO_LARGE", maximum: "10000.00" })
      const { funding } = yield* wallets.fund(caller, id, usdc(10_000_000_000n))
      assert.strictEqual(funding.wallet.balance_available, 10_000_000_000n)
    })
  )

  it.effect("refuses to go beyond what the ledger can hold", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const wallets = yield* Wallets
      const caller = yield* tenant()
      const { id } = yield* walletOf(caller, { currency: "EURC" })
      yield* sql`UPDATE ledger_accounts SET posted = ${9_223_372_036_854_775_807n} WHERE id = ${id}`
      const refused = yield* Effect.flip(wallets.fund(caller, id, { amount: 1n, currency: "EURC" }))
      assert.strictEqual(refused._tag, "AMOUNT_TOO_LARGE")
    })
  )

  it.effect("refuses another currency than the wallet's", () =>
    Effect.gen(function* () {
      const caller = yield* tenant()
      const { id } = yield* walletOf(caller)
      const refused = yield* Effect.flip((yield* Wallets).fund(caller, id, { amount: 1n, currency: "EURC" }))
      assert.strictEqual(refused._tag, "CURRENCY_MISMATCH")
    })
  )

  it.effect("does not exist live", () =>
    Effect.gen(function* () {
      const caller = yield* tenant("live")
      const address = "HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr"
      const { id } = yield* walletOf(caller, { address })
      assert.strictEqual((yield* Effect.flip((yield* Wallets).fund(caller, id, usdc(1n))))._tag, "FORBIDDEN")
    })
  )

  it.effect("one key used 100 times at once moves money once and answers alike", () =>
    Effect.gen(function* () {
      const wallets = yield* Wallets
      const caller = yield* tenant()
      const { id } = yield* walletOf(caller)
      const answers = yield* Effect.forEach(
        Array.from({ length: 100 }),
        () => wallets.fund(caller, id, usdc(7n), claimOf(caller, "once")),
        { concurrency: 100 }
      )
      assert.strictEqual(yield* movementsInto(id), 1)
      assert.strictEqual(answers.filter((answer) => !answer.replayed).length, 1)
      const bodies = new Set(answers.map(({ funding }) => JSON.stringify(Schema.encodeSync(Funding)(funding))))
      assert.strictEqual(bodies.size, 1)
      assert.strictEqual((yield* wallets.get(caller, id)).balance_available, 7n)
    })
  )

  it.effect("a replay answers with the balance of then", () =>
    Effect.gen(function* () {
      const wallets = yield* Wallets
      const caller = yield* tenant()
      const { id } = yield* walletOf(caller, { name: "first", metadata: { longer: 1, a: 2 } })
      const first = yield* wallets.fund(caller, id, usdc(7n), claimOf(caller, "then"))
      yield* wallets.fund(caller, id, usdc(1n))
      yield* wallets.freeze(caller, id, "test")
      const again = yield* wallets.fund(caller, id, usdc(7n), claimOf(caller, "then"))
      assert.deepStrictEqual(again, { funding: first.funding, replayed: true })
    })
  )

  it.effect("a key used with other parameters is refused and moves nothing", () =>
    Effect.gen(function* () {
      const wallets = yield* Wallets
      const caller = yield* tenant()
      const { id } = yield* walletOf(caller)
      yield* wallets.fund(caller, id, usdc(7n), claimOf(caller, "reused"))
      const refused = yield* Effect.flip(wallets.fund(caller, id, usdc(8n), claimOf(caller, "reused", "2")))
      assert.strictEqual(refused._tag, "IDEMPOTENCY_KEY_REUSED")
      assert.strictEqual(yield* movementsInto(id), 1)
    })
  )

  it.effect("a key of another tenant is another key", () =>
    Effect.gen(function* () {
      const wallets = yield* Wallets
      for (const caller of [yield* tenant(), yield* tenant()]) {
        const { id } = yield* walletOf(caller)
        assert.isFalse((yield* wallets.fund(caller, id, usdc(7n), claimOf(caller, "same"))).replayed)
      }
    })
  )

  it.effect("a refused request leaves its key free", () =>
    Effect.gen(function* () {
      const wallets = yield* Wallets
      const caller = yield* tenant()
      const { id } = yield* walletOf(caller)
      const claim = claimOf(caller, "free")
      yield* Effect.flip(wallets.fund(caller, id, { amount: 7n, currency: "EURC" }, claim))
      assert.isFalse((yield* wallets.fund(caller, id, usdc(7n), { ...claim, fingerprint: "2" })).replayed)
    })
  )

  it.effect("a key is kept for 24 hours", () =>
    Effect.gen(function* () {
      const wallets = yield* Wallets
      const caller = yield* tenant()
      const { id } = yield* walletOf(caller)
      const fund = wallets.fund(caller, id, usdc(7n), claimOf(caller, "a day"))
      yield* fund
      yield* TestClock.adjust({ hours: 23, minutes: 59 })
      assert.isTrue((yield* fund).replayed)
      yield* TestClock.adjust("1 minute")
      assert.isFalse((yield* fund).replayed)
      assert.strictEqual((yield* wallets.get(caller, id)).balance_available, 14n)
    })
  )
})

layer(platform)("a statement", (it) => {
  it.effect("shows every movement once, newest first; amounts add up to each balance", () =>
    Effect.gen(function* () {
      const wallets = yield* Wallets
      const caller = yield* tenant()
      const payer = yield* walletOf(caller)
      const payee = yield* walletOf(caller)
      yield* wallets.fund(caller, payer.id, usdc(10_000n))
      const reserved = yield* hold(payer.id, payee.id, 1_000n)
      yield* hold(payer.id, payee.id, 1n)
      yield* reserved.capture(100)

      const spent = yield* wallets.entries(caller, payer.id, { limit: 10 })
      assert.deepStrictEqual(
        spent.map(({ type, code, amount, balance_after, counterparty }) => ({
          type,
          code,
          amount,
          balance_after,
          counterparty
        })),
        [
          {
            type: "debit",
            code: "payment",
            amount: -1_000n,
            balance_after: 9_000n,
            counterparty: { type: "wallet", wallet_id: payee.id }
          },
          {
            type: "credit",
            code: "faucet",
            amount: 10_000n,
            balance_after: 10_000n,
            counterparty: { type: "issuance", wallet_id: null }
          }
        ]
      )
      const earned = yield* wallets.entries(caller, payee.id, { limit: 10 })
      assert.deepStrictEqual(
        earned.map(({ type, code, amount, balance_after, counterparty }) => ({
          type,
          code,
          amount,
          balance_after,
          counterparty
        })),
        [
          {
            type: "debit",
            code: "fee",
            amount: -10n,
            balance_after: 990n,
            counterparty: { type: "fees", wallet_id: null }
          },
          {
            type: "credit",
            code: "payment",
            amount: 1_000n,
            balance_after: 1_000n,
            counterparty: { type: "wallet", wallet_id: payer.id }
          }
        ]
      )
      assert.strictEqual(new Set([...spent, ...earned].map(({ id }) => id)).size, 4)
      assert.strictEqual(earned[0]?.transfer_id, earned[1]?.transfer_id)
    })
  )

  it.effect("is read in stretches without gaps or repeats", () =>
    Effect.gen(function* () {
      const wallets = yield* Wallets
      const caller = yield* tenant()
      const one = yield* walletOf(caller)
      const two = yield* walletOf(caller)
      yield* wallets.fund(caller, one.id, usdc(100n))
      for (let count = 0; count < 5; count++) yield* (yield* hold(one.id, two.id, 10n)).capture(0)
      yield* (yield* hold(two.id, one.id, 3n)).capture(0)
      const all = yield* wallets.entries(caller, one.id, { limit: 200 })
      assert.strictEqual(all.length, 7)
      const read: Array<string> = []
      let before: bigint | undefined
      for (let count = 0; count < 4; count++) {
        const part = yield* wallets.entries(caller, one.id, { limit: 2, before })
        read.push(...part.map(({ id }) => id))
        before = part.at(-1)?.seq
      }
      assert.deepStrictEqual(
        read,
        all.map(({ id }) => id)
      )
      assert.deepStrictEqual(yield* wallets.entries(caller, one.id, { limit: 2, before }), [])
    })
  )
})
