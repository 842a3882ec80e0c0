import { Cache, DateTime, Duration, Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { cappedAt } from "#domain/EndpointPrice.ts"
import { PaymentRow } from "#domain/Payment.ts"
import { fingerprintOf } from "#domain/PaymentToken.ts"
import { IdempotencyKeyReused, isUnexpected } from "#domain/PostingRefused.ts"
import { flat } from "#domain/Price.ts"
import { type Authorization, reservationOf } from "#domain/protocol/Authorization.ts"
import type { Ledger } from "../Ledger.ts"
import { newUuid } from "../NewId.ts"
import { paymentColumns } from "./Row.ts"
import * as OnChain from "./OnChain.ts"
import type { PaymentPolicy } from "./Policy.ts"
import { begun, insertPayment, type NewPayment, storedPayment } from "./Records.ts"
import { type Grant, refused, type Use, type UseRefused } from "./Using.ts"
import type * as Using from "./Using.ts"

/** A call that brings what its payer signed for it. */
export interface SignedCall extends Use {
  readonly authorization: Authorization
}

/** Payments that come with the call, signed by their payer: reserved and taken in one step, each once, whoever brings copies. */
export const make = Effect.fnUntraced(function* (options: {
  readonly policy: PaymentPolicy
  readonly ledger: Ledger["Service"]
  readonly using: Effect.Success<ReturnType<typeof Using.make>>
  readonly onChain: Effect.Success<ReturnType<typeof OnChain.make>>
}) {
  const { ledger, onChain, policy, using } = options
  const { judge, leaseOf, told } = using
  const sql = yield* SqlClient.SqlClient

  const walletAt = SqlSchema.findOneOption({
    Request: Schema.Struct({ network: Schema.String, currency: Schema.String, address: Schema.String }),
    Result: Schema.Struct({ id: Schema.String }),
    execute: ({ address, currency, network }) =>
      sql`SELECT id FROM wallets WHERE network = ${network} AND currency = ${currency} AND address = ${address}`
  })
  // The address of a wallet never changes.
  const payers = yield* Cache.makeWith(
    (name: string) => {
      const [network = "", currency = "", address = ""] = name.split(" ")
      return Effect.orDie(walletAt({ network, currency, address }))
    },
    {
      capacity: 10_000,
      timeToLive: (exit) => (exit._tag === "Success" && Option.isSome(exit.value) ? Duration.hours(1) : Duration.zero)
    }
  )

  const payerWallet = ({ network, payer }: Authorization, currency: string) =>
    Effect.map(Cache.get(payers, `${network} ${currency} ${payer}`), (wallet) => Option.getOrUndefined(wallet)?.id)

  const byReservation = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: PaymentRow,
    execute: (id) => sql`SELECT ${sql.literal(paymentColumns)} FROM payments p WHERE p.reservation = ${id}`
  })

  const broughtBefore = ({ authorization }: SignedCall) =>
    Effect.map(Effect.orDie(byReservation(reservationOf(authorization))), Option.getOrUndefined)

  /** What became of it; takes nothing. */
  const recall = Effect.fnUntraced(function* (call: SignedCall) {
    const row = yield* broughtBefore(call)
    return yield* row === undefined ? refused("proof_unknown") : told(row, call, yield* DateTime.nowAsDate)
  })

  /** The call whose payment was brought before; undefined when it was not brought here. */
  const again = Effect.fnUntraced(function* (call: SignedCall): Effect.fn.Return<Grant | undefined, UseRefused> {
    const row = yield* broughtBefore(call)
    if (row === undefined) return undefined
    const now = yield* DateTime.nowAsDate
    const grant = yield* judge(row, call, now, call.authorization)
    switch (grant._tag) {
      case "Refused": {
        const { method, validUntil } = call.authorization
        // Nobody took it, and nobody can any more.
        if (grant.reason === "proof_expired" && validUntil <= now) return yield* refused(OnChain.endsTooSoon[method])
        return grant.reason.startsWith("proof_") ? usedBefore(call.authorization) : inWordsOfX402(grant)
      }
      case "Granted":
        return { ...grant, signed: call.authorization }
      case "Answered":
        return grant
    }
  })

  /**
   * Whether this is the payment that has the reservation, and its call still has it. Where nothing is held, or the ledger posted it
   * twice because its first answer was lost, the ledger cannot tell, and the row can.
   */
  const isKept = ({ id, reservation }: NewPayment) =>
    Effect.map(
      Effect.orDie(byReservation(reservation ?? "")),
      Option.exists((row) => row.id === id && row.attempt === 1 && row.state === "in_flight")
    )

  /** Reserves for one call, where no money can be held; false when it was brought before. */
  const reserve = Effect.fnUntraced(function* (payment: NewPayment, idempotency: IdempotencyClaim | undefined) {
    yield* ledger
      .post({
        id: payment.id,
        idempotency,
        result: () => ({ payment_id: payment.id }),
        steps: [],
        rows: () => [insertPayment.of(storedPayment(payment))]
      })
      .pipe(Effect.catchIf(isUnexpected, Effect.die))
    return yield* isKept(payment)
  })

  /** The chain is asked before the origin is: what would not go through is not served. */
  const presentOnChain = Effect.fnUntraced(function* (
    call: SignedCall,
    payment: NewPayment,
    claim: IdempotencyClaim | undefined
  ): Effect.fn.Return<Grant, UseRefused | IdempotencyKeyReused> {
    const { authorization, snapshot } = call
    const before = yield* again(call)
    if (before !== undefined || onChain === undefined) return before ?? usedBefore(authorization)
    // An identifier that is taken is not asked for money again, and the chain need not be asked.
    if (claim !== undefined) yield* ledger.recall(claim)
    const reason = yield* onChain.refusal(authorization, snapshot.endpoint.timeoutMs)
    // A copy may have been taken, and settled, while the chain was asked: then that is what it told.
    if (reason !== undefined) return (yield* again(call)) ?? (yield* refused(reason))
    if (yield* reserve(payment, claim)) return { _tag: "Granted", payment: begun(payment), signed: authorization }
    return (yield* again(call)) ?? usedBefore(authorization)
  })

  const present = Effect.fnUntraced(function* (
    call: SignedCall
  ): Effect.fn.Return<Grant, UseRefused | IdempotencyKeyReused> {
    const { authorization, fingerprint, method, snapshot } = call
    const { amount, identifier, network, payer, payTo, protocol } = authorization
    const { endpoint } = snapshot
    // On a chain this would move nothing, and be booked as if it had.
    if (payer === payTo) return yield* refused("payer_is_receiver")
    const wallet =
      onChain === undefined ? yield* payerWallet(authorization, endpoint.currency) : OnChain.payerIdOf(network, payer)
    if (wallet === undefined) return yield* refused("insufficient_funds")
    const now = yield* DateTime.now
    const leaseEnd = DateTime.addDuration(now, leaseOf(call))
    const retryEnd = DateTime.toDate(DateTime.addDuration(now, policy.retryLife))
    const reservation = reservationOf(authorization)
    const payment: NewPayment = {
      id: newUuid(),
      tenant_id: endpoint.tenantId,
      endpoint_id: endpoint.id,
      protocol,
      rail: onChain === undefined ? "ledger" : "chain",
      reservation,
      payer_id: wallet,
      payer_address: payer,
      payee_wallet_id: endpoint.walletId,
      method,
      currency: endpoint.currency,
      network: endpoint.network,
      price: cappedAt(snapshot.price, amount),
      amount,
      state: "in_flight",
      hold_id: onChain === undefined && amount > 0n ? reservation : null,
      lease_until: DateTime.toDate(leaseEnd),
      proof_expires_at: authorization.validUntil < retryEnd ? authorization.validUntil : retryEnd,
      request_fingerprint: fingerprint,
      created_at: DateTime.toDate(now),
      scheme: authorization.scheme
    }
    const claim: IdempotencyClaim | undefined =
      identifier === undefined
        ? undefined
        : {
            tenant_id: endpoint.tenantId,
            operation: "x402.payment-identifier",
            key: `${payer} ${identifier}`,
            fingerprint: fingerprintOf(reservation, endpoint.id)
          }
    if (onChain !== undefined) return yield* presentOnChain(call, payment, claim)
    const posted = yield* ledger
      .post({
        id: reservation,
        idempotency: claim,
        result: () => ({ payment_id: payment.id }),
        steps: [
          {
            kind: "hold",
            hold: reservation,
            debit: payment.payer_id,
            credit: payment.payee_wallet_id,
            currency: payment.currency,
            price: flat(amount),
            // Outlives the call that brings it, and its capture.
            expires_at: DateTime.toDate(DateTime.add(leaseEnd, { seconds: 15 })),
            code: "payment"
          }
        ],
        rows: () => [insertPayment.of(storedPayment(payment))]
      })
      .pipe(
        Effect.catchTags({
          INSUFFICIENT_BALANCE: () => Effect.succeed("insufficient_funds"),
          WALLET_FROZEN: () => Effect.succeed("wallet_frozen"),
          SAME_WALLET: () => Effect.succeed("payer_is_receiver"),
          NOT_FOUND: Effect.die,
          CURRENCY_MISMATCH: Effect.die,
          AMOUNT_TOO_LARGE: Effect.die,
          HOLD_NOT_OPEN: Effect.die
        })
      )
    if (typeof posted === "string") return yield* refused(posted)
    const isTold = !posted.replayed && amount > 0n
    if (isTold || (yield* isKept(payment))) return { _tag: "Granted", payment: begun(payment), signed: authorization }
    // Reserved before: by a call here, or by somebody for whom we are the facilitator.
    return (yield* again(call)) ?? usedBefore(authorization)
  })

  return {
    // Its payer is told its own name of it, which is not all of the ledger's.
    present: (call: SignedCall) =>
      Effect.catchTag(present(call), "IDEMPOTENCY_KEY_REUSED", ({ key }) =>
        Effect.fail(new IdempotencyKeyReused({ key: call.authorization.identifier ?? key }))
      ),
    again,
    recall
  }
})

const inWordsOfX402 = (grant: Grant & { readonly _tag: "Refused" }): Grant =>
  grant.reason === "insufficient_balance" ? { ...grant, reason: "insufficient_funds" } : grant

/** Under its published name: what was signed has been used for something else. */
const usedBefore = ({ method }: Authorization): Grant => ({
  _tag: "Refused",
  reason: method === "svm" ? "duplicate_settlement" : "invalid_exact_evm_nonce_already_used"
})
