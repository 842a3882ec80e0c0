import { inTransaction } from "./Database/InTransaction.ts"
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { Delivery, DeliveryFilter, Replaying, TooManyReplays } from "#domain/Delivery.ts"
import type { EventType } from "#domain/Event.ts"
import { type DeliveryId, type EventId, TenantId, toTypeId, WebhookId } from "#domain/Ids.ts"
import type { Principal } from "#domain/Principal.ts"
import { NotFound, StateTransitionInvalid } from "#domain/Refusal.ts"
import { WebhookStatus } from "#domain/Webhook.ts"
import { Deployment } from "./Deployment.ts"
import * as Following from "./EventLog/Following.ts"
import * as Expanding from "./WebhookDeliveries/Expanding.ts"
import * as Pump from "./WebhookDeliveries/Pump.ts"
import * as Records from "./WebhookDeliveries/Records.ts"
import * as Replays from "./WebhookDeliveries/Replaying.ts"
import * as Upkeep from "./WebhookDeliveries/Upkeep.ts"
import { upkeep } from "./Upkeep.ts"

/** Takes facts to those who subscribed to them. Every method that has a caller sees the caller's tenant only. */
export class WebhookDeliveries extends Context.Service<
  WebhookDeliveries,
  {
    /** Sends what is not in the log. Joins the caller's transaction; the call is made after the commit. */
    send(
      webhook: { readonly id: WebhookId; readonly tenant_id: TenantId },
      event: {
        readonly id: EventId
        readonly type: EventType
        readonly created_at: Date
        readonly data: { readonly [key: string]: unknown }
      },
      cause: "test"
    ): Effect.Effect<{ readonly delivery_id: DeliveryId }>
    /** What is due to a subscription that was paused or disabled is looked at now, and ends. Joins the caller's transaction. */
    stop(webhook_id: WebhookId): Effect.Effect<void>
    /** Newest first, from before `cursor`; `next` is the cursor of what follows, if anything does. */
    list(
      caller: Principal,
      webhook_id: WebhookId,
      filter: DeliveryFilter & { readonly limit: number; readonly cursor?: DeliveryId | undefined }
    ): Effect.Effect<{ readonly deliveries: ReadonlyArray<Delivery>; readonly next: DeliveryId | null }, NotFound>
    get(caller: Principal, webhook_id: WebhookId, id: DeliveryId): Effect.Effect<Delivery, NotFound>
    /** Sends the event of a delivery again: the same id and bytes, as a chain of its own. */
    replay(
      caller: Principal,
      webhook_id: WebhookId,
      id: DeliveryId
    ): Effect.Effect<
      { readonly event_id: EventId; readonly delivery_id: DeliveryId },
      NotFound | StateTransitionInvalid | TooManyReplays
    >
    /**
     * Sends past events again that the subscription asks for, oldest first and behind what happens meanwhile; also those raised
     * while it was paused. About `maxReplayed` per call: `next` is the cursor of what follows, if anything does, and `until` the moment
     * from which on that happened; where nothing does, from which on something may be written yet.
     */
    replayAll(
      caller: Principal,
      webhook_id: WebhookId,
      which: Replaying
    ): Effect.Effect<
      { readonly queued: number; readonly until: Date; readonly next: bigint | null },
      NotFound | StateTransitionInvalid | TooManyReplays
    >
    /** Makes the first attempts of facts that nobody looked at yet, some at a time; whether there may be more. */
    readonly expand: Effect.Effect<boolean>
    /** Makes the attempts that are due, and waits until all of them ended; how many. */
    readonly deliverDue: Effect.Effect<number>
    /** Makes attempts again whose process was lost, and forgets what is old; how much was done. */
    readonly tidy: Effect.Effect<number>
    /** Makes attempts as they become due, for ever. The calls in flight are waited for when the scope closes. */
    readonly deliver: Effect.Effect<never>
    /** Ends the calls in flight of this process, each within its time. */
    readonly drain: Effect.Effect<void>
    /** Tells the sender of this process to look now. */
    readonly wake: Effect.Effect<void>
  }
>()("turnpike/services/WebhookDeliveries") {
  /** Follows the log, sends, and tidies up; any number of processes may. */
  static readonly layerWorker = Layer.effectDiscard(
    Effect.gen(function* () {
      const { deliver, drain, expand, tidy, wake } = yield* WebhookDeliveries
      yield* Effect.addFinalizer(() => drain)
      yield* Effect.forkScoped(deliver)
      // Perhaps it was the answer to the commit that was lost.
      const expandAndWake = Effect.onError(expand, () => wake)
      yield* Following.keepUp("Webhooks", expandAndWake, {
        interval: "2 seconds",
        rest: "50 millis",
        afterwards: wake
      })
      yield* upkeep("Webhooks could not be tidied up", tidy, "10 seconds")
    })
  )

  static readonly layer = Layer.effect(
    WebhookDeliveries,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { environment } = yield* Deployment
      const records = yield* Records.make(environment)
      const replays = yield* Replays.make
      const upkeep = yield* Upkeep.make
      const pass = yield* Expanding.make
      const pump = yield* Pump.make
      const expand = Effect.flatMap(pass, ({ isMore, passed }) =>
        Effect.as(passed > 0 ? pump.wake : Effect.void, isMore)
      )
      const wakeAfterCommit = sql.afterCommit(pump.wake)

      const statusOf = SqlSchema.findOneOption({
        Request: Schema.Struct({ tenant_id: TenantId.to, id: WebhookId.to }),
        Result: Schema.Struct({ status: WebhookStatus }),
        execute: ({ id, tenant_id }) => sql`SELECT status FROM webhooks WHERE id = ${id} AND tenant_id = ${tenant_id}`
      })
      const own = Effect.fnUntraced(function* ({ tenant_id }: Principal, id: WebhookId) {
        const found = yield* Effect.orDie(statusOf({ tenant_id, id }))
        if (Option.isSome(found)) return found.value.status
        return yield* new NotFound({ resource: "webhook", id: toTypeId("wh", id) })
      })
      const unknown = (id: DeliveryId) => new NotFound({ resource: "delivery", id: toTypeId("del", id) })
      const refused = (from: WebhookStatus) => new StateTransitionInvalid({ resource: "webhook", from, to: "replayed" })

      const send = Effect.fn("WebhookDeliveries.send")(function* (
        webhook: Parameters<typeof replays.send>[0],
        event: Parameters<typeof replays.send>[1]
      ) {
        const delivery_id = yield* replays.send(webhook, event)
        yield* wakeAfterCommit
        return { delivery_id }
      }, inTransaction(sql))
      const stop = Effect.fn("WebhookDeliveries.stop")(function* (id: WebhookId) {
        const now = yield* DateTime.nowAsDate
        yield* Effect.orDie(sql`UPDATE webhook_lanes SET ready_at = ${now}, blocked = false WHERE webhook_id = ${id}`)
        yield* wakeAfterCommit
      }, inTransaction(sql))

      const list = Effect.fn("WebhookDeliveries.list")(function* (
        caller: Principal,
        webhook_id: WebhookId,
        filter: Parameters<typeof records.list>[1]
      ) {
        yield* own(caller, webhook_id)
        return yield* records.list(webhook_id, filter)
      })
      const get = Effect.fn("WebhookDeliveries.get")(function* (
        caller: Principal,
        webhook_id: WebhookId,
        id: DeliveryId
      ) {
        yield* own(caller, webhook_id)
        const found = yield* records.find(webhook_id, id)
        return Option.isSome(found) ? found.value : yield* unknown(id)
      })
      const replay = Effect.fn("WebhookDeliveries.replay")(function* (
        caller: Principal,
        webhook_id: WebhookId,
        id: DeliveryId
      ) {
        const status = yield* own(caller, webhook_id)
        if (status === "disabled") return yield* refused(status)
        const made = yield* replays.replay(webhook_id, id)
        if (Option.isNone(made)) return yield* unknown(id)
        yield* wakeAfterCommit
        return made.value
      }, inTransaction(sql))
      const replayAll = Effect.fn("WebhookDeliveries.replayAll")(function* (
        caller: Principal,
        webhook_id: WebhookId,
        which: Replaying
      ) {
        const status = yield* own(caller, webhook_id)
        if (status !== "active") return yield* refused(status)
        const queued = yield* replays.replayAll(webhook_id, caller.tenant_id, which)
        yield* wakeAfterCommit
        return queued
      }, inTransaction(sql))

      const tidy = Effect.gen(function* () {
        yield* upkeep.measure
        const lost = yield* upkeep.sendLost
        if (lost > 0) yield* pump.wake
        return lost + (yield* upkeep.prune) + (yield* upkeep.forgetFailures) + (yield* upkeep.shutDeserted)
      })

      return WebhookDeliveries.of({
        send,
        stop,
        list,
        get,
        replay,
        replayAll,
        expand,
        deliverDue: Effect.withSpan(pump.deliverDue, "WebhookDeliveries.deliverDue"),
        tidy: Effect.withSpan(tidy, "WebhookDeliveries.tidy"),
        deliver: pump.run,
        drain: pump.drain,
        wake: pump.wake
      })
    })
  )
}
