import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { DomainNotAllowed } from "#domain/MerchantDomain.ts"
import { Scans } from "#services/Scans.ts"
import { grant, tenantWith } from "./ScannerCreditsHarness.ts"
import { aDomain, another, by, findings, gate, idOf, left, orderOf, platform, rich, Stage } from "./ScansHarness.ts"
import { claimOf, scan, tenantIn } from "./ScansKeysHarness.ts"

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
      yield* grant(yield* tenantIn(buyer), 1)
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
