import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { IdempotencyClaim } from "#domain/Command.ts"
import type { EventDraft } from "#domain/Event.ts"
import type { TenantId } from "#domain/Ids.ts"
import { EventLog } from "../EventLog.ts"
import { IdempotencyKeys } from "../IdempotencyKeys.ts"
import { type OpenCharge, ScannerCredits } from "../ScannerCredits.ts"

/** Who waits for a record, and the charge for it. Of a call that somebody paid for there is neither tenant nor charge. */
export interface Member {
  readonly tenant_id: TenantId | undefined
  readonly charge: OpenCharge | undefined
  /** The key that stands for the charge. */
  readonly claim: IdempotencyClaim | undefined
}

/** What ended, as it is told to those who asked. */
export interface Ended {
  readonly id: string
  readonly fact: Pick<EventDraft, "type" | "data">
}

/** Charges are earned, the record is kept under their keys and the asking tenants are told by one transaction, once each. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const credits = yield* ScannerCredits
  const log = yield* EventLog
  const keys = yield* IdempotencyKeys

  const Tenants = Schema.Array(Schema.Struct({ tenant_id: Schema.String }))
  const told = Effect.fnUntraced(function* (id: string, tenants: ReadonlyArray<string>) {
    if (tenants.length === 0) return []
    const rows = yield* sql`INSERT INTO scanner_askers (record_id, tenant_id)
      SELECT ${id}, tenant_id FROM unnest(${tenants}::uuid[]) AS asked (tenant_id)
      ON CONFLICT DO NOTHING RETURNING tenant_id`
    return yield* Schema.decodeUnknownEffect(Tenants)(rows)
  })
  /** Which of the charges were earned: all but those that were given back before. */
  const settle = Effect.fn("Scans.settle")(function* ({ fact, id }: Ended, members: ReadonlyArray<Member>) {
    const tenants = new Set(members.flatMap(({ tenant_id }) => tenant_id ?? []))
    const fresh = yield* told(id, [...tenants])
    const settled = new Map<Member, boolean>()
    for (const member of members)
      settled.set(member, member.charge !== undefined && (yield* credits.earn(member.charge)))
    yield* log.append(fresh.map(({ tenant_id }) => ({ tenant_id, ...fact })))
    // Last: a repetition that has the head of the log may want this very key, and we would want the head for the facts.
    yield* keys.keepRecord(
      id,
      members.flatMap(({ charge, claim }) =>
        claim === undefined || charge === undefined ? [] : { claim, command_id: charge.id }
      )
    )
    return settled
  }, Effect.orDie)
  return { settle }
})
