import { Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { WebhookId } from "#domain/Ids.ts"
import { Principal } from "#domain/Principal.ts"
import * as Test from "#layers/Test.ts"
import { EventLog } from "#services/EventLog.ts"
import { newUuid } from "#services/NewId.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { Tenants } from "#services/Tenants.ts"
import { Webhooks } from "#services/Webhooks.ts"
import * as SigningSecrets from "#services/Webhooks/SigningSecrets.ts"

const policy = Layer.succeed(PublicHttpPolicy, {
  ...PublicHttpPolicy.defaultValue(),
  allowHosts: ["10.1.2.3:9000"],
  ownHosts: ["turnpike.test"]
})

/** The whole platform, which may call one private address. */
export const platform = Test.layer.pipe(Layer.provide(policy))

/** A key of a new tenant. */
export const tenant = Effect.gen(function* () {
  const { account_id, id } = yield* (yield* Tenants).create({ name: "Acme" })
  return new Principal({
    tenant_id: id,
    environment: "sandbox",
    actor_type: "api_key",
    actor_id: "key",
    account_id,
    scopes: ["*:*"]
  })
})

export const wanted = { url: "https://example.com/hooks", events: ["transfer.*"] }

/** A subscription of a new tenant. */
export const subscribed = Effect.gen(function* () {
  const caller = yield* tenant
  return { caller, ...(yield* (yield* Webhooks).create(caller, wanted)) }
})

/** Commits so many facts of a tenant, one after another or at once. */
export const append = Effect.fnUntraced(function* (count = 1) {
  const fact = { tenant_id: newUuid(), type: "transfer.created", data: {} } as const
  yield* (yield* EventLog).append(Array.from({ length: count }, () => fact))
})

/** The last fact of the log, as a follower sees it. */
export const head = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  SqlSchema.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ seq: Schema.BigInt }),
    execute: () => sql`SELECT event_seq AS seq FROM ledger_head WHERE log = 1`
  })(undefined)
).pipe(Effect.map(({ seq }) => seq))

const Row = Schema.Struct({
  since: Schema.BigInt,
  secret: Schema.Uint8Array,
  previous_secret: Schema.NullOr(Schema.Uint8Array),
  previous_secret_until: Schema.NullOr(Schema.Date),
  text: Schema.String
})
/** What is kept of a subscription beside what is shown. */
export const row = Effect.fnUntraced(function* (id: WebhookId) {
  const sql = yield* SqlClient.SqlClient
  return yield* SqlSchema.findOne({
    Request: Schema.String,
    Result: Row,
    execute: (id) =>
      sql`SELECT since, secret, previous_secret, previous_secret_until, w::text AS text FROM webhooks w WHERE id = ${id}`
  })(id)
})

/** The secrets that sign, the new one first. */
export const signing = Effect.fnUntraced(function* (id: WebhookId) {
  const { open } = yield* SigningSecrets.make
  const { previous_secret, secret } = yield* row(id)
  const kept = previous_secret === null ? [secret] : [secret, previous_secret]
  return yield* Effect.forEach(kept, (one) => open(id, one))
})

/** The subscription as the deliveries may leave it. */
export const leave = Effect.fnUntraced(function* (
  id: WebhookId,
  state: { readonly status: string; readonly status_reason: string | null; readonly failures: number }
) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE webhooks SET ${sql.update(state)}, failing_since = now() WHERE id = ${id}`
})
