import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer, References } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Doctor } from "#services/Doctor.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"
import { eventually } from "./CredentialsHarness.ts"
import { balance, ended, hold, outcome, Test, transfer, waitsForHead, wallet } from "./LedgerHarness.ts"

/**
 * Posts `first`, and `second` behind it while `first` still waits for the head of the log; `meanwhile` is what somebody else does to
 * the log before both. What became of them.
 */
const together = Effect.fnUntraced(function* (
  first: Parameters<Ledger["Service"]["post"]>[0],
  second: Parameters<Ledger["Service"]["post"]>[0],
  meanwhile: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, SqlError.SqlError>
) {
  const sql = yield* SqlClient.SqlClient
  const { post } = yield* Ledger
  const [held, free] = [yield* Latch.make(false), yield* Latch.make(false)]
  const holder = yield* sql`SELECT 1 FROM ledger_head WHERE log = 1 FOR UPDATE`.pipe(
    Effect.andThen(held.open),
    Effect.andThen(free.await),
    Effect.andThen(meanwhile(sql)),
    sql.withTransaction,
    Effect.forkScoped
  )
  yield* held.await
  const early = yield* Effect.forkScoped(Effect.result(post(first)))
  yield* eventually(waitsForHead, (waits) => waits)
  const late = yield* Effect.forkScoped(Effect.result(post(second)))
  yield* eventually(waitsForHead, (waits) => waits)
  yield* free.open
  yield* Fiber.join(holder)
  return [outcome(yield* Fiber.join(early)), outcome(yield* Fiber.join(late))]
})

/** A movement of somebody else, who brings the log on by one. */
const intruding = (sql: SqlClient.SqlClient, command = newUuid()) =>
  sql`WITH head AS (UPDATE ledger_head SET movement_seq = movement_seq + 1 WHERE log = 1 RETURNING movement_seq)
    INSERT INTO movements (seq, command_id, step, kind, debit, credit, amount, debit_posted, debit_held, credit_posted, code, created_at)
    SELECT movement_seq, ${command}, 0, 'count', m.debit, m.credit, 0, m.debit_posted, m.debit_held, m.credit_posted, 'call', now()
    FROM head JOIN movements m ON m.log = 1 AND m.seq = head.movement_seq - 1`

/** Wallets, and calls of which one was counted: the next costs 4, the one after the second costs 1. */
const counted = Effect.gen(function* () {
  const { post } = yield* Ledger
  const [payer, payee, frozen, other] = [yield* wallet(10n), yield* wallet(1n), yield* wallet(5n), yield* wallet(1n)]
  const tally = { scope: newUuid(), subject: newUuid() }
  const counting = (debit: string, credit: string) => ({
    id: newUuid(),
    steps: [
      { kind: "count" as const, debit, credit, currency: "USDC", code: "call", tally },
      ...transfer(debit, credit, 1n).steps
    ]
  })
  const price = { base: 4n, tiers: [{ threshold: 2, amount: 1n }] }
  const priced = Effect.map(
    Effect.suspend(() => hold(payer, payee, 4n)),
    ({ id, steps }) => ({
      id,
      steps: steps.map((step) => ({ ...step, price, tally }))
    })
  )
  const cost = Effect.gen(function* () {
    const command = yield* priced
    const { movements } = yield* post(command)
    yield* post(ended(command.id, payer, payee, "release"))
    return movements[0]?.amount
  })
  yield* post(counting(payer, payee))
  assert.strictEqual(yield* cost, 4n)
  /** Somebody freezes the wallet, and brings the log as far as one more count would. */
  const freezing = (sql: SqlClient.SqlClient) =>
    Effect.andThen(
      Effect.all([intruding(sql), intruding(sql)]),
      sql`UPDATE ledger_accounts SET frozen = true WHERE id = ${frozen}`
    )
  return { payer, payee, frozen, other, counting, priced, cost, freezing }
})

// What fails on purpose need not be reported.
const quiet = Layer.succeed(References.MinimumLogLevel, "None")
const Parts = Doctor.layer.pipe(Layer.provideMerge(Test), Layer.provide(quiet))

layer(Parts, { timeout: "60 seconds" })("a group behind another that is on its way", (it) => {
  it.effect("spends what that one brings", () =>
    Effect.gen(function* () {
      const [payer, payee, third] = [yield* wallet(10n), yield* wallet(1n), yield* wallet(1n)]
      const done = yield* together(transfer(payer, payee, 10n), transfer(payee, third, 11n), () => Effect.void)
      assert.deepStrictEqual(done, ["posted", "posted"])
      assert.deepStrictEqual(yield* balance(third), { posted: 12n, held: 0n })
    })
  )

  it.effect("is posted after it where somebody came before both", () =>
    Effect.gen(function* () {
      const { examine } = yield* Doctor
      const [payer, payee, third] = [yield* wallet(10n), yield* wallet(1n), yield* wallet(1n)]
      const done = yield* together(transfer(payer, payee, 10n), transfer(payee, third, 11n), intruding)
      assert.deepStrictEqual(done, ["posted", "posted"])
      assert.deepStrictEqual(yield* balance(third), { posted: 12n, held: 0n })
      assert.deepStrictEqual(
        (yield* examine).flatMap((finding) => finding.broken),
        []
      )
    })
  )

  it.effect("does not stand without it, even where somebody else brought the log as far", () =>
    Effect.gen(function* () {
      const { counting, cost, freezing, frozen, other, payer, priced } = yield* counted
      const done = yield* together(counting(frozen, other), yield* priced, freezing)
      assert.deepStrictEqual(done, ["WALLET_FROZEN", "posted"])
      assert.deepStrictEqual(yield* balance(payer), { posted: 9n, held: 4n })
      assert.strictEqual(yield* cost, 4n)
    })
  )

  it.effect("does not stand without it, even where somebody else did the same command otherwise", () =>
    Effect.gen(function* () {
      const { cost, counting, frozen, other, payer, priced } = yield* counted
      const count = counting(frozen, other)
      const twice = (sql: SqlClient.SqlClient) => Effect.all([intruding(sql), intruding(sql, count.id)])
      const done = yield* together(count, yield* priced, twice)
      assert.deepStrictEqual(done, ["posted", "posted"])
      assert.deepStrictEqual(yield* balance(payer), { posted: 9n, held: 4n })
      assert.strictEqual(yield* cost, 4n)
    })
  )

  it.effect("leaves no memory of that one when it fails", () =>
    Effect.gen(function* () {
      const { counting, cost, freezing, frozen, other, payee, payer } = yield* counted
      const done = yield* together(counting(frozen, other), transfer(payer, payee, 1n), freezing)
      assert.deepStrictEqual(done, ["WALLET_FROZEN", "posted"])
      // Until it is believed again.
      for (let again = 0; again < 3; again++) yield* (yield* Ledger).post(transfer(payer, payee, 1n))
      assert.strictEqual(yield* cost, 4n)
    })
  )

  it.effect("is done once, as that one, when their connection is lost under both", () =>
    Effect.gen(function* () {
      const [payer, payee, third] = [yield* wallet(10n), yield* wallet(1n), yield* wallet(1n)]
      const done = yield* together(
        transfer(payer, payee, 10n),
        transfer(payee, third, 11n),
        (sql) => sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = 'turnpike-ledger' AND datname = current_database()`
      )
      assert.deepStrictEqual(done, ["posted", "posted"])
      assert.deepStrictEqual(yield* balance(third), { posted: 12n, held: 0n })
    })
  )
})
