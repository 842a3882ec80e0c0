import { Cache, Context, Duration, Effect, Exit, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"

/** Keys of our own, shared by all processes on one database and known to nobody else. */
export class Secrets extends Context.Service<
  Secrets,
  {
    /**
     * 32 random bytes, made when the name is first asked for and the same ever after. Not for within a transaction, which may take back
     * what it made.
     */
    secret(name: string): Effect.Effect<Uint8Array>
  }
>()("turnpike/services/Secrets") {
  static readonly layer = Layer.effect(
    Secrets,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const valueOf = SqlSchema.findOneOption({
        Request: Schema.String,
        Result: Schema.Struct({ value: Schema.Uint8Array }),
        execute: (name) => sql`SELECT value FROM secrets WHERE name = ${name}`
      })
      const lookup = Effect.fn("Secrets.secret")(function* (name: string) {
        const found = yield* valueOf(name)
        // A standby can be read, and not written.
        if (Option.isSome(found)) return found.value.value
        // Of several starters one inserts; all read what it inserted.
        yield* sql`INSERT INTO secrets (name, value) VALUES (${name}, ${SecureRandom.randomBytesUnsafe(32)})
            ON CONFLICT (name) DO NOTHING`
        return Option.getOrThrow(yield* valueOf(name)).value
      }, Effect.orDie)
      const secrets = yield* Cache.makeWith(lookup, {
        capacity: 64,
        timeToLive: (exit) => (Exit.isSuccess(exit) ? Duration.infinity : Duration.zero)
      })

      return Secrets.of({ secret: (name) => Cache.get(secrets, name) })
    })
  )
}
