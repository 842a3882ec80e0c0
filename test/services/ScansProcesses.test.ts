import { assert, layer } from "@effect/vitest"
import { DateTime, Duration, Effect, Fiber } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { Scans } from "#services/Scans.ts"
import { interrupted } from "./LockHarness.ts"
import {
  aDomain,
  another,
  findings,
  gate,
  left,
  orderOf,
  platform,
  rich,
  scan,
  somebody,
  Stage,
  told
} from "./ScansHarness.ts"

/** Until this is what the database says. */
const until = (condition: (sql: SqlClient.SqlClient) => Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.asVoid(Effect.orDie(Effect.repeat(condition(sql), { until: (rows) => rows.length > 0 })))
  )

const longest = Duration.seconds(60)
const limits = { atOnce: 1, queue: 1, share: 1, callers: 3, longest }

layer(platform({ scans: limits }), { timeout: "60 seconds" })("two processes", (it) => {
  it.effect("look at a domain once; whoever asks at the other pays, gets the same and is told", () =>
    Effect.gen(function* () {
      const other = yield* another()
      const stage = yield* Stage
      const [buyer, late] = [yield* rich, yield* rich]
      const domain = aDomain()
      const { entered, open, through } = yield* gate
      stage.scan = () => Effect.andThen(through, Effect.succeed(findings()))
      const first = yield* Effect.forkChild(scan(domain, {}, buyer))
      yield* entered
      const second = yield* Effect.forkChild(
        other.scans.scan(late, orderOf(domain, { merchant_name: "Said too late" }))
      )
      yield* until((sql) => sql`SELECT 1 AS one WHERE (SELECT count(*) FROM credit_charges WHERE state = 'open') = 2`)
      yield* open
      const [one, two] = [yield* Fiber.join(first), yield* Fiber.join(second)]
      assert.deepStrictEqual(two.record, one.record)
      assert.deepStrictEqual(other.stage.looked, [])
      for (const each of [buyer, late]) {
        assert.deepStrictEqual([yield* left(each), (yield* told(each)).length], [99, 1])
      }
      assert.strictEqual((yield* scan(domain)).record.merchant_name, "Said too late")
    })
  )

  it.effect("answer nobody with what was there before he asked, although somebody else still waits for that", () =>
    Effect.gen(function* () {
      const other = yield* another()
      const stage = yield* Stage
      const [first, second, late] = [yield* rich, yield* rich, yield* rich]
      const domain = aDomain()
      const { entered, open, through } = yield* gate
      other.stage.scan = () => Effect.andThen(through, Effect.succeed(findings()))
      stage.scan = () => Effect.succeed(findings())
      const there = yield* Effect.forkChild(other.scans.scan(first, orderOf(domain)))
      yield* entered
      const again = scan(domain, {}, late)
      let asked: Fiber.Fiber<Effect.Success<typeof again>, Effect.Error<typeof again>> | undefined
      const meanwhile = Effect.gen(function* () {
        yield* open
        yield* Fiber.join(there)
        asked = yield* Effect.forkDetach(again)
        yield* until((sql) => sql`SELECT 1 AS one WHERE (SELECT count(*) FROM credit_charges WHERE state = 'open') = 2`)
      })
      const shared = yield* interrupted(scan(domain, {}, second), "ORDER BY place DESC LIMIT 1", meanwhile)
      const own = yield* Fiber.join(asked ?? (yield* Effect.die("Nobody asked")))
      assert.strictEqual(shared.record.id, (yield* Fiber.join(there)).record.id)
      assert.notStrictEqual(own.record.id, shared.record.id)
      assert.strictEqual(stage.looked.filter((one) => one === domain).length, 1)
    })
  )

  it.effect("take over from each other: a dead one's scan is done again when its lease has ended", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const stage = yield* Stage
      const buyer = yield* rich
      const domain = aDomain()
      stage.scan = () => Effect.succeed(findings())
      yield* sql`INSERT INTO scanner_work (kind, domain, variant, id, status, holder, held_until, created_at)
        VALUES ('scan', ${domain}, '', gen_random_uuid(), 'scanning', gen_random_uuid(), '1970-01-01T00:00:30Z', '1970-01-01')`
      yield* TestClock.setTime(0)
      const waiting = yield* Effect.forkChild(scan(domain, {}, buyer))
      yield* until((client) => client`SELECT 1 AS one WHERE EXISTS (SELECT FROM credit_charges WHERE state = 'open')`)
      assert.notInclude(stage.looked, domain)
      yield* TestClock.adjust("30 seconds")
      // Until somebody has taken it: from then on no time passes, so that nobody is late who is slow.
      const lost = sql`SELECT 1 AS one FROM scanner_work WHERE domain = ${domain} AND held_until <= '1970-01-01T00:00:30Z'`
      yield* Effect.andThen(sql`SELECT pg_sleep(0.01)`, lost).pipe(
        Effect.tap((rows) => (rows.length > 0 ? TestClock.adjust("1 second") : Effect.void)),
        Effect.repeat({ while: (rows) => rows.length > 0 })
      )
      const { charged } = yield* Fiber.join(waiting)
      assert.strictEqual(charged, 1)
      assert.strictEqual(stage.looked.filter((one) => one === domain).length, 1)
    })
  )

  it.effect("do not take over from each other what takes longer than a lease", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const domain = aDomain()
      const { entered, open, through } = yield* gate
      stage.scan = () => Effect.andThen(through, Effect.succeed(findings()))
      const scanned = yield* Effect.forkChild(scan(domain, {}, yield* rich))
      yield* entered
      for (let time = 0; time < 4; time++) {
        yield* TestClock.adjust("10 seconds")
        const soon = DateTime.toDate(DateTime.add(yield* DateTime.now, { seconds: 10 }))
        yield* until((sql) => sql`SELECT 1 AS one FROM scanner_work WHERE domain = ${domain} AND held_until > ${soon}`)
      }
      yield* open
      assert.strictEqual((yield* Fiber.join(scanned)).charged, 1)
    })
  )

  it.effect("that stop give everything back and leave the domain to others", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const other = yield* another()
      const buyer = yield* rich
      const domain = aDomain()
      const { entered, through } = yield* gate
      other.stage.scan = () => Effect.andThen(through, Effect.succeed(findings()))
      const waiting = yield* Effect.forkChild(Effect.flip(other.scans.scan(buyer, orderOf(domain))))
      yield* entered
      yield* other.stop
      assert.deepInclude(yield* Fiber.join(waiting), { _tag: "SCANNER_UNAVAILABLE", reason: "Failed" })
      assert.deepStrictEqual([yield* left(buyer), yield* told(buyer)], [100, []])
      assert.deepStrictEqual(yield* sql`SELECT id FROM scanner_work WHERE domain = ${domain}`, [])
    })
  )

  it.effect("forget what a dead one left and nobody asks for", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { tidy } = yield* Scans
      yield* sql`INSERT INTO scanner_work (kind, domain, variant, id, status, holder, held_until, created_at)
        VALUES ('scan', ${aDomain()}, '', gen_random_uuid(), 'scanning', gen_random_uuid(), '1960-01-01', '1960-01-01')`
      assert.strictEqual(yield* tidy, 1)
      assert.strictEqual(yield* tidy, 0)
    })
  )
})

layer(platform({ scans: limits }), { timeout: "60 seconds" })("a process that has enough to do", (it) => {
  it.effect("sends others away with their credits, and does what it took on", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const buyer = yield* rich
      const { entered, open, through } = yield* gate
      stage.scan = () => Effect.andThen(through, Effect.succeed(findings()))
      const first = yield* Effect.forkChild(scan(aDomain()))
      yield* entered
      const second = yield* Effect.forkChild(scan(aDomain()))
      yield* until((sql) => sql`SELECT 1 AS one FROM scanner_work WHERE status = 'pending'`)
      const refused = yield* Effect.flip(scan(aDomain(), {}, buyer))
      assert.deepInclude(refused, { _tag: "SCANNER_UNAVAILABLE", reason: "Busy", retry_after: 8 })
      assert.strictEqual(yield* left(buyer), 100)
      yield* open
      yield* Fiber.join(first)
      yield* Fiber.join(second)
      assert.strictEqual((yield* scan(aDomain(), {}, somebody)).charged, 0)
    })
  )
})
