import { assert } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Postgres from "#layers/Postgres.ts"
import type { Posted } from "#domain/Command.ts"
import { DisputeId, RefundId, TransferId, type WalletId } from "#domain/Ids.ts"
import { systemAccount } from "#domain/LedgerAccount.ts"
import type { Currency } from "#domain/Money.ts"
import type { Principal } from "#domain/Principal.ts"
import type { RefundOrder } from "#domain/Refund.ts"
import { Disputes } from "#services/Disputes.ts"
import type { DisputeOrder } from "#domain/DisputeOrder.ts"
import { Ledger } from "#services/Ledger.ts"
import { newId } from "#services/NewId.ts"
import { Refunds } from "#services/Refunds.ts"
import { Transfers } from "#services/Transfers.ts"
import { endedEvents, insertTransfer, newTransfer } from "#services/Transfers/Records.ts"
import { Wallets } from "#services/Wallets.ts"
import { tenant } from "./WalletsHarness.ts"

/** Refunds and disputes of one process; another one over the same database is another copy of it. */
export const services = Layer.mergeAll(Refunds.layer, Disputes.layer, Transfers.layer).pipe(
  Layer.provideMerge(Wallets.layer),
  Layer.provideMerge(Ledger.layer)
)
export const platform = services.pipe(Layer.provideMerge(Postgres.layerTest))

export const hundred = 100_000_000n

/** A tenant, a payer and a receiver, and 100.00 that went from one to the other. */
export const paid = Effect.gen(function* () {
  const caller = yield* tenant()
  const wallets = yield* Wallets
  const transfers = yield* Transfers
  const payer = (yield* wallets.create(caller, {})).id
  const receiver = (yield* wallets.create(caller, {})).id
  yield* wallets.fund(caller, payer, { amount: hundred, currency: "USDC" })
  const pay = (amount = hundred, from = payer, to = receiver) =>
    Effect.map(
      transfers.create(caller, {
        type: "internal",
        from_wallet_id: from,
        to_wallet_id: to,
        amount,
        currency: "USDC"
      }),
      ({ transfer }) => transfer
    )
  const transfer = yield* pay()
  return { caller, payer, receiver, pay, transfer, id: transfer.id }
})

export const available = Effect.fnUntraced(function* (caller: Principal, id: WalletId) {
  return (yield* (yield* Wallets).get(caller, id)).balance_available
})

/** Takes all of a wallet's money away. */
export const empty = Effect.fnUntraced(function* (caller: Principal, id: WalletId) {
  const wallets = yield* Wallets
  const { balance_available: amount, currency } = yield* wallets.get(caller, id)
  const elsewhere = (yield* wallets.create(caller, { currency })).id
  yield* (yield* Transfers).create(caller, {
    type: "internal",
    from_wallet_id: id,
    to_wallet_id: elsewhere,
    amount,
    currency
  })
  return (amount: bigint) =>
    Effect.flatMap(Transfers, ({ create }) =>
      create(caller, { type: "internal", from_wallet_id: elsewhere, to_wallet_id: id, amount, currency })
    )
})

export const refundOf = (transfer_id: TransferId, amount?: bigint): RefundOrder => ({
  transfer_id,
  amount,
  reason: "customer_request",
  reason_details: null
})

export const refund = (caller: Principal, ...order: Parameters<typeof refundOf>) =>
  Effect.flatMap(Refunds, ({ create }) => create(caller, refundOf(...order)))

export const disputeOf = (transfer_id: TransferId, more: Partial<DisputeOrder> = {}): DisputeOrder => ({
  transfer_id,
  reason: "service_not_received",
  description: "It never came",
  amount_disputed: undefined,
  evidence: [],
  requested_resolution: null,
  ...more
})

export const dispute = (caller: Principal, ...order: Parameters<typeof disputeOf>) =>
  Effect.map(
    Effect.flatMap(Disputes, ({ open }) => open(caller, disputeOf(...order))),
    ({ dispute }) => dispute
  )

/** A cross-border transfer that was settled: `amount` USDC with `fee` became `arrived` EURC. */
export const crossed = Effect.fnUntraced(function* (amount: bigint, fee: bigint, arrived: bigint) {
  const caller = yield* tenant()
  const wallets = yield* Wallets
  const ledger = yield* Ledger
  const payer = (yield* wallets.create(caller, {})).id
  const receiver = (yield* wallets.create(caller, { currency: "EURC" })).id
  yield* wallets.fund(caller, payer, { amount, currency: "USDC" })
  const id = yield* newId(TransferId)
  const step = (debit: string, credit: string, amount: bigint, currency: Currency) => ({
    kind: "transfer" as const,
    debit,
    credit,
    amount,
    currency,
    code: "cross_border"
  })
  const settled = ({ at }: Posted) =>
    newTransfer({
      id,
      type: "cross_border",
      status: "completed",
      amount,
      currency: "USDC",
      fee,
      destination_amount: arrived,
      destination_currency: "EURC",
      from_wallet_id: payer,
      to_wallet_id: receiver,
      protocol: "fx",
      initiated_by: { type: "api_key", id: "key" },
      created_at: at
    })
  yield* ledger.post({
    id,
    steps: [
      step(payer, systemAccount("fx", "USDC"), amount, "USDC"),
      step(systemAccount("fx", "USDC"), systemAccount("fees", "USDC"), fee, "USDC"),
      step(systemAccount("fx", "USDC"), systemAccount("issuance", "USDC"), amount - fee, "USDC"),
      step(systemAccount("issuance", "EURC"), systemAccount("fx", "EURC"), arrived, "EURC"),
      step(systemAccount("fx", "EURC"), receiver, arrived, "EURC")
    ].filter(({ amount }) => amount > 0n),
    rows: (posted) => [insertTransfer(caller.tenant_id, settled(posted))],
    events: (posted) => endedEvents(caller.tenant_id, settled(posted))
  })
  return { caller, payer, receiver, id }
})

/** Events that name a thing, oldest first. */
export const eventsAbout = Effect.fnUntraced(function* (...ids: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const Rows = Schema.Array(Schema.Struct({ type: Schema.String, data: Schema.Record(Schema.String, Schema.Json) }))
  const rows = yield* Effect.flatMap(sql`SELECT type, data FROM events ORDER BY seq`, Schema.decodeUnknownEffect(Rows))
  return rows.filter(({ data }) => Object.values(data).some((thing) => ids.includes(String(Object(thing)["id"]))))
})

/** What must hold of all refunds and disputes, whatever happened before. */
export const sound = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  assert.deepStrictEqual(
    yield* sql`SELECT currency, sum(posted) FROM ledger_accounts GROUP BY 1 HAVING sum(posted) <> 0`,
    []
  )
  assert.deepStrictEqual(
    yield* sql`SELECT t.id FROM transfers t
      LEFT JOIN (SELECT transfer_id, sum(amount) AS sum FROM refunds WHERE status = 'completed' GROUP BY 1) r
        ON r.transfer_id = t.id
      WHERE t.refunded_amount <> coalesce(r.sum, 0)`,
    []
  )
  assert.deepStrictEqual(
    yield* sql`SELECT r.id FROM refunds r JOIN transfers t ON t.id = r.transfer_id
      LEFT JOIN LATERAL (SELECT sum(m.amount) AS sum FROM movements m JOIN ledger_accounts a ON a.key = m.credit
        WHERE m.command_id = r.refund_transfer_id AND m.code = 'refund' AND a.id = t.from_wallet_id) m ON true
      WHERE (r.status = 'completed') <> (m.sum IS NOT NULL) OR m.sum <> r.amount`,
    []
  )
  assert.deepStrictEqual(
    yield* sql`SELECT d.id FROM disputes d LEFT JOIN refunds r ON r.id = d.refund_id AND r.dispute_id = d.id
      WHERE coalesce(d.resolution IN ('full_refund', 'partial_refund'), false) <> (r.id IS NOT NULL)`,
    []
  )
})

export const aRefund = newId(RefundId)
export const aDispute = newId(DisputeId)

/** What came of each of some attempts: the tag of its refusal, or `done`; sorted. */
export const tagsOf = (answers: ReadonlyArray<{ readonly _tag: string }>) =>
  answers.map((answer) => ("failure" in answer ? String(Object(answer.failure)["_tag"]) : "done")).sort()
