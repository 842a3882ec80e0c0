import { assert } from "@effect/vitest"
import { Context, DateTime, Deferred, Effect, Fiber, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { Principal } from "#domain/Principal.ts"
import { type CreateScheduledTransfer, orderOf } from "#domain/ScheduleOrder.ts"
import { promises } from "#services/Doctor/Schedules.ts"
import { Ledger } from "#services/Ledger.ts"
import { Schedules } from "#services/Schedules.ts"
import { Wallets } from "#services/Wallets.ts"
import { platform as wallets, tenant, usdc, walletOf } from "./WalletsHarness.ts"

/** Schedules over a database of their own. */
export const platform = Schedules.layer.pipe(Layer.provideMerge(wallets))

/** A second process on the same database, with a connection to the ledger of its own; it dies with the scope. */
export const another = Effect.map(
  Layer.build(
    Layer.fresh(Schedules.layer).pipe(
      Layer.provide(Layer.fresh(Wallets.layer)),
      Layer.provide(Layer.fresh(Ledger.layer))
    )
  ),
  (context) => Context.get(context, Schedules)
)

/** A payer with this much, a payee with nothing, and schedules between them. */
export const pair = Effect.fnUntraced(function* (funds: bigint) {
  const caller = yield* tenant()
  const [from, to] = [yield* walletOf(caller), yield* walletOf(caller)]
  if (funds > 0n) yield* fund(caller, from.id, funds)
  const schedule = Effect.fnUntraced(function* (order: Partial<CreateScheduledTransfer>) {
    const whole = { from_wallet_id: from.id, to_wallet_id: to.id, ...usdc(10n), ...order }
    const schedules = yield* Schedules
    const { schedule } = yield* schedules.create(caller, Result.getOrThrow(orderOf(whole)))
    // The next test on this database does not count what is left of this one.
    yield* Effect.addFinalizer(() => Effect.ignore(schedules.change(caller, schedule.id, "cancel")))
    return schedule
  })
  const received = Effect.map(
    Effect.flatMap(Wallets, (service) => service.get(caller, to.id)),
    ({ balance_available }) => balance_available
  )
  return { caller, from, to, schedule, received }
})

export const fund = Effect.fnUntraced(function* (
  caller: Principal,
  id: Parameters<Wallets["Service"]["get"]>[1],
  funds: bigint
) {
  yield* (yield* Wallets).fund(caller, id, usdc(funds))
})

/** The moment that is so far ahead. */
export const ahead = (by: Parameters<typeof DateTime.add>[1]) =>
  Effect.map(DateTime.now, (now) => DateTime.toDate(DateTime.add(now, by)))

/** A turn of the worker after so much time. */
export const turn = Effect.fnUntraced(function* (after: Parameters<typeof TestClock.adjust>[0]) {
  yield* TestClock.adjust(after)
  return yield* (yield* Schedules).executeDue
})

/** The facts told about a tenant, oldest first. */
export const eventsOf = Effect.fnUntraced(function* ({ tenant_id }: Principal) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT type FROM events WHERE tenant_id = ${tenant_id} ORDER BY seq`
  return rows.map(({ type }) => String(type))
})

/** Does something while nobody can post to the ledger; `blocked` resumes when so many are waiting to. */
export const whileLedgerWaits = <A, E, R>(
  use: (blocked: (count: number) => Effect.Effect<void, never, SqlClient.SqlClient>) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [locked, done] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const holder = yield* sql`SELECT 1 FROM ledger_head FOR UPDATE`.pipe(
      Effect.andThen(Deferred.succeed(locked, undefined)),
      Effect.andThen(Deferred.await(done)),
      sql.withTransaction,
      Effect.forkChild
    )
    yield* Deferred.await(locked)
    const waiting = sql`SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`
    const blocked = (count: number) =>
      Effect.asVoid(Effect.orDie(Effect.repeat(waiting, { until: ([row]) => row?.["count"] === count })))
    const result = yield* Effect.ensuring(use(blocked), Deferred.succeed(done, undefined))
    yield* Fiber.join(holder)
    return result
  })

/** What the doctor finds broken about schedules. */
export const broken = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const findings = yield* Effect.forEach(promises(sql), ({ promise, query }) =>
    Effect.map(query, (rows) => (rows.length === 0 ? [] : [promise]))
  )
  return findings.flat()
})

/** Rows, fences, transfers, executions and events tell the same story. */
export const isSound = Effect.map(broken, (found) => assert.deepStrictEqual(found, []))
