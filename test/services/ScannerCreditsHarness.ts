import { assert } from "@effect/vitest"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { TenantId } from "#domain/Ids.ts"
import { systemAccount } from "#domain/LedgerAccount.ts"
import { unit } from "#domain/Money.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Doctor } from "#services/Doctor.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"
import { type CreditOrder, ScannerCredits } from "#services/ScannerCredits.ts"
import { tenant } from "./WalletsHarness.ts"

/** Credits of one process; another one over the same database is another copy of it, with a ledger lane of its own. */
export const services = ScannerCredits.layer.pipe(Layer.provideMerge(Ledger.layer))
export const platform = Layer.merge(services, Doctor.layer).pipe(Layer.provideMerge(Postgres.layerTest))

/** Another process, until the scope closes: then it is gone with all that it was doing. */
export const another = Effect.map(Layer.build(Layer.fresh(services)), Context.get(ScannerCredits))

/** What an operator does. */
export const grant = (tenant_id: TenantId, credits: number, code = "grant") =>
  Effect.flatMap(Ledger, ({ post }) =>
    post({
      id: newUuid(),
      steps: [
        {
          kind: "transfer",
          debit: systemAccount("issuance", "CREDIT"),
          credit: tenant_id,
          currency: "CREDIT",
          amount: BigInt(credits) * unit,
          code
        }
      ]
    })
  )

/** A tenant with a purse and so many credits in it. */
export const tenantWith = Effect.fnUntraced(function* (credits: number) {
  const { tenant_id } = yield* tenant()
  yield* (yield* Ledger).open({ id: tenant_id, purpose: "scanner_credits", currency: "CREDIT" })
  if (credits > 0) yield* grant(tenant_id, credits)
  return tenant_id
})

export const orderOf = (tenant_id: TenantId, changed: Partial<CreditOrder> = {}): CreditOrder => ({
  tenant_id,
  operation: "scan",
  credits: 1,
  source: "req_1",
  metadata: { domain: "shop.test" },
  ...changed
})

export const charge = (tenant_id: TenantId, changed: Partial<CreditOrder> = {}) =>
  Effect.flatMap(ScannerCredits, (credits) => credits.charge(orderOf(tenant_id, changed)))

export const balance = (tenant_id: TenantId) => Effect.flatMap(ScannerCredits, (credits) => credits.balance(tenant_id))

export const linesOf = (tenant_id: TenantId, limit = 100, before?: bigint) =>
  Effect.flatMap(ScannerCredits, ({ ledger }) => ledger(tenant_id, { limit, before: Option.fromUndefinedOr(before) }))

/** In which state the charges of a tenant are, and how many. */
export const statesOf = Effect.fnUntraced(function* (tenant_id: TenantId) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT state, count(*)::int AS n FROM credit_charges
    WHERE tenant_id = ${tenant_id} GROUP BY state ORDER BY state`
  return Object.fromEntries(rows.map(({ n, state }) => [String(state), Number(n)]))
})

/** Every promise of the books holds. */
export const sound = Effect.gen(function* () {
  const findings = yield* (yield* Doctor).examine
  assert.deepStrictEqual(
    findings.filter(({ broken }) => broken.length > 0),
    []
  )
})
