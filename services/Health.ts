import { Context, Duration, Effect, Fiber, FiberHandle, Layer, Option, Predicate, Schema } from "effect"
import { SqlClient, SqlError, SqlSchema } from "effect/sql"
import { ConnectionLost, StatementFailed } from "./Database/Pipeline.ts"
import { EventBus } from "./EventBus.ts"

/** How long a probe waits for what we stand on. */
const patience = Duration.seconds(1)

/**
 * One look at a time for all who ask: anybody may, as often as they like. Nothing is kept, because what is gone must show at once. What
 * is `late` is let go of, and nobody waits for that: a statement that stands still holds its connection for seconds more.
 */
const shared = Effect.fnUntraced(function* <A>(look: Effect.Effect<A>, late: A) {
  const inTime = (answer: Effect.Effect<A>) =>
    Effect.timeoutOrElse(answer, { duration: patience, orElse: () => Effect.succeed(late) })
  const looking = yield* FiberHandle.make<A, never>()
  return Effect.suspend(() =>
    Option.match(FiberHandle.getUnsafe(looking), {
      onNone: () => FiberHandle.run(looking, inTime(look)),
      onSome: Effect.succeed
    })
  ).pipe(Effect.flatMap(Fiber.join), inTime)
})

/**
 * Shutting down, starting up, out of connections, read-only after a failover, a privilege lost, another password or none of our role or
 * database while they are made again, a transaction that stood still for too long: states of a server, not of a statement.
 */
const passing = /^(?:28|3D000|42501|53|55000|57P|25006|25P03)/

/** Whether a fault is a database that is away or overtaken: it comes back, and the same request may succeed in a moment. */
export const isDatabaseAway = (fault: unknown): boolean => {
  if (fault instanceof ConnectionLost) return true
  if (fault instanceof StatementFailed) return passing.test(fault.code)
  if (!SqlError.isSqlError(fault)) return false
  const { _tag, cause } = fault.reason
  // Who asks for a password that we do not have sends no code.
  if (_tag === "AuthenticationError") return true
  return fault.isRetryable || (Predicate.hasProperty(cause, "code") && passing.test(String(cause.code)))
}

/** Whether what we stand on is there. Never fails: what does not answer within a second is down. */
export class Health extends Context.Service<
  Health,
  {
    readonly database: Effect.Effect<
      | { readonly postgres: "up"; readonly migrations: "done" | "pending"; readonly writable: "up" | "down" }
      | { readonly postgres: "down"; readonly migrations: "unknown"; readonly writable: "down" }
    >
    readonly bus: Effect.Effect<"up" | "down">
  }
>()("turnpike/services/Health") {
  static readonly layer = Layer.effect(
    Health,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const bus = yield* EventBus

      const look = SqlSchema.findOne({
        Request: Schema.Void,
        Result: Schema.Struct({ migrated: Schema.Boolean, writable: Schema.Boolean }),
        // A standby says so, and a server that was set to read only.
        execute: () =>
          sql`SELECT to_regclass('schema_migrations') IS NOT NULL AS migrated,
            current_setting('transaction_read_only') = 'off' AS writable`
      })

      const down = { postgres: "down", migrations: "unknown", writable: "down" } as const
      const database = look(undefined).pipe(
        Effect.match({
          onFailure: () => down,
          onSuccess: ({ migrated, writable }) =>
            ({
              postgres: "up",
              migrations: migrated ? "done" : "pending",
              writable: writable ? "up" : "down"
            }) as const
        })
      )
      const heard = Effect.map(bus.reachable, (reachable) => (reachable ? "up" : "down"))
      return Health.of({ database: yield* shared(database, down), bus: yield* shared<"up" | "down">(heard, "down") })
    })
  )
}
