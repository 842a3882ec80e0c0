import { DateTime, Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { DisputeId, QuoteId, ScheduleId, StreamId, TransferId } from "#domain/Ids.ts"
import type { PaymentRow } from "#domain/Payment.ts"
import { orderOf } from "#domain/ScheduleOrder.ts"
import { itemClaim } from "../services/BatchesHarness.ts"
import { behaviours, duties, type Owner, type Process, rail } from "./Fortune.ts"

interface Refused {
  readonly _tag: string
}
/** A request that may be made again under its key, of any process. */
export interface Deed {
  readonly name: string
  readonly ask: (process: Process, claim?: IdempotencyClaim) => Effect.Effect<{ readonly replayed: boolean }, Refused>
}
type Dice = (below: number) => number

/** As likely as so many others. */
const often = <Thing>(times: number, thing: Thing): ReadonlyArray<Thing> => Array.from({ length: times }, () => thing)
const unkeyed = <A>(effect: Effect.Effect<A, Refused>) => Effect.as(effect, { replayed: false })

/** Chooses what is done next, among all there is to do; undefined when there is nothing to do it to. */
export const make = Effect.fnUntraced(function* (who: Owner, dice: Dice) {
  const sql = yield* SqlClient.SqlClient
  const { accounts, all, caller, elsewhere, endpoint, eurc, snapshot, usdc } = who
  const { tenant_id } = caller
  const pick = <Thing>(things: ReadonlyArray<Thing>): Thing => things[dice(things.length)]!
  const amount = () => BigInt(pick([1, 2, 3, 7, 10, 99, 500, 1 + dice(3000), 1 + dice(30_000)]))
  const perhaps = <Thing>(thing: () => Thing) => (dice(2) === 0 ? undefined : thing())
  const proofs: Array<string> = []
  const calls: Array<PaymentRow> = []

  /** One of the newest of these. */
  const some = Effect.fnUntraced(function* (table: string, where = "true") {
    const rows =
      yield* sql`SELECT id::text FROM ${sql(table)} t WHERE tenant_id = ${tenant_id} AND ${sql.literal(where)}
      ORDER BY id DESC LIMIT ${5}`
    return rows.length === 0 ? undefined : String(pick(rows)["id"])
  }, Effect.orDie)
  const about = (table: string, where: string, deed: (id: string) => Deed) =>
    Effect.map(some(table, where), (id) => (id === undefined ? undefined : deed(id)))
  const now = (deed: () => Deed) => Effect.sync(deed)
  const ends = () => ({ from_wallet_id: pick(usdc), to_wallet_id: pick(usdc), currency: "USDC" as const })

  const deeds: ReadonlyArray<Effect.Effect<Deed | undefined>> = [
    now(() => {
      const order = { ...ends(), type: pick(["internal", "wrap", "unwrap"] as const), amount: amount() }
      return { name: "transfer", ask: (process, claim) => process.transfers.create(caller, order, claim) }
    }),
    now(() => {
      const from_wallet_id = perhaps(() => pick(usdc))
      const transfers = Array.from({ length: 1 + dice(4) }, () => ({
        ...(dice(2) === 0 ? { to_wallet_id: pick(usdc) } : { to_account_id: pick(accounts) }),
        amount: amount(),
        currency: "USDC" as const,
        ...(dice(3) === 0 && { idempotency_key: `item ${dice(3)}` })
      }))
      const item = (key: string, parameters: Parameters<typeof itemClaim>[2]) => itemClaim(caller, key, parameters)
      const order = { transfers, ...(from_wallet_id && { from_wallet_id }) }
      return {
        name: "batch",
        ask: (process, batch) => process.batches.create(caller, order, { batch, operation: "transfers.create", item })
      }
    }),
    Effect.map(DateTime.now, (now): Deed => {
      const start = DateTime.toDate(DateTime.add(now, { minutes: pick([1, 60, 1440]) }))
      const times =
        dice(2) === 0 ? { scheduled_at: start } : { frequency: "daily" as const, start_at: start, max_occurrences: 3 }
      const order = Result.getOrThrow(orderOf({ ...ends(), amount: amount(), ...times }))
      return { name: "schedule", ask: (process, claim) => process.schedules.create(caller, order, claim) }
    }),
    about("scheduled_transfers", "true", (id) => {
      const trigger = pick(["pause", "resume", "cancel"] as const)
      return {
        name: trigger,
        ask: (process, claim) => process.schedules.change(caller, ScheduleId.make(id), trigger, claim)
      }
    }),
    now(() => {
      const quoted = { from_currency: pick(["USDC", "EURC"] as const), to_currency: pick(["USDC", "EURC"] as const) }
      const order = { ...quoted, amount: amount(), amount_side: pick(["send", "receive"] as const) }
      return { name: "quote", ask: (process) => unkeyed(process.quotes.create(caller, order)) }
    }),
    Effect.map(
      Effect.orDie(sql`SELECT id::text, from_currency AS f, to_currency AS t FROM quotes WHERE tenant_id = ${tenant_id}
        ORDER BY id DESC LIMIT 2`),
      (quotes): Deed | undefined => {
        if (quotes.length === 0) return undefined
        const { f, id, t } = pick(quotes)
        const of = (currency: unknown) => pick(currency === "USDC" ? [...usdc, elsewhere, elsewhere] : eurc)
        const order = { from_wallet_id: of(f), to_wallet_id: of(t), quote_id: QuoteId.make(String(id)) }
        return {
          name: "cross_border",
          ask: (process, claim) => process.crossBorder.create(caller, { type: "cross_border", ...order }, claim)
        }
      }
    ),
    about("transfers", "type = 'cross_border'", (id) => ({
      name: "withdraw an order",
      ask: (process, claim) => process.crossBorder.cancel(caller, TransferId.make(id), claim)
    })),
    ...often(
      3,
      about("transfers", pick(["status = 'completed'", "type = 'cross_border'"]), (id) => {
        const order = {
          transfer_id: TransferId.make(id),
          amount: perhaps(amount),
          reason: "other",
          reason_details: null
        } as const
        return { name: "refund", ask: (process, claim) => process.refunds.create(caller, order, claim) }
      })
    ),
    ...often(
      2,
      about("transfers", "status = 'completed'", (id) => {
        const wanted = pick([null, "no_refund", "partial_refund", "full_refund"] as const)
        const said = { reason: pick(["other", "quality_issue"] as const), description: "No", evidence: [] }
        const order = {
          ...said,
          transfer_id: TransferId.make(id),
          amount_disputed: perhaps(amount),
          requested_resolution: wanted
        }
        return { name: "dispute", ask: (process, claim) => process.disputes.open(caller, order, claim) }
      })
    ),
    about("disputes", "status = 'open'", (id) => ({
      name: "respond",
      ask: (process, claim) =>
        process.disputes.respond(caller, DisputeId.make(id), { response: "No", counter_evidence: [] }, claim)
    })),
    ...often(
      2,
      about("disputes", "true", (id) => {
        const resolution = pick(["full_refund", "partial_refund", "no_refund"] as const)
        const verdict = {
          resolution,
          refund_amount: resolution === "partial_refund" ? amount() : undefined,
          notes: null
        }
        return {
          name: "resolve",
          ask: (process, claim) => process.disputes.resolve(caller, DisputeId.make(id), verdict, claim)
        }
      })
    ),
    now(() => {
      const flow_rate = pick([1n, 333_333_333_333n, 10n ** 12n + 7n, 10n ** 15n, 10n ** 18n])
      const order = { ...ends(), initial_deposit: amount() + 5n, buffer: pick([0n, 0n, 5n]), flow_rate }
      return { name: "stream", ask: (process, claim) => process.streams.open(caller, order, claim) }
    }),
    ...often(
      3,
      about("streams", "true", (text) => {
        const [id, some, rate] = [StreamId.make(text), perhaps(amount), pick([1n, 10n ** 12n, 10n ** 15n])]
        return pick<Deed>([
          { name: "top up", ask: ({ streams }, claim) => streams.topUp(caller, id, { amount: some ?? 5n }, claim) },
          {
            name: "withdraw",
            ask: ({ streams }, claim) => streams.withdraw(caller, id, some ? { amount: some } : {}, claim)
          },
          { name: "pause", ask: ({ streams }, claim) => streams.pause(caller, id, claim) },
          { name: "resume", ask: ({ streams }, claim) => streams.resume(caller, id, claim) },
          { name: "rate", ask: ({ streams }, claim) => streams.changeRate(caller, id, rate, claim) },
          { name: "cancel", ask: ({ streams }, claim) => streams.cancel(caller, id, {}, claim) },
          {
            name: "stream_cancel",
            ask: ({ streams }, claim) => streams.transfer(caller, { type: "stream_cancel", stream_id: id }, claim)
          }
        ])
      })
    ),
    now(() => {
      const order = { url: endpoint.gatewayUrl, from_wallet_id: pick(usdc) }
      const paid = (process: Process, claim?: IdempotencyClaim) =>
        Effect.tap(process.payments.pay(caller, order, claim), ({ paid }) => Effect.sync(() => proofs.push(paid.proof)))
      return { name: "pay", ask: paid }
    }),
    now(() => {
      const call = { proof: proofs.at(-1) ?? "", snapshot, method: "GET", fingerprint: pick(["f", "g"]) }
      const claimed = (process: Process) =>
        Effect.tap(process.payments.claim(call), (grant) =>
          Effect.sync(() => grant._tag === "Granted" && calls.push(grant.payment))
        )
      return { name: "call", ask: (process) => unkeyed(claimed(process)) }
    }),
    Effect.sync((): Deed | undefined => {
      const payment = calls.at(-1)
      if (payment === undefined) return undefined
      const answered = { status: 200, millis: 1, kept: undefined }
      return pick<Deed>([
        { name: "charge", ask: ({ payments }) => unkeyed(payments.capture(payment, answered)) },
        { name: "give back", ask: ({ payments }) => unkeyed(payments.release(payment, "origin_status")) },
        { name: "not called", ask: ({ payments }) => unkeyed(payments.unclaim(payment)) }
      ])
    }),
    now(() => {
      const id = pick(all)
      return { name: "freeze", ask: ({ wallets }) => unkeyed(wallets.freeze(caller, id, "model")) }
    }),
    ...often(
      2,
      now(() => ({
        name: "unfreeze",
        ask: ({ wallets }) => unkeyed(Effect.forEach(all, (id) => wallets.unfreeze(caller, id)))
      }))
    ),
    ...often(
      3,
      now(() => {
        rail.does = pick(behaviours)
        const which = dice(7)
        return { name: `duty ${which}`, ask: (process) => unkeyed(Effect.asVoid(duties(process)[which]!)) }
      })
    )
  ]
  return Effect.suspend(() => pick(deeds))
})
