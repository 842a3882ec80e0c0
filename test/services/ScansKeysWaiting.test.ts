import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ScannerCredits } from "#services/ScannerCredits.ts"
import { whileHeadIsHeld } from "./LockHarness.ts"
import { aDomain, another, findings, gate, idOf, left, orderOf, platform, rich, Stage } from "./ScansHarness.ts"
import { claimOf, died, passing, scan, tenantIn, waits } from "./ScansKeysHarness.ts"

layer(platform(), { timeout: "60 seconds" })("whoever repeats a scan under its key", (it) => {
  it.effect("that is under way is waited for, at another process too", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const other = yield* another()
      const buyer = yield* rich
      const domain = aDomain()
      const { scan: usual } = stage
      const { entered, open, through } = yield* gate
      stage.scan = () => Effect.andThen(through, Effect.succeed(findings()))
      const first = yield* Effect.forkChild(scan(buyer, domain))
      yield* entered
      const here = yield* Effect.forkChild(scan(buyer, domain))
      const there = yield* Effect.forkChild(other.scans.scan(buyer, orderOf(domain), claimOf(buyer)))
      yield* waits(here, there)
      yield* open
      const answers = yield* Effect.forEach([first, here, there], Fiber.join)
      assert.deepStrictEqual(
        answers.map((answer) => [answer.replayed, answer.record]),
        [false, true, true].map((replayed) => [replayed, answers[0]?.record])
      )
      assert.deepStrictEqual([other.stage.looked, yield* left(buyer)], [[], 99])
      stage.scan = usual
    })
  )

  it.effect("that gets what another process looked at for somebody else is heard of, too", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const other = yield* another()
      const [buyer, domain] = [yield* rich, aDomain()]
      const { scan: usual } = stage
      const { entered, open, through } = yield* gate
      stage.scan = () => Effect.andThen(through, Effect.succeed(findings()))
      const foreign = yield* Effect.forkChild(scan(yield* rich, domain))
      yield* entered
      const run = other.scans.scan(buyer, orderOf(domain), claimOf(buyer))
      const both = [yield* Effect.forkChild(run), yield* Effect.forkChild(run)]
      yield* waits(...both)
      yield* open
      const answers = yield* Effect.forEach([foreign, ...both], Fiber.join)
      assert.strictEqual(new Set(answers.map(idOf)).size, 1)
      assert.deepStrictEqual([answers.filter(({ replayed }) => replayed).length, yield* left(buyer)], [1, 99])
      stage.scan = usual
    })
  )

  it.effect("while it ends has the key from whoever holds the head of the log: the two would wait for each other", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const stage = yield* Stage
      const [buyer, domain] = [yield* rich, aDomain()]
      const { scan: usual } = stage
      const { entered, open, through } = yield* gate
      stage.scan = () => Effect.andThen(through, Effect.succeed(findings()))
      const first = yield* Effect.forkChild(scan(buyer, domain))
      yield* entered
      const { made, seen } = yield* whileHeadIsHeld(
        Effect.andThen(open, Fiber.join(first)),
        sql`SELECT key FROM idempotency_keys WHERE key = ${claimOf(buyer).key} AND tenant_id = ${yield* tenantIn(buyer)}
          FOR UPDATE SKIP LOCKED`
      )
      assert.deepStrictEqual(seen, [{ key: claimOf(buyer).key }])
      assert.strictEqual(idOf(yield* scan(buyer, domain)), idOf(made))
      stage.scan = usual
    })
  )

  it.effect("whose end nobody hears of in five minutes is refused, for another try", () =>
    Effect.gen(function* () {
      const buyer = yield* rich
      const domain = aDomain()
      yield* died(buyer)
      const waiting = yield* Effect.forkChild(Effect.flip(scan(buyer, domain)))
      yield* passing(waiting)
      assert.deepInclude(yield* Fiber.join(waiting), { _tag: "SCANNER_UNAVAILABLE", reason: "Busy", retry_after: 5 })
      yield* Effect.flatMap(ScannerCredits, ({ returnAbandoned }) => returnAbandoned)
    })
  )

  it.effect("whose process died is given back in two minutes, and then a repetition is the first", () =>
    Effect.gen(function* () {
      const { returnAbandoned } = yield* ScannerCredits
      const buyer = yield* rich
      const domain = aDomain()
      yield* died(buyer)
      assert.strictEqual(yield* left(buyer), 99)
      const waiting = yield* Effect.forkChild(scan(buyer, domain))
      yield* waits(waiting)
      yield* TestClock.adjust("2 minutes")
      yield* returnAbandoned
      yield* passing(waiting)
      const { charged, replayed } = yield* Fiber.join(waiting)
      assert.deepStrictEqual([charged, replayed, yield* left(buyer)], [1, false, 99])
    })
  )

  it.effect("that failed and was given back leaves the key free, and who waits for it is the first then", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const buyer = yield* rich
      const domain = aDomain()
      const { scan: usual } = stage
      const { entered, open, through } = yield* gate
      stage.scan = () => Effect.andThen(through, Effect.die("The engine broke"))
      const first = yield* Effect.forkChild(Effect.flip(scan(buyer, domain)))
      yield* entered
      const second = yield* Effect.forkChild(scan(buyer, domain))
      yield* waits(second)
      stage.scan = usual
      yield* open
      assert.strictEqual((yield* Fiber.join(first))._tag, "SCANNER_UNAVAILABLE")
      const { charged, replayed } = yield* Fiber.join(second)
      assert.deepStrictEqual([charged, replayed, yield* left(buyer)], [1, false, 99])
    })
  )
})

const limits = { atOnce: 1, queue: 1, share: 1, callers: 1, longest: Duration.minutes(1) }
layer(platform({ scans: limits }), { timeout: "60 seconds" })("under a key", (it) => {
  it.effect("no more wait than may ask: the others are refused, for another try", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const [buyer, domain] = [yield* rich, aDomain()]
      const { entered, open, through } = yield* gate
      stage.scan = () => Effect.andThen(through, Effect.succeed(findings()))
      const first = yield* Effect.forkChild(scan(buyer, domain))
      yield* entered
      const second = yield* Effect.forkChild(scan(buyer, domain))
      yield* waits(second)
      const refused = yield* Effect.flip(scan(buyer, domain))
      assert.deepInclude(refused, { _tag: "SCANNER_UNAVAILABLE", reason: "Busy" })
      yield* open
      assert.strictEqual(idOf(yield* Fiber.join(second)), idOf(yield* Fiber.join(first)))
    })
  )
})
