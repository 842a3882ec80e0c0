import { Context, DateTime, Effect, Equal, Layer, Option, PubSub, Result, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import {
  Endpoint,
  type EndpointChange,
  endpointDefaults,
  mayBecome,
  type NewEndpoint,
  NoReceivingWallet
} from "#domain/Endpoint.ts"
import { priceOf } from "#domain/EndpointPrice.ts"
import { isOwnGood } from "#domain/GatewayPath.ts"
import { OriginNotConfigured } from "#domain/GatewayRefusal.ts"
import { EndpointId, type TenantId } from "#domain/Ids.ts"
import { assetOf, networksOf, usualMoney } from "#domain/Network.ts"
import {
  OriginForbiddenAddress,
  type OriginNotAllowed,
  type OriginRefusal,
  type OriginUrl,
  parseOriginUrl
} from "#domain/OriginUrl.ts"
import type { CurrencyMismatch } from "#domain/PostingRefused.ts"
import type { Price } from "#domain/Price.ts"
import type { Principal } from "#domain/Principal.ts"
import { type InvalidRequest, NotFound, StateTransitionInvalid } from "#domain/Refusal.ts"
import type { NetworkMismatch } from "#domain/Transfer.ts"
import { NetworkNotAvailable } from "#domain/Wallet.ts"
import { Accounts } from "./Accounts.ts"
import { inTransaction } from "./Database/InTransaction.ts"
import { Deployment } from "./Deployment.ts"
import * as Directory from "./Endpoints/Directory.ts"
import { addresses, checkedSchemes, discountsText, encode, headersText, sameAs } from "./Endpoints/Fitting.ts"
import { EventBus } from "./EventBus.ts"
import { EventLog } from "./EventLog.ts"
import { newId } from "./NewId.ts"
import { PublicHttpPolicy } from "./PublicHttp/Policy.ts"
import { Wallets } from "./Wallets.ts"
import * as OfEndpoint from "./Webhooks/OfEndpoint.ts"

/** Where changes are announced: the endpoint's id, or nothing for all of them. */
const changedSubject = "endpoints.changed"

/** An endpoint as the gateway serves it. Totals are as old as the snapshot. */
export interface Snapshot {
  readonly endpoint: Endpoint
  readonly price: Price
  readonly origin: OriginUrl | undefined
  /** Why the address that is stored may not be called any more; there is no origin then. */
  readonly forbidden?: OriginRefusal | undefined
  /** Sold by us at a path of ours: it has no origin, and can be paid for all the same. */
  readonly isOurs?: boolean
}

/** Why there is nothing behind an endpoint to pay for. */
export const withoutOrigin = ({ endpoint, forbidden }: Snapshot): OriginNotConfigured | OriginForbiddenAddress =>
  forbidden === undefined
    ? new OriginNotConfigured({ endpoint_id: endpoint.id })
    : new OriginForbiddenAddress({ reason: forbidden })

type AddressRefused = OriginNotAllowed | InvalidRequest

/** The priced endpoints of a tenant. What belongs to another tenant is `NotFound`. */
export class Endpoints extends Context.Service<
  Endpoints,
  {
    /**
     * `own` is sold by us at a path of ours, where nothing is forwarded to: made once, however often, and changed like any other. Joins
     * the caller's transaction.
     */
    create(
      caller: Principal,
      endpoint: NewEndpoint,
      own?: { readonly id: EndpointId; readonly path: string }
    ): Effect.Effect<
      Endpoint,
      NotFound | NoReceivingWallet | NetworkNotAvailable | CurrencyMismatch | NetworkMismatch | AddressRefused
    >
    get(caller: Principal, id: EndpointId): Effect.Effect<Endpoint, NotFound>
    /** Newest first, with the number of all. */
    list(
      caller: Principal,
      range: { readonly limit: number; readonly offset: number }
    ): Effect.Effect<{ readonly endpoints: ReadonlyArray<Endpoint>; readonly total: number }>
    /** Emits `x402.endpoint.updated`, unless all of it is so already. Every process serves the change at once. */
    update(
      caller: Principal,
      id: EndpointId,
      change: EndpointChange
    ): Effect.Effect<Endpoint, NotFound | StateTransitionInvalid | AddressRefused>
    /** Disables it. Doing so again changes nothing. */
    disable(caller: Principal, id: EndpointId): Effect.Effect<void, NotFound>
    /** What the gateway serves under an id, whatever its status; see `Directory`. */
    readonly directory: Directory.Directory<Snapshot>
  }
>()("turnpike/services/Endpoints") {
  static readonly layer = Layer.effect(
    Endpoints,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const events = yield* EventLog
      const bus = yield* EventBus
      const wallets = yield* Wallets
      const accounts = yield* Accounts
      const { environment, publicUrl, scannerUrl } = yield* Deployment
      const rules = yield* PublicHttpPolicy

      const Row = Schema.toType(Endpoint)
      const endpoints = sql`SELECT e.id, e.tenant_id AS "tenantId", e.account_id AS "accountId", e.wallet_id AS "walletId",
          e.name, e.description, e.path, e.method, e.base_price AS "basePrice", e.currency, e.network, e.status,
          e.asset_address AS "assetAddress", w.address AS "paymentAddress", e.volume_discounts AS "volumeDiscounts",
          coalesce(t.count, 0) AS "totalCalls", coalesce(t.amount, 0) AS "totalRevenue",
          e.webhook_url AS "webhookUrl", e.origin_url AS "originUrl", e.timeout_ms AS "timeoutMs",
          e.rate_limit AS "rateLimit", e.charge_on AS "chargeOn", e.schemes, e.mpp, e.forward_headers AS "forwardHeaders",
          coalesce(${scannerUrl}::text || e.own_path, ${`${publicUrl}/x402/`}::text || e.id) AS "gatewayUrl", e.created_at AS "createdAt", e.updated_at AS "updatedAt"
        FROM endpoints e JOIN wallets w ON w.id = e.wallet_id
        LEFT JOIN tallies t ON t.log = 1 AND t.scope = e.id AND t.subject = '00000000-0000-0000-0000-000000000000'`

      const byTenant = SqlSchema.findOneOption({
        Request: Schema.Struct({ tenant_id: Schema.String, id: Schema.String }),
        Result: Row,
        execute: ({ tenant_id, id }) => sql`${endpoints} WHERE e.tenant_id = ${tenant_id} AND e.id = ${id}`
      })
      const find = Effect.fnUntraced(function* (tenant_id: TenantId, id: EndpointId) {
        const found = yield* Effect.orDie(byTenant({ tenant_id, id }))
        return Option.isSome(found) ? found.value : yield* new NotFound({ resource: "endpoint", id })
      })
      const get = Effect.fn("Endpoints.get")((caller: Principal, id: EndpointId) => find(caller.tenant_id, id))

      const tellPayments = yield* OfEndpoint.make

      const { checkedWebhook, originBase } = addresses(rules)

      const receiver = Effect.fnUntraced(function* (caller: Principal, wanted: NewEndpoint) {
        const account_id = wanted.accountId ?? caller.account_id
        if (wanted.accountId !== undefined) yield* accounts.get(caller.tenant_id, account_id)
        if (wanted.walletId !== undefined) {
          const wallet = yield* wallets.get(caller, wanted.walletId)
          yield* sameAs(wallet, wanted)
          return { account_id, wallet }
        }
        const available = networksOf(environment)
        const { currency, network } = { ...usualMoney(environment), ...wanted }
        if (!available.includes(network)) return yield* new NetworkNotAvailable({ network, available })
        const found = yield* wallets.byAccount(account_id, currency, network)
        if (Option.isNone(found)) return yield* new NoReceivingWallet({ account_id, currency, network })
        return { account_id, wallet: found.value }
      })

      const told = (id: EndpointId) =>
        Effect.andThen(
          Effect.sync(() => directory.forget(id)),
          bus.publish(changedSubject, id)
        )
      const create = Effect.fn("Endpoints.create")(function* (
        caller: Principal,
        wanted: NewEndpoint,
        own?: { readonly id: EndpointId; readonly path: string }
      ) {
        const { tenant_id } = caller
        const { account_id, wallet } = yield* receiver(caller, wanted)
        const id = own?.id ?? (yield* newId(EndpointId))
        const all = { ...endpointDefaults, ...wanted }
        // An address of ours is never called as an origin; it says that there is something to buy.
        const origin_url = own === undefined ? yield* originBase(all.originUrl) : scannerUrl + own.path
        const webhook_url = yield* checkedWebhook(all.webhookUrl)
        const at = yield* DateTime.nowAsDate
        yield* Effect.orDie(sql`INSERT INTO endpoints (id, tenant_id, account_id, wallet_id, name, description, path, method,
            origin_url, base_price, currency, network, asset_address, status, volume_discounts, webhook_url, timeout_ms,
            rate_limit, charge_on, schemes, mpp, forward_headers, own_path, created_at, updated_at)
          VALUES (${id}, ${tenant_id}, ${account_id}, ${wallet.id}, ${all.name}, ${all.description}, ${all.path},
            ${all.method}, ${origin_url}, ${all.basePrice}, ${wallet.currency}, ${wallet.network},
            ${assetOf(wallet.network, wallet.currency).address}, 'active',
            ${yield* discountsText(all.volumeDiscounts)}::jsonb, ${webhook_url}, ${all.timeoutMs}, ${all.rateLimit},
            ${all.chargeOn}, ${yield* checkedSchemes(all.schemes, wallet.network)}::text[], ${all.mpp},
            ${yield* headersText(all.forwardHeaders)}::jsonb, ${own?.path ?? null}, ${at}, ${at})
          ON CONFLICT (own_path) DO NOTHING`)
        const made = yield* find(tenant_id, id)
        // Last, because everybody waits for whoever holds the head of the log.
        if (webhook_url !== null) yield* tellPayments({ id, tenantId: tenant_id, webhookUrl: webhook_url })
        // Somebody may have asked for this id a moment ago, here or elsewhere, and lists of endpoints have one more.
        yield* sql.afterCommit(told(id))
        return made
      }, inTransaction(sql))

      const listPage = SqlSchema.findAll({
        Request: Schema.Struct({ tenant_id: Schema.String, limit: Schema.Int, offset: Schema.Int }),
        Result: Row,
        // What comes before the page is passed by in an index; rows are read of the page only.
        execute: ({ tenant_id, limit, offset }) =>
          sql`WITH page AS MATERIALIZED (
              SELECT id FROM endpoints WHERE tenant_id = ${tenant_id} ORDER BY id DESC LIMIT ${limit} OFFSET ${offset}
            ) ${endpoints} WHERE e.id IN (SELECT id FROM page) ORDER BY e.id DESC`
      })
      const countAll = SqlSchema.findOne({
        Request: Schema.String,
        Result: Schema.Struct({ total: Schema.Int }),
        execute: (tenant_id) => sql`SELECT count(*)::int AS total FROM endpoints WHERE tenant_id = ${tenant_id}`
      })
      const list = Effect.fn("Endpoints.list")(function* (
        caller: Principal,
        { limit, offset }: { readonly limit: number; readonly offset: number }
      ) {
        const { total } = yield* countAll(caller.tenant_id)
        return { endpoints: yield* listPage({ tenant_id: caller.tenant_id, limit, offset }), total }
      }, Effect.orDie)

      const store = Effect.fnUntraced(function* (endpoint: Endpoint) {
        const { status, basePrice, description, name, originUrl, rateLimit, timeoutMs, webhookUrl } = endpoint
        yield* sql`UPDATE endpoints SET name = ${name}, description = ${description}, base_price = ${basePrice},
          volume_discounts = ${yield* discountsText(endpoint.volumeDiscounts)}::jsonb, status = ${status},
          webhook_url = ${webhookUrl}, origin_url = ${originUrl}, timeout_ms = ${timeoutMs}, rate_limit = ${rateLimit},
          charge_on = ${endpoint.chargeOn}, schemes = ${endpoint.schemes}::text[], mpp = ${endpoint.mpp}, forward_headers = ${yield* headersText(endpoint.forwardHeaders)}::jsonb,
          updated_at = ${endpoint.updatedAt} WHERE id = ${endpoint.id}`
        const record = yield* encode(endpoint)
        yield* events.append([
          {
            tenant_id: endpoint.tenantId,
            type: "x402.endpoint.updated",
            // These may be keys to the origin: an event goes further than the record.
            data: { endpoint: { ...record, forwardHeaders: {} } }
          }
        ])
      }, Effect.orDie)

      const update = Effect.fn("Endpoints.update")(function* (
        caller: Principal,
        id: EndpointId,
        wanted: EndpointChange
      ) {
        yield* Effect.orDie(
          sql`SELECT id FROM endpoints WHERE tenant_id = ${caller.tenant_id} AND id = ${id} FOR NO KEY UPDATE`
        )
        const current = yield* find(caller.tenant_id, id)
        const to = wanted.status ?? current.status
        if (!mayBecome(current.status, to)) {
          return yield* new StateTransitionInvalid({ resource: "endpoint", from: current.status, to })
        }
        const next = {
          ...current,
          ...wanted,
          schemes: yield* checkedSchemes(wanted.schemes ?? current.schemes, current.network),
          originUrl: wanted.originUrl === undefined ? current.originUrl : yield* originBase(wanted.originUrl),
          webhookUrl: wanted.webhookUrl === undefined ? current.webhookUrl : yield* checkedWebhook(wanted.webhookUrl),
          updatedAt: yield* DateTime.nowAsDate
        }
        // First, because storing ends with a fact, and subscriptions come before the head of the log.
        if (wanted.webhookUrl !== undefined) yield* tellPayments(next)
        if (Equal.equals({ ...next, updatedAt: current.updatedAt }, current)) return current
        yield* store(next)
        // Told with the commit: a caller who hangs up would leave a change that nobody hears of.
        yield* sql.afterCommit(told(id))
        return next
      }, inTransaction(sql))
      const disable = Effect.fn("Endpoints.disable")(function* (caller: Principal, id: EndpointId) {
        const { status } = yield* get(caller, id)
        if (status === "disabled") return
        yield* Effect.catchTags(update(caller, id, { status: "disabled" }), {
          STATE_TRANSITION_INVALID: Effect.die,
          ORIGIN_NOT_ALLOWED: Effect.die,
          INVALID_REQUEST: Effect.die
        })
      })

      const byIds = SqlSchema.findAll({
        Request: Schema.Array(Schema.String),
        Result: Row,
        execute: (ids) => sql`${endpoints} WHERE e.id = ANY(${ids}::uuid[])`
      })
      const snapshot = (endpoint: Endpoint): Snapshot => {
        const { originUrl } = endpoint
        const isOurs = isOwnGood(endpoint)
        const origin = originUrl === null || isOurs ? undefined : parseOriginUrl(originUrl, rules)
        return {
          endpoint,
          price: priceOf(endpoint.basePrice, endpoint.volumeDiscounts),
          isOurs,
          origin: origin !== undefined && Result.isSuccess(origin) ? origin.success : undefined,
          forbidden: origin !== undefined && Result.isFailure(origin) ? origin.failure : undefined
        }
      }
      const directory = yield* Directory.make((ids) =>
        byIds(ids).pipe(
          Effect.map(
            (found) => new Map(found.map((endpoint): [string, Snapshot] => [endpoint.id, snapshot(endpoint)]))
          ),
          Effect.orDie
        )
      )
      const changes = yield* bus.subscribe(changedSubject)
      yield* PubSub.take(changes).pipe(
        Effect.map((id) => directory.forget(id === "" ? undefined : id)),
        Effect.forever,
        Effect.forkScoped
      )

      return Endpoints.of({ create, get, list, update, disable, directory })
    })
  )
}
