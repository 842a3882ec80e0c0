import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Postgres from "#layers/Postgres.ts"
import type { BatchItem, BatchLine } from "#domain/Batch.ts"
import { AccountId, type BatchId, type WalletId } from "#domain/Ids.ts"
import type { Principal } from "#domain/Principal.ts"
import { Batches } from "#services/Batches.ts"
import type { BatchClaims, ItemParameters } from "#services/Batches/Items.ts"
import { Doctor } from "#services/Doctor.ts"
import { Ledger } from "#services/Ledger.ts"
import { newId } from "#services/NewId.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { tenant, walletOf } from "./WalletsHarness.ts"

/** Batches over a ledger; where the database comes from is still open. */
export const services = Layer.mergeAll(Batches.layer, Transfers.layer).pipe(
  Layer.provideMerge(Wallets.layer),
  Layer.provideMerge(Layer.merge(Ledger.layer, Doctor.layer))
)
export const platform = services.pipe(Layer.provideMerge(Postgres.layerTest))

const parametersText = (parameters: object) =>
  JSON.stringify(parameters, (_, value) => (typeof value === "bigint" ? String(value) : value))

/** The claim of one transfer under this key. */
export const itemClaim = (caller: Principal, key: string, parameters: ItemParameters) => ({
  tenant_id: caller.tenant_id,
  operation: "transfers.create",
  key,
  fingerprint: parametersText(Object.fromEntries(Object.entries(parameters).sort()))
})

export const claims = (caller: Principal, key?: string, fingerprint = "1"): BatchClaims => ({
  ...(key !== undefined && {
    batch: { tenant_id: caller.tenant_id, operation: "batches.create", key, fingerprint }
  }),
  operation: "transfers.create",
  item: (key, parameters) => itemClaim(caller, key, parameters)
})

/** A tenant that has a wallet with this money and another one without any. */
export const paying = Effect.fnUntraced(function* (funds: bigint) {
  const caller = yield* tenant()
  const purse = (yield* walletOf(caller)).id
  const till = (yield* walletOf(caller)).id
  if (funds > 0n) yield* (yield* Wallets).fund(caller, purse, { amount: funds, currency: "USDC" })
  return { caller, purse, till }
})

/** Another account of the caller's tenant. */
export const accountOf = Effect.fnUntraced(function* (caller: Principal) {
  const sql = yield* SqlClient.SqlClient
  const id = yield* newId(AccountId)
  yield* sql`INSERT INTO accounts (id, tenant_id, name, type, metadata, created_at, updated_at)
    VALUES (${id}, ${caller.tenant_id}, 'another account', 'business', '{}', now(), now())`
  return id
})

export const item = (to_wallet_id: WalletId, amount: bigint, more: Partial<BatchItem> = {}): BatchItem => ({
  to_wallet_id,
  amount,
  currency: "USDC",
  ...more
})

/** The lines of a batch whose items were all answered from their keys. */
export const replays = (lines: ReadonlyArray<BatchLine>) => lines.map((line) => ({ ...line, replayed: true }))

export const balance = Effect.fnUntraced(function* (id: WalletId) {
  return (yield* (yield* Ledger).account(id)).posted
})

/** The transfers that a batch made itself, in the order of its items. */
export const children = Effect.fnUntraced(function* (caller: Principal, batch_id: BatchId) {
  const found = yield* (yield* Transfers).list(caller, { batch_id }, { limit: 2_000 })
  return found.toReversed()
})

/** Every promise of the doctor that does not hold. */
export const broken = Effect.gen(function* () {
  const { examine } = yield* Doctor
  return (yield* examine).filter((finding) => finding.broken.length > 0).map((finding) => finding.promise)
})
