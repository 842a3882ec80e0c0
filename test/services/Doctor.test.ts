import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { systemAccount } from "#domain/LedgerAccount.ts"
import { flat } from "#domain/Price.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Doctor } from "#services/Doctor.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { documents } from "./DoctorTables.ts"
import { tenant, walletOf } from "./WalletsHarness.ts"

const Test = Transfers.layer.pipe(
  Layer.provideMerge(Wallets.layer),
  Layer.provideMerge(Layer.merge(Ledger.layer, Doctor.layer)),
  Layer.provideMerge(Postgres.layerTest)
)
const broken = Effect.gen(function* () {
  const { examine } = yield* Doctor
  return (yield* examine).filter((finding) => finding.broken.length > 0).map((finding) => finding.promise)
})

layer(Test, { timeout: "60 seconds" })("Doctor", (it) => {
  it.effect("finds nothing wrong after movements of every kind", () =>
    Effect.gen(function* () {
      const { post } = yield* Ledger
      const caller = yield* tenant()
      const [payer, payee, hold, other] = [
        (yield* walletOf(caller)).id,
        (yield* walletOf(caller)).id,
        newUuid(),
        newUuid()
      ]
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
      // A fence counts beside the tallies of endpoints, and a refusal that was kept is a line of the log.
      yield* post({
        id: newUuid(),
        steps: [{ kind: "transfer", ...between, amount: 1_000n }],
        fences: [{ scope: newUuid(), expected: 0n }],
        concedes: () => true
      })
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("finds nothing wrong after transfers that completed and that failed", () =>
    Effect.gen(function* () {
      const transfers = yield* Transfers
      const caller = yield* tenant()
      const [payer, payee] = [yield* walletOf(caller), yield* walletOf(caller)]
      yield* (yield* Wallets).fund(caller, payer.id, { amount: 5n, currency: "USDC" })
      const between = { from_wallet_id: payer.id, to_wallet_id: payee.id, currency: "USDC" } as const
      const made = yield* Effect.forEach(["internal", "wrap", "unwrap"] as const, (type) =>
        transfers.create(caller, { type, amount: 2n, ...between })
      )
      assert.deepStrictEqual(
        made.map(({ transfer }) => transfer.status),
        ["completed", "completed", "failed"]
      )
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("knows the tables as the migrations make them: `npm run generate:tables` writes it", () =>
    Effect.gen(function* () {
      const { present, wanted } = yield* documents
      assert.strictEqual(present, wanted)
    })
  )

  const endpoint = `INSERT INTO endpoints (id, tenant_id, account_id, wallet_id, name, path, method, base_price, currency, network,
      status, volume_discounts, timeout_ms, charge_on, schemes, mpp, forward_headers, created_at, updated_at)
    SELECT gen_random_uuid(), tenant_id, owner_id, id, 'a', '/', 'GET', 101, currency, network,
      'active', '[]', 1, 'success', '{exact}', false, '{}', now(), now() FROM wallets LIMIT 1`
  // Each tampering is done past the constraints that normally make it impossible.
  const tampering = {
    "the balances of each currency sum to zero":
      "UPDATE ledger_accounts SET posted = posted + 1 WHERE purpose = 'fees' AND currency = 'USDC'",
    "what is held is the sum of the open holds":
      "UPDATE ledger_accounts SET held = held + 1 WHERE purpose = 'issuance' AND currency = 'USDC'",
    "the log is gapless and ends at its head": "UPDATE ledger_head SET movement_seq = movement_seq + 1",
    "the event log is gapless and ends at its head": "UPDATE ledger_head SET event_seq = event_seq + 1",
    "a hold begins once and ends at most once, in the way its state says, always between the same two":
      "UPDATE holds SET state = 'open', captured = 0 WHERE state = 'captured'",
    "a balance is the sum of its entries, and every line of the log carries the balance at its time":
      "ALTER TABLE movements DISABLE TRIGGER append_only; UPDATE movements SET debit_posted = debit_posted + 1 WHERE kind = 'capture'",
    "no account ever spent or promised more than it had":
      "ALTER TABLE movements DISABLE TRIGGER append_only; UPDATE movements SET debit_held = 1000000 WHERE kind = 'hold'",
    "a refusal in the log moved nothing, and a line names a hold when it is about one":
      "ALTER TABLE movements DISABLE TRIGGER append_only; UPDATE movements SET amount = 1 WHERE kind = 'refuse'",
    "the totals of an endpoint are the sum of its captured payments": `${endpoint}; INSERT INTO tallies (scope, subject, count, amount) SELECT id, '00000000-0000-0000-0000-000000000000', 1, 1 FROM endpoints`,
    "the totals of a payer are the sum of the payer's captured payments": `${endpoint}; INSERT INTO tallies (scope, subject, count, amount) SELECT id, gen_random_uuid(), 1, 1 FROM endpoints`,
    "the statistics of an endpoint, with the events that are not counted yet, are its totals":
      "INSERT INTO statistics_windows (endpoint_id, span, calls) VALUES (gen_random_uuid(), 'all', 1)",
    "what a window of statistics holds is the sum of its buckets, and its payers are those that are listed":
      "INSERT INTO statistics_windows (endpoint_id, span, payers) VALUES (gen_random_uuid(), '1h', 1)",
    "nobody who follows, copies or hears of the event log is ahead of it":
      "UPDATE statistics_cursor SET seq = (SELECT event_seq + 1 FROM ledger_head)",
    "one transfer on a chain is the end of one settlement": `INSERT INTO chain_settlements (id, "authorization", network, asset, payer, nonce, amount, state, transaction, transfer_log, give_up_at, created_at, concluded_at) SELECT gen_random_uuid(), '{}', 'base-mainnet', 'a', 'p', n, 1, 'confirmed', '0x1', 7, now(), now(), now() FROM generate_series(1, 2) n`,
    "every captured payment has its event, once, and the events say what was charged":
      "INSERT INTO events (seq, id, tenant_id, type, data, created_at) VALUES (1000001, gen_random_uuid(), gen_random_uuid(), 'x402.payment.completed', '{}', now())"
  }
  const movement =
    "a transfer within one currency is exactly its movement when it completed, and moved nothing otherwise"
  const movements = [
    "UPDATE transfers SET amount = amount + 1 WHERE type = 'wrap'",
    "UPDATE transfers SET id = gen_random_uuid() WHERE type = 'wrap'",
    "UPDATE transfers SET to_wallet_id = from_wallet_id WHERE type = 'wrap'",
    "UPDATE transfers SET from_wallet_id = to_wallet_id WHERE type = 'wrap'",
    "UPDATE transfers SET status = 'failed', failure_reason = 'rail_error', completed_at = NULL WHERE type = 'wrap'",
    "UPDATE transfers SET status = 'completed', failure_reason = NULL, completed_at = now() WHERE status = 'failed'",
    "DELETE FROM transfers WHERE type = 'internal'"
  ]
  const telling = "every transfer has the event of its creation and that of its end, once, and they say its amount"
  const told = (type: string) => `SELECT * FROM events WHERE type = 'transfer.${type}' ORDER BY seq LIMIT 1`
  const again =
    "INSERT INTO events (seq, id, tenant_id, type, data, created_at) SELECT 1000000, id, tenant_id, type, data, created_at FROM"
  const tellings = [
    ...["created", "completed", "failed"].flatMap((type) => [
      `ALTER TABLE events DISABLE TRIGGER append_only; DELETE FROM events WHERE seq = (SELECT seq FROM (${told(type)}) t)`,
      `${again} (${told(type)}) t`
    ]),
    "UPDATE transfers SET id = gen_random_uuid() WHERE type = 'wrap'"
  ]
  const balance = "UPDATE ledger_accounts SET posted = posted + 1 WHERE purpose = 'fees' AND currency = 'USDC'"
  const lines = "a balance is the sum of its entries, and every line of the log carries the balance at its time"
  const attempts = [
    ...Object.entries(tampering),
    [lines, balance] as const,
    ...movements.map((statement) => [movement, statement] as const),
    ...tellings.map((statement) => [telling, statement] as const)
  ]
  for (const [place, [promise, statements]] of attempts.entries()) {
    it.effect(`sees when this is broken: ${promise} (${place}: ${statements.slice(0, 30)}…)`, () =>
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
