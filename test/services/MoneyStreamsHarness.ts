import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { parseRate } from "#domain/FlowRate.ts"
import type { CreateStream } from "#domain/MoneyStream.ts"
import type { WalletId } from "#domain/Ids.ts"
import type { Principal } from "#domain/Principal.ts"
import { faucetLimit } from "#domain/Wallet.ts"
import * as Postgres from "#layers/Postgres.ts"
import { promises } from "#services/Doctor/Streams.ts"
import { EventLog } from "#services/EventLog.ts"
import { Ledger } from "#services/Ledger.ts"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { tenant, usdc, walletOf } from "./WalletsHarness.ts"

const services = Layer.mergeAll(MoneyStreams.layer, Transfers.layer).pipe(
  Layer.provideMerge(Wallets.layer),
  Layer.provideMerge(Layer.mergeAll(Ledger.layer, EventLog.layer))
)

/** Streams over a ledger on a database of their own. */
export const platform = services.pipe(Layer.provideMerge(Postgres.layerTest))

/** Another process on the same database. */
export const another = Effect.map(Layer.build(Layer.fresh(services)), (context) => ({
  streams: Context.get(context, MoneyStreams),
  wallets: Context.get(context, Wallets)
}))

export const rate = (text: string): bigint => parseRate(text) ?? 0n

/** A tenant with a payer who has these funds, and a payee. */
export const parties = Effect.fnUntraced(function* (funds: bigint) {
  const caller = yield* tenant()
  const payer = (yield* walletOf(caller)).id
  const payee = (yield* walletOf(caller)).id
  for (let rest = funds; rest > 0n; rest -= faucetLimit) {
    yield* (yield* Wallets).fund(caller, payer, usdc(rest < faucetLimit ? rest : faucetLimit))
  }
  return { caller, payer, payee }
})
export type Parties = Effect.Success<ReturnType<typeof parties>>

/** 1,000.00 at 0.001 a second without a buffer, unless said otherwise. */
export const open = Effect.fnUntraced(function* (
  { caller, payee, payer }: Parties,
  changed: Partial<CreateStream> = {}
) {
  const wanted = {
    from_wallet_id: payer,
    to_wallet_id: payee,
    flow_rate: rate("0.001"),
    initial_deposit: 1_000_000_000n,
    ...changed
  }
  return yield* (yield* MoneyStreams).open(caller, wanted)
})

export const balance = Effect.fnUntraced(function* (id: string) {
  return (yield* (yield* Ledger).account(id)).posted
})

/** What sender, stream and recipient have. */
export const money = Effect.fnUntraced(function* (
  { payee, payer }: { readonly payer: WalletId; readonly payee: WalletId },
  stream: string
) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`SELECT p.posted AS payer, s.posted AS stream, r.posted AS recipient
    FROM ledger_accounts p, ledger_accounts s, ledger_accounts r
    WHERE p.id = ${payer} AND s.id = ${stream} AND r.id = ${payee}`
  return [row?.["payer"], row?.["stream"], row?.["recipient"]]
})

/** The events of a tenant, oldest first. */
export const eventsOf = Effect.fnUntraced(function* (caller: Principal, ...types: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT type, data FROM events WHERE tenant_id = ${caller.tenant_id} ORDER BY seq`
  return rows
    .map(({ data, type }) => ({ type: String(type), data: JSON.parse(JSON.stringify(data)) }))
    .filter(({ type }) => types.length === 0 || types.includes(type))
})

/** What of the doctor's promises about streams does not hold; nothing, it is hoped. */
export const faults = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    Effect.forEach(promises(sql), ({ promise, query }) =>
      Effect.map(query, (rows) => rows.map((row) => [promise, row]))
    ),
    (broken) => broken.flat()
  )
)
