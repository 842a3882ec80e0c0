import { DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { AccountId, type DisputeId, type StreamId, TenantId, type TransferId, WalletId } from "#domain/Ids.ts"
import { systemAccount } from "#domain/LedgerAccount.ts"
import { flat } from "#domain/Price.ts"
import { Principal } from "#domain/Principal.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Disputes } from "#services/Disputes.ts"
import { Doctor } from "#services/Doctor.ts"
import { Ledger } from "#services/Ledger.ts"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { newUuid } from "#services/NewId.ts"
import { Refunds } from "#services/Refunds.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { type Action, beginning } from "./Actions.ts"

/**
 * The services that move money, in virtual time, over a database of their own. The pool of connections lives in real time: it looks
 * after itself so often that months would take minutes to pass.
 */
export const platform = Layer.mergeAll(
  Transfers.layer,
  Refunds.layer,
  Disputes.layer,
  MoneyStreams.layer,
  Doctor.layer
).pipe(
  Layer.provideMerge(Wallets.layer),
  Layer.provideMerge(Ledger.layer),
  Layer.provideMerge(TestClock.layer()),
  Layer.provideMerge(Postgres.layerTest)
)

/** A tenant with some wallets, and what it has made so far. */
export interface Tenant {
  readonly caller: Principal
  readonly wallets: ReadonlyArray<WalletId>
  readonly transfers: Array<TransferId>
  readonly holds: Array<{ readonly hold: string; readonly debit: WalletId; readonly credit: WalletId }>
  readonly disputes: Array<DisputeId>
  readonly streams: Array<StreamId>
}

const issuance = systemAccount("issuance", "USDC")

/** So many tenants, each with wallets that have what they begin with, made in few statements. */
export const tenants = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  const { post } = yield* Ledger
  const made = Array.from({ length: count }, (): Tenant => {
    const [tenant_id, account_id] = [TenantId.make(newUuid()), AccountId.make(newUuid())]
    const about = { environment: "sandbox", actor_type: "api_key", actor_id: "key", scopes: ["*:*"] } as const
    return {
      caller: new Principal({ tenant_id, account_id, ...about }),
      wallets: beginning.map(() => WalletId.make(newUuid())),
      transfers: [],
      holds: [],
      disputes: [],
      streams: []
    }
  })
  const rows = JSON.stringify(
    made.flatMap(({ caller: { account_id, tenant_id }, wallets }) =>
      wallets.map((id, place) => ({ id, place, account_id, tenant_id }))
    )
  )
  const given = sql`jsonb_to_recordset(${rows}::jsonb) AS r (id uuid, place int, account_id uuid, tenant_id uuid)`
  yield* sql`INSERT INTO tenants SELECT tenant_id, 'a tenant', 'sandbox', now() FROM ${given} WHERE place = 0`
  yield* sql`INSERT INTO accounts (id, tenant_id, name, type, metadata, created_at, updated_at)
    SELECT account_id, tenant_id, 'an account', 'business', '{}', now(), now() FROM ${given} WHERE place = 0`
  yield* sql`INSERT INTO ledger_accounts (id, purpose, currency) SELECT id, 'wallet', 'USDC' FROM ${given}`
  yield* sql`INSERT INTO wallets (id, tenant_id, owner_type, owner_id, currency, network, address, metadata, created_at, updated_at)
    SELECT id, tenant_id, 'account', account_id, 'USDC', 'solana-devnet', id, '{}', now(), now() FROM ${given}`
  const faucet = { kind: "transfer" as const, debit: issuance, currency: "USDC", code: "faucet" }
  const steps = made.flatMap(({ wallets }) =>
    wallets.flatMap((credit, place) => {
      const amount = beginning[place] ?? 0n
      return amount === 0n ? [] : [{ ...faucet, credit, amount }]
    })
  )
  yield* post({ id: newUuid(), steps })
  return made
})

/** Does an action that there is something to do to, through the services, and says what was answered: a status or a refusal's code. */
export const make = Effect.gen(function* () {
  const [ledger, wallets, transfers] = [yield* Ledger, yield* Wallets, yield* Transfers]
  const [refunds, disputes, streams] = [yield* Refunds, yield* Disputes, yield* MoneyStreams]
  const as = <A>(effect: Effect.Effect<A, Refused>, word: (answer: A) => string = () => "done") =>
    Effect.match(effect, { onFailure: ({ _tag }) => _tag, onSuccess: word })
  const optional = (amount: number | undefined) => (amount === undefined ? undefined : BigInt(amount))

  return (tenant: Tenant, action: Action): Effect.Effect<string> => {
    const { caller } = tenant
    const wallet = (place: number) => pick(tenant.wallets, place)
    switch (action.do) {
      case "fund":
        return as(wallets.fund(caller, wallet(action.wallet), { amount: BigInt(action.amount), currency: "USDC" }))
      case "freeze":
        return as(wallets.freeze(caller, wallet(action.wallet), "model"))
      case "unfreeze":
        return as(wallets.unfreeze(caller, wallet(action.wallet)))
      case "transfer":
      case "wrap": {
        const [from_wallet_id, to_wallet_id] = [wallet(action.between[0]), wallet(action.between[1])]
        const type = action.do === "wrap" ? "wrap" : "internal"
        const order = { type, from_wallet_id, to_wallet_id, amount: BigInt(action.amount), currency: "USDC" } as const
        return as(transfers.create(caller, order), ({ transfer }) => {
          tenant.transfers.push(transfer.id)
          return transfer.status
        })
      }
      case "hold": {
        const [id, debit, credit] = [newUuid(), wallet(action.between[0]), wallet(action.between[1])]
        const hold = { kind: "hold" as const, hold: id, price: flat(BigInt(action.amount)), debit, credit, ...payment }
        const posted = Effect.flatMap(DateTime.now, (now) => {
          const expires_at = DateTime.toDate(DateTime.add(now, { milliseconds: action.lasts }))
          return ledger.post({ id: newUuid(), steps: [{ ...hold, expires_at }] })
        })
        return as(posted, () => {
          tenant.holds.push({ hold: id, debit, credit })
          return "done"
        })
      }
      case "capture": {
        const hold = pick(tenant.holds, action.hold)
        const step = { kind: "capture" as const, ...hold, ...payment, price: flat(BigInt(action.amount)) }
        return as(ledger.post({ id: newUuid(), steps: [step] }))
      }
      case "release": {
        const step = {
          kind: "release" as const,
          ...pick(tenant.holds, action.hold),
          ...payment,
          as: "released" as const
        }
        return as(ledger.post({ id: newUuid(), steps: [step] }))
      }
      case "refund": {
        const order = { transfer_id: pick(tenant.transfers, action.transfer), amount: optional(action.amount), ...said }
        return as(refunds.create(caller, order), ({ refund: { refund_transfer_id, status } }) => {
          if (refund_transfer_id !== null) tenant.transfers.push(refund_transfer_id)
          return status
        })
      }
      case "dispute": {
        const order = {
          transfer_id: pick(tenant.transfers, action.transfer),
          amount_disputed: optional(action.amount),
          requested_resolution: action.wants,
          reason: action.reason,
          description: "a model",
          evidence: []
        } as const
        return as(disputes.open(caller, order), ({ dispute }) => {
          tenant.disputes.push(dispute.id)
          return dispute.status
        })
      }
      case "respond": {
        const answer = { response: "no", counter_evidence: [] }
        return as(disputes.respond(caller, pick(tenant.disputes, -1), answer), ({ dispute }) => dispute.status)
      }
      case "escalate":
        return as(disputes.escalate(caller, pick(tenant.disputes, -1), null), ({ dispute }) => dispute.status)
      case "resolve": {
        const refund_amount = action.as === "partial_refund" ? BigInt(action.amount) : undefined
        const verdict = { resolution: action.as, refund_amount, notes: null }
        return as(disputes.resolve(caller, pick(tenant.disputes, -1), verdict), ({ dispute }) => dispute.status)
      }
      case "stream": {
        const order = {
          from_wallet_id: wallet(action.between[0]),
          to_wallet_id: wallet(action.between[1]),
          initial_deposit: BigInt(action.amount),
          buffer: BigInt(action.buffer),
          flow_rate: action.rate
        }
        return as(streams.open(caller, order), ({ stream }) => {
          tenant.streams.push(stream.id)
          return stream.status
        })
      }
      case "top_up": {
        const request = { amount: BigInt(action.amount) }
        return as(streams.topUp(caller, pick(tenant.streams, action.stream), request), streamed)
      }
      case "withdraw": {
        const request = action.amount === undefined ? {} : { amount: BigInt(action.amount) }
        return as(streams.withdraw(caller, pick(tenant.streams, action.stream), request), streamed)
      }
      case "pause":
        return as(streams.pause(caller, pick(tenant.streams, action.stream)), streamed)
      case "resume":
        return as(streams.resume(caller, pick(tenant.streams, action.stream)), streamed)
      case "rate":
        return as(streams.changeRate(caller, pick(tenant.streams, action.stream), action.rate), streamed)
      case "cancel":
        return as(streams.cancel(caller, pick(tenant.streams, action.stream), {}), streamed)
    }
  }
})

/** Lets time pass, and does everything that is then due, as the workers do. */
export const pass = Effect.fnUntraced(function* (millis: number) {
  const [ledger, refunds, disputes, streams] = [yield* Ledger, yield* Refunds, yield* Disputes, yield* MoneyStreams]
  yield* TestClock.adjust(millis)
  for (const due of [ledger.expireDue, streams.alertDue, disputes.resolveDue, refunds.retryDue]) {
    yield* Effect.repeat(due, { until: (count) => count === 0 })
  }
})

/** What there is of some tenants, in the words of the model. */
export const look = Effect.fnUntraced(function* (some: ReadonlyArray<Tenant>) {
  const sql = yield* SqlClient.SqlClient
  const streams = yield* MoneyStreams
  const ids = some.map(({ caller }) => caller.tenant_id)
  const of = Effect.fnUntraced(function* (rows: Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>) {
    const decoded = yield* Effect.flatMap(rows, Schema.decodeUnknownEffect(Seen))
    return Map.groupBy(decoded, ({ tenant_id }) => tenant_id)
  }, Effect.orDie)
  const wallets = yield* of(sql`SELECT w.tenant_id, w.id, a.posted || ' ' || a.held || ' ' || a.frozen AS seen
    FROM wallets w JOIN ledger_accounts a ON a.id = w.id WHERE w.tenant_id = ANY(${ids}::uuid[]) ORDER BY w.id`)
  const transfers = yield* of(sql`SELECT tenant_id, id, amount || ' ' || status || ' ' || refunded_amount AS seen
    FROM transfers WHERE tenant_id = ANY(${ids}::uuid[])`)
  const disputes = yield* of(sql`SELECT tenant_id, id, status || ' ' || coalesce(resolution, 'null') AS seen
    FROM disputes WHERE tenant_id = ANY(${ids}::uuid[]) ORDER BY id`)
  const owed = yield* of(sql`SELECT tenant_id, id, amount::text AS seen
    FROM refunds WHERE tenant_id = ANY(${ids}::uuid[]) AND status = 'pending' ORDER BY id`)
  const flows = yield* Effect.forEach(
    some,
    ({ caller, streams: own }) =>
      own.length === 0
        ? Effect.succeed([])
        : Effect.map(streams.list(caller, {}, { limit: 200, offset: 0 }), (page) => page.streams),
    { concurrency: 10 }
  )
  return some.map(({ caller: { tenant_id }, transfers: known }, index) => {
    const words = (seen: typeof wallets) => (seen.get(tenant_id) ?? []).map((one) => one.seen)
    const byId = new Map((transfers.get(tenant_id) ?? []).map(({ id, seen }) => [id, seen]))
    return {
      wallets: words(wallets),
      transfers: known.map((id) => byId.get(id)),
      disputes: words(disputes),
      owed: words(owed),
      streams: flows[index]!.toReversed().map((stream) => {
        const { deposited, recipient_balance, returned, status, withdrawn, wrapped_balance } = stream
        return [status, deposited, withdrawn, returned, recipient_balance, wrapped_balance].join(" ")
      })
    }
  })
})
export type Seen = Effect.Success<ReturnType<typeof look>>[number]

const Seen = Schema.Array(Schema.Struct({ tenant_id: Schema.String, id: Schema.String, seen: Schema.String }))

type Refused = { readonly _tag: string }
// Of nobody's paid call: the money of one belongs to its payment.
const payment = { currency: "USDC", code: "reserved" }
const said = { reason: "other", reason_details: null } as const
const streamed = ({ stream }: { readonly stream: { readonly status: string } }) => stream.status
const pick = <Thing>(things: ReadonlyArray<Thing>, place: number): Thing => things.at(place % things.length)!
