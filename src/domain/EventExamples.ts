import { Schema } from "effect"
import { EventType } from "./Event.ts"
import {
  agent,
  approval,
  batch,
  dispute,
  endpoint,
  payment,
  refund,
  scheduledTransfer,
  stream,
  task,
  token,
  transfer,
  webhook
} from "./Examples/Records.ts"
import { scan, test } from "./Examples/Scanned.ts"

/** The data of an event: the thing under its own key, as it was when the event happened. */
type Data = { readonly [key: string]: Schema.Json }
type Kind = readonly [description: string, data: Data]

const at = "2026-01-02T03:04:05.741Z"
const open = { status: "pending", completed_at: null }
const paidTask = { ...task.payment, status: "completed", transfer_id: transfer.id }

/** What every type of event says, and an example of what it carries. */
const kinds: { readonly [type in EventType]: Kind } = {
  "transfer.created": [
    "A transfer was ordered. One that ends at once has its `transfer.completed` or `transfer.failed` as the next event, which may arrive before it.",
    { transfer: { ...transfer, ...open, updated_at: transfer.created_at } }
  ],
  "transfer.completed": [
    "The money of a transfer has arrived: that of a `stream_start` in the stream, not in `to_wallet_id`, which gets it by `stream_withdraw`.",
    { transfer }
  ],
  "transfer.failed": [
    "A transfer moved nothing; `failure_reason` says why.",
    { transfer: { ...transfer, status: "failed", failure_reason: "insufficient_funds", completed_at: null } }
  ],
  "transfer.cancelled": [
    "A pending transfer was withdrawn before its settlement began.",
    { transfer: { ...transfer, status: "cancelled", completed_at: null } }
  ],
  "transfer.refunded": [
    "Some or all of a completed transfer went back; `refunded_amount` is the sum so far.",
    { transfer: { ...transfer, refunded_amount: refund.amount } }
  ],
  "batch.completed": [
    "Every item of a batch has ended, each for itself; `amounts` are the sums per currency.",
    { batch }
  ],
  "scheduled_transfer.executed": [
    "An occurrence of a schedule moved its money.",
    { scheduled_transfer: scheduledTransfer }
  ],
  "scheduled_transfer.retrying": [
    "An occurrence of a schedule failed and is tried again at `next_execution_at`.",
    { scheduled_transfer: { ...scheduledTransfer, failure_reason: "insufficient_funds", attempts: 1 } }
  ],
  "scheduled_transfer.failed": [
    "An occurrence of a schedule is given up; a recurring schedule goes on with the next one.",
    { scheduled_transfer: { ...scheduledTransfer, failure_reason: "insufficient_funds", executions_completed: 0 } }
  ],
  "scheduled_transfer.completed": [
    "A schedule is over.",
    {
      scheduled_transfer: {
        ...scheduledTransfer,
        status: "executed",
        next_execution_at: null,
        executions_completed: 12,
        executions_remaining: 0
      }
    }
  ],
  "refund.created": ["A refund was ordered.", { refund: { ...refund, ...open, refund_transfer_id: null } }],
  "refund.completed": ["The money of a refund is back with the payer.", { refund }],
  "refund.failed": [
    "A refund moved nothing; `failure_reason` says why.",
    { refund: { ...refund, status: "failed", failure_reason: "insufficient_funds", completed_at: null } }
  ],
  "dispute.opened": ["A payer objects to a completed transfer.", { dispute }],
  "dispute.updated": [
    "A dispute was answered, escalated or given evidence.",
    { dispute: { ...dispute, status: "under_review", response: "The report was sent by mail" } }
  ],
  "dispute.resolved": [
    "A dispute has ended; `refund_id` names the refund, if it was resolved with one.",
    { dispute: { ...dispute, status: "resolved", resolution: "full_refund", refund_id: refund.id, resolved_at: at } }
  ],
  "stream.started": [
    "A money stream began to flow.",
    {
      stream: {
        ...stream,
        wrapped_balance: "170.00",
        recipient_balance: "0.00",
        runway_seconds: 170_000
      }
    }
  ],
  "stream.alert": [
    "A money stream runs short: less than a day is left (`warning`), less than an hour (`critical`) or nothing (`exhausted`).",
    { stream, alert: { severity: "warning", runway_seconds: stream.runway_seconds } }
  ],
  "stream.ended": [
    "A money stream was cancelled and what had not flowed went back.",
    {
      stream: {
        ...stream,
        status: "cancelled",
        wrapped_balance: "0.00",
        buffer: "0.00",
        recipient_balance: "0.00",
        withdrawn: "86.40",
        returned: "113.60",
        runway_seconds: 0,
        exhausted_at: null,
        updated_at: "2026-01-03T03:04:05.678Z",
        cancelled_at: "2026-01-03T03:04:05.678Z"
      }
    }
  ],
  "x402.payment.completed": ["A call through the gateway was served and paid.", { payment }],
  "x402.payment.failed": [
    "A paid call was not served, and the payer keeps the money; `failure` says why.",
    { payment: { ...payment, status: "released", charged: null, origin_status: 500, failure: "origin_status" } }
  ],
  "x402.endpoint.updated": ["A priced endpoint was changed. The headers that it forwards are left out.", { endpoint }],
  "approval.requested": [
    "A payment of an agent is over what it may spend alone and waits for a decision.",
    { approval }
  ],
  "a2a.task.created": ["An agent was given a task.", { task }],
  "a2a.task.updated": ["A task changed its status, or was added to.", { task: { ...task, status: "in_progress" } }],
  "a2a.task.completed": [
    "A task was done; its price is paid.",
    {
      task: {
        ...task,
        status: "completed",
        deliverable: { verdict: "approved" },
        payment: paidTask,
        updated_at: at,
        completed_at: at
      }
    }
  ],
  "a2a.task.disputed": [
    "A party of a task objects; its money is frozen until that is resolved.",
    { task: { ...task, status: "disputed", updated_at: at } }
  ],
  "ucp.token.created": ["A checkout token was made.", { token }],
  "ucp.token.settled": ["A checkout token was paid.", { token: { ...token, status: "settled" } }],
  "ucp.token.expired": ["A checkout token was not paid in time.", { token: { ...token, status: "expired" } }],
  "scan.completed": [
    "A merchant's domain was scanned; a site that could not be reached is `failed`. The checks are with the scan.",
    { scan }
  ],
  "test.completed": ["A synthetic checkout test ended, whatever its result.", { test }],
  "agent.connected": ["An agent opened its event channel.", { agent }],
  "agent.disconnected": [
    "An agent's event channel is closed; the agent stays active.",
    { agent: { ...agent, connected: false } }
  ],
  "agent.key_rotated": [
    "An agent proved itself with its key and has a new one; its sessions have ended.",
    {
      agent_id: agent.id,
      key_id: "auth_01h455vb4pex5vsknk084sn02q",
      new_public_key: "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
    }
  ],
  "webhook.test": ["Somebody asked for a test of the subscription. Only that subscription gets it.", { webhook }],
  "webhook.failing": [
    "Ten attempts in a row did not arrive at a subscription. Its other subscriptions tell the tenant.",
    { webhook: { ...webhook, failures: 10, failing_since: webhook.created_at } }
  ],
  "webhook.paused": [
    "Nothing arrived at a subscription for 72 hours; nothing is sent to it any more.",
    {
      webhook: {
        ...webhook,
        status: "paused",
        status_reason: "failing",
        failures: 61,
        failing_since: webhook.created_at
      }
    }
  ],
  "webhook.disabled": [
    "A subscription's receiver answered 410: it is gone, and nothing is sent to it any more.",
    {
      webhook: {
        ...webhook,
        status: "disabled",
        status_reason: "gone",
        failures: 1,
        failing_since: webhook.created_at
      }
    }
  ]
}

/** What the data of such an event looks like. */
export const exampleData = (type: EventType): Data => kinds[type][1]

/** A type of event: what it says, and the whole body of such an event as it is posted. */
export const EventTypeRecord = Schema.Struct({
  type: EventType,
  description: Schema.String,
  example: Schema.Record(Schema.String, Schema.Json)
}).annotate({ identifier: "EventTypeRecord" })
export type EventTypeRecord = typeof EventTypeRecord.Type

const envelope = { tenant_id: "ten_01h455vb4pex5vsknk084sn02p", environment: "test" }

/** Families of types that may be subscribed to although no operation of this version raises them. */
const reserved = /^(?:approval|a2a|ucp)\./

/** Every type that a subscription may have. */
export const catalogue: ReadonlyArray<EventTypeRecord> = EventType.literals.map((type) => {
  const [meaning, data] = kinds[type]
  const description = reserved.test(type) ? `${meaning} Reserved: nothing raises it in this version.` : meaning
  return {
    type,
    description,
    example: { id: "evt_01h455vb4pex5vsknk084sn02q", type, created_at: at, data, ...envelope }
  }
})
