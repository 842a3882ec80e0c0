import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { priceOf } from "#domain/EndpointPrice.ts"
import { StreamId, type WalletId } from "#domain/Ids.ts"
import type { Currency } from "#domain/Money.ts"
import type { Outcome, SettlementOrder } from "#domain/Settlement.ts"
import { Accounts } from "#services/Accounts.ts"
import { Batches } from "#services/Batches.ts"
import { CrossBorder } from "#services/CrossBorder.ts"
import { Disputes } from "#services/Disputes.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { Ledger } from "#services/Ledger.ts"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { Payments } from "#services/Payments.ts"
import { Quotes } from "#services/Quotes.ts"
import { RailUnavailable } from "#services/Rail.ts"
import { Refunds } from "#services/Refunds.ts"
import { Schedules } from "#services/Schedules.ts"
import { Settlements } from "#services/Settlements.ts"
import { TransferRail } from "#services/TransferRail.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { tenant } from "../http/GatewayHarness.ts"

/** What a rail does with orders that it has not decided. `lost`: it settles, and its answer does not arrive. */
export const behaviours = ["complete", "complete", "reject", "pending", "lost", "away"] as const
export const rail = { does: "complete" as (typeof behaviours)[number] }
const decided = new Map<string, Outcome>()
const answer = ({ reference }: SettlementOrder): Effect.Effect<Outcome, RailUnavailable> =>
  Effect.suspend(() => {
    const before = decided.get(reference)
    if (before !== undefined) return Effect.succeed(before)
    const { does } = rail
    if (does === "complete" || does === "lost") decided.set(reference, { _tag: "Completed", rail_reference: reference })
    if (does === "reject") decided.set(reference, { _tag: "Rejected", reason: "compliance_block" })
    if (does === "lost" || does === "away") return Effect.fail(new RailUnavailable({ reason: does }))
    return Effect.succeed(decided.get(reference) ?? { _tag: "Pending" })
  })
/** A rail in memory that keeps its word: what it decided once it says for ever. */
export const railLayer = Layer.succeed(TransferRail, { submit: answer, status: answer })

/** What moves money, of one process. */
export const services = Effect.gen(function* () {
  return {
    ledger: yield* Ledger,
    wallets: yield* Wallets,
    transfers: yield* Transfers,
    batches: yield* Batches,
    schedules: yield* Schedules,
    quotes: yield* Quotes,
    crossBorder: yield* CrossBorder,
    settlements: yield* Settlements,
    refunds: yield* Refunds,
    disputes: yield* Disputes,
    streams: yield* MoneyStreams,
    payments: yield* Payments
  }
})
export type Process = Effect.Success<typeof services>

/** Everything that workers do when it is due. */
export const duties = (process: Process) => [
  process.settlements.settleDue,
  process.schedules.executeDue,
  process.ledger.expireDue,
  process.payments.resolveDue,
  process.streams.alertDue,
  process.disputes.resolveDue,
  process.refunds.retryDue
]

/** Somebody with wallets of two currencies, networks and accounts, and an endpoint that one of them is paid in. */
export const owner = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { principal: caller } = yield* tenant
  const { tenant_id } = caller
  const wallets = yield* Wallets
  const { id: other } = yield* (yield* Accounts).create(tenant_id, { name: "Another account" })
  const given = { USDC: 0n, EURC: 0n }
  const wallet = Effect.fnUntraced(function* (
    currency: Currency,
    funds: bigint,
    network: "solana-devnet" | "base-sepolia" = "solana-devnet",
    owner_id = caller.account_id
  ) {
    const { id } = yield* wallets.create(caller, { currency, network, owner_id })
    if (funds > 0n) yield* wallets.fund(caller, id, { amount: funds, currency })
    given[currency] += funds
    return id
  })
  const [purse, till] = [yield* wallet("USDC", 100_000n), yield* wallet("USDC", 0n)]
  const usdc = [purse, till, yield* wallet("USDC", 5_000n, "solana-devnet", other)]
  const elsewhere = yield* wallet("USDC", 20_000n, "base-sepolia")
  const eurc = [yield* wallet("EURC", 30_000n, "base-sepolia"), yield* wallet("EURC", 0n)]
  const endpoint = yield* (yield* Endpoints).create(caller, {
    name: "Weather",
    path: "/a",
    method: "GET",
    walletId: till,
    originUrl: "https://origin.example",
    basePrice: 1_013n,
    volumeDiscounts: [
      { threshold: 2, priceMultiplier: 0.333 },
      { threshold: 4, priceMultiplier: 0 }
    ]
  })
  const all: ReadonlyArray<WalletId> = [...usdc, elsewhere, ...eurc]
  const own = sql`SELECT id FROM wallets WHERE tenant_id = ${tenant_id} UNION ALL SELECT id FROM streams WHERE tenant_id = ${tenant_id}`
  return {
    caller,
    accounts: [caller.account_id, other],
    usdc,
    elsewhere,
    eurc,
    all,
    endpoint,
    snapshot: { endpoint, price: priceOf(endpoint.basePrice, endpoint.volumeDiscounts), origin: undefined },
    /** What has grown out of nothing, in hundredths of a micro-unit of EURC: the sandbox gives 0.92 of it for a USDC. */
    gain: Effect.map(
      sql`SELECT currency, sum(posted)::text AS sum FROM ledger_accounts WHERE id IN (${own}) GROUP BY 1`,
      (rows) => {
        const has = (currency: Currency) =>
          BigInt(String(rows.find((row) => row["currency"] === currency)?.["sum"] ?? 0))
        return (has("USDC") - given.USDC) * 92n + (has("EURC") - given.EURC) * 100n
      }
    ),
    /** What is still promised, waited for or kept anywhere but in a wallet. */
    unsettled: sql`SELECT a.purpose AS what, a.id::text FROM ledger_accounts a
        WHERE a.id IN (${own}) AND (a.held <> 0 OR (a.purpose = 'stream' AND a.posted <> 0))
      UNION ALL SELECT 'refund', id::text FROM refunds WHERE tenant_id = ${tenant_id} AND status = 'pending'
      UNION ALL SELECT 'dispute', id::text FROM disputes WHERE tenant_id = ${tenant_id} AND status = 'open'
      UNION ALL SELECT 'transfer', id::text FROM transfers WHERE tenant_id = ${tenant_id} AND status IN ('pending', 'processing')`,
    /** Ends all that only its owner can end, and lets the workers do the rest. */
    end: Effect.fnUntraced(function* (processes: readonly [Process, Process]) {
      const [first] = processes
      rail.does = "complete"
      yield* Effect.forEach(all, (id) => first.wallets.unfreeze(caller, id))
      const streams = yield* sql`SELECT id FROM streams WHERE tenant_id = ${tenant_id} AND status <> 'cancelled'`
      yield* Effect.forEach(streams, ({ id }) => first.streams.cancel(caller, StreamId.make(String(id)), {}))
      for (const wait of ["1 hour", "31 days", "1 day", "31 days"] as const) {
        yield* TestClock.adjust(wait)
        yield* sql`UPDATE settlements SET state = 'unknown', unanswered = 0, due_at = now() - interval '100 years'
          WHERE tenant_id = ${tenant_id} AND state = 'unresolved'`
        for (const process of processes)
          for (const due of duties(process)) yield* Effect.repeat(due, { until: (count) => count === 0, times: 20 })
      }
    })
  }
})
export type Owner = Effect.Success<typeof owner>
