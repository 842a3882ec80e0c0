import { assert } from "@effect/vitest"
import { Context, Effect, Layer, Option, Queue, Ref } from "effect"
import { SqlClient } from "effect/sql"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { toTypeId, type TransferId, type WalletId } from "#domain/Ids.ts"
import { systemAccount } from "#domain/LedgerAccount.ts"
import type { Currency } from "#domain/Money.ts"
import type { Principal } from "#domain/Principal.ts"
import type { Outcome, SettlementOrder } from "#domain/Settlement.ts"
import type { CrossBorderOrder } from "#domain/TransferOrder.ts"
import * as Postgres from "#layers/Postgres.ts"
import * as RateTable from "#layers/RateTable.ts"
import type { Delay } from "#layers/TransferRail/Delay.ts"
import * as TransferRailSimulated from "#layers/TransferRailSimulated.ts"
import { CrossBorder } from "#services/CrossBorder.ts"
import { Doctor } from "#services/Doctor.ts"
import { EventLog } from "#services/EventLog.ts"
import { Ledger } from "#services/Ledger.ts"
import { Quotes } from "#services/Quotes.ts"
import { RailUnavailable } from "#services/Rail.ts"
import { SettlementPolicy } from "#services/Settlements/Policy.ts"
import { Settlements } from "#services/Settlements.ts"
import { TransferRail } from "#services/TransferRail.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { tenant } from "./WalletsHarness.ts"

/** What the rail does when it is asked: `lose` settles, and its answer never arrives; a function answers for itself. */
export type Behaviour =
  | "complete"
  | "reject"
  | "pending"
  | "lose"
  | "hang"
  | "unavailable"
  | "break"
  | ((order: SettlementOrder) => Effect.Effect<Outcome, RailUnavailable>)

/** The rail of tests from behind. */
export class RailControl extends Context.Service<
  RailControl,
  {
    readonly behaviour: Ref.Ref<Behaviour>
    /** How often each reference moved money on the other side: the rail keeps its promise, so once at most. */
    readonly settled: Ref.Ref<ReadonlySet<string>>
    /** Every question, in order. */
    readonly asked: Queue.Queue<{ readonly question: "submit" | "status"; readonly order: SettlementOrder }>
  }
>()("turnpike/test/services/SettlementsHarness/RailControl") {}

/** A rail in memory that does what it is told, and settles one reference once. */
const controlled = Layer.effectContext(
  Effect.gen(function* () {
    const behaviour = yield* Ref.make<Behaviour>("complete")
    const settled = yield* Ref.make<ReadonlySet<string>>(new Set())
    const asked = yield* Queue.sliding<{ question: "submit" | "status"; order: SettlementOrder }>(1000)
    const move = ({ reference }: SettlementOrder): Effect.Effect<Outcome> =>
      Effect.as(
        Ref.update(settled, (before) => new Set([...before, reference])),
        { _tag: "Completed", rail_reference: `rail ${reference}` }
      )
    const answers: Record<Extract<Behaviour, string>, Exclude<Behaviour, string>> = {
      complete: move,
      reject: () => Effect.succeed({ _tag: "Rejected", reason: "compliance_block" }),
      pending: () => Effect.succeed({ _tag: "Pending" }),
      lose: (order) => Effect.andThen(move(order), Effect.never),
      hang: () => Effect.never,
      unavailable: () => Effect.fail(new RailUnavailable({ reason: "simulated" })),
      break: () => Effect.die("simulated")
    }
    const answer = (question: "submit" | "status") =>
      Effect.fnUntraced(function* (order: SettlementOrder) {
        const now = yield* Ref.get(behaviour)
        const before = (yield* Ref.get(settled)).has(order.reference)
        if (now === "lose") yield* move(order)
        yield* Queue.offer(asked, { question, order })
        // What was settled once is settled, whatever happens later.
        if (before) return yield* move(order)
        return yield* (typeof now === "string" ? answers[now] : now)(order)
      })
    return Context.make(TransferRail, { submit: answer("submit"), status: answer("status") }).pipe(
      Context.add(RailControl, { behaviour, settled, asked })
    )
  })
)

const policy = (changed: Partial<SettlementPolicy>) =>
  Layer.effect(
    SettlementPolicy,
    Effect.map(SettlementPolicy, (usual) => ({ ...usual, ...changed }))
  )
const books = Layer.mergeAll(Quotes.layer, Transfers.layer, Doctor.layer, EventLog.layer).pipe(
  Layer.provideMerge(Wallets.layer),
  Layer.provideMerge(Ledger.layer)
)

/** Cross-border transfers over a rail that is told what to do. */
export const testLayer = (changed: Partial<SettlementPolicy> = {}) =>
  CrossBorder.layer.pipe(
    Layer.provideMerge(Settlements.layer),
    Layer.provide(policy(changed)),
    Layer.provideMerge(controlled),
    Layer.provideMerge(books),
    Layer.provideMerge(Layer.merge(Postgres.layerTest, RateTable.layer))
  )

/** The same over the sandbox's own rail. */
export const sandboxLayer = (delay: Delay) =>
  CrossBorder.layer.pipe(
    Layer.provideMerge(Settlements.layer),
    Layer.provide(TransferRailSimulated.layer(delay)),
    Layer.provideMerge(books),
    Layer.provideMerge(Layer.merge(Postgres.layerTest, RateTable.layer))
  )

/** A second process on the same database and the same rail: with its own ledger lane. */
export const another = (changed: Partial<SettlementPolicy> = {}) =>
  Effect.map(
    Layer.build(
      Layer.fresh(
        CrossBorder.layer.pipe(
          Layer.provideMerge(Settlements.layer),
          Layer.provide(policy(changed)),
          Layer.provideMerge(books)
        )
      )
    ),
    (context) => ({ settlements: Context.get(context, Settlements), crossBorder: Context.get(context, CrossBorder) })
  )

export const rail = {
  does: (behaviour: Behaviour) => Effect.flatMap(RailControl, (control) => Ref.set(control.behaviour, behaviour)),
  /** Resumes with the next question. */
  asked: Effect.flatMap(RailControl, ({ asked }) => Queue.take(asked)),
  /** How many questions there were since this was asked last. */
  questions: Effect.flatMap(RailControl, ({ asked }) => Queue.clear(asked)),
  settled: Effect.flatMap(RailControl, ({ settled }) => Ref.get(settled))
}

/** A tenant with USDC on one network and an empty EURC wallet on another. */
export const pair = Effect.fnUntraced(function* (funds = 1_000_000_000n, receives: Currency = "EURC") {
  const wallets = yield* Wallets
  const caller = yield* tenant()
  const from = (yield* wallets.create(caller, { currency: "USDC", network: "solana-devnet" })).id
  const to = (yield* wallets.create(caller, { currency: receives, network: "base-sepolia" })).id
  if (funds > 0n) yield* wallets.fund(caller, from, { amount: funds, currency: "USDC" })
  return { caller, from, to, receives }
})
export type Pair = Effect.Success<ReturnType<typeof pair>>

export const quoted = ({ caller, receives }: Pair, amount = 100_000_000n) =>
  Effect.flatMap(Quotes, (quotes) => quotes.create(caller, { from_currency: "USDC", to_currency: receives, amount }))

/** An order with a fresh quote. */
export const orderFor = Effect.fnUntraced(function* (
  parties: Pair,
  changed: Partial<CrossBorderOrder> & { readonly quotedAmount?: bigint } = {}
) {
  const { quotedAmount, ...rest } = changed
  const quote = yield* quoted(parties, quotedAmount)
  const order: CrossBorderOrder = {
    type: "cross_border",
    from_wallet_id: parties.from,
    to_wallet_id: parties.to,
    quote_id: quote.id,
    ...rest
  }
  return { quote, order }
})

/** A new transfer of 100 USDC. */
export const begun = Effect.fnUntraced(function* (
  parties: Pair,
  changed: Parameters<typeof orderFor>[1] = {},
  claim?: IdempotencyClaim
) {
  const { order, quote } = yield* orderFor(parties, changed)
  const { transfer } = yield* (yield* CrossBorder).create(parties.caller, order, claim)
  return { quote, order, id: transfer.id, transfer }
})

export const transferOf = (caller: Principal, id: Parameters<Transfers["Service"]["get"]>[1]) =>
  Effect.flatMap(Transfers, ({ get }) => get(caller, id))

export const settlementOf = (id: Parameters<Settlements["Service"]["find"]>[0]) =>
  Effect.flatMap(Settlements, ({ find }) => Effect.map(find(id), Option.getOrThrow))

export const balance = Effect.fnUntraced(function* (id: WalletId | string) {
  const { held, posted } = yield* (yield* Ledger).account(id)
  return { posted, held }
})

/** What the platform's own accounts own, by their names. */
export const system = Effect.gen(function* () {
  const of = (purpose: "fees" | "fx" | "issuance", currency: Currency) =>
    Effect.map(balance(systemAccount(purpose, currency)), ({ posted }) => posted)
  return {
    fees: yield* of("fees", "USDC"),
    fxUsdc: yield* of("fx", "USDC"),
    fxEurc: yield* of("fx", "EURC"),
    issuanceUsdc: yield* of("issuance", "USDC"),
    issuanceEurc: yield* of("issuance", "EURC")
  }
})

/** The types of a transfer's events, in order. */
export const eventsOf = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT type, data->'transfer'->>'status' AS status FROM events
    WHERE (data->'transfer'->>'id') = ${id} ORDER BY seq`
  return rows.map(({ status, type }) => `${String(type)} ${String(status)}`)
})

/** Every promise of the doctor that does not hold. */
export const broken = Effect.gen(function* () {
  const { examine } = yield* Doctor
  return (yield* examine).filter((finding) => finding.broken.length > 0).map((finding) => finding.promise)
})

export const stateOf = (id: TransferId) => Effect.map(settlementOf(id), ({ state }) => state)

export const settleDue = Effect.flatMap(Settlements, (settlements) => settlements.settleDue)

/** The transfer is completed, its money moved once on both sides, and everybody was told once. */
export const isSettledOnce = Effect.fnUntraced(function* (parties: Pair, id: TransferId) {
  assert.strictEqual((yield* transferOf(parties.caller, id)).status, "completed")
  assert.isTrue((yield* rail.settled).has(toTypeId("tx", id)))
  assert.deepStrictEqual(yield* balance(parties.from), { posted: 900_000_000n, held: 0n })
  assert.deepStrictEqual(yield* eventsOf(toTypeId("tx", id)), [
    "transfer.created pending",
    "transfer.completed completed"
  ])
  assert.deepStrictEqual(yield* broken, [])
})
