import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { type IdempotencyClaim, idempotencyName } from "#domain/Command.ts"
import { IdempotencyKeyReused } from "#domain/PostingRefused.ts"
import { inTransaction } from "./Database/InTransaction.ts"
import { Ledger } from "./Ledger.ts"
import { newUuid } from "./NewId.ts"
import * as Turns from "./Turns.ts"

/** What was made, and whether it is the stored result of an earlier request. */
export interface Made<A> {
  readonly record: A
  readonly replayed: boolean
}

/** What is kept under the key of work that ends later than the command that took the key: the id of its record, once there is one. */
export const Kept = Schema.Struct({ record: Schema.NullOr(Schema.String) })

/** A key that a command of the ledger took. */
export interface Taken {
  readonly claim: IdempotencyClaim
  readonly command_id: string
}

/** What such a command keeps. */
export const nothingYet: typeof Kept.Type = { record: null }

/**
 * Keys of what is made without the ledger, beside those of its own: a row and the thing it stands for commit together. And keys that a
 * command of the ledger took for work that ends later.
 */
export class IdempotencyKeys extends Context.Service<
  IdempotencyKeys,
  {
    /**
     * Makes a thing once in 24 hours under a claim, and whenever asked without one. `decide` may wait for others and is in no
     * transaction; what it gives writes, and joins the key's. A refusal of either stores nothing.
     */
    once<A, I, E, E2, R>(
      claim: IdempotencyClaim | undefined,
      schema: Schema.Codec<A, I>,
      decide: Effect.Effect<Effect.Effect<A, E, R>, E2, R>
    ): Effect.Effect<Made<A>, E | E2 | IdempotencyKeyReused, R>
    /**
     * The id of the record of the work under a claim, null while there is none; nothing when the key is free. It is free again, for
     * anything, when the command that took it has come to nothing.
     */
    recordOf(
      claim: IdempotencyClaim,
      cameToNothing: (command_id: string) => Effect.Effect<boolean>
    ): Effect.Effect<Option.Option<string | null>, IdempotencyKeyReused>
    /**
     * Keeps the record under each of these keys that still stands for its command. Joins the caller's transaction. Call it behind
     * `EventLog.append`: commands of the ledger come to keys with the head of the log in their hands.
     */
    keepRecord(record: string, taken: ReadonlyArray<Taken>): Effect.Effect<void>
  }
>()("turnpike/services/IdempotencyKeys") {
  static readonly layer = Layer.effect(
    IdempotencyKeys,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { recall } = yield* Ledger
      const inTurn = yield* Turns.make
      const named = ({ key, operation, tenant_id }: Pick<IdempotencyClaim, "key" | "operation" | "tenant_id">) =>
        sql`tenant_id = ${tenant_id} AND operation = ${operation} AND key = ${key}`

      // Whoever comes second waits here for the first, and takes the key only if that made nothing.
      const take = SqlSchema.findOneOption({
        Request: Schema.Struct({
          tenant_id: Schema.String,
          operation: Schema.String,
          key: Schema.String,
          fingerprint: Schema.String,
          id: Schema.String,
          now: Schema.Date,
          until: Schema.Date
        }),
        Result: Schema.Struct({ key: Schema.String }),
        execute: ({ fingerprint, id, key, now, operation, tenant_id, until }) =>
          sql`INSERT INTO idempotency_keys AS k (tenant_id, operation, key, fingerprint, command_id, result, expires_at)
            VALUES (${tenant_id}, ${operation}, ${key}, ${fingerprint}, ${id}, 'null', ${until})
            ON CONFLICT (tenant_id, operation, key) DO UPDATE
              SET fingerprint = EXCLUDED.fingerprint, command_id = EXCLUDED.command_id, expires_at = EXCLUDED.expires_at
              WHERE k.expires_at <= ${now} RETURNING key`
      })
      /** None when another process was first, and has committed. */
      const written = Effect.fnUntraced(function* <A, I, E, R>(
        claim: IdempotencyClaim,
        schema: Schema.Codec<A, I>,
        write: Effect.Effect<A, E, R>
      ) {
        const now = yield* DateTime.now
        const times = { now: DateTime.toDate(now), until: DateTime.toDate(DateTime.add(now, { hours: 24 })) }
        const taken = yield* Effect.orDie(take({ ...claim, ...times, id: newUuid() }))
        if (Option.isNone(taken)) return Option.none<A>()
        const record = yield* write
        const result = toJson(yield* Effect.orDie(Schema.encodeEffect(schema)(record)))
        yield* Effect.orDie(sql`UPDATE idempotency_keys SET result = ${result}::json WHERE ${named(claim)}`)
        return Option.some(record)
      })

      const attempt = Effect.fnUntraced(function* <A, I, E, E2, R>(
        claim: IdempotencyClaim,
        schema: Schema.Codec<A, I>,
        decide: Effect.Effect<Effect.Effect<A, E, R>, E2, R>
      ): Effect.fn.Return<Made<A>, E | E2 | IdempotencyKeyReused, R> {
        const earlier = yield* recall(claim)
        if (Option.isSome(earlier)) {
          const record = yield* Effect.orDie(Schema.decodeUnknownEffect(schema)(earlier.value))
          return { record, replayed: true }
        }
        const made = yield* inTransaction(sql)(written(claim, schema, yield* decide))
        return Option.isSome(made) ? { record: made.value, replayed: false } : yield* attempt(claim, schema, decide)
      })

      const once: IdempotencyKeys["Service"]["once"] = (claim, schema, decide) =>
        claim === undefined
          ? Effect.map(Effect.flatten(decide), (record) => ({ record, replayed: false }))
          : attempt(claim, schema, decide).pipe(inTurn(idempotencyName(claim)), Effect.withSpan("IdempotencyKeys.once"))

      const underWay = SqlSchema.findOneOption({
        Request: Schema.Struct({
          tenant_id: Schema.String,
          operation: Schema.String,
          key: Schema.String,
          now: Schema.Date
        }),
        Result: Schema.Struct({ fingerprint: Schema.String, command_id: Schema.String, result: Kept }),
        execute: ({ now, ...claim }) =>
          sql`SELECT fingerprint, command_id, result FROM idempotency_keys WHERE ${named(claim)} AND expires_at > ${now}`
      })
      const recordOf = Effect.fn("IdempotencyKeys.recordOf")(function* (
        claim: IdempotencyClaim,
        cameToNothing: (command_id: string) => Effect.Effect<boolean>
      ) {
        const found = yield* Effect.orDie(underWay({ ...claim, now: yield* DateTime.nowAsDate }))
        if (Option.isNone(found)) return Option.none()
        const { command_id, fingerprint, result } = found.value
        if (result.record === null && (yield* cameToNothing(command_id))) {
          // Unless the key stands for a later one by now, or there is a record all the same.
          yield* Effect.orDie(sql`DELETE FROM idempotency_keys
            WHERE ${named(claim)} AND command_id = ${command_id} AND result->>'record' IS NULL`)
          return Option.none()
        }
        if (fingerprint !== claim.fingerprint) return yield* new IdempotencyKeyReused({ key: claim.key })
        return Option.some(result.record)
      })
      const keepRecord = Effect.fn("IdempotencyKeys.keepRecord")(function* (
        record: string,
        taken: ReadonlyArray<Taken>
      ) {
        if (taken.length === 0) return
        yield* Effect.orDie(sql`UPDATE idempotency_keys k SET result = ${toJson({ record } satisfies typeof Kept.Type)}::json
          FROM unnest(${taken.map(({ claim }) => claim.tenant_id)}::uuid[], ${taken.map(({ claim }) => claim.operation)}::text[],
            ${taken.map(({ claim }) => claim.key)}::text[], ${taken.map(({ command_id }) => command_id)}::uuid[])
            AS t (tenant_id, operation, key, command_id)
          WHERE k.tenant_id = t.tenant_id AND k.operation = t.operation AND k.key = t.key AND k.command_id = t.command_id`)
      })

      return IdempotencyKeys.of({ once, recordOf, keepRecord })
    })
  )
}

const toJson = Schema.encodeSync(Schema.fromJsonString(Schema.Unknown))
