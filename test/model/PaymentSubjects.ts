import { Clock, Effect, Option, Ref, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { WalletId } from "#domain/Ids.ts"
import { PaymentRow } from "#domain/Payment.ts"
import { type Authorization, reservationOf } from "#domain/protocol/Authorization.ts"
import { type Behaviour, RailControl } from "#layers/RailSimulated.ts"
import { Ledger } from "#services/Ledger.ts"
import type { Grant, Payments } from "#services/Payments.ts"
import { paymentColumns } from "#services/Payments/Row.ts"
import * as Paid from "../services/PaymentsHarness.ts"
import * as Signed from "../services/SignedPaymentsHarness.ts"

type Process = Payments["Service"]

/** A payment that is about to be used, by whoever knows of it. */
export interface Subject {
  readonly kind: string
  readonly rail: "ledger" | "chain"
  readonly isFree: boolean
  readonly signed: Authorization | undefined
  /** Brings it with this request. */
  readonly bring: (process: Process, request: string) => Effect.Effect<Grant, { readonly _tag: string }>
  /** What its payer and its receiver have. */
  readonly money: Effect.Effect<{ readonly held: bigint; readonly spent: bigint; readonly earned: bigint }>
  readonly find: Effect.Effect<PaymentRow | undefined>
  readonly chainDoes: (behaviour: Behaviour) => Effect.Effect<void>
}

/** Somebody who sells, and somebody who begins a payment. */
export type Shop = (seed: number) => Effect.Effect<Subject>

const booksOf = Effect.fnUntraced(function* (purse: WalletId, till: WalletId) {
  const sql = yield* SqlClient.SqlClient
  const { account } = yield* Ledger
  const found = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: PaymentRow,
    execute: (id) =>
      sql`SELECT ${sql.literal(paymentColumns)} FROM payments p WHERE p.id = ${id} OR p.reservation = ${id}`
  })
  const money = Effect.map(Effect.all([account(purse), account(till)]), ([payer, receiver]) => ({
    held: payer.held,
    spent: -payer.posted,
    earned: receiver.posted
  }))
  return {
    money: Effect.orDie(money),
    find: (id: string) => Effect.map(Effect.orDie(found(id)), Option.getOrUndefined)
  }
})

const native = Effect.fnUntraced(function* (isFree: boolean) {
  const { call, granted, payments, purse, reserve, till } = yield* Paid.market({
    timeoutMs: 5000,
    volumeDiscounts: [{ threshold: 1, priceMultiplier: isFree ? 0 : 1 }]
  })
  if (isFree) yield* payments.capture(yield* granted((yield* reserve).proof), Paid.answered(200))
  const { find, money } = yield* booksOf(purse, till)
  const begin = Effect.map(
    reserve,
    ({ amount, id, proof }): Subject => ({
      kind: `native, ${amount}`,
      rail: "ledger",
      isFree,
      signed: undefined,
      bring: (process, request) => process.claim({ ...call(proof), fingerprint: request }),
      money,
      find: find(id),
      chainDoes: () => Effect.void
    })
  )
  return (): Effect.Effect<Subject> => Effect.orDie(begin)
})

const lasts = [60_000, 300_000, 3_600_000]

const signed = Effect.fnUntraced(function* (environment: "sandbox" | "live", changed: Partial<Authorization>) {
  const { purse, signs, snapshot, till } = yield* Signed.market(environment, { timeoutMs: 5000 })
  const { find, money } = yield* booksOf(purse, till)
  const control = yield* Effect.serviceOption(RailControl)
  const rail = environment === "live" ? "chain" : "ledger"
  return (seed: number) =>
    Effect.map(Clock.currentTimeMillis, (now): Subject => {
      const validUntil = new Date(now + (lasts[seed % lasts.length] ?? 0))
      const authorization = signs({ validUntil, ...changed })
      const { amount, protocol, scheme } = authorization
      return {
        kind: `${rail}, ${protocol} ${scheme}, ${amount}`,
        rail,
        isFree: amount === 0n,
        signed: authorization,
        bring: (process, request) => process.present({ authorization, snapshot, method: "GET", fingerprint: request }),
        money,
        find: find(reservationOf(authorization)),
        chainDoes: (behaviour) => (Option.isNone(control) ? Effect.void : Ref.set(control.value.behaviour, behaviour))
      }
    })
})

const upto: Partial<Authorization> = { scheme: "upto", method: "permit2" }

/** Every way to pay from a wallet of ours. */
export const inOurBooks = Effect.all([
  native(false),
  native(true),
  signed("sandbox", {}),
  signed("sandbox", { protocol: "mpp" }),
  signed("sandbox", upto),
  signed("sandbox", Signed.free)
])

/** Every way to pay on a chain. */
export const onChain = Effect.all([signed("live", {}), signed("live", upto), signed("live", Signed.free)])
