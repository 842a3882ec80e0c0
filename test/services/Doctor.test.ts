import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { systemAccount } from "#domain/LedgerAccount.ts"
import { flat } from "#domain/Price.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Doctor } from "#services/Doctor.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"

const Test = Layer.mergeAll(Ledger.layer, Doctor.layer).pipe(Layer.provideMerge(Postgres.layerTest))
const broken = Effect.gen(function* () {
  const { examine } = yield* Doctor
  return (yield* examine).filter((finding) => finding.broken.length > 0).map((finding) => finding.promise)
})

layer(Test, { timeout: "60 seconds" })("Doctor", (it) => {
  it.effect("finds nothing wrong after movements of every kind", () =>
    Effect.gen(function* () {
      const { open, post } = yield* Ledger
      const [payer, payee, hold, other] = [newUuid(), newUuid(), newUuid(), newUuid()]
      yield* Effect.forEach([payer, payee], (id) => open({ id, purpose: "wallet", currency: "USDC" }))
      const between = { debit: payer, credit: payee, currency: "USDC", code: "test" }
      const held = { price: flat(3n), expires_at: new Date(0) }
      yield* post({
        id: newUuid(),
        steps: [
          { kind: "transfer", ...between, debit: systemAccount("issuance", "USDC"), credit: payer, amount: 10n },
          { kind: "hold", ...between, hold, ...held },
          { kind: "hold", ...between, hold: other, ...held },
          { kind: "capture", ...between, hold, price: flat(2n) },
          { kind: "release", ...between, hold: other, as: "released" },
          { kind: "transfer", ...between, amount: 1n }
        ]
      })
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  // Each tampering is done past the constraints that normally make it impossible.
  const tampering = {
    "the balances of each currency sum to zero":
      "UPDATE ledger_accounts SET posted = posted + 1 WHERE purpose = 'fees' AND currency = 'USDC'",
    "what is held is the sum of the open holds":
      "UPDATE ledger_accounts SET held = held + 1 WHERE purpose = 'issuance' AND currency = 'USDC'",
    "the log is gapless and ends at its head": "UPDATE ledger_head SET movement_seq = movement_seq + 1",
    "the event log is gapless and ends at its head": "UPDATE ledger_head SET event_seq = event_seq + 1",
    "a hold begins once and ends at most once, in the way its state says":
      "UPDATE holds SET state = 'open', captured = 0 WHERE state = 'captured'",
    "a balance is the sum of its entries, and every line of the log carries the balance at its time":
      "ALTER TABLE movements DISABLE TRIGGER append_only; UPDATE movements SET debit_posted = debit_posted + 1 WHERE kind = 'capture'",
    "no account ever spent or promised more than it had":
      "ALTER TABLE movements DISABLE TRIGGER append_only; UPDATE movements SET debit_held = 1000000 WHERE kind = 'hold'",
    "the totals of an endpoint are the sum of its captured payments":
      "INSERT INTO tallies (scope, subject, count, amount) VALUES (gen_random_uuid(), '00000000-0000-0000-0000-000000000000', 1, 1)",
    "the totals of a payer are the sum of the payer's captured payments":
      "INSERT INTO tallies (scope, subject, count, amount) VALUES (gen_random_uuid(), gen_random_uuid(), 1, 1)",
    "every captured payment has its event, once":
      "INSERT INTO events (seq, id, tenant_id, type, data, created_at) VALUES (1, gen_random_uuid(), gen_random_uuid(), 'x402.payment.completed', '{}', now())"
  }
  const balance = "UPDATE ledger_accounts SET posted = posted + 1 WHERE purpose = 'fees' AND currency = 'USDC'"
  const lines = "a balance is the sum of its entries, and every line of the log carries the balance at its time"
  for (const [promise, statements] of [...Object.entries(tampering), [lines, balance] as const]) {
    it.effect(`sees when this is broken: ${promise} (${statements.slice(0, 30)}…)`, () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tampered = Effect.gen(function* () {
          yield* Effect.forEach(statements.split("; "), (statement) => sql.unsafe(statement))
          assert.include(yield* broken, promise)
          return yield* Effect.fail("undone" as const)
        })
        assert.strictEqual(yield* Effect.flip(sql.withTransaction(tampered)), "undone")
      })
    )
  }
})
