import { Data, DateTime, Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { IdempotencyKeyReused } from "#domain/PostingRefused.ts"

/** What is kept under the key of an order: the id of its record, once there is one. */
export const Kept = Schema.Struct({ record: Schema.NullOr(Schema.String) })

/** What is kept from the charge on, until there is a record. */
export const nothingYet: typeof Kept.Type = { record: null }

/** Somebody else's order stands under the key since it was looked at. */
export class KeyTaken extends Data.TaggedError("KeyTaken") {}

/** Keys of orders: each is claimed by the charge that it stands for, which says how the order goes. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const named = ({ key, operation, tenant_id }: IdempotencyClaim) =>
    sql`tenant_id = ${tenant_id} AND operation = ${operation} AND key = ${key}`
  const find = SqlSchema.findOneOption({
    Request: Schema.Struct({
      tenant_id: Schema.String,
      operation: Schema.String,
      key: Schema.String,
      now: Schema.Date
    }),
    Result: Schema.Struct({
      fingerprint: Schema.String,
      command_id: Schema.String,
      result: Kept,
      is_returned: Schema.Boolean
    }),
    execute: ({ key, now, operation, tenant_id }) =>
      sql`SELECT k.fingerprint, k.command_id, k.result, coalesce(c.state = 'returned', false) AS is_returned
        FROM idempotency_keys k LEFT JOIN credit_charges c ON c.id = k.command_id
        WHERE k.tenant_id = ${tenant_id} AND k.operation = ${operation} AND k.key = ${key} AND k.expires_at > ${now}`
  })

  /** The record of the order under this key, null while there is none; nothing when the key is free. */
  const look = Effect.fn("Scans.look")(function* (claim: IdempotencyClaim) {
    const found = yield* Effect.orDie(find({ ...claim, now: yield* DateTime.nowAsDate }))
    if (Option.isNone(found)) return Option.none()
    const { command_id, fingerprint, is_returned, result } = found.value
    if (is_returned && result.record === null) {
      // It came to nothing and cost nothing. Unless the key stands for a later one already.
      yield* Effect.orDie(sql`DELETE FROM idempotency_keys WHERE ${named(claim)} AND command_id = ${command_id}`)
      return Option.none()
    }
    if (fingerprint !== claim.fingerprint) return yield* new IdempotencyKeyReused({ key: claim.key })
    return Option.some(result.record)
  })
  /** Keeps the record of a charge under its key. Joins the caller's transaction. */
  const keep = (claim: IdempotencyClaim, charge: string, record: string) =>
    sql`UPDATE idempotency_keys SET result = ${toJson({ record })}::json
      WHERE ${named(claim)} AND command_id = ${charge}`
  return { look, keep }
})

const toJson = Schema.encodeSync(Schema.fromJsonString(Kept))
