import { Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Postgres from "#layers/Postgres.ts"
import { AccountId, TenantId, type WalletId } from "#domain/Ids.ts"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { type Environment, Principal } from "#domain/Principal.ts"
import type { CreateWallet } from "#domain/Wallet.ts"
import { Ledger } from "#services/Ledger.ts"
import { LanePolicy } from "#services/Ledger/LanePolicy.ts"
import { newId, newUuid } from "#services/NewId.ts"
import { Wallets } from "#services/Wallets.ts"

/** Wallets over a ledger on a database of their own. */
export const platform = Wallets.layer.pipe(Layer.provideMerge(Ledger.layer), Layer.provideMerge(Postgres.layerTest))

/** A ledger that sends nobody away for having waited: what many at once come to must not depend on how fast a machine is. */
export const patient = Layer.succeed(LanePolicy, {
  ...LanePolicy.defaultValue(),
  groupTimeout: Duration.minutes(1),
  commandTimeout: Duration.minutes(2)
})

/** A new tenant with one account. */
export const tenant = Effect.fnUntraced(function* (environment: Environment = "sandbox") {
  const sql = yield* SqlClient.SqlClient
  const tenant_id = yield* newId(TenantId)
  const account_id = yield* newId(AccountId)
  yield* sql`INSERT INTO tenants VALUES (${tenant_id}, 'a tenant', ${environment}, now())`
  yield* sql`INSERT INTO accounts (id, tenant_id, name, type, metadata, created_at, updated_at)
    VALUES (${account_id}, ${tenant_id}, 'an account', 'business', '{}', now(), now())`
  return new Principal({ tenant_id, environment, actor_type: "api_key", actor_id: "key", account_id, scopes: ["*:*"] })
})

export const walletOf = Effect.fnUntraced(function* (caller: Principal, input: CreateWallet = {}) {
  return yield* (yield* Wallets).create(caller, input)
})

export const claimOf = (caller: Principal, key: string, fingerprint = "1"): IdempotencyClaim => ({
  tenant_id: caller.tenant_id,
  operation: "wallets.fund",
  key,
  fingerprint
})

export const usdc = (micros: bigint) => ({ amount: micros, currency: "USDC" as const })

export const movementsInto = Effect.fnUntraced(function* (id: WalletId) {
  const sql = yield* SqlClient.SqlClient
  const rows =
    yield* sql`SELECT count(*)::int AS n FROM movements m JOIN ledger_accounts a ON a.key = m.credit WHERE a.id = ${id}`
  return rows[0]?.n
})

/** Money held, captured and paid between wallets, as the gateway does it. */
export const hold = Effect.fnUntraced(function* (from: WalletId, to: WalletId, amount: bigint) {
  const ledger = yield* Ledger
  const between = { debit: from, credit: to, currency: "USDC", code: "payment" }
  const id = newUuid()
  const price = { base: amount, tiers: [] }
  yield* ledger.post({
    id: newUuid(),
    steps: [{ kind: "hold", hold: id, price, expires_at: new Date(8e12), ...between }]
  })
  return {
    capture: (fee: number) =>
      ledger.post({
        id: newUuid(),
        steps: [
          { kind: "capture", hold: id, ...between },
          {
            kind: "fee",
            debit: to,
            credit: "00000000-0000-8000-8000-000000021000",
            currency: "USDC",
            basis_points: fee,
            code: "fee"
          }
        ]
      })
  }
})
