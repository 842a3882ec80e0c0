import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { cursorPageOf, offsetOf, pageOf } from "#api/Pagination.ts"
import type { ScheduleId } from "#domain/Ids.ts"
import type { ScheduleTrigger } from "#domain/Schedule.ts"
import { orderOf, withoutDefaults } from "#domain/ScheduleOrder.ts"
import { Schedules } from "#services/Schedules.ts"
import { claim, markReplayed } from "./Idempotency.ts"

/** A request that changes a schedule; nothing but the schedule decides what happens. */
interface Change {
  readonly params: { readonly id: ScheduleId }
  readonly headers: Parameters<typeof claim>[0]["headers"]
  readonly payload: { readonly idempotency_key?: string } | null
}

export const layer = HttpApiBuilder.group(
  Api,
  "scheduled_transfers",
  Effect.fnUntraced(function* (handlers) {
    const schedules = yield* Schedules
    const change = (trigger: ScheduleTrigger) =>
      Effect.fnUntraced(function* ({ headers, params, payload }: Change) {
        const principal = yield* CurrentPrincipal
        const operation = `scheduled_transfers.${trigger}`
        const bodyKey = payload?.idempotency_key
        const claimed = yield* claim({ operation, principal, headers, bodyKey, parameters: params })
        const { replayed, schedule } = yield* schedules.change(principal, params.id, trigger, claimed)
        yield* markReplayed(replayed)
        return schedule
      })
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ headers, payload }) {
        const principal = yield* CurrentPrincipal
        const order = yield* Effect.fromResult(orderOf(payload))
        const claimed = yield* claim({
          operation: "scheduled_transfers.create",
          principal,
          headers,
          bodyKey: payload.idempotency_key,
          parameters: withoutDefaults(order)
        })
        const { replayed, schedule } = yield* schedules.create(principal, order, claimed)
        yield* markReplayed(replayed)
        return schedule
      }),
      list: Effect.fnUntraced(function* ({ query: { page, limit, ...filter } }) {
        const range = { limit, offset: offsetOf({ page, limit }) }
        const found = yield* schedules.list(yield* CurrentPrincipal, filter, range)
        return pageOf({ page, limit }, found.schedules, found.total)
      }),
      get: Effect.fnUntraced(function* ({ params }) {
        return yield* schedules.get(yield* CurrentPrincipal, params.id)
      }),
      executions: Effect.fnUntraced(function* ({ params, query: { cursor, limit } }) {
        const range = { limit: limit + 1, before: cursor }
        const found = yield* schedules.executions(yield* CurrentPrincipal, params.id, range)
        return cursorPageOf(limit, found, ({ id }) => id)
      }),
      cancel: change("cancel"),
      pause: change("pause"),
      resume: change("resume")
    })
  })
)
