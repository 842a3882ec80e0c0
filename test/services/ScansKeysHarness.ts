import { assert } from "@effect/vitest"
import { Effect, type Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { nothingYet } from "#services/IdempotencyKeys.ts"
import { ScannerCredits } from "#services/ScannerCredits.ts"
import { type ScanBuyer, type ScanOrder, Scans } from "#services/Scans.ts"
import * as Credits from "./ScannerCreditsHarness.ts"
import { orderOf } from "./ScansHarness.ts"

/** The claim of a request with these parameters. */
export const claimOf = (buyer: ScanBuyer, fingerprint = "this", key = "once"): IdempotencyClaim => ({
  tenant_id: buyer._tag === "PaidCall" ? "" : buyer.tenant_id,
  operation: "scans.scan",
  key,
  fingerprint
})
/** Orders a scan under a key. */
export const scan = (buyer: ScanBuyer, domain: string, changed: Partial<ScanOrder> = {}, claim = claimOf(buyer)) =>
  Effect.flatMap(Scans, (scans) => scans.scan(buyer, orderOf(domain, changed), claim))

/** After some time none of these has come to its end. */
export const waits = (...fibers: ReadonlyArray<Fiber.Fiber<unknown, unknown>>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`SELECT pg_sleep(0.1)`
    for (const fiber of fibers) assert.isUndefined(fiber.pollUnsafe())
  })

/** Whose credits they are. */
export const tenantIn = (buyer: ScanBuyer) =>
  buyer._tag === "PaidCall" ? Effect.die("Somebody has no credits") : Effect.succeed(buyer.tenant_id)

/** A process charges under the key, and is killed. */
export const died = Effect.fnUntraced(function* (buyer: ScanBuyer) {
  const { chargeOnce } = yield* ScannerCredits
  const order = Credits.orderOf(yield* tenantIn(buyer))
  const { replayed } = yield* chargeOnce(order, { record: () => nothingYet }, claimOf(buyer))
  assert.isFalse(replayed)
})

/** Time goes by, a second for each time that the database is asked, until this has come to its end. */
export const passing = Effect.fnUntraced(function* (fiber: Fiber.Fiber<unknown, unknown>) {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.andThen(sql`SELECT pg_sleep(0.002)`, TestClock.adjust("1 second")).pipe(
    Effect.repeat({ until: () => fiber.pollUnsafe() !== undefined })
  )
})
