import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { TenantId } from "#domain/Ids.ts"
import { type Answer, newcomer } from "./WalletsServer.ts"

/** A tenant with two wallets, of which the first has `funds`, and everything it may do with them. */
export const parties = Effect.fnUntraced(function* (funds = "10.00") {
  const { call, tenant } = yield* newcomer
  const wallet = Effect.fnUntraced(function* (input: object = {}) {
    const { body } = yield* call("POST", "/v1/wallets", input)
    return String(body.id)
  })
  const [from, to] = [yield* wallet(), yield* wallet()]
  const fund = (id: string, amount: string, currency = "USDC") =>
    call("POST", `/v1/wallets/${id}/fund`, { amount, currency })
  if (funds !== "0") yield* fund(from, funds)
  const usual = { from_wallet_id: from, to_wallet_id: to, amount: "1.00", currency: "USDC" }
  const create = (over: object = {}, headers?: Record<string, string>) =>
    call("POST", "/v1/transfers", { ...usual, ...over }, headers)
  /** The body with one member written as given, whether or not it is JSON that JavaScript can write. */
  const createRaw = (member: string, json: string) => {
    const { [member as "amount"]: _, ...rest } = usual
    return call("POST", "/v1/transfers", `{"${member}": ${json}, ${JSON.stringify(rest).slice(1)}`)
  }
  const get = (id: string) => call("GET", `/v1/transfers/${id}`)
  const list = (query: Record<string, string> = {}) =>
    call("GET", `/v1/transfers?${new URLSearchParams({ limit: "200", ...query })}`)
  const balance = (id: string) =>
    Effect.map(call("GET", `/v1/wallets/${id}`), ({ body }): string => body.balance_available)
  const statement = (id: string) => Effect.map(call("GET", `/v1/wallets/${id}/entries`), ({ body }) => body.data)
  return { call, tenant, wallet, from, to, fund, usual, create, createRaw, get, list, balance, statement }
})
export type Parties = Effect.Success<ReturnType<typeof parties>>

/** Everything that a tenant's requests have left behind. */
export const stored = Effect.fnUntraced(function* ({ id }: { readonly id: TenantId }) {
  const sql = yield* SqlClient.SqlClient
  const movements = yield* sql`SELECT count(*)::int AS n FROM movements m
    WHERE EXISTS (SELECT 1 FROM wallets w JOIN ledger_accounts a ON a.id = w.id
      WHERE w.tenant_id = ${id} AND a.key IN (m.debit, m.credit))`
  return {
    movements: movements[0]?.["n"],
    transfers: yield* sql`SELECT id FROM transfers WHERE tenant_id = ${id} ORDER BY id`,
    events: yield* sql`SELECT seq FROM events WHERE tenant_id = ${id} ORDER BY seq`,
    keys: yield* sql`SELECT operation, key FROM idempotency_keys WHERE tenant_id = ${id} ORDER BY key`
  }
})

/** The events of a tenant about one transfer, oldest first. */
export const eventsOf = Effect.fnUntraced(function* ({ id }: { readonly id: TenantId }, transfer: string) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`SELECT type, data FROM events
    WHERE tenant_id = ${id} AND data #>> '{transfer,id}' = ${transfer} ORDER BY seq`
})

/** Refused without a trace: no transfer, event, movement or key. */
export const refusedAs = Effect.fnUntraced(function* (
  { tenant }: Parties,
  attempt: Effect.Effect<Answer>,
  expected: { readonly status: number; readonly code: string }
) {
  const before = yield* stored(tenant)
  const { body, text } = yield* attempt
  assert.deepInclude(body, expected, text)
  assert.deepStrictEqual(yield* stored(tenant), before)
  return body
})
