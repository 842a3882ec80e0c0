import { type DeliveryId, type EventId, toTypeId, type WebhookId } from "#domain/Ids.ts"
import { type Environment, environmentWord } from "#domain/Principal.ts"

/** An event as it is sent; `data` is the text of its JSON, so that nothing of it changes on the way. */
export interface EventText {
  readonly id: string
  readonly type: string
  readonly at: Date
  readonly data: string
  readonly tenant_id: string
}

/** The body: for one event the same bytes in every attempt, from every process. */
export const bodyOf = ({ at, data, id, tenant_id, type }: EventText, environment: Environment): string =>
  `{"id":"${toTypeId("evt", id)}","type":"${type}","created_at":"${at.toISOString()}","data":${data},` +
  `"tenant_id":"${toTypeId("ten", tenant_id)}","environment":"${environmentWord(environment)}"}`

/** Which attempt a message is. */
export interface Numbers {
  readonly event: EventId | string
  readonly delivery: DeliveryId | string
  readonly webhook: WebhookId | string
  /** Seconds since 1970. */
  readonly timestamp: number
}

/** Name, value, name, value: the headers of a delivery under its two signatures. */
export const headersOf = (
  { delivery, event, timestamp, webhook }: Numbers,
  signatures: { readonly service: string; readonly standard: string }
): Array<string> => {
  const eventId = toTypeId("evt", event)
  return [
    "Content-Type",
    "application/json",
    "User-Agent",
    "Turnpike-Webhooks/1",
    "X-Service-Signature",
    signatures.service,
    "X-Service-Event-Id",
    eventId,
    "X-Service-Delivery-Id",
    toTypeId("del", delivery),
    "X-Service-Webhook-Id",
    toTypeId("wh", webhook),
    "webhook-id",
    eventId,
    "webhook-timestamp",
    String(timestamp),
    "webhook-signature",
    signatures.standard
  ]
}

/** The headers as they are shown in the history: a signature is nobody's business but the receiver's. */
export const shownHeaders = (numbers: Numbers): { readonly [name: string]: string } => {
  const headers = headersOf(numbers, { service: `t=${numbers.timestamp},v1=[redacted]`, standard: "v1,[redacted]" })
  const shown: { [name: string]: string } = {}
  for (let index = 0; index + 1 < headers.length; index += 2) shown[headers[index] ?? ""] = headers[index + 1] ?? ""
  return shown
}
