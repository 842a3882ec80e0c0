import * as PgClient from "@effect/sql-pg/PgClient"
import { assert } from "@effect/vitest"
import { Clock, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { fromTypeId } from "#domain/Ids.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Database } from "#services/Database.ts"
import { Doctor } from "#services/Doctor.ts"
import { Ledger } from "#services/Ledger.ts"
import type { Funding, Paid } from "./Paying.ts"

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
export const compare = (
  url: string,
  told: {
    readonly paid: ReadonlyArray<Paid>
    readonly funded: ReadonlyArray<Funding>
    readonly payers: ReadonlyArray<string>
  }
) =>
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
    const [sums] = yield* sql`SELECT
      (SELECT sum(amount) FROM movements WHERE code = 'faucet')::text AS funded,
      (SELECT coalesce(sum(charged), 0) FROM payments WHERE state = 'captured')::text AS charged,
      (SELECT sum(posted) FROM ledger_accounts WHERE id = ANY(${told.payers.map((id) => uuid("wal", id))}::uuid[]))::text AS left`
    assert.strictEqual(
      BigInt(String(sums?.["funded"])) - BigInt(String(sums?.["charged"])),
      BigInt(String(sums?.["left"])),
      "what payers have is what they got less what they were charged"
    )
    return {
      captured: [...states.values()].filter((state) => state === "captured").length,
      served: served.length,
      payments: states.size,
      funded: recorded.length,
      states: Object.fromEntries(
        [...Map.groupBy(states.values(), (state) => state)].map(([state, all]) => [state, all.length])
      )
    }
  }).pipe(Effect.provide(books(url)), Effect.scoped)
