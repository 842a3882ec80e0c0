import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { DomainNotAllowed } from "#domain/MerchantDomain.ts"
import { ScannerCredits } from "#services/ScannerCredits.ts"
import { nothingYet } from "#services/Scans/Keys.ts"
import { type ScanBuyer, type ScanOrder, Scans } from "#services/Scans.ts"
import { tenantWith } from "./ScannerCreditsHarness.ts"
import * as Credits from "./ScannerCreditsHarness.ts"
import { aDomain, another, by, findings, gate, idOf, left, orderOf, platform, rich, Stage } from "./ScansHarness.ts"

const claimOf = (buyer: ScanBuyer, fingerprint = "this", key = "once"): IdempotencyClaim => ({
  tenant_id: buyer._tag === "PaidCall" ? "" : buyer.tenant_id,
  operation: "scans.scan",
  key,
  fingerprint
})
const scan = (buyer: ScanBuyer, domain: string, changed: Partial<ScanOrder> = {}, claim = claimOf(buyer)) =>
  Effect.flatMap(Scans, (scans) => scans.scan(buyer, orderOf(domain, changed), claim))

/** After some time none of these has come to its end. */
const waits = (...fibers: ReadonlyArray<Fiber.Fiber<unknown, unknown>>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`SELECT pg_sleep(0.1)`
    for (const fiber of fibers) assert.isUndefined(fiber.pollUnsafe())
  })

const tenantIn = (buyer: ScanBuyer) =>
  buyer._tag === "PaidCall" ? Effect.die("Somebody has no credits") : Effect.succeed(buyer.tenant_id)

/** A process charges under the key, and is killed. */
const died = Effect.fnUntraced(function* (buyer: ScanBuyer) {
  const { chargeOnce } = yield* ScannerCredits
  const taken = yield* chargeOnce(Credits.orderOf(yield* tenantIn(buyer)), nothingYet, claimOf(buyer))
  assert.isTrue(Option.isSome(taken))
})

/** Time goes by, a second for each time that the database is asked, until this has come to its end. */
const passing = Effect.fnUntraced(function* (fiber: Fiber.Fiber<unknown, unknown>) {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.andThen(sql`SELECT pg_sleep(0.002)`, TestClock.adjust("1 second")).pipe(
    Effect.repeat({ until: () => fiber.pollUnsafe() !== undefined })
  )
})

layer(platform(), { timeout: "60 seconds" })("a scan under a key", (it) => {
  it.effect("is charged once, and the repetition gets the same for nothing", () =>
    Effect.gen(function* () {
      const buyer = yield* rich
      const domain = aDomain()
      const first = yield* scan(buyer, domain)
      const again = yield* scan(buyer, domain)
      assert.deepStrictEqual([first.charged, first.remaining, first.replayed], [1, 99, false])
      assert.deepStrictEqual(again, { ...first, charged: 0, replayed: true })
      assert.strictEqual(yield* left(buyer), 99)
    })
  )

  it.effect("is answered as it is by then, though there are newer ones", () =>
    Effect.gen(function* () {
      const buyer = yield* rich
      const domain = aDomain()
      const first = yield* scan(buyer, domain)
      yield* TestClock.adjust("23 hours")
      yield* scan(buyer, domain, {}, claimOf(buyer, "this", "another"))
      const again = yield* scan(buyer, domain)
      assert.deepStrictEqual([idOf(again), again.replayed, yield* left(buyer)], [idOf(first), true, 98])
    })
  )

  it.effect("is made again after 24 hours", () =>
    Effect.gen(function* () {
      const buyer = yield* rich
      const domain = aDomain()
      const first = yield* scan(buyer, domain)
      yield* TestClock.adjust("24 hours")
      const again = yield* scan(buyer, domain)
      assert.deepStrictEqual([again.charged, idOf(again) === idOf(first)], [1, false])
    })
  )

  it.effect("is charged once by 100 at once in two processes, and looked at once", () =>
    Effect.gen(function* () {
      const [here, there] = [yield* Scans, yield* another()]
      const stage = yield* Stage
      const buyer = yield* rich
      const domain = aDomain()
      const all = yield* Effect.forEach(
        Array.from({ length: 100 }, (_, index) => (index % 2 ? here : there.scans)),
        (scans) => scans.scan(buyer, orderOf(domain), claimOf(buyer)),
        { concurrency: 100 }
      )
      assert.strictEqual(new Set(all.map(idOf)).size, 1)
      assert.strictEqual(all.filter(({ replayed }) => replayed).length, 99)
      assert.strictEqual(yield* left(buyer), 99)
      const looks = [...stage.looked, ...there.stage.looked].filter((one) => one === domain)
      assert.strictEqual(looks.length, 1)
    })
  )

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

  it.effect("is another one's when the parameters differ, also while the first is under way", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const buyer = yield* rich
      const { scan: usual } = stage
      const { entered, open, through } = yield* gate
      stage.scan = () => Effect.andThen(through, Effect.succeed(findings()))
      const first = yield* Effect.forkChild(scan(buyer, aDomain()))
      yield* entered
      const other = Effect.flip(scan(buyer, aDomain(), {}, claimOf(buyer, "that")))
      assert.deepInclude(yield* other, { _tag: "IDEMPOTENCY_KEY_REUSED", key: "once" })
      yield* open
      yield* Fiber.join(first)
      assert.deepInclude(yield* other, { _tag: "IDEMPOTENCY_KEY_REUSED", key: "once" })
      assert.strictEqual(yield* left(buyer), 99)
      stage.scan = usual
    })
  )

  it.effect("leaves the key free, for anything, when there are too few credits", () =>
    Effect.gen(function* () {
      const buyer = by(yield* tenantWith(0))
      assert.strictEqual((yield* Effect.flip(scan(buyer, aDomain())))._tag, "INSUFFICIENT_CREDITS")
      yield* Credits.grant(yield* tenantIn(buyer), 1)
      const { charged, replayed } = yield* scan(buyer, aDomain(), {}, claimOf(buyer, "that"))
      assert.deepStrictEqual([charged, replayed], [1, false])
    })
  )

  it.effect("leaves the key free when the domain is refused, before and after the charge", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const buyer = yield* rich
      const { scan: usual } = stage
      const domain = aDomain()
      stage.scan = () => Effect.fail(new DomainNotAllowed({ domain, reason: "RobotsDisallowed" }))
      for (const refused of ["127.0.0.1", domain]) {
        assert.strictEqual((yield* Effect.flip(scan(buyer, refused)))._tag, "DOMAIN_NOT_ALLOWED")
      }
      stage.scan = usual
      const { charged, replayed } = yield* scan(buyer, aDomain(), {}, claimOf(buyer, "that"))
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

  it.effect("goes on when its caller hangs up, and the repetition gets it", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const buyer = yield* rich
      const domain = aDomain()
      const { scan: usual } = stage
      const { entered, open, through } = yield* gate
      stage.scan = () => Effect.andThen(through, Effect.succeed(findings()))
      const first = yield* Effect.forkChild(scan(buyer, domain))
      yield* entered
      yield* Fiber.interrupt(first)
      yield* open
      const again = yield* scan(buyer, domain)
      assert.deepStrictEqual([again.replayed, yield* left(buyer)], [true, 99])
      stage.scan = usual
    })
  )

  it.effect("that was fresh is the answer still when it is stale, and costs nothing", () =>
    Effect.gen(function* () {
      const buyer = yield* rich
      const domain = aDomain()
      const made = yield* scan(buyer, domain, {}, claimOf(buyer, "this", "made"))
      yield* TestClock.adjust("23 hours")
      const first = yield* scan(buyer, domain, { skip_if_fresh: true })
      yield* TestClock.adjust("2 hours")
      const again = yield* scan(buyer, domain, { skip_if_fresh: true })
      assert.deepStrictEqual([first, again].map(idOf), [idOf(made), idOf(made)])
      assert.deepStrictEqual([first.replayed, again.replayed, again.record.status], [false, true, "stale"])
      assert.strictEqual(yield* left(buyer), 99)
    })
  )

  it.effect("that was fresh is asked for by 100 at once and answered first once", () =>
    Effect.gen(function* () {
      const buyer = yield* rich
      const domain = aDomain()
      yield* scan(buyer, domain, {}, claimOf(buyer, "this", "made"))
      const all = yield* Effect.all(
        Array.from({ length: 100 }, () => scan(buyer, domain, { skip_if_fresh: true })),
        { concurrency: 100 }
      )
      assert.deepStrictEqual([all.filter(({ replayed }) => replayed).length, yield* left(buyer)], [99, 99])
    })
  )
})
