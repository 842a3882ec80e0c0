import { Schema } from "effect"
import { Moment } from "./Instant.ts"
import { EventId, TenantTypeId } from "./Ids.ts"

/** Facts that may leave the platform. `data` holds the thing under its own key, as it was when the fact happened. */
export const EventType = Schema.Literals([
  "transfer.created",
  "transfer.completed",
  "transfer.failed",
  "transfer.cancelled",
  "transfer.refunded",
  "batch.completed",
  "scheduled_transfer.executed",
  "scheduled_transfer.retrying",
  "scheduled_transfer.failed",
  "scheduled_transfer.completed",
  "refund.created",
  "refund.completed",
  "refund.failed",
  "dispute.opened",
  "dispute.updated",
  "dispute.resolved",
  "stream.started",
  "stream.alert",
  "stream.ended",
  "x402.payment.completed",
  "x402.payment.failed",
  "x402.endpoint.updated",
  "approval.requested",
  "a2a.task.created",
  "a2a.task.updated",
  "a2a.task.completed",
  "a2a.task.disputed",
  "ucp.token.created",
  "ucp.token.settled",
  "ucp.token.expired",
  "scan.completed",
  "test.completed",
  "agent.connected",
  "agent.disconnected",
  "agent.key_rotated",
  "webhook.test",
  "webhook.failing",
  "webhook.paused",
  "webhook.disabled"
])
export type EventType = typeof EventType.Type

/** A thing in its wire form that is JSON already. */
export class Written {
  readonly json: string
  constructor(json: string) {
    this.json = json
  }
}

/** A fact that is about to be recorded; `data` is already in its wire form. */
export interface EventDraft {
  readonly tenant_id: string
  readonly type: EventType
  readonly data: { readonly [key: string]: unknown } | Written
}

/** What is recorded of a fact. */
export const jsonOf = ({ data }: EventDraft): string => (data instanceof Written ? data.json : JSON.stringify(data))

/** A recorded fact. `seq` is gapless and in commit order, so it is the cursor of every follower. */
export const RecordedEvent = Schema.Struct({
  seq: Schema.BigInt,
  id: EventId,
  tenant_id: TenantTypeId,
  type: EventType,
  data: Schema.Record(Schema.String, Schema.Unknown),
  created_at: Moment
})
export type RecordedEvent = typeof RecordedEvent.Type
