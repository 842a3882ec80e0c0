import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { toTypeId } from "#domain/Ids.ts"
import type { Principal } from "#domain/Principal.ts"
import { transferOnWire } from "#domain/Transfer.ts"
import { CrossBorder } from "#services/CrossBorder.ts"
import { Ledger } from "#services/Ledger.ts"
import { Quotes } from "#services/Quotes.ts"
import { Settlements } from "#services/Settlements.ts"
import { Wallets } from "#services/Wallets.ts"
import {
  balance,
  begun,
  broken,
  eventsOf,
  orderFor,
  pair,
  rail,
  system,
  testLayer,
  transferOf
} from "./SettlementsHarness.ts"

const claimOf = ({ tenant_id }: Principal, key: string, fingerprint = "1"): IdempotencyClaim => ({
  tenant_id,
  operation: "transfers.create",
  key,
  fingerprint
})
const count = Effect.fnUntraced(function* (tenant_id: string) {
  const rows =
    yield* (yield* SqlClient.SqlClient)`SELECT count(*)::int AS n FROM transfers WHERE tenant_id = ${tenant_id}`
  return rows[0]?.n
})

layer(testLayer(), { timeout: "60 seconds" })("a cross-border transfer", (it) => {
  it.effect("is pending with the money reserved, as its quote says", () =>
    Effect.gen(function* () {
      const parties = yield* pair()
      const { id, quote, transfer } = yield* begun(parties, { memo: "Invoice 42" })
      assert.deepInclude(transfer, {
        type: "cross_border",
        status: "pending",
        amount: 100_000_000n,
        currency: "USDC",
        destination_amount: quote.receive_amount,
        destination_currency: "EURC",
        fee: quote.fee,
        quote_id: quote.id,
        protocol: "fx",
        memo: "Invoice 42",
        failure_reason: null,
        completed_at: null,
        from_account_id: parties.caller.account_id,
        to_account_id: parties.caller.account_id
      })
      assert.deepStrictEqual(yield* transferOf(parties.caller, id), transfer)
      assert.deepStrictEqual(yield* balance(parties.from), { posted: 1_000_000_000n, held: 100_000_000n })
      assert.strictEqual((yield* (yield* Quotes).get(parties.caller, quote.id)).transfer_id, id)
      assert.deepStrictEqual(yield* eventsOf(toTypeId("tx", id)), ["transfer.created pending"])
      yield* TestClock.adjust("3 days")
      assert.strictEqual(yield* (yield* Ledger).expireDue, 0, "the hold does not end before the settlement")
      yield* (yield* Settlements).settleDue
    })
  )

  it.effect("settles: five movements, both amounts exact, and the books of foreign exchange are empty", () =>
    Effect.gen(function* () {
      yield* rail.does("complete")
      const parties = yield* pair()
      const before = yield* system
      const { id, quote } = yield* begun(parties)
      assert.strictEqual(yield* (yield* Settlements).settleDue, 1)
      const { completed_at, protocol_metadata, status, updated_at } = yield* transferOf(parties.caller, id)
      assert.strictEqual(status, "completed")
      assert.deepStrictEqual(completed_at, updated_at)
      assert.deepStrictEqual(protocol_metadata, { rate: quote.rate, rail_reference: `rail ${toTypeId("tx", id)}` })
      assert.deepStrictEqual(yield* balance(parties.from), { posted: 900_000_000n, held: 0n })
      assert.deepStrictEqual(yield* balance(parties.to), { posted: quote.receive_amount, held: 0n })
      assert.deepStrictEqual(yield* system, {
        fees: before.fees + quote.fee,
        fxUsdc: 0n,
        fxEurc: 0n,
        issuanceUsdc: before.issuanceUsdc + 100_000_000n - quote.fee,
        issuanceEurc: before.issuanceEurc - quote.receive_amount
      })
      assert.deepStrictEqual(yield* eventsOf(toTypeId("tx", id)), [
        "transfer.created pending",
        "transfer.completed completed"
      ])
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("stands on both statements under its own id", () =>
    Effect.gen(function* () {
      yield* rail.does("complete")
      const parties = yield* pair()
      const { id, quote } = yield* begun(parties)
      yield* (yield* Settlements).settleDue
      const { entries } = yield* Wallets
      const [sent] = yield* entries(parties.caller, parties.from, { limit: 1 })
      const [received] = yield* entries(parties.caller, parties.to, { limit: 1 })
      const shared = { transfer_id: id, code: "cross_border", counterparty: { type: "fx", wallet_id: null } }
      assert.deepInclude(sent ?? {}, { ...shared, type: "debit", amount: -100_000_000n, currency: "USDC" })
      assert.deepInclude(received ?? {}, { ...shared, type: "credit", amount: quote.receive_amount, currency: "EURC" })
    })
  )

  it.effect("that the rail rejects fails with its reason, and the money is free again", () =>
    Effect.gen(function* () {
      yield* rail.does("reject")
      const parties = yield* pair()
      const { id } = yield* begun(parties)
      yield* (yield* Settlements).settleDue
      assert.deepInclude(yield* transferOf(parties.caller, id), {
        status: "failed",
        failure_reason: "compliance_block",
        completed_at: null
      })
      assert.deepStrictEqual(yield* balance(parties.from), { posted: 1_000_000_000n, held: 0n })
      assert.deepStrictEqual(yield* balance(parties.to), { posted: 0n, held: 0n })
      assert.deepStrictEqual(yield* eventsOf(toTypeId("tx", id)), [
        "transfer.created pending",
        "transfer.failed failed"
      ])
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("of a payer with too little fails at once, uses its quote, and never reaches the rail", () =>
    Effect.gen(function* () {
      const parties = yield* pair(99_999_999n)
      yield* rail.questions
      const { id, order, transfer } = yield* begun(parties)
      assert.deepInclude(transfer, { status: "failed", failure_reason: "insufficient_funds" })
      assert.deepStrictEqual(yield* eventsOf(toTypeId("tx", id)), [
        "transfer.created pending",
        "transfer.failed failed"
      ])
      assert.strictEqual(yield* (yield* Settlements).settleDue, 0)
      assert.deepStrictEqual(yield* balance(parties.from), { posted: 99_999_999n, held: 0n })
      const refused = yield* Effect.flip((yield* CrossBorder).create(parties.caller, order))
      assert.deepInclude(refused, { _tag: "QUOTE_ALREADY_USED", transfer_id: toTypeId("tx", id) })
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("whose receiver cannot take it fails, and the money is free again", () =>
    Effect.gen(function* () {
      yield* rail.does("complete")
      const sql = yield* SqlClient.SqlClient
      const parties = yield* pair()
      const { id } = yield* begun(parties)
      yield* sql`UPDATE ledger_accounts SET posted = ${9_223_372_036_854_775_807n} WHERE id = ${parties.to}`
      yield* (yield* Settlements).settleDue
      yield* sql`UPDATE ledger_accounts SET posted = 0 WHERE id = ${parties.to}`
      assert.deepInclude(yield* transferOf(parties.caller, id), {
        status: "failed",
        failure_reason: "amount_too_large"
      })
      assert.deepStrictEqual(yield* balance(parties.from), { posted: 1_000_000_000n, held: 0n })
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("reaches another network in one currency", () =>
    Effect.gen(function* () {
      yield* rail.does("complete")
      const parties = yield* pair(1_000_000_000n, "USDC")
      const { id, quote } = yield* begun(parties)
      yield* (yield* Settlements).settleDue
      assert.strictEqual((yield* transferOf(parties.caller, id)).status, "completed")
      assert.strictEqual((yield* balance(parties.to)).posted, 100_000_000n - quote.fee)
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("of a wallet that is frozen while it settles still settles: the money was promised before", () =>
    Effect.gen(function* () {
      yield* rail.does("complete")
      const parties = yield* pair()
      const { id } = yield* begun(parties)
      yield* (yield* Wallets).freeze(parties.caller, parties.from, "test")
      yield* (yield* Settlements).settleDue
      assert.strictEqual((yield* transferOf(parties.caller, id)).status, "completed")
    })
  )
})

layer(testLayer(), { timeout: "60 seconds" })("a quote", (it) => {
  it.effect("makes one transfer of fifty that want it at once", () =>
    Effect.gen(function* () {
      const parties = yield* pair()
      const { order } = yield* orderFor(parties)
      const { create } = yield* CrossBorder
      const tries = yield* Effect.forEach(
        Array.from({ length: 50 }),
        () => Effect.match(create(parties.caller, order), { onFailure: ({ _tag }) => _tag, onSuccess: () => "made" }),
        { concurrency: 50 }
      )
      assert.strictEqual(tries.filter((one) => one === "made").length, 1)
      assert.strictEqual(tries.filter((one) => one === "QUOTE_ALREADY_USED").length, 49)
      assert.strictEqual((yield* balance(parties.from)).held, 100_000_000n)
      assert.deepStrictEqual(yield* broken, [])
    })
  )
})

layer(testLayer(), { timeout: "60 seconds" })("an idempotency key", (it) => {
  it.effect("makes one transfer of a hundred requests at once, and all hear the same", () =>
    Effect.gen(function* () {
      const parties = yield* pair()
      const { order } = yield* orderFor(parties)
      const { create } = yield* CrossBorder
      const answers = yield* Effect.forEach(
        Array.from({ length: 100 }),
        () => create(parties.caller, order, claimOf(parties.caller, "once")),
        { concurrency: 100 }
      )
      assert.strictEqual(answers.filter(({ replayed }) => !replayed).length, 1)
      assert.strictEqual(new Set(answers.map(({ transfer }) => JSON.stringify(transferOnWire(transfer)))).size, 1)
      assert.strictEqual((yield* balance(parties.from)).held, 100_000_000n)
      assert.strictEqual(yield* count(parties.caller.tenant_id), 1)
    })
  )

  it.effect("answers the first result again when the quote is used, has ended, and the transfer has settled", () =>
    Effect.gen(function* () {
      yield* rail.does("complete")
      const parties = yield* pair()
      const { order } = yield* orderFor(parties)
      const { create } = yield* CrossBorder
      const first = yield* create(parties.caller, order, claimOf(parties.caller, "later"))
      yield* (yield* Settlements).settleDue
      yield* TestClock.adjust("23 hours")
      const again = yield* create(parties.caller, order, claimOf(parties.caller, "later"))
      assert.deepStrictEqual(again, { transfer: first.transfer, replayed: true })
      const other = yield* Effect.flip(create(parties.caller, order, claimOf(parties.caller, "later", "2")))
      assert.strictEqual(other._tag, "IDEMPOTENCY_KEY_REUSED")
      assert.strictEqual(yield* count(parties.caller.tenant_id), 1)
    })
  )

  it.effect("of a refused request stays free", () =>
    Effect.gen(function* () {
      const parties = yield* pair()
      const { order } = yield* orderFor(parties)
      const { create } = yield* CrossBorder
      yield* Effect.flip(create(parties.caller, { ...order, amount: 1n }, claimOf(parties.caller, "free", "1")))
      const { replayed } = yield* create(parties.caller, order, claimOf(parties.caller, "free", "2"))
      assert.isFalse(replayed)
    })
  )
})
