import { Console, Effect, Runtime, Schema } from "effect"
import { Command } from "effect/cli"
import { Doctor, shown } from "#services/Doctor.ts"
import { Tenants } from "#services/Tenants.ts"
import { administered } from "./Administration.ts"

/** A promise about the books is broken; which one is printed. */
class BooksBroken extends Schema.TaggedError<BooksBroken>()("BooksBroken", {}) {
  override readonly [Runtime.errorReported] = false
}

/** Proves the books. */
export const doctor = Command.make("doctor", {}, () =>
  Effect.gen(function* () {
    const { examine } = yield* Doctor
    const findings = yield* examine
    for (const { broken, millis, promise } of findings) {
      yield* Console.log(`${broken.length === 0 ? "ok    " : "BROKEN"} ${promise} (${millis} ms)`)
      for (const row of broken) yield* Console.log(`         ${shown(row)}`)
    }
    const failed = findings.filter((finding) => finding.broken.length > 0).length
    yield* Console.log(
      failed === 0 ? "The books are in order." : `${failed} of ${findings.length} promises are broken.`
    )
    if (failed > 0) return yield* new BooksBroken()
    const some = yield* Effect.flatMap(Tenants, (tenants) => tenants.list({ page: 1, limit: 1 }))
    if (some.length === 0)
      yield* Console.error("This database has no tenant: no server has ever finished its start on it.")
  })
).pipe(
  Command.withDescription("Prove the books of the database, in one snapshot; exits 1 when a promise is broken"),
  administered
)
