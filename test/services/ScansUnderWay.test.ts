import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { ScannerCredits } from "#services/ScannerCredits.ts"
import { tenantWith } from "./ScannerCreditsHarness.ts"
import { aDomain, by, gate, left, platform, rich, scan, Stage, told } from "./ScansHarness.ts"

layer(platform(), { timeout: "60 seconds" })("a scan that is under way", (it) => {
  it.effect("goes on when its caller hangs up, and is paid for and told", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const sql = yield* SqlClient.SqlClient
      const { scan: usual } = stage
      const buyer = yield* rich
      const domain = aDomain()
      const { entered, open, through } = yield* gate
      stage.scan = () => Effect.andThen(through, usual(domain))
      const caller = yield* Effect.forkChild(scan(domain, {}, buyer))
      yield* entered
      yield* Fiber.interrupt(caller)
      yield* open
      stage.scan = usual
      yield* Effect.repeat(sql`SELECT id FROM merchant_scans WHERE domain = ${domain}`, {
        until: (rows) => rows.length > 0
      })
      assert.deepStrictEqual([yield* left(buyer), (yield* told(buyer)).length], [99, 1])
    })
  )

  it.effect("that is paid for by the call ends when its caller hangs up, who does not pay", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const sql = yield* SqlClient.SqlClient
      const { scan: usual } = stage
      const domain = aDomain()
      const { entered, open, through } = yield* gate
      stage.scan = () => Effect.andThen(through, usual(domain))
      const caller = yield* Effect.forkChild(scan(domain))
      yield* entered
      yield* Fiber.interrupt(caller)
      yield* Effect.repeat(sql`SELECT count(*)::int AS n FROM scanner_work WHERE domain = ${domain}`, {
        until: ([row]) => row?.["n"] === 0
      })
      yield* open
      stage.scan = usual
      const { record } = yield* scan(domain)
      const [row] = yield* sql`SELECT count(*)::int AS n FROM merchant_scans WHERE domain = ${domain}`
      assert.deepStrictEqual([row?.["n"], record.status], [1, "completed"])
    })
  )

  it.effect("goes on while somebody pays for it, when one who shares it hangs up", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const { scan: usual } = stage
      const buyer = yield* rich
      const domain = aDomain()
      const { entered, open, through } = yield* gate
      stage.scan = () => Effect.andThen(through, usual(domain))
      const caller = yield* Effect.forkChild(scan(domain, {}, buyer))
      yield* entered
      const other = yield* Effect.forkChild(scan(domain))
      // So that it shares by now.
      yield* Effect.repeat(left(buyer), { times: 5 })
      yield* Fiber.interrupt(other)
      yield* open
      stage.scan = usual
      assert.strictEqual((yield* Fiber.join(caller)).record.status, "completed")
      assert.strictEqual(stage.looked.filter((one) => one === domain).length, 1)
    })
  )

  it.effect("whose credit came back meanwhile says what is left then", () =>
    Effect.gen(function* () {
      const stage = yield* Stage
      const sql = yield* SqlClient.SqlClient
      const { scan: usual } = stage
      const tenant_id = yield* tenantWith(7)
      const domain = aDomain()
      const { entered, open, through } = yield* gate
      stage.scan = () => Effect.andThen(through, usual(domain))
      const caller = yield* Effect.forkChild(scan(domain, {}, by(tenant_id)))
      yield* entered
      const [row] = yield* sql`SELECT id FROM credit_charges WHERE tenant_id = ${tenant_id}`
      yield* (yield* ScannerCredits).giveBack({ id: String(row?.["id"]), tenant_id, credits: 1 }, "abandoned")
      yield* open
      stage.scan = usual
      const { charged, remaining } = yield* Fiber.join(caller)
      assert.deepStrictEqual([charged, remaining, yield* left(by(tenant_id))], [0, 7, 7])
    })
  )
})
