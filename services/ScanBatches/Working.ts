import { DateTime, Duration, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { retryAfter } from "#domain/ChainSettlement.ts"
import { later } from "#domain/Instant.ts"
import { progressed, type TargetOutcome } from "#domain/ScanBatch.ts"
import { type Charge, ScannerCredits } from "../ScannerCredits.ts"
import { type ScanOrder, Scans } from "../Scans.ts"
import type { ScanBatchPolicy } from "./Policy.ts"
import type * as Records from "./Records.ts"

/** The charge of a batch, which has the batch's id. */
const chargeOf = ({ credits_charged, id, tenant_id }: Records.BatchRow): Charge => ({
  id,
  tenant_id,
  credits: credits_charged
})

/** Ends the charge of a batch that is over, in two halves: one within the transaction that ends the batch, one after it. */
export const closing = Effect.map(ScannerCredits, (credits) => {
  const reason = (batch: Records.BatchRow) => (batch.status === "cancelled" ? "batch_cancelled" : "targets_not_scanned")
  return {
    /** Joins the transaction. */
    decide: (batch: Records.BatchRow) => {
      if (batch.completed_at === null) return Effect.void
      return batch.credits_returned === 0
        ? Effect.asVoid(credits.earn(chargeOf(batch)))
        : credits.promiseBack(chargeOf(batch), reason(batch), batch.credits_returned)
    },
    /** Gives what was decided, if anything was; what the tenant has then. */
    pay: (batch: Records.BatchRow) =>
      batch.completed_at === null || batch.credits_returned === 0
        ? Effect.map(credits.balance(batch.tenant_id), ({ balance }) => balance)
        : credits.giveBack(chargeOf(batch), reason(batch), batch.credits_returned)
  }
})

/** Scans targets and says in their batch what became of them. */
export const make = Effect.fnUntraced(function* (
  records: Effect.Success<typeof Records.make>,
  policy: ScanBatchPolicy
) {
  const sql = yield* SqlClient.SqlClient
  const scans = yield* Scans
  const close = yield* closing
  const pauses = { first: Duration.toMillis(policy.firstRetry), longest: Duration.toMillis(policy.longestRetry) }

  const scan = Effect.fnUntraced(
    function* (target: Records.TakenTarget): Effect.fn.Return<TargetOutcome, Refusals> {
      const { source, tenant_id } = target
      const began = yield* DateTime.nowAsDate
      const { record } = yield* scans.scan({ _tag: "Batch", tenant_id, source }, orderOf(target))
      const { id: scan_id, readiness_score, scanned_at } = record
      if (record.status === "failed") return { _tag: "Failed", scan_id, error: "SITE_UNREACHABLE" }
      // What was known before we asked costs nothing.
      const isBilled = !(target.skip_if_fresh && scanned_at !== null && scanned_at < began)
      return { _tag: "Completed", scan_id, readiness_score, isBilled }
    },
    (scanning, target) =>
      scanning.pipe(
        Effect.timeoutOrElse({ duration: policy.patience, orElse: () => Effect.succeed(again(0)) }),
        Effect.catchTags({
          DOMAIN_NOT_ALLOWED: ({ _tag }) => Effect.succeed(failed(_tag)),
          SCANNER_UNAVAILABLE: ({ _tag, reason, retry_after }) =>
            Effect.succeed(
              reason === "Busy" || target.attempts < policy.failures ? again(retry_after * 1000) : failed(_tag)
            ),
          // A batch was paid for, once under its key, when it was made.
          INSUFFICIENT_CREDITS: Effect.die,
          IDEMPOTENCY_KEY_REUSED: Effect.die
        }),
        Effect.catchDefect((defect) =>
          Effect.as(Effect.logError("A target of a batch could not be scanned", aboutOf(target), defect), again(0))
        )
      )
  )

  /** Each target ends once: whoever has lost its lease writes nothing. */
  const written = Effect.fnUntraced(function* (target: Records.TakenTarget, outcome: TargetOutcome) {
    const batch = yield* records.lock(target.tenant_id, target.batch_id)
    if (Option.isNone(batch)) return Option.none()
    const now = yield* DateTime.nowAsDate
    const final = outcome._tag === "Again" && batch.value.status === "cancelled" ? cancelled : outcome
    const { attempts, batch_id, position } = target
    const isOurs = yield* records.write({ batch_id, position, attempts, ...rowOf(final, now) })
    if (!isOurs || final._tag === "Again") return Option.none()
    const next = progressed(batch.value, countOf(final), now)
    yield* records.save(next)
    yield* close.decide(next)
    return Option.some(next)
  }, sql.withTransaction)

  const record = Effect.fnUntraced(function* (target: Records.TakenTarget, outcome: TargetOutcome) {
    const batch = yield* Effect.orDie(written(target, outcome))
    if (Option.isSome(batch) && batch.value.completed_at !== null) yield* close.pay(batch.value)
  })

  /** When it is tried again: later each time, and at last not any more. */
  const paced = ({ attempts }: Records.TakenTarget, outcome: TargetOutcome): TargetOutcome => {
    if (outcome._tag !== "Again") return outcome
    if (attempts >= policy.attempts) return failed("SCANNER_UNAVAILABLE")
    return again(Math.max(outcome.after, retryAfter(attempts, pauses)))
  }

  const begin = (target: Records.TakenTarget): Effect.Effect<TargetOutcome> => {
    if (target.batch_status === "cancelled") return Effect.succeed(cancelled)
    // It was begun that often, and each time its process was lost.
    if (target.attempts > policy.attempts) return Effect.succeed(failed("SCANNER_UNAVAILABLE"))
    return Effect.map(scan(target), (outcome) => paced(target, outcome))
  }

  /** Takes one target as far as it gets. Never fails; what is not recorded comes again with the end of its lease. */
  return (target: Records.TakenTarget): Effect.Effect<void> =>
    begin(target).pipe(
      // Somebody else shall not have to wait for the lease of a process that ends.
      Effect.onInterrupt(() => record(target, again(0))),
      Effect.flatMap((outcome) => Effect.uninterruptible(record(target, outcome))),
      Effect.catchCause((cause) =>
        Effect.logError("A target of a batch could not be recorded; it comes again", aboutOf(target), cause)
      )
    )
})

type Refusals = Effect.Error<ReturnType<Scans["Service"]["scan"]>>

const again = (after: number): TargetOutcome => ({ _tag: "Again", after })
const failed = (error: string): TargetOutcome => ({ _tag: "Failed", scan_id: null, error })
const cancelled: TargetOutcome = { _tag: "Cancelled" }

const aboutOf = ({ batch_id, position }: Records.TakenTarget) => ({ batch_id, position })

const orderOf = (target: Records.TakenTarget): ScanOrder => ({
  domain: target.domain,
  merchant_name: target.merchant_name,
  merchant_category: target.merchant_category,
  country_code: target.country_code,
  region: target.region,
  skip_if_fresh: target.skip_if_fresh
})

const nothing = { scan_id: null, readiness_score: null, error: null, due_at: null }
const rowOf = (outcome: TargetOutcome, now: Date): Omit<Records.Written, "batch_id" | "position" | "attempts"> => {
  switch (outcome._tag) {
    case "Completed":
      return {
        ...nothing,
        status: "completed",
        scan_id: outcome.scan_id,
        readiness_score: outcome.readiness_score
      }
    case "Failed":
      return { ...nothing, status: "failed", scan_id: outcome.scan_id, error: outcome.error }
    case "Cancelled":
      return { ...nothing, status: "cancelled" }
    case "Again":
      return { ...nothing, status: "pending", due_at: later(now, outcome.after) }
  }
}

const countOf = (outcome: Exclude<TargetOutcome, { readonly _tag: "Again" }>) => {
  if (outcome._tag === "Completed") return { completed: 1, billed: outcome.isBilled ? 1 : 0 }
  return outcome._tag === "Failed" ? { failed: 1 } : { cancelled: 1 }
}
