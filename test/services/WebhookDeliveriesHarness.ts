import { assert } from "@effect/vitest"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Context, DateTime, Duration, Effect, Exit, Layer, Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { EventType } from "#domain/Event.ts"
import { WebhookId } from "#domain/Ids.ts"
import type { Principal } from "#domain/Principal.ts"
import * as BusMemory from "#layers/BusMemory.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Deployment } from "#services/Deployment.ts"
import { promises } from "#services/Doctor/Webhooks.ts"
import { EventLog } from "#services/EventLog.ts"
import * as Appended from "#services/EventLog/Appended.ts"
import { Ledger } from "#services/Ledger.ts"
import { PublicHttp } from "#services/PublicHttp.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { Secrets } from "#services/Secrets.ts"
import { Tenants } from "#services/Tenants.ts"
import { Accounts } from "#services/Accounts.ts"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { DeliveryPolicy } from "#services/WebhookDeliveries/Policy.ts"
import { newUuid } from "#services/NewId.ts"
import { Webhooks } from "#services/Webhooks.ts"
import * as SigningSecrets from "#services/Webhooks/SigningSecrets.ts"
import { httpOrigin } from "./PublicHttpHarness.ts"
import { tenant } from "./WebhooksHarness.ts"

const deployment = Layer.succeed(Deployment, {
  environment: "sandbox",
  publicUrl: "http://turnpike.test",
  scannerUrl: "http://turnpike.test"
})

const outbound = Layer.succeed(PublicHttpPolicy, { ...PublicHttpPolicy.defaultValue(), allowLoopback: true })

/** No call is given up, however busy the machine is, unless a test says so; and a process that stops waits for none. */
const policyOf = (policy: Partial<DeliveryPolicy> = {}) =>
  Layer.succeed(DeliveryPolicy, {
    ...DeliveryPolicy.defaultValue(),
    timeout: Duration.minutes(2),
    drain: Duration.zero,
    ...policy
  })

const sender = (policy?: Partial<DeliveryPolicy>) =>
  WebhookDeliveries.layer.pipe(Layer.provideMerge(PublicHttp.layer), Layer.provide([outbound, policyOf(policy)]))

/** What subscriptions and their deliveries stand on, over real Postgres. */
export const testLayer = (policy?: Partial<DeliveryPolicy>) =>
  Webhooks.layer.pipe(
    Layer.provideMerge(sender(policy)),
    Layer.provideMerge(Tenants.layer),
    Layer.provideMerge(Accounts.layer),
    Layer.provideMerge(Layer.mergeAll(EventLog.layer, Ledger.layer, Secrets.layer)),
    Layer.provideMerge(Appended.layer),
    Layer.provideMerge(Layer.mergeAll(Postgres.layerTest, BusMemory.layer, deployment)),
    Layer.provide(outbound)
  )

/** Another process on the same database, until the scope closes; and how it is killed. */
export const otherProcess = Effect.fnUntraced(function* (policy?: Partial<DeliveryPolicy>) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const context = yield* Layer.buildWithScope(Layer.fresh(sender(policy)), scope)
  return { ...Context.get(context, WebhookDeliveries), kill: Scope.close(scope, Exit.void) }
})

interface Received {
  readonly path: string | undefined
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}
export type Answer = (request: Received, response: ServerResponse) => void

/** A receiver that writes down what it gets and answers 200 unless told otherwise. */
export const receiver = Effect.fnUntraced(function* (answer: Answer = (_, response) => response.end("ok")) {
  const received: Array<Received> = []
  const state = { answer }
  const port = yield* Effect.promise(() =>
    httpOrigin((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("error", () => {})
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const one = { path: request.url, headers: request.headers, body: Buffer.concat(chunks).toString() }
        received.push(one)
        state.answer(one, response)
      })
    })
  )
  return { url: `http://127.0.0.1:${port}/hooks?a=b`, received, state }
})

export const answering =
  (status: number, headers: { readonly [name: string]: string } = {}): Answer =>
  (_, response) =>
    response.writeHead(status, headers).end(`said ${status}`)

/** A subscription, by default of a new tenant to everything. */
export const subscribe = Effect.fnUntraced(function* (
  url: string,
  { by, events = ["*"] }: { readonly by?: Principal; readonly events?: ReadonlyArray<string> } = {}
) {
  const caller = by ?? (yield* tenant)
  const webhook = yield* (yield* Webhooks).create(caller, { url, events })
  return { caller, ...webhook }
})

/** So many more like a subscription, behind the service's back. */
export const multiply = Effect.fnUntraced(function* (id: WebhookId, count: number) {
  const sql = yield* SqlClient.SqlClient
  const { seal } = yield* SigningSecrets.make
  const ids = Array.from({ length: count }, () => WebhookId.to.make(newUuid()))
  const secrets = yield* Effect.forEach(ids, (one) => seal(one, SigningSecrets.fresh()))
  const hex = secrets.map((sealed) => Buffer.from(sealed).toString("hex"))
  yield* sql`INSERT INTO webhooks (id, tenant_id, url, events, status, secret, since, created_at, updated_at)
    SELECT new.id, tenant_id, url, events, status, decode(new.secret, 'hex'), since, created_at, updated_at
    FROM webhooks w, unnest(${ids}::uuid[], ${hex}::text[]) AS new (id, secret) WHERE w.id = ${id}`
})

/** Facts of a tenant. */
export const happen = Effect.fnUntraced(function* (
  caller: Principal,
  types: ReadonlyArray<EventType> = ["transfer.completed"]
) {
  const { tenant_id } = caller
  yield* (yield* EventLog).append(types.map((type, place) => ({ tenant_id, type, data: { transfer: { place } } })))
})

/** So many facts of one sort, to happen. */
export const times = (count: number) => Array.from({ length: count }, (): EventType => "transfer.created")

/** Looks through the whole log. */
export const expandAll = Effect.flatMap(WebhookDeliveries, ({ expand }) =>
  Effect.repeat(expand, { while: (isMore) => isMore })
)

/** Sends everything that is due now; how many attempts that were. */
export const settle = Effect.gen(function* () {
  yield* expandAll
  return yield* (yield* WebhookDeliveries).deliverDue
})

/** Every attempt of a subscription, oldest first. */
export const attempts = Effect.fnUntraced(function* (caller: Principal, id: WebhookId) {
  const { deliveries } = yield* (yield* WebhookDeliveries).list(caller, id, { limit: 1000 })
  return deliveries.toReversed()
})

/** What the doctor finds broken of webhooks; the facts of these tests are of nothing else. */
export const broken = Effect.gen(function* () {
  const assurances = promises(yield* SqlClient.SqlClient, yield* DateTime.nowAsDate)
  const findings = yield* Effect.forEach(assurances, ({ promise, query }) =>
    Effect.map(query, (rows) => ({ promise, rows }))
  )
  return findings.filter(({ rows }) => rows.length > 0)
})

/** Waits in real time, a few milliseconds at a time, until it is so, which it must be. */
export const until = (isSo: () => boolean) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql`SELECT pg_sleep(0.002)`.pipe(
      Effect.repeat({ until: isSo, times: 10_000 }),
      Effect.andThen(Effect.sync(() => assert.isTrue(isSo(), "it has never come to be so")))
    )
  )
