import * as PgClient from "@effect/sql-pg/PgClient"
import { assert } from "@effect/vitest"
import { Clock, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { fromTypeId } from "#domain/Ids.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Database } from "#services/Database.ts"
import { Doctor } from "#services/Doctor.ts"
import { Ledger } from "#services/Ledger.ts"
import { micros, type Trades } from "./Desk.ts"
import type { Told } from "./Load.ts"

/** The books as a third party reads them: straight from the database, with only the doctor and the ledger in between. */
const books = (url: string) => {
  const config = Postgres.fromUrl(Redacted.make(url))
  return Layer.mergeAll(Doctor.layer, Ledger.layer).pipe(
    Layer.provideMerge(PgClient.layer(config)),
    Layer.provideMerge(Layer.succeed(Database, { config, embedded: false }))
  )
}

const real = Clock.Clock.defaultValue()
const hour = 3_600_000
const inAnHour: Clock.Clock = Object.assign(Object.create(real), {
  currentTimeMillisUnsafe: () => real.currentTimeMillisUnsafe() + hour,
  currentTimeMillis: Effect.map(real.currentTimeMillis, (now) => now + hour)
})

const uuid = (prefix: string, id: string) => fromTypeId(prefix, id) ?? id

/** What clients were told, against what the books say. Returns the counts it compared. */
export const compare = (url: string, told: Told) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { examine } = yield* Doctor
    const { expireDue } = yield* Ledger
    const findings = yield* examine
    assert.deepStrictEqual(
      findings.filter((finding) => finding.broken.length > 0),
      [],
      "the books are in order"
    )

    const states = new Map(
      (yield* sql`SELECT id, state FROM payments`).map((row) => [String(row["id"]), String(row["state"])])
    )
    const served = told.paid.filter((one) => one.outcome === "served")
    for (const { payment } of served) {
      assert.strictEqual(states.get(uuid("pay", payment)), "captured", "a call that was served was paid")
    }
    const unpaid = told.paid.filter((one) => one.outcome !== "served" && one.outcome.status === 402)
    for (const { payment } of unpaid) {
      assert.notStrictEqual(states.get(uuid("pay", payment)), "captured", "402 is never the answer after money moved")
    }

    const faucet = yield* sql`SELECT command_id FROM movements WHERE code = 'faucet'`
    const recorded = faucet.map((row) => String(row["command_id"])).sort()
    assert.deepStrictEqual(
      recorded,
      [...new Set(told.funded.map(({ transfer }) => uuid("tx", transfer)))].sort(),
      "every funding that was answered exists once, and no other does"
    )

    // An hour passes: what nobody captured goes back to its payer.
    while ((yield* Effect.provideService(expireDue, Clock.Clock, inAnHour)) > 0);
    const open = yield* sql`SELECT id FROM ledger_accounts WHERE held <> 0`
    assert.deepStrictEqual(open, [], "no money stays held")
    const payers = told.payers.map((id) => uuid("wal", id))
    const [sums] = yield* sql`SELECT
      (SELECT sum(m.amount) FROM movements m JOIN ledger_accounts a ON a.key = m.credit
        WHERE m.code = 'faucet' AND a.id = ANY(${payers}::uuid[]))::text AS funded,
      (SELECT coalesce(sum(charged), 0) FROM payments WHERE state = 'captured')::text AS charged,
      (SELECT sum(posted) FROM ledger_accounts WHERE id = ANY(${payers}::uuid[]))::text AS left`
    assert.strictEqual(
      BigInt(String(sums?.["funded"])) - BigInt(String(sums?.["charged"])),
      BigInt(String(sums?.["left"])),
      "what payers have is what they got less what they were charged"
    )
    const transfers = yield* compareTrades(told.trades)
    return {
      transfers,
      captured: [...states.values()].filter((state) => state === "captured").length,
      served: served.length,
      payments: states.size,
      funded: recorded.length,
      states: Object.fromEntries(
        [...Map.groupBy(states.values(), (state) => state)].map(([state, all]) => [state, all.length])
      )
    }
  }).pipe(Effect.provide(books(url)), Effect.scoped)

/** Every transfer somebody was told about is there as it was told, no other is, and together they are all that moved. */
const compareTrades = Effect.fnUntraced(function* ({ schedules, streams, transfers, wallets }: Trades) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT id, status, amount::text AS amount FROM transfers WHERE stream_id IS NULL`
  const recorded = new Map(rows.map(({ amount, id, status }) => [String(id), `${status} ${amount}`]))
  const heard = new Map([...transfers].map(([id, { amount, status }]) => [uuid("tx", id), `${status} ${amount}`]))
  const differing = [...new Set([...recorded.keys(), ...heard.keys()])].filter(
    (id) => recorded.get(id) !== heard.get(id)
  )
  assert.deepStrictEqual(
    differing.map((id) => [id, recorded.get(id), heard.get(id)]),
    [],
    "every transfer that was told is there as it was told, and no other is"
  )

  const flowed = yield* sql`SELECT stream_id,
      coalesce(sum(amount) FILTER (WHERE type = 'stream_start'), 0)::text AS deposited,
      coalesce(sum(amount) FILTER (WHERE type = 'stream_withdraw'), 0)::text AS withdrawn,
      coalesce(sum(amount) FILTER (WHERE type = 'stream_cancel'), 0)::text AS returned
    FROM transfers WHERE stream_id IS NOT NULL AND status = 'completed' GROUP BY stream_id`
  const ended = [...streams].map(([id, { deposited, returned, withdrawn }]) => ({
    stream_id: uuid("str", id),
    deposited: String(micros(deposited)),
    withdrawn: String(micros(withdrawn)),
    returned: String(micros(returned))
  }))
  const byId = (one: { readonly stream_id?: unknown }, other: { readonly stream_id?: unknown }) =>
    String(one.stream_id) < String(other.stream_id) ? -1 : 1
  assert.deepStrictEqual(
    flowed.map((row) => ({ ...row })).sort(byId),
    ended.sort(byId),
    "every stream moved what it said at its end, and no other stream is"
  )

  // Money waits in a stream between the two wallets that its transfers name.
  const strange = yield* sql`SELECT a.id, a.posted, m.got, t.received, t.sent FROM ledger_accounts a
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(amount), 0) AS got FROM movements WHERE credit = a.key AND code = 'faucet'
    ) m
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(coalesce(destination_amount, amount))
          FILTER (WHERE to_wallet_id = a.id AND type <> 'stream_start'), 0) AS received,
        coalesce(sum(amount) FILTER (WHERE from_wallet_id = a.id AND type <> 'stream_withdraw'), 0) AS sent
      FROM transfers WHERE status = 'completed'
    ) t
    WHERE a.id = ANY(${wallets.map((id) => uuid("wal", id))}::uuid[]) AND a.posted <> m.got + t.received - t.sent`
  assert.deepStrictEqual(strange, [], "what a wallet has is what it got and what transfers brought and took")
  const planned = yield* sql`SELECT id FROM scheduled_transfers`
  assert.deepStrictEqual(
    planned.map(({ id }) => String(id)).sort(),
    [...schedules].map((id) => uuid("sch", id)).sort(),
    "every schedule that was told is there, and no other is"
  )
  const kinds = yield* sql`
    SELECT type || ' ' || status AS kind, count(*)::int AS count FROM transfers GROUP BY 1
    UNION ALL SELECT 'refund ' || status, count(*)::int FROM refunds GROUP BY 1
    UNION ALL SELECT 'dispute ' || status, count(*)::int FROM disputes GROUP BY 1
    UNION ALL SELECT 'schedule ' || status, count(*)::int FROM scheduled_transfers GROUP BY 1`
  return Object.fromEntries(kinds.map(({ count, kind }) => [String(kind), Number(count)]))
})
