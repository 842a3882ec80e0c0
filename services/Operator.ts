import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { TenantId } from "#domain/Ids.ts"
import { mayAdminister } from "#domain/Operator.ts"
import { type Principal, Role } from "#domain/Principal.ts"
import type { Forbidden } from "#domain/Refusal.ts"

/** Whoever started the server: the first tenant is its own. */
export class Operator extends Context.Service<
  Operator,
  {
    /** Refuses everybody but its owners, as they are by now. */
    admit(caller: Principal): Effect.Effect<void, Forbidden>
  }
>()("turnpike/services/Operator") {
  static readonly layer = Layer.effect(
    Operator,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const standing = SqlSchema.findOneOption({
        Request: Schema.Struct({ tenant_id: Schema.String, id: Schema.String }),
        Result: Standing,
        execute: ({ id, tenant_id }) =>
          sql`SELECT u.role, t.id AS operator FROM users u, (SELECT id FROM tenants ORDER BY id LIMIT 1) t
            WHERE u.tenant_id = ${tenant_id} AND u.id::text = ${id}`
      })
      const admit = Effect.fn("Operator.admit")(function* (caller: Principal) {
        const { actor_id: id, tenant_id } = caller
        const found = Option.getOrUndefined(yield* Effect.orDie(standing({ tenant_id, id })))
        yield* Effect.fromResult(mayAdminister(caller, found?.role, found?.operator))
      })
      return Operator.of({ admit })
    })
  )
}

const Standing = Schema.toType(Schema.Struct({ role: Role, operator: TenantId }))
