import { assert, layer } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Copying from "#services/AgentChannel/Copying.ts"
import { Agents } from "#services/Agents.ts"
import { AgentSessions } from "#services/AgentSessions.ts"
import * as Parties from "#services/Batches/Parties.ts"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { Wallets } from "#services/Wallets.ts"
import * as AgentsHarness from "./AgentsHarness.ts"
import * as StreamsHarness from "./MoneyStreamsHarness.ts"
import { tenant, walletOf } from "./WalletsHarness.ts"

const many = 5_000
/** A page, what follows it, and what a plan is chosen by. */
const few = 200

const decodeRows = Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ touched: Schema.Int })))

/** How many rows of these tables the database looked at to answer. */
const touchedBy = Effect.fnUntraced(function* <E, R>(
  answering: Effect.Effect<unknown, E, R>,
  ...tables: ReadonlyArray<string>
) {
  const sql = yield* SqlClient.SqlClient
  const soFar = Effect.map(
    sql`SELECT sum(seq_tup_read + idx_tup_fetch)::int AS touched FROM pg_stat_xact_user_tables
      WHERE relname = ANY(${tables}::text[])`,
    (rows) => decodeRows(rows)[0]?.touched ?? Number.NaN
  )
  const [before, , after] = yield* sql.withTransaction(Effect.all([soFar, answering, soFar]))
  return after - before
})

/** Uuids of version 7, later than all that are made by then. */
const id = (of: string) => `((99000000 + i)::text || '-0000-7000-8000-' || substr(md5('${of}'), 1, 12))::uuid`

layer(AgentsHarness.platform, { timeout: "60 seconds" })("of very many", (it) => {
  it.effect("wallets of an account the oldest active one is found without reading the others", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { byAccount, freeze, purseOf } = yield* Wallets
      const parties = yield* Parties.make
      const caller = yield* AgentsHarness.tenant
      const { account_id } = caller
      const [frozen, oldest] = [yield* walletOf(caller), yield* walletOf(caller)]
      yield* freeze(caller, frozen.id, "lost")
      const wallet = sql.literal(id(account_id))
      const numbers = sql`generate_series(1, ${many}::int) i`
      yield* sql`INSERT INTO ledger_accounts (id, purpose, currency) SELECT ${wallet}, 'wallet', 'USDC' FROM ${numbers}`
      yield* sql`INSERT INTO wallets (id, tenant_id, owner_type, owner_id, currency, network, address, metadata, created_at, updated_at)
        SELECT ${wallet}, ${caller.tenant_id}, 'account', ${account_id}, 'USDC', 'solana-devnet', ${wallet}, '{}', now(), now()
        FROM ${numbers}`
      const order = { amount: 1n, currency: "USDC", to_account_id: account_id } as const
      const found = Effect.gen(function* () {
        const received = yield* byAccount(account_id, "USDC", "solana-devnet")
        const paid = yield* purseOf(caller, "USDC", "solana-devnet")
        const { destination, payers } = yield* parties(caller, [order], new Map(), true)
        const payees = destination(order)
        const ids = [
          ...[received, paid].map((one) => Option.getOrThrow(one).id),
          ...payers("USDC").map((one) => one.id),
          ...("wallets" in payees ? payees.wallets : []).map((one) => one.id)
        ]
        assert.deepStrictEqual(ids, [oldest.id, oldest.id, oldest.id, oldest.id])
      })
      assert.isAtMost(yield* touchedBy(found, "wallets", "ledger_accounts"), few)
      yield* sql`ANALYZE wallets, ledger_accounts`
      assert.isAtMost(yield* touchedBy(found, "wallets", "ledger_accounts"), few)
    })
  )

  it.effect(
    "sessions those of an agent that last are found without reading others, of the agent or of its tenant",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const caller = yield* AgentsHarness.tenant
        const [busy, other] = [yield* AgentsHarness.agent(caller), yield* AgentsHarness.agent(caller)]
        const fill = (of: typeof busy, revoked: boolean) =>
          sql`INSERT INTO credentials (id, tenant_id, kind, name, scopes, hash, prefix, last_four, agent_id, auth_key_id, created_at,
            expires_at, revoked_at)
          SELECT ${sql.literal(id(of.id))}, ${caller.tenant_id}, 'session_token', 'session', '{}',
            sha256(convert_to(${of.id} || i, 'UTF8')), 'sess_', 'abcd', ${of.id}, ${of.key.keyId}, now(),
            now() + interval '1 hour', CASE WHEN ${revoked}::boolean THEN now() END
          FROM generate_series(1, ${many}::int) i`
        yield* fill(busy, true)
        yield* fill(other, false)
        yield* AgentsHarness.open(busy)
        const { list } = yield* AgentSessions
        const listed = Effect.map(list(caller, busy.id, { limit: 50, offset: 0 }), ({ total }) =>
          assert.strictEqual(total, 1)
        )
        const opened = AgentsHarness.open(busy)
        assert.isAtMost(yield* touchedBy(listed, "credentials"), few)
        assert.isAtMost(yield* touchedBy(opened, "credentials"), few)
        yield* sql`ANALYZE credentials`
        assert.isAtMost(yield* touchedBy(opened, "credentials"), few)
      })
  )

  it.effect("agents those that are suspended are found without reading the others", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { list, suspend } = yield* Agents
      const caller = yield* AgentsHarness.tenant
      const one = yield* AgentsHarness.agent(caller)
      yield* suspend(caller, one.id, null)
      const [agent, wallet] = [sql.literal(id(caller.tenant_id)), sql.literal(id(caller.account_id))]
      const numbers = sql`generate_series(1, ${many}::int) i`
      yield* sql`INSERT INTO ledger_accounts (id, purpose, currency) SELECT ${wallet}, 'wallet', 'USDC' FROM ${numbers}`
      yield* sql`INSERT INTO wallets (id, tenant_id, owner_type, owner_id, currency, network, address, metadata, created_at, updated_at)
        SELECT ${wallet}, ${caller.tenant_id}, 'agent', ${agent}, 'USDC', 'solana-devnet', ${wallet}, '{}', now(), now()
        FROM ${numbers}`
      yield* sql`INSERT INTO agents (id, tenant_id, account_id, wallet_id, name, skills, metadata, status, created_at, updated_at)
        SELECT ${agent}, ${caller.tenant_id}, ${caller.account_id}, ${wallet}, 'one', '{}', '{}', 'active', now(), now()
        FROM ${numbers}`
      yield* sql`ANALYZE agents`
      const listed = Effect.map(list(caller, { status: "suspended" }, { limit: 50, offset: 0 }), ({ total }) =>
        assert.strictEqual(total, 1)
      )
      assert.isAtMost(yield* touchedBy(listed, "agents"), few)
    })
  )
})

layer(AgentsHarness.platform, { timeout: "60 seconds" })("a fact that agents are told", (it) => {
  it.effect("is about wallets that are looked up by what it calls them, and not among those of a large tenant", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const caller = yield* AgentsHarness.tenant
      const [wallet, others] = [sql.literal(id(caller.tenant_id)), sql.literal(id("of another tenant"))]
      const numbers = sql`generate_series(1, ${4 * many}::int) i`
      yield* sql`INSERT INTO tenants SELECT ${others}, 'another', 'sandbox', now() FROM ${numbers}`
      yield* sql`INSERT INTO ledger_accounts (id, purpose, currency) SELECT ${wallet}, 'wallet', 'USDC' FROM ${numbers}`
      // What is planned for any tenant is planned for one of the many that have one.
      yield* sql`INSERT INTO wallets (id, tenant_id, owner_type, owner_id, currency, network, address, metadata, created_at, updated_at)
        SELECT ${wallet}, CASE WHEN i % 2 = 0 THEN ${caller.tenant_id} ELSE ${others} END, 'agent', ${wallet}, 'USDC', 'solana-devnet',
          ${wallet}, '{}', now(), now()
        FROM ${numbers}`
      yield* sql`ANALYZE wallets`
      const explained = yield* sql`EXPLAIN ${Copying.noting(sql, { after: 0n, upTo: 10n })}`
      const plan = explained.map((row) => String(row["QUERY PLAN"])).join("\n")
      assert.include(plan, "wallets_of_agents")
      assert.notInclude(plan, "wallets_listed")
    })
  )
})

layer(StreamsHarness.platform, { timeout: "60 seconds" })("of very many streams", (it) => {
  it.effect("those that stand still are found without reading those that flow", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const caller = yield* tenant()
      const stream = sql.literal(id(caller.tenant_id))
      const numbers = sql`generate_series(1, ${many}::int) i`
      yield* sql`INSERT INTO ledger_accounts (id, purpose, currency) SELECT ${stream}, 'stream', 'USDC' FROM ${numbers}`
      // One was paused, one has run dry and nobody has noticed yet.
      yield* sql`INSERT INTO streams (id, tenant_id, from_wallet_id, to_wallet_id, currency, flow_rate, status, pause_reason, deposited,
          buffer, withdrawn, returned, accrued, since, exhausts_at, alerted, latest_transfer_id, metadata, version, changed_by,
          created_at, updated_at)
        SELECT ${stream}, ${caller.tenant_id}, ${stream}, gen_random_uuid(), 'USDC', 1, CASE i WHEN 1 THEN 'paused' ELSE 'active' END,
          CASE i WHEN 1 THEN 'requested' END, 1, 0, 0, 0, 0, to_timestamp(0),
          CASE i WHEN 1 THEN NULL WHEN 2 THEN to_timestamp(0) ELSE now() + i * interval '1 minute' END, 'none', ${stream}, '{}', 0,
          ${stream}, now(), now()
        FROM ${numbers}`
      yield* sql`ANALYZE streams`
      const { list } = yield* MoneyStreams
      const listed = Effect.map(list(caller, { status: "paused" }, { limit: 50, offset: 0 }), ({ total }) =>
        assert.strictEqual(total, 2)
      )
      assert.isAtMost(yield* touchedBy(listed, "streams"), few)
    })
  )
})
