import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Doctor } from "#services/Doctor.ts"
import { ScannerCredits } from "#services/ScannerCredits.ts"
import { created, notFound, platform, scanAll, scannerDoes, shops } from "./ScanBatchesHarness.ts"
import { charge, sound, tenantWith } from "./ScannerCreditsHarness.ts"

const damages = {
  "a charge that is lost": "DELETE FROM credit_charges WHERE state = 'earned'",
  "a charge of more than was taken": "UPDATE credit_charges SET credits = credits + 1 WHERE operation = 'test'",
  "a charge of somebody else": "UPDATE credit_charges SET tenant_id = gen_random_uuid() WHERE state = 'open'",
  "a charge that is said to be for something else":
    "UPDATE credit_charges SET operation = 'test' WHERE operation = 'scan'",
  "a return that is forgotten":
    "UPDATE credit_charges SET state = 'earned', returned = 0, reason = NULL WHERE operation = 'test'",
  "a return of more than came back": "UPDATE credit_charges SET returned = returned + 1 WHERE operation = 'test'",
  "a return that never came": `UPDATE credit_charges SET state = 'returned', returned = 1, reason = 'x', due_at = NULL,
    ended_at = created_at WHERE state = 'open' AND operation = 'scan'`,
  "credits out of nowhere": "UPDATE ledger_accounts SET posted = posted + 1000000 WHERE purpose = 'scanner_credits'",
  "a count that is off": "UPDATE tallies SET amount = amount + 1000000",
  "a batch that lost a target": "DELETE FROM scan_batch_targets WHERE position = 1",
  "a target that changed its mind": "UPDATE scan_batch_targets SET status = 'cancelled' WHERE status = 'completed'",
  "a batch that says it returned more than came back": `UPDATE scan_batches SET billed = 0, credits_returned = credits_charged
    WHERE status = 'completed'`,
  "a batch whose charge is still open": `UPDATE credit_charges SET state = 'open', returned = 0, reason = NULL,
    ended_at = NULL WHERE operation = 'batch' AND state = 'returned'`,
  "a batch without a charge": "UPDATE scan_batches SET id = gen_random_uuid()"
}

layer(platform, { timeout: "60 seconds" })("the doctor", (it) => {
  for (const [damage, statement] of Object.entries(damages)) {
    it.effect(`sees ${damage}`, () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { examine } = yield* Doctor
        const { earn, giveBack } = yield* ScannerCredits
        const tenant_id = yield* tenantWith(100)
        yield* earn(yield* charge(tenant_id))
        yield* charge(tenant_id)
        yield* giveBack(yield* charge(tenant_id, { operation: "test", credits: 5 }), "scanner_failed", 2)
        yield* scannerDoes((domain) => (domain === "shop0.com" ? Effect.succeed({}) : notFound(domain)))
        yield* created(tenant_id, shops(5))
        yield* scanAll
        yield* created(tenant_id, shops(3))
        yield* sound
        const broken = Effect.map(examine, (findings) => findings.filter((finding) => finding.broken.length > 0))
        const found = yield* sql
          .unsafe(statement)
          .pipe(Effect.andThen(broken), Effect.flatMap(Effect.fail), sql.withTransaction, Effect.flip)
        assert.isTrue(Array.isArray(found) && found.length > 0)
        yield* scannerDoes(() => Effect.succeed({}))
        yield* scanAll
        yield* sound
      })
    )
  }
})
