import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { LedgerCurrency, purposes, systemAccount } from "#domain/LedgerAccount.ts"
import { flat } from "#domain/Price.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"
import { balance, hold, issuance, Test, transfer, wallet } from "./LedgerHarness.ts"

layer(Test, { timeout: "60 seconds" })("Ledger", (it) => {
  it.effect("has every account of the platform's own, which migrations make, in every currency", () =>
    Effect.gen(function* () {
      const { account } = yield* Ledger
      for (const purpose of purposes) {
        for (const currency of LedgerCurrency.literals) {
          const own = yield* account(systemAccount(purpose, currency))
          assert.deepStrictEqual([own.currency, own.may_overdraw], [currency, purpose === "issuance"])
        }
      }
    })
  )

  it.effect("moves money from one account to another, and the books balance", () =>
    Effect.gen(function* () {
      const { post } = yield* Ledger
      const [payer, payee] = [yield* wallet(10_000_000n), yield* wallet()]
      yield* post(transfer(payer, payee, 2_500_000n))
      assert.deepStrictEqual(yield* balance(payer), { posted: 7_500_000n, held: 0n })
      assert.deepStrictEqual(yield* balance(payee), { posted: 2_500_000n, held: 0n })
    })
  )

  it.effect("posting the same command twice moves money once", () =>
    Effect.gen(function* () {
      const { post } = yield* Ledger
      const [payer, payee] = [yield* wallet(10n), yield* wallet()]
      const command = transfer(payer, payee, 4n)
      const answers = yield* Effect.all(
        Array.from({ length: 100 }, () => post(command)),
        { concurrency: 100 }
      )
      assert.strictEqual(answers.filter((answer) => !answer.replayed).length, 1)
      assert.deepStrictEqual(yield* balance(payee), { posted: 4n, held: 0n })
    })
  )

  it.effect("a wallet with ten pays one a hundred times at once: exactly ten succeed", () =>
    Effect.gen(function* () {
      const { post } = yield* Ledger
      const [payer, payee] = [yield* wallet(10n), yield* wallet()]
      const answers = yield* Effect.all(
        Array.from({ length: 100 }, () => Effect.result(post(transfer(payer, payee, 1n)))),
        { concurrency: 100 }
      )
      const refused = answers.filter(Result.isFailure).map((answer) => answer.failure._tag)
      assert.strictEqual(refused.length, 90)
      assert.deepStrictEqual([...new Set(refused)], ["INSUFFICIENT_BALANCE"])
      assert.deepStrictEqual(yield* balance(payer), { posted: 0n, held: 0n })
    })
  )

  it.effect("transfers in opposite directions do not deadlock", () =>
    Effect.gen(function* () {
      const { post } = yield* Ledger
      const [left, right] = [yield* wallet(1_000n), yield* wallet(1_000n)]
      yield* Effect.all(
        Array.from({ length: 200 }, (_, index) =>
          post(index % 2 ? transfer(left, right, 1n) : transfer(right, left, 1n))
        ),
        { concurrency: 200 }
      )
      assert.deepStrictEqual(yield* balance(left), { posted: 1_000n, held: 0n })
    })
  )

  it.effect("a refused command leaves its neighbours in the group alone", () =>
    Effect.gen(function* () {
      const { post } = yield* Ledger
      const [payer, payee] = [yield* wallet(5n), yield* wallet()]
      const answers = yield* Effect.all(
        [
          transfer(payer, payee, 2n),
          transfer(payer, newUuid(), 1n),
          transfer(payer, payee, 9n),
          transfer(payer, payee, 3n)
        ].map((command) => Effect.result(post(command))),
        { concurrency: 4 }
      )
      assert.deepStrictEqual(
        answers.map((answer) => (Result.isSuccess(answer) ? "posted" : answer.failure._tag)),
        ["posted", "NOT_FOUND", "INSUFFICIENT_BALANCE", "posted"]
      )
    })
  )

  it.effect("a command is all or nothing: a refused second step undoes the first", () =>
    Effect.gen(function* () {
      const { post } = yield* Ledger
      const [payer, middle, payee] = [yield* wallet(5n), yield* wallet(), yield* wallet()]
      const [first] = transfer(payer, middle, 5n).steps
      const [second] = transfer(middle, payee, 6n).steps
      const refused = yield* Effect.flip(
        post({ id: newUuid(), steps: [first, second].filter((step) => step !== undefined) })
      )
      assert.strictEqual(refused._tag, "INSUFFICIENT_BALANCE")
      assert.deepStrictEqual(yield* balance(payer), { posted: 5n, held: 0n })
    })
  )

  it.effect("a hold reserves, a capture in part takes its share and frees the rest", () =>
    Effect.gen(function* () {
      const { post } = yield* Ledger
      const [payer, payee] = [yield* wallet(10n), yield* wallet()]
      const reserve = yield* hold(payer, payee, 6n)
      yield* post(reserve)
      assert.deepStrictEqual(yield* balance(payer), { posted: 10n, held: 6n })
      const over = yield* Effect.flip(post(transfer(payer, payee, 5n)))
      assert.strictEqual(over._tag, "INSUFFICIENT_BALANCE")
      yield* post({
        id: newUuid(),
        steps: [
          {
            kind: "capture",
            hold: reserve.id,
            debit: payer,
            credit: payee,
            currency: "USDC",
            code: "payment",
            price: flat(4n)
          }
        ]
      })
      assert.deepStrictEqual(yield* balance(payer), { posted: 6n, held: 0n })
      assert.deepStrictEqual(yield* balance(payee), { posted: 4n, held: 0n })
    })
  )

  it.effect("of a hundred captures and releases of one hold at once exactly one happens", () =>
    Effect.gen(function* () {
      const { post } = yield* Ledger
      const [payer, payee] = [yield* wallet(10n), yield* wallet()]
      const reserve = yield* hold(payer, payee, 10n)
      yield* post(reserve)
      const between = { hold: reserve.id, debit: payer, credit: payee, currency: "USDC", code: "payment" }
      const answers = yield* Effect.all(
        Array.from({ length: 100 }, (_, index) =>
          Effect.result(
            post({
              id: newUuid(),
              steps: [index % 2 ? { kind: "capture", ...between } : { kind: "release", as: "released", ...between }]
            })
          )
        ),
        { concurrency: 100 }
      )
      assert.strictEqual(answers.filter(Result.isSuccess).length, 1)
      const [a, b] = [yield* balance(payer), yield* balance(payee)]
      assert.strictEqual(a.posted + b.posted, 10n)
      assert.strictEqual(a.held, 0n)
    })
  )

  it.effect("a hold whose time has passed is released by itself, once", () =>
    Effect.gen(function* () {
      const { post, expireDue } = yield* Ledger
      const [payer, payee] = [yield* wallet(10n), yield* wallet()]
      const reserve = yield* hold(payer, payee, 7n)
      yield* post({
        ...reserve,
        steps: reserve.steps.map((step) => ({ ...step, expires_at: DateTime.toDate(DateTime.makeUnsafe(-1)) }))
      })
      const released = yield* Effect.all([expireDue, expireDue], { concurrency: 2 })
      assert.strictEqual(released[0] + released[1], 1)
      assert.deepStrictEqual(yield* balance(payer), { posted: 10n, held: 0n })
    })
  )

  it.effect("holds that ended long ago do not stand before one whose time has passed", () =>
    Effect.gen(function* () {
      const { post, expireDue } = yield* Ledger
      const sql = yield* SqlClient.SqlClient
      const [payer, payee] = [yield* wallet(10n), yield* wallet()]
      const { id, steps } = yield* hold(payer, payee, 7n)
      yield* post({
        id,
        steps: steps.map((step) => ({ ...step, expires_at: DateTime.toDate(DateTime.makeUnsafe(-1)) }))
      })
      yield* sql`INSERT INTO holds (id, debit, credit, amount, state, expires_at, created_at)
        SELECT gen_random_uuid(), debit, credit, amount, 'released', expires_at - interval '1 day', created_at
        FROM holds, generate_series(1, 500) WHERE id = ${id}`
      assert.strictEqual(yield* expireDue, 1)
      assert.deepStrictEqual(yield* balance(payer), { posted: 10n, held: 0n })
    })
  )

  it.effect("a frozen account receives and captures, and spends nothing new", () =>
    Effect.gen(function* () {
      const { post, setFrozen } = yield* Ledger
      const [payer, payee] = [yield* wallet(10n), yield* wallet()]
      const reserve = yield* hold(payer, payee, 4n)
      yield* post(reserve)
      yield* setFrozen(payer, true)
      assert.strictEqual((yield* Effect.flip(post(transfer(payer, payee, 1n))))._tag, "WALLET_FROZEN")
      yield* post(transfer(issuance, payer, 1n))
      yield* post({
        id: newUuid(),
        steps: [{ kind: "capture", hold: reserve.id, debit: payer, credit: payee, currency: "USDC", code: "payment" }]
      })
      assert.deepStrictEqual(yield* balance(payer), { posted: 7n, held: 0n })
    })
  )

  it.effect("the log is gapless and append-only", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`SELECT count(*) = max(seq) AS gapless FROM movements`
      assert.deepStrictEqual(rows, [{ gapless: true }])
      for (const attempt of [sql`UPDATE movements SET amount = 1`, sql`DELETE FROM movements`, sql`TRUNCATE events`]) {
        assert.isTrue(Result.isFailure(yield* Effect.result(attempt)))
      }
    })
  )

  it.effect("concurrent captures are priced as if one after the other", () =>
    Effect.gen(function* () {
      const { post, tally } = yield* Ledger
      const [payer, payee] = [yield* wallet(1_000n), yield* wallet()]
      const tallyRef = { scope: newUuid(), subject: payer }
      const price = { base: 10n, tiers: [{ threshold: 20, amount: 5n }] }
      yield* Effect.all(
        Array.from({ length: 50 }, () =>
          Effect.gen(function* () {
            const reserve = yield* hold(payer, payee, 10n)
            yield* post(reserve)
            yield* post({
              id: newUuid(),
              steps: [
                {
                  kind: "capture",
                  hold: reserve.id,
                  debit: payer,
                  credit: payee,
                  currency: "USDC",
                  code: "payment",
                  price,
                  tally: tallyRef
                }
              ]
            })
          })
        ),
        { concurrency: 50 }
      )
      assert.deepStrictEqual(yield* balance(payee), { posted: 20n * 10n + 30n * 5n, held: 0n })
      const { amount, count } = yield* tally(tallyRef.scope, payer)
      assert.deepStrictEqual({ amount, count }, { amount: 350n, count: 50n })
    })
  )
})
