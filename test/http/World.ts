import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { toTypeId } from "#domain/Ids.ts"
import { Batches } from "#services/Batches.ts"
import { Credentials } from "#services/Credentials.ts"
import { CrossBorder } from "#services/CrossBorder.ts"
import { Disputes } from "#services/Disputes.ts"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { Quotes } from "#services/Quotes.ts"
import { Refunds } from "#services/Refunds.ts"
import { Schedules } from "#services/Schedules.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { Webhooks } from "#services/Webhooks.ts"
import { scannerOf } from "./Corpus.ts"
import type { Operation } from "./Description.ts"
import { fleet } from "./Fleet.ts"
import { buyer, pay, seller, send, wallet } from "./GatewayHarness.ts"
import { people } from "./People.ts"

/** What stands for a thing in a request, by the name of the field that names it. */
type Names = Readonly<Record<string, string>>

export interface Request {
  readonly id?: string
  readonly body?: unknown
  readonly query?: string
  readonly headers?: Record<string, string>
}

const isListOfObjects = (value: unknown): value is ReadonlyArray<Readonly<Record<string, unknown>>> =>
  Array.isArray(value) && value.every((one) => typeof one === "object" && one !== null)

/** A tenant that has one of everything, and can make every call of the description with it. */
export const world = Effect.gen(function* () {
  const { endpoint, key, path, principal, till } = yield* seller((_, response) => response.end("served"))
  const spare = yield* (yield* Credentials).issue({
    tenant_id: principal.tenant_id,
    kind: "api_key",
    name: "spare",
    scopes: ["*:*"]
  })
  const crowd = yield* people(principal)
  const robots = yield* fleet(principal)
  const scanning = yield* scannerOf(principal)
  const scanner = yield* (yield* Credentials).issue({
    tenant_id: principal.tenant_id,
    kind: "scanner_key",
    name: "scanner",
    scopes: ["scan"]
  })
  const paying = yield* wallet(principal, 5_000_000n)
  const purse = toTypeId("wal", paying)
  const account = toTypeId("acc", principal.account_id)
  const conversion = { from_currency: "USDC", to_currency: "EURC", amount: 1_000_000n } as const
  const quote = yield* (yield* Quotes).create(principal, conversion)
  const abroad = (yield* (yield* Wallets).create(principal, { currency: "EURC" })).id
  const fxPurse = yield* wallet(principal, 5_000_000n)
  /** A transfer that waits for its settlement, which nobody begins here. */
  const pending = Effect.gen(function* () {
    const { id } = yield* (yield* Quotes).create(principal, conversion)
    const order = { type: "cross_border", from_wallet_id: fxPurse, to_wallet_id: abroad, quote_id: id } as const
    return toTypeId("tx", (yield* (yield* CrossBorder).create(principal, order)).transfer.id)
  })

  const operation = "transfers.create"
  const { batch } = yield* (yield* Batches).create(
    principal,
    { from_wallet_id: paying, transfers: [{ to_wallet_id: till, amount: 1_000n, currency: "USDC" }] },
    { operation, item: (key) => ({ tenant_id: principal.tenant_id, operation, key, fingerprint: "" }) }
  )

  const schedules = yield* Schedules
  const schedule = Effect.gen(function* () {
    const between = { from_wallet_id: paying, to_wallet_id: till, amount: 1_000_000n, currency: "USDC" } as const
    return (yield* schedules.create(principal, { ...between, frequency: "daily" })).schedule.id
  })
  const pausedSchedule = Effect.tap(schedule, (id) => schedules.change(principal, id, "pause"))

  const shop = { from_wallet_id: yield* wallet(principal, 30_000_000n), to_wallet_id: yield* wallet(principal) }
  const bought = Effect.flatMap(Transfers, ({ create }) =>
    create(principal, { ...shop, type: "internal", amount: 10_000_000n, currency: "USDC" })
  ).pipe(Effect.map(({ transfer }) => transfer.id))
  const disputes = yield* Disputes
  const dispute = Effect.fnUntraced(function* (transfer_id: Effect.Success<typeof bought>) {
    const about = { reason: "other", description: "It never came", evidence: [], requested_resolution: null } as const
    return (yield* disputes.open(principal, { ...about, transfer_id, amount_disputed: undefined })).dispute.id
  })
  const purchase = yield* bought
  const back = { amount: 1_000_000n, reason: "error", reason_details: null } as const
  const { refund } = yield* (yield* Refunds).create(principal, { ...back, transfer_id: purchase })
  const verdict = { resolution: "no_refund", refund_amount: undefined, notes: null } as const
  yield* disputes.resolve(principal, yield* dispute(purchase), verdict)
  const answered = yield* dispute(yield* bought)
  yield* disputes.respond(principal, answered, { response: "It was delivered", counter_evidence: [] })

  const streams = yield* MoneyStreams
  const basin = { from_wallet_id: yield* wallet(principal, 20_000_000n), to_wallet_id: till }
  /** A stream at so many 10^-18 units a second. */
  const stream = Effect.fnUntraced(function* (flow_rate: bigint) {
    const opened = yield* streams.open(principal, { ...basin, flow_rate, initial_deposit: 2_000_000n })
    return opened.stream.id
  })
  const brook = yield* streams.open(principal, {
    ...basin,
    from_wallet_id: paying,
    flow_rate: 1n,
    initial_deposit: 1_000n
  })
  const stillStream = Effect.tap(stream(1n), (id) => streams.pause(principal, id))

  const receiver = { url: "https://example.com/hooks", events: ["*"] }
  const webhooks = yield* Webhooks
  const webhook = yield* webhooks.create(principal, receiver)
  const { delivery_id } = yield* webhooks.test(principal, webhook.id)
  yield* (yield* Endpoints).update(principal, endpoint.id, { webhookUrl: receiver.url })

  /** The thing that `{id}` is in the paths of an operation, or of a group of them. */
  const ids: Names = {
    accounts: account,
    api_keys: toTypeId("key", spare.id),
    scanner_keys: toTypeId("key", scanner.id),
    ...crowd.ids,
    ...robots.ids,
    ...scanning.ids,
    wallets: toTypeId("wal", till),
    quotes: toTypeId("qt", quote.id),
    transfers: yield* pending,
    "transfers.cancel": yield* pending,
    endpoints: endpoint.id,
    refunds: toTypeId("rf", refund.id),
    disputes: toTypeId("dp", yield* dispute(yield* bought)),
    "disputes.escalate": toTypeId("dp", answered),
    batches: toTypeId("bat", batch.batch_id),
    scheduled_transfers: toTypeId("sch", yield* schedule),
    "scheduled_transfers.cancel": toTypeId("sch", yield* schedule),
    "scheduled_transfers.pause": toTypeId("sch", yield* schedule),
    "scheduled_transfers.resume": toTypeId("sch", yield* pausedSchedule),
    streams: toTypeId("str", brook.stream.id),
    "streams.resume": toTypeId("str", yield* stillStream),
    // All of it has flown within a millisecond.
    "streams.withdraw": toTypeId("str", yield* stream(10n ** 30n)),
    "streams.cancel": toTypeId("str", yield* stream(1n)),
    webhooks: toTypeId("wh", webhook.id)
  }
  const otherSchedule = Effect.map(schedule, (id) => toTypeId("sch", id))
  const others = {
    "transfers.cancel": pending,
    "scheduled_transfers.cancel": otherSchedule,
    "scheduled_transfers.pause": otherSchedule,
    "scheduled_transfers.resume": Effect.map(pausedSchedule, (id) => toTypeId("sch", id)),
    "streams.pause": Effect.map(stream(1n), (id) => toTypeId("str", id)),
    "streams.resume": Effect.map(stillStream, (id) => toTypeId("str", id))
  }
  /** Things of this tenant alone, by the fields that name them. */
  const own: Names = {
    tenant_id: toTypeId("ten", principal.tenant_id),
    owner_id: account,
    accountId: account,
    walletId: ids["wallets"]!,
    from_wallet_id: purse,
    to_wallet_id: ids["wallets"]!,
    account_id: account,
    customer_reference: account,
    transfer_id: toTypeId("tx", purchase),
    to_account_id: account,
    batch_id: ids["batches"]!,
    quote_id: ids["quotes"]!,
    stream_id: ids["streams.cancel"]!,
    endpoint_id: endpoint.id
  }

  /** Things that whoever has been told of them may name: a price is for everybody, a proof is for its holder. */
  const told = Effect.gen(function* () {
    const visitor = yield* buyer(1_000_000n)
    const quote = yield* send(path)
    const paid = yield* pay(visitor.key, { url: endpoint.gatewayUrl, from_wallet_id: visitor.purse })
    const { payment_request_id }: Names = quote.json
    const { proof }: Names = paid.json
    const { gatewayUrl: url, paymentAddress: receiver } = endpoint
    return { payment_request_id: payment_request_id!, url, proof: proof!, receiver, gateway_url: url }
  })

  const idOf = ({ id, params }: Operation): string => {
    if (params.includes("domain")) return encodeURIComponent(scanning.domain)
    const [group = ""] = id.split(".")
    const one = ids[id] ?? ids[group] ?? scanning.known[id] ?? scanning.known[group]
    if (params.length > 0 && one === undefined) {
      assert.fail(`${id} has an id in its path: give World.ts one of "${group}" to try it with`)
    }
    return one ?? ""
  }

  /** What a field stands for in one operation, where it stands for something else in others. */
  const meant: Readonly<Record<string, Names>> = { "webhooks.create": { url: receiver.url } }
  const { domain } = scanning

  /** The body that the description shows, about this tenant's own things. */
  const bodyOf = Effect.fnUntraced(function* ({ body, id }: Operation) {
    if (body === undefined) return undefined
    if (body.example === undefined) assert.fail(`${id} shows no example of its body`)
    const names: Names = {
      ...own,
      domain,
      ...(yield* told),
      ...crowd.namesOf(id),
      ...(yield* robots.namesOf(id)),
      ...meant[id]
    }
    const within = (value: unknown): unknown => {
      if (Array.isArray(value)) return isListOfObjects(value) ? value.map(about) : value
      return isListOfObjects([value]) ? about(Object(value)) : value
    }
    const about = (example: Readonly<Record<string, unknown>>): Record<string, unknown> =>
      Object.fromEntries(
        // Callers name a key themselves when they want one.
        Object.entries(example).flatMap(([name, value]) =>
          name === "idempotency_key" ? [] : [[name, names[name] ?? within(value)]]
        )
      )
    return about(body.example)
  })

  /** Bodies with fields that do not belong in the one the description shows, by operation and field. */
  const forms: Readonly<Record<string, object>> = {
    "transfers.create quote_id": {
      type: "cross_border",
      from_wallet_id: toTypeId("wal", fxPurse),
      to_wallet_id: toTypeId("wal", abroad)
    },
    "transfers.create stream_id": { type: "stream_cancel" }
  }
  /** A body of the operation to which this field can be added. */
  const bodyFor = (operation: Operation, field: string) => {
    const form = forms[`${operation.id} ${field}`]
    return form === undefined ? bodyOf(operation) : Effect.succeed(form)
  }

  const call = Effect.fnUntraced(function* (operation: Operation, given: Request = {}) {
    const body = "body" in given ? given.body : yield* bodyOf(operation)
    const target = operation.path
      .replace(/\{(?:id|domain)\}/, () => given.id ?? idOf(operation))
      .replace("{sessionId}", robots.sessionId)
      .replace("{deliveryId}", toTypeId("del", delivery_id))
    return yield* send(given.query === undefined ? target : `${target}?${given.query}`, {
      method: operation.method,
      headers: {
        authorization: `Bearer ${key}`,
        ...crowd.headers[operation.id],
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...given.headers
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
    })
  })

  /** Another thing to do the same to: all that can vary of a request which is only about a thing. */
  const otherOf = ({ id }: Operation) => {
    const other = Object.entries(others).find(([name]) => name === id)
    return other === undefined
      ? assert.fail(`say here how a body of ${id} can differ and still be good, or give World.ts another for it`)
      : other[1]
  }

  return {
    key,
    spare: spare.key,
    secrets: [...crowd.secrets, ...robots.secrets],
    ids,
    own,
    source: scanning.source,
    told,
    idOf,
    otherOf,
    bodyOf,
    bodyFor,
    call,
    path,
    principal
  }
})
export type World = Effect.Success<typeof world>
