import { DateTime, Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal, Operators } from "#api/Authorization.ts"
import { pageOf } from "#api/Pagination.ts"
import type { Examination } from "#domain/Examination.ts"
import { Tenant } from "#domain/Tenant.ts"
import { CreditGrants } from "#services/CreditGrants.ts"
import { Doctor, type Finding, shown } from "#services/Doctor.ts"
import { Operator } from "#services/Operator.ts"
import { monotonicMillis } from "#services/RealTime.ts"
import { Tenants } from "#services/Tenants.ts"
import { claim, markReplayed, once } from "./Idempotency.ts"

const examined = ({ broken, millis, promise }: Finding) => ({
  promise,
  ok: broken.length === 0,
  rows: broken.map((row) => JSON.parse(shown(row))),
  duration_ms: millis
})

/** Before anything is read of what is asked for: to everybody else it is closed, whatever it says. */
const operators = Layer.effect(
  Operators,
  Effect.map(Operator, ({ admit }) =>
    Operators.of((operation) => Effect.andThen(Effect.flatMap(CurrentPrincipal, admit), operation))
  )
)

const group = HttpApiBuilder.group(
  Api,
  "administration",
  Effect.fnUntraced(function* (handlers) {
    const tenants = yield* Tenants
    const { grant: give } = yield* CreditGrants
    const { examineAside } = yield* Doctor
    const createOnce = yield* once
    return handlers.handleAll({
      createTenant: Effect.fnUntraced(function* ({ headers, payload: { idempotency_key: bodyKey, ...wanted } }) {
        return yield* createOnce(
          { operation: "administration.createTenant", headers, bodyKey, parameters: wanted },
          Tenant,
          Effect.succeed(tenants.create(wanted))
        )
      }),
      tenants: Effect.fnUntraced(function* ({ query }) {
        return pageOf(query, yield* tenants.list(query), yield* tenants.count)
      }),
      grants: Effect.fnUntraced(function* ({ headers, payload }) {
        const principal = yield* CurrentPrincipal
        const { credits, idempotency_key: bodyKey, tenant_id = principal.tenant_id } = payload
        const order = { tenant_id, credits }
        const named = { operation: "administration.grants", principal, headers, bodyKey, parameters: order }
        const { grant, replayed } = yield* give(order, yield* claim(named))
        yield* markReplayed(replayed)
        return grant
      }),
      doctor: Effect.fnUntraced(function* () {
        const examined_at = yield* DateTime.nowAsDate
        const before = yield* monotonicMillis
        const promises = (yield* examineAside).map(examined)
        const broken = promises.filter(({ ok }) => !ok).length
        const duration_ms = Math.round((yield* monotonicMillis) - before)
        return {
          ok: broken === 0,
          checked: promises.length,
          broken,
          examined_at,
          duration_ms,
          promises
        } satisfies Examination
      })
    })
  })
)

export const layer = Layer.provide(group, operators)
