import { assert, it } from "@effect/vitest"
import { Cause, Effect, Logger } from "effect"
import { toProblem } from "#api/Problems.ts"
import { ServiceUnavailable } from "#domain/Refusal.ts"
import { logFault } from "#http/Faults.ts"
import { StatementFailed } from "#services/Database/Pipeline.ts"
import { sayingOf } from "#services/Database/Reasons.ts"
import { unavailable } from "#services/Ledger/Telling.ts"

it.effect("what is refused for a while has its reason in the log, and not in the answer", () =>
  Effect.gen(function* () {
    const written: Array<string> = []
    const keep = Logger.layer([Logger.make(({ message }) => void written.push(String(message)))])
    const full = new StatementFailed({
      code: "53100",
      message: "could not extend file: No space left",
      cause: undefined
    })
    const cause = yield* Effect.flip(Effect.sandbox(unavailable(sayingOf(full))))
    yield* Effect.provide(logFault("POST /v1/transfers", cause), keep)
    assert.deepStrictEqual(written, ["POST /v1/transfers is unavailable: could not extend file: No space left"])
    assert.notInclude(JSON.stringify(toProblem(Cause.squash(cause))), "No space left")
    assert.deepStrictEqual(toProblem(ServiceUnavailable.because("a", 2))?.details, { retry_after: 2 })
  })
)
