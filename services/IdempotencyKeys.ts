import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { type IdempotencyClaim, idempotencyName } from "#domain/Command.ts"
import type { IdempotencyKeyReused } from "#domain/PostingRefused.ts"
import { Ledger } from "./Ledger.ts"
import { newUuid } from "./NewId.ts"
import * as Turns from "./Turns.ts"

/** What was made, and whether it is the stored result of an earlier request. */
export interface Made<A> {
  readonly record: A
  readonly replayed: boolean
}

/** Keys of what is made without the ledger, beside those of its own: a row and the thing it stands for commit together. */
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
  }
>()("turnpike/services/IdempotencyKeys") {
  static readonly layer = Layer.effect(
    IdempotencyKeys,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { recall } = yield* Ledger
      const inTurn = yield* Turns.make

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
        const { key, operation, tenant_id } = claim
        const now = yield* DateTime.now
        const times = { now: DateTime.toDate(now), until: DateTime.toDate(DateTime.add(now, { hours: 24 })) }
        const taken = yield* Effect.orDie(take({ ...claim, ...times, id: newUuid() }))
        if (Option.isNone(taken)) return Option.none<A>()
        const record = yield* write
        const result = toJson(yield* Effect.orDie(Schema.encodeEffect(schema)(record)))
        yield* Effect.orDie(sql`UPDATE idempotency_keys SET result = ${result}::json
          WHERE tenant_id = ${tenant_id} AND operation = ${operation} AND key = ${key}`)
        return Option.some(record)
      })
      const inTransaction = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.catchTag(sql.withTransaction(effect), "SqlError", Effect.die)

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
        const made = yield* inTransaction(written(claim, schema, yield* decide))
        return Option.isSome(made) ? { record: made.value, replayed: false } : yield* attempt(claim, schema, decide)
      })

      const once: IdempotencyKeys["Service"]["once"] = (claim, schema, decide) =>
        claim === undefined
          ? Effect.map(Effect.flatten(decide), (record) => ({ record, replayed: false }))
          : attempt(claim, schema, decide).pipe(inTurn(idempotencyName(claim)), Effect.withSpan("IdempotencyKeys.once"))

      return IdempotencyKeys.of({ once })
    })
  )
}

const toJson = Schema.encodeSync(Schema.fromJsonString(Schema.Unknown))
