import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { aDomain, findings, gate, left, platform, rich, scan, Stage } from "./ScansHarness.ts"

const limits = { atOnce: 1, queue: 5, share: 0.5, callers: 8, longest: Duration.seconds(60) }

/** Until a scan of the domain has been claimed. Soon after that it asks for its turn, perhaps behind one that was claimed later. */
const waits = Effect.fnUntraced(function* (domain: string) {
  const sql = yield* SqlClient.SqlClient
  const claimed = sql`SELECT 1 AS one FROM scanner_work WHERE domain = ${domain} AND status = 'pending'`
  yield* Effect.repeat(claimed, { until: (rows) => rows.length > 0 })
})

layer(platform({ scans: limits }), { timeout: "60 seconds" })("tenants who want scans at once", (it) => {
  it.effect("have half of the room each at most, and are served in turn", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const [greedy, other] = [yield* rich, yield* rich]
      const [first, second, third, late] = [aDomain(), aDomain(), aDomain(), aDomain()]
      const { entered, open, through } = yield* gate
      stage.scan = () => Effect.andThen(through, Effect.succeed(findings()))
      const asked = [yield* Effect.forkChild(scan(first, {}, greedy))]
      yield* entered
      for (const [domain, buyer] of [
        [second, greedy],
        [third, greedy],
        [late, other]
      ] as const) {
        asked.push(yield* Effect.forkChild(scan(domain, {}, buyer)))
        yield* waits(domain)
      }
      const refused = yield* Effect.flip(scan(aDomain(), {}, greedy))
      assert.deepInclude(refused, { _tag: "SCANNER_UNAVAILABLE", reason: "Busy" })
      yield* open
      yield* Effect.forEach(asked, Fiber.join)
      const [head, ...behind] = stage.looked
      assert.deepStrictEqual([head, behind.toSorted()], [first, [second, third, late].toSorted()])
      assert.notStrictEqual(behind.at(-1), late)
      assert.deepStrictEqual([yield* left(greedy), yield* left(other)], [97, 99])
    })
  )

  it.effect("wait in half of the places at most, also for one scan", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const [greedy, other] = [yield* rich, yield* rich]
      const domain = aDomain()
      const { open, through } = yield* gate
      stage.scan = () => Effect.andThen(through, Effect.succeed(findings()))
      const asked = yield* Effect.forEach([greedy, greedy, greedy, greedy, other], (buyer) =>
        Effect.forkChild(scan(domain, {}, buyer))
      )
      yield* Effect.repeat(Effect.all([left(greedy), left(other)]), { until: ([a, b]) => a === 96 && b === 99 })
      assert.strictEqual((yield* Effect.flip(scan(domain, {}, greedy)))._tag, "SCANNER_UNAVAILABLE")
      assert.strictEqual(yield* left(greedy), 96)
      yield* open
      yield* Effect.forEach(asked, Fiber.join)
    })
  )

  it.effect("have their room back when they leave, begun or not", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const { entered, through } = yield* gate
      stage.scan = () => Effect.andThen(through, Effect.succeed(findings()))
      // Who pays for the very call ends it by hanging up.
      const one = yield* Effect.forkChild(scan(aDomain()))
      yield* entered
      const two = yield* Effect.forkChild(scan(aDomain()))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(two)
      yield* Fiber.interrupt(one)
      stage.scan = () => Effect.succeed(findings())
      for (const _ of [1, 2, 3]) yield* scan(aDomain())
    })
  )
})
