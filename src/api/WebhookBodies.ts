import { catalogue } from "#domain/EventExamples.ts"
import { AlertSeverity } from "#domain/MoneyStream.ts"

/** Objects of a description, as far as they are looked into here. */
interface Shape {
  readonly [key: string]: unknown
  readonly properties?: { readonly [name: string]: object }
  readonly required?: ReadonlyArray<string>
}

const text = (description: string) => ({ type: "string", description })
const named = (name: string, description?: string) => ({
  $ref: `#/components/schemas/${name}`,
  ...(description !== undefined && { description })
})
const having = (properties: { readonly [name: string]: object }, description?: string) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  ...(description !== undefined && { description })
})

/** A record without what is long and read where the record is. */
const without = ({ properties = {}, required = [] }: Shape, left: ReadonlyArray<string>, description: string) => ({
  type: "object",
  properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !left.includes(name))),
  required: required.filter((name) => !left.includes(name)),
  description
})

const sums = having({
  currency: text("What the sums are of"),
  completed: named("Decimal", "What this batch moved"),
  failed: named("Decimal", "What it failed to move")
})

const alert = having(
  {
    severity: {
      type: "string",
      enum: AlertSeverity.literals,
      description: "Less than a day is left, less than an hour, or nothing"
    },
    runway_seconds: {
      anyOf: [{ type: "integer" }, { type: "null" }],
      description: "How long the stream still flows; null when it does not"
    }
  },
  "How soon it runs dry"
)

/** What stands under a key of `data`. What nothing raises in this version may be any record. */
const thingsOf = (records: { readonly [name: string]: Shape }): { readonly [key: string]: object | undefined } => {
  const { AgentShoppingTestResult = {}, Batch = {}, MerchantScan = {} } = records
  const batch = without(Batch, ["transfers"], "The batch, without its transfers")
  const more = {
    id: text("The same as `batch_id`"),
    amounts: { type: "array", items: sums, description: "What it moved, in each currency" }
  }
  return {
    agent: named("Agent", "The agent"),
    agent_id: text("The agent"),
    alert,
    batch: {
      ...batch,
      properties: { ...batch.properties, ...more },
      required: [...batch.required, ...Object.keys(more)]
    },
    dispute: named("Dispute", "The dispute"),
    endpoint: named("Endpoint", "The endpoint, without the headers that it forwards"),
    key_id: text("The key that opens its sessions from now on"),
    new_public_key: text("That key's public part, in base64"),
    payment: named("Payment", "The payment"),
    refund: named("Refund", "The refund"),
    scan: without(MerchantScan, ["checks", "requests"], "The scan, without its checks and requests"),
    scheduled_transfer: named("ScheduledTransfer", "The schedule"),
    stream: named("MoneyStream", "The stream"),
    test: without(AgentShoppingTestResult, ["requests"], "The test, without its requests"),
    transfer: named("Transfer", "The transfer"),
    webhook: named("Webhook", "The subscription")
  }
}

/** What is posted of a fact, whatever it says. */
const posted = (type: string, data: object) =>
  having({
    id: text("Id of the event (`evt_…`), the same in every attempt: remember those that were handled"),
    type: { type: "string", enum: [type], description: "What happened" },
    created_at: { type: "string", format: "date-time", description: "When it happened" },
    data,
    tenant_id: text("The tenant to whom it happened (`ten_…`)"),
    environment: { type: "string", enum: ["test", "live"], description: "`test` in the sandbox, `live` otherwise" }
  })

const header = (name: string, description: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" }
})
const headers = [
  header("X-Service-Signature", "`t=<seconds>,v1=<hex>`; more than one `v1` while the secret is being rotated"),
  header("X-Service-Event-Id", "The event's `id`"),
  header("X-Service-Delivery-Id", "The attempt (`del_…`), another every time"),
  header("X-Service-Webhook-Id", "The subscription (`wh_…`)"),
  header("webhook-id", "The event's `id`, as Standard Webhooks names it"),
  header("webhook-timestamp", "When it was signed, in seconds"),
  header("webhook-signature", "`v1,<base64>`, several behind each other while the secret is being rotated")
]

const responses = {
  "2XX": { description: "The event is safe with you. Anything else, or nothing within 15 seconds, and it comes again" },
  "410": { description: "The receiver is gone: the subscription is disabled" }
}

/** Named once: every type of event has them. */
const parameters = Object.fromEntries(headers.map((one) => [one.name, one]))
const headersOfAll = headers.map(({ name }) => ({ $ref: `#/components/parameters/${name}` }))

const firstSentence = (said: string) => said.replace(/[.;:].*$/s, "")

const nameOf = (type: string) =>
  `${type.replace(/(?:^|[._])([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())}Event`

/** What webhooks post: schemas and headers by their names, and what a receiver is called with by the type of event. */
export const webhookBodies = (records: { readonly [name: string]: Shape }) => {
  const things = thingsOf(records)
  const schemas: Record<string, object> = {}
  const webhooks: Record<string, object> = {}
  for (const { description, example, type } of catalogue) {
    const keys = Object.keys(Object(example["data"]))
    const data = Object.fromEntries(
      keys.map((key) => [key, things[key] ?? { type: "object", description: "The thing itself" }])
    )
    schemas[nameOf(type)] = posted(type, having(data, "What it happened to, as it was then"))
    webhooks[type] = {
      post: {
        operationId: `events.${type}`,
        summary: firstSentence(description),
        description,
        tags: ["Webhooks"],
        security: [],
        parameters: headersOfAll,
        requestBody: { required: true, content: { "application/json": { schema: named(nameOf(type)), example } } },
        responses
      }
    }
  }
  return { schemas, parameters, webhooks }
}
