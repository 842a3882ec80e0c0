import { DateTime, Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { type EndpointId, type TenantId, WebhookId } from "#domain/Ids.ts"
import { eventsOfEndpoint } from "#domain/Webhook.ts"
import { notForLong } from "../EventLog/Head.ts"
import { newId } from "../NewId.ts"
import { WebhookDeliveries } from "../WebhookDeliveries.ts"
import * as SigningSecrets from "./SigningSecrets.ts"

interface Wanted {
  readonly id: EndpointId
  readonly tenantId: TenantId
  readonly webhookUrl: string | null
}

/**
 * Keeps the subscription that an endpoint's `webhookUrl` is, as that says: made, sent elsewhere from now on, or deleted. Nobody is shown
 * its first secret: rotating shows one. Joins the caller's transaction, which holds the endpoint.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { stop } = yield* WebhookDeliveries
  const secrets = yield* SigningSecrets.make

  const lock = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: Schema.Struct({ id: WebhookId.to, url: Schema.String }),
    execute: (endpoint) => sql`SELECT id, url FROM webhooks WHERE endpoint_id = ${endpoint} FOR NO KEY UPDATE`
  })
  /**
   * One that was paused when it ended is paused. Whoever holds the head of the log comes after all facts up to it and before all
   * others: last, because everybody waits.
   */
  const insert = Effect.fnUntraced(function* ({ id: endpoint, tenantId, webhookUrl }: Wanted) {
    const id = yield* newId(WebhookId)
    const secret = yield* secrets.seal(id, SigningSecrets.fresh())
    const at = yield* DateTime.nowAsDate
    yield* sql`INSERT INTO webhooks (id, tenant_id, endpoint_id, url, events, status, status_reason, secret, since, created_at,
        updated_at)
      SELECT ${id}, ${tenantId}, e.id, ${webhookUrl}, ${eventsOfEndpoint}::text[],
        CASE WHEN e.webhook_paused THEN 'paused' ELSE 'active' END, CASE WHEN e.webhook_paused THEN 'requested' END,
        ${secret}, h.event_seq, ${at}, ${at}
      FROM endpoints e, ledger_head h, ${sql.literal(notForLong)} WHERE e.id = ${endpoint} AND h.log = 1 FOR UPDATE OF h`
  })
  /**
   * Another receiver has not failed yet, so what was shut because one did is open again. One that was active misses nothing; others
   * begin here. Who paused it may do so, and whoever changes an endpoint may not undo that.
   */
  const redirect = (id: WebhookId, url: string, at: Date) =>
    sql`WITH head AS MATERIALIZED (SELECT event_seq, ${sql.literal(notForLong)} FROM ledger_head WHERE log = 1 FOR UPDATE)
      UPDATE webhooks SET url = ${url}, failures = 0, failing_since = NULL, failed_at = NULL, updated_at = ${at},
        status = CASE status_reason WHEN 'requested' THEN status ELSE 'active' END,
        status_reason = CASE status_reason WHEN 'requested' THEN status_reason END,
        since = CASE status WHEN 'active' THEN since ELSE head.event_seq END
      FROM head WHERE id = ${id}`

  return Effect.fnUntraced(function* (endpoint: Wanted) {
    const current = Option.getOrUndefined(yield* lock(endpoint.id))
    if (current === undefined) return endpoint.webhookUrl === null ? undefined : yield* insert(endpoint)
    if (endpoint.webhookUrl === current.url) return
    if (endpoint.webhookUrl !== null) {
      return yield* redirect(current.id, endpoint.webhookUrl, yield* DateTime.nowAsDate)
    }
    yield* stop(current.id)
    yield* sql`UPDATE endpoints SET webhook_paused = w.status = 'paused' AND w.status_reason = 'requested'
      FROM webhooks w WHERE w.id = ${current.id} AND endpoints.id = w.endpoint_id`
    yield* sql`DELETE FROM webhooks WHERE id = ${current.id}`
  }, Effect.orDie)
})
