import { Effect, Option, Schema } from "effect"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { type Change, Dispute, disputeOnWire } from "#domain/Dispute.ts"
import { type DisputeId, type TenantId, toTypeId } from "#domain/Ids.ts"
import { Superseded } from "#domain/PostingRefused.ts"
import { NotFound } from "#domain/Refusal.ts"
import { Ledger } from "../Ledger.ts"
import { once } from "../Ledger/Once.ts"
import type { RefundParts } from "../Refunds/Making.ts"
import { expectRefusals } from "../Refunds/Deciding.ts"
import { remembered } from "../Transfers.ts"
import type * as Records from "./Records.ts"
import { disputeEvent, type DisputeRow, shown, writeDispute } from "./Records.ts"

/** A dispute, and whether it is the stored result of an earlier request. */
export interface Disputed {
  readonly dispute: Dispute
  readonly replayed: boolean
}

/** What is decided about a dispute, and the refund that goes with it. */
export interface Decided {
  readonly change: Change
  readonly refund?: RefundParts | undefined
  /** The moment from which on nobody may decide so any more, whoever decided before and came late. */
  readonly until?: Date | undefined
}

/** The dispute, and the command that is to change it: its id stays the same however often it is decided anew. */
export interface Target {
  readonly tenant_id: TenantId
  readonly id: DisputeId
  readonly command_id: string
  readonly claim?: IdempotencyClaim | undefined
}

/** Changes disputes, each in one command together with the refund, if there is one. */
export const make = Effect.fnUntraced(function* (records: Effect.Success<typeof Records.make>) {
  const ledger = yield* Ledger

  const find = Effect.fnUntraced(function* (tenant_id: TenantId, id: DisputeId) {
    const found = yield* records.find(tenant_id, id)
    if (Option.isSome(found)) return found.value
    return yield* new NotFound({ resource: "dispute", id: toTypeId("dp", id) })
  })

  const change = Effect.fnUntraced(function* <E>(
    { claim, command_id, id, tenant_id }: Target,
    decide: (row: DisputeRow) => Effect.Effect<Decided, E>
  ) {
    const found = yield* Effect.result(find(tenant_id, id))
    if (found._tag === "Failure") return yield* orEarlier(ledger, claim, found.failure)
    const row = found.success
    const decided = yield* Effect.result(decide(row))
    if (decided._tag === "Failure") {
      // What it was decided on may be newer than the dispute, and be what ended it.
      const { version } = yield* find(tenant_id, id)
      if (version !== row.version) return yield* new Superseded({ scope: row.id })
      return yield* orEarlier(ledger, claim, decided.failure)
    }
    const { change, refund, until } = decided.success
    const steps = refund?.steps ?? []
    const made = remembered(
      ({ at }): DisputeRow => ({
        ...row,
        ...change,
        refund_id: refund?.id ?? null,
        version: row.version + 1n,
        updated_at: at,
        resolved_at: change.status === "resolved" ? at : null
      })
    )
    const posted = yield* ledger
      .post({
        id: command_id,
        steps,
        fences: [
          { scope: row.id, expected: row.version, ...(until && { until }) },
          ...(refund === undefined ? [] : [refund.fence])
        ],
        ...(claim === undefined
          ? steps.length === 0 && once(tenant_id, command_id)
          : { idempotency: claim, result: (done) => disputeOnWire(shown(made(done))) }),
        rows: (done) => [writeDispute(made(done)), ...(refund?.rows(done) ?? [])],
        events: (done) => [
          ...(refund?.events(done) ?? []),
          disputeEvent(change.status !== "resolved" ? "updated" : "resolved", made(done))
        ]
      })
      .pipe(expectRefusals)
    if (!posted.replayed) return { dispute: shown(made(posted)), replayed: false }
    if (posted.command_id === command_id) {
      return { dispute: shown(yield* Effect.orDie(find(tenant_id, id))), replayed: false }
    }
    return yield* earlierAnswer(posted.result)
  })

  return { find, change }
})

export type Changing = Effect.Success<ReturnType<typeof make>>

/** What was answered under the same key, where what was asked for is no longer possible. */
export const orEarlier = Effect.fnUntraced(function* <E>(
  ledger: Ledger["Service"],
  claim: IdempotencyClaim | undefined,
  refused: E
) {
  const earlier = claim === undefined ? Option.none() : yield* ledger.recall(claim)
  return Option.isSome(earlier) ? yield* earlierAnswer(earlier.value) : yield* Effect.fail(refused)
})

/** The answer that was kept under a key. */
export const earlierAnswer = (stored: unknown): Effect.Effect<Disputed> =>
  Effect.map(Effect.orDie(decode(stored)), (dispute) => ({ dispute, replayed: true }))

const decode = Schema.decodeUnknownEffect(Dispute)
