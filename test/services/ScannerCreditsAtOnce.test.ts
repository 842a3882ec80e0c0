import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { TenantId } from "#domain/Ids.ts"
import { type OpenCharge, ScannerCredits } from "#services/ScannerCredits.ts"
import { whileOthersHave } from "./LockHarness.ts"
import { another, balance, linesOf, orderOf, platform, sound, statesOf, tenantWith } from "./ScannerCreditsHarness.ts"

type Credits = ScannerCredits["Service"]

/** What becomes of a request whose charge was taken. */
const endings = ["earned", "rolled back", "given back", "in part", "raced", "lost", "interrupted"] as const

/** One request as a scan or a test makes it: charge, work, and one of the endings. `lost` is a process that never ends it. */
const request = Effect.fnUntraced(function* (credits: Credits, tenant_id: TenantId, index: number) {
  const sql = yield* SqlClient.SqlClient
  const ending = endings[index % endings.length]
  const test = index % 3 === 0
  const order = orderOf(tenant_id, {
    operation: test ? "test" : "scan",
    credits: test ? 5 : 1,
    source: `req_${index}`
  })
  const work = (open: OpenCharge) => {
    switch (ending) {
      case "earned":
        return sql.withTransaction(credits.earn(open))
      case "rolled back":
        return sql
          .withTransaction(Effect.andThen(credits.earn(open), Effect.fail("the scan could not be kept")))
          .pipe(Effect.catch(() => credits.giveBack(open, "scanner_failed")))
      case "given back":
        return credits.giveBack(open, "site_unreachable")
      case "in part":
        return credits.giveBack(open, "half_done", test ? 2 : 0)
      case "raced":
        return Effect.all([credits.earn(open), credits.giveBack(open, "late"), credits.giveBack(open, "again")], {
          concurrency: 3
        })
      case "interrupted":
        return Effect.onInterrupt(Effect.interrupt, () => credits.giveBack(open, "caller_left"))
      default:
        return Effect.void
    }
  }
  return yield* Effect.exit(Effect.flatMap(credits.charge(order), work))
})

const spentOf = (tenant_id: TenantId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] =
      yield* sql`SELECT coalesce(sum(credits), 0)::int AS charged, coalesce(sum(returned), 0)::int AS returned
      FROM credit_charges WHERE tenant_id = ${tenant_id}`
    return { charged: Number(row?.["charged"]), returned: Number(row?.["returned"]) }
  })

layer(platform, { timeout: "120 seconds" })("credits at once", (it) => {
  it.effect(
    "1,000 mixed requests of three tenants in two processes, one of which is killed: every credit is somewhere",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const here = yield* ScannerCredits
        const life = yield* Scope.make()
        const doomed = yield* Scope.provide(another, life)
        // More than enough, not enough, and nothing.
        const tenants = [yield* tenantWith(10_000), yield* tenantWith(300), yield* tenantWith(0)]
        const opening = [10_000, 300, 0]
        const run = (index: number) =>
          Effect.flatMap(
            Effect.sync(() => tenants[index % 3] ?? tenants[0]!),
            (tenant_id) => request(index % 2 === 0 ? here : doomed, tenant_id, Math.floor(index / 3))
          )
        const survivors = yield* Effect.forkChild(
          Effect.forEach(
            Array.from({ length: 500 }, (_, index) => index * 2),
            run,
            { concurrency: 64 }
          )
        )
        const victims = yield* Effect.forkChild(
          Effect.forEach(
            Array.from({ length: 500 }, (_, index) => index * 2 + 1),
            run,
            { concurrency: 64 }
          )
        )
        // It is killed in the middle of its work, with charges open and commands on their way.
        while (Object.keys(yield* statesOf(tenants[0]!)).length < 3) yield* Effect.yieldNow
        yield* Scope.close(life, Exit.void)
        yield* Fiber.interrupt(victims)
        yield* Fiber.join(survivors)
        // The database ends the last command of the killed one, and then its connection.
        yield* Effect.repeat(
          sql`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'turnpike-ledger'`,
          { until: (connections) => connections.length === 1 }
        )

        yield* sound
        yield* TestClock.adjust("2 minutes")
        while ((yield* here.returnAbandoned) > 0) yield* Effect.yieldNow
        for (const [place, tenant_id] of tenants.entries()) {
          const states = yield* statesOf(tenant_id)
          assert.isUndefined(states["open"])
          assert.isUndefined(states["returning"])
          const { charged, returned } = yield* spentOf(tenant_id)
          const closing = yield* balance(tenant_id)
          assert.strictEqual(closing.balance, (opening[place] ?? 0) - charged + returned)
          assert.deepStrictEqual(closing, {
            balance: closing.balance,
            granted_total: opening[place] ?? 0,
            consumed_total: charged - returned
          })
          const lines = yield* linesOf(tenant_id, 2_000)
          assert.isTrue(lines.every(({ balance_after }) => balance_after >= 0))
          assert.strictEqual(
            lines.reduce((sum, { delta }) => sum + delta, 0),
            closing.balance
          )
        }
        assert.isAbove((yield* spentOf(tenants[0]!)).returned, 0)
        assert.isAbove((yield* statesOf(tenants[0]!))["earned"] ?? 0, 0)
        assert.deepStrictEqual(yield* statesOf(tenants[2]!), {})
        yield* sound
      })
  )

  it.effect("of 100 charges in two processes on 33 credits, exactly 33 are taken, and each says another rest", () =>
    Effect.gen(function* () {
      const here = yield* ScannerCredits
      const there = yield* another
      const tenant_id = yield* tenantWith(33)
      const answers = yield* Effect.all(
        Array.from({ length: 100 }, (_, index) =>
          Effect.result((index % 2 === 0 ? here : there).charge(orderOf(tenant_id)))
        ),
        { concurrency: 100 }
      )
      const taken = answers.flatMap((answer) => (answer._tag === "Success" ? [answer.success.remaining] : []))
      assert.deepStrictEqual(
        taken.sort((one, other) => one - other),
        Array.from({ length: 33 }, (_, index) => index)
      )
      assert.deepInclude(yield* balance(tenant_id), { balance: 0, consumed_total: 33 })
      yield* sound
    })
  )

  it.effect("a charge that is earned in one process while another gives it back is one or the other", () =>
    Effect.gen(function* () {
      const here = yield* ScannerCredits
      const there = yield* another
      const tenant_id = yield* tenantWith(40)
      const races = yield* Effect.forEach(
        Array.from({ length: 40 }),
        () =>
          Effect.flatMap(here.charge(orderOf(tenant_id)), (open) =>
            Effect.all([here.earn(open), there.giveBack(open, "late")], { concurrency: 2 })
          ),
        { concurrency: 8 }
      )
      const earned = races.filter(([isEarned]) => isEarned).length
      assert.deepInclude(yield* balance(tenant_id), { balance: 40 - earned, consumed_total: earned })
      yield* sound
    })
  )

  it.effect("an abandoned charge that another process has in hand is left to it, and keeps nobody waiting", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { charge, returnAbandoned } = yield* ScannerCredits
      yield* charge(orderOf(yield* tenantWith(1)))
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(yield* whileOthersHave(sql`SELECT 1 FROM credit_charges FOR UPDATE`, returnAbandoned), 0)
      assert.isAbove(yield* returnAbandoned, 0)
    })
  )

  it.effect("two processes that return the same abandoned charges return each once", () =>
    Effect.gen(function* () {
      const here = yield* ScannerCredits
      const there = yield* another
      const tenant_id = yield* tenantWith(50)
      yield* TestClock.adjust("2 minutes")
      yield* here.returnAbandoned
      yield* Effect.all(
        Array.from({ length: 50 }, () => here.charge(orderOf(tenant_id))),
        { concurrency: 50 }
      )
      yield* TestClock.adjust("2 minutes")
      const counts = yield* Effect.all([here.returnAbandoned, there.returnAbandoned, here.returnAbandoned], {
        concurrency: 3
      })
      assert.strictEqual(
        counts.reduce((sum, count) => sum + count, 0),
        50
      )
      assert.deepStrictEqual(yield* statesOf(tenant_id), { returned: 50 })
      assert.strictEqual((yield* balance(tenant_id)).balance, 50)
      yield* sound
    })
  )
})
