import { Context, Effect, Layer, Option, Schema } from "effect"
import { actorOf } from "#domain/CallerContext.ts"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { toTypeId, TransferId } from "#domain/Ids.ts"
import { later } from "#domain/Instant.ts"
import { formatDecimal } from "#domain/Money.ts"
import {
  type AmountTooLarge,
  CurrencyMismatch,
  type IdempotencyKeyReused,
  SameWallet,
  type WalletFrozen
} from "#domain/PostingRefused.ts"
import type { Principal } from "#domain/Principal.ts"
import type { Quote, QuoteAlreadyUsed, QuoteExpired } from "#domain/Quote.ts"
import { Forbidden, type NotFound, ServiceUnavailable, StateTransitionInvalid } from "#domain/Refusal.ts"
import { CrossBorderUnavailable, holding, QuoteMismatch, releasing } from "#domain/Settlement.ts"
import { statusAfter, Transfer, transferOnWire } from "#domain/Transfer.ts"
import type { CrossBorderOrder } from "#domain/TransferOrder.ts"
import { Ledger } from "./Ledger.ts"
import { newId, newUuid } from "./NewId.ts"
import { useQuote } from "./Quotes/Records.ts"
import { Quotes } from "./Quotes.ts"
import { SettlementPolicy } from "./Settlements/Policy.ts"
import { insertSettlement, moved, writeMoved } from "./Settlements/Records.ts"
import { Settlements } from "./Settlements.ts"
import {
  between,
  endedEvents,
  failureOf,
  insertTransfer,
  isInsufficient,
  newTransfer,
  transferEvent
} from "./Transfers/Records.ts"
import { type Created, remembered, Transfers } from "./Transfers.ts"
import { Wallets } from "./Wallets.ts"

/** Why a cross-border transfer is refused without being made. A payer with too little is no refusal: that transfer fails. */
export type CrossBorderRefused =
  | CrossBorderUnavailable
  | NotFound
  | SameWallet
  | CurrencyMismatch
  | QuoteMismatch
  | QuoteExpired
  | QuoteAlreadyUsed
  | WalletFrozen
  | AmountTooLarge
  | IdempotencyKeyReused

/** Transfers that a quote takes across currencies or networks, and that settle over the rail. */
export class CrossBorder extends Context.Service<
  CrossBorder,
  {
    /** Reserves what the quote says and leaves it to the settlement rail: the transfer is pending, or failed for insufficient funds. */
    create(
      caller: Principal,
      order: CrossBorderOrder,
      claim?: IdempotencyClaim
    ): Effect.Effect<Created, CrossBorderRefused>
    /** Withdraws a transfer that the rail has not heard of; the money is free again. */
    cancel(
      caller: Principal,
      id: TransferId,
      claim?: IdempotencyClaim
    ): Effect.Effect<Created, NotFound | Forbidden | StateTransitionInvalid | IdempotencyKeyReused>
  }
>()("turnpike/services/CrossBorder") {
  static readonly layer = Layer.effect(
    CrossBorder,
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const wallets = yield* Wallets
      const quotes = yield* Quotes
      const transfers = yield* Transfers
      const settlements = yield* Settlements
      const policy = yield* SettlementPolicy

      /** Both wallets and the quote, when they fit each other. */
      const terms = Effect.fnUntraced(function* (caller: Principal, order: CrossBorderOrder) {
        if (!settlements.isAvailable) return yield* new CrossBorderUnavailable()
        const from = yield* wallets.own(caller, order.from_wallet_id)
        const to = yield* wallets.known(caller, order.to_wallet_id)
        if (from.id === to.id) return yield* new SameWallet({ wallet_id: toTypeId("wal", from.id) })
        const quote = yield* quotes.redeemable(caller, order.quote_id)
        for (const [{ currency }, expected] of [
          [from, quote.from_currency],
          [to, quote.to_currency]
        ] as const) {
          if (currency !== expected) return yield* new CurrencyMismatch({ expected, actual: currency })
        }
        const { amount = quote.send_amount, currency = quote.from_currency } = order
        if (amount !== quote.send_amount) {
          const [quoted, given] = [formatDecimal(quote.send_amount), formatDecimal(amount)]
          return yield* new QuoteMismatch({ field: "amount", quoted, given })
        }
        if (currency !== quote.from_currency) {
          return yield* new QuoteMismatch({ field: "currency", quoted: quote.from_currency, given: currency })
        }
        return { from, to, quote }
      })

      /** Of several transfers with one quote another one was first, or the quote ended while the ledger was waited for. */
      const beaten = Effect.fnUntraced(function* (caller: Principal, { id }: Quote) {
        yield* quotes.redeemable(caller, id)
        return yield* Effect.die(ServiceUnavailable.because("another transfer had its quote"))
      })

      const again = (result: unknown): Effect.Effect<Created> =>
        Effect.map(Effect.orDie(decode(result)), (transfer) => ({ transfer, replayed: true }))
      /** What was answered under a key is answered again, although what was asked for is no longer possible. */
      const orEarlier = <A, E, R>(first: Effect.Effect<A, E, R>, claim: IdempotencyClaim | undefined) =>
        claim === undefined
          ? first
          : Effect.catch(first, (refusal) =>
              Effect.flatMap(ledger.recall(claim), (known) =>
                Option.isNone(known) ? Effect.fail(refusal) : again(known.value)
              )
            )

      const make = Effect.fnUntraced(function* (caller: Principal, order: CrossBorderOrder, claim?: IdempotencyClaim) {
        const { from, quote, to } = yield* terms(caller, order)
        const id = yield* newId(TransferId)
        const { memo = null } = order
        const made = remembered(({ at, refused }) =>
          newTransfer({
            id,
            type: "cross_border",
            status: refused === undefined ? "pending" : "failed",
            failure_reason: refused === undefined ? null : failureOf(refused),
            amount: quote.send_amount,
            currency: from.currency,
            ...between(from, to),
            memo,
            quote_id: quote.id,
            destination_amount: quote.receive_amount,
            destination_currency: to.currency,
            fee: quote.fee,
            initiated_by: actorOf(caller),
            protocol: "fx",
            protocol_metadata: { rate: quote.rate },
            created_at: at
          })
        )
        const { tenant_id } = caller
        // The transfer's own id is left to the command that moves its money.
        const command_id = newUuid()
        const reserved = { id, from_wallet_id: from.id, currency: from.currency, amount: quote.send_amount }
        const posted = yield* ledger
          .post({
            id: command_id,
            steps: holding(reserved),
            fences: [{ scope: quote.id, expected: 0n, until: quote.expires_at }],
            idempotency: claim,
            concedes: isInsufficient,
            result: (done) => (claim === undefined ? undefined : transferOnWire(made(done))),
            rows: (done) => [
              insertTransfer(tenant_id, made(done)),
              useQuote.of({ id: quote.id, transfer_id: id, used_at: done.at }),
              ...(done.refused === undefined
                ? [
                    insertSettlement.of({
                      transfer_id: id,
                      tenant_id,
                      due_at: later(done.at, policy.submitAfter(memo)),
                      created_at: done.at
                    })
                  ]
                : [])
            ],
            events: (done) =>
              done.refused === undefined
                ? [transferEvent(tenant_id, "created", made(done))]
                : endedEvents(tenant_id, made(done))
          })
          .pipe(
            Effect.catchTags({
              SUPERSEDED: () => beaten(caller, quote),
              INSUFFICIENT_BALANCE: Effect.die,
              HOLD_NOT_OPEN: Effect.die
            })
          )
        if (!posted.replayed) return { transfer: made(posted), replayed: false }
        // Under its own id it was this very call, whose first answer was lost on the way from the database.
        const replayed = posted.command_id !== command_id
        if (posted.result !== undefined) return { ...(yield* again(posted.result)), replayed }
        return { transfer: yield* Effect.orDie(transfers.get(caller, id)), replayed }
      })

      const create = Effect.fn("CrossBorder.create")(function* (
        caller: Principal,
        order: CrossBorderOrder,
        claim?: IdempotencyClaim
      ) {
        // Its quote is used by now, and may have ended.
        return yield* orEarlier(Effect.tap(make(caller, order, claim), settlements.wake), claim)
      })

      /** The settlement of a transfer that the caller may cancel now; undefined when it changes at this moment. */
      const cancellable = Effect.fnUntraced(function* (caller: Principal, id: TransferId) {
        const transfer = yield* transfers.get(caller, id)
        if (!(yield* wallets.sees(caller, [transfer.from_wallet_id]))) {
          return yield* new Forbidden({ reason: "only the payer may cancel a transfer" })
        }
        const status = statusAfter(transfer.status, "cancelled")
        const settlement = Option.getOrUndefined(yield* settlements.find(id))
        if (status === undefined || settlement === undefined) {
          return yield* new StateTransitionInvalid({ resource: "transfer", from: transfer.status, to: "cancelled" })
        }
        return settlement.state === "pending" ? settlement : undefined
      })

      /** Cancels the transfer as it is now; undefined when it changed at the same time. */
      const withdraw = Effect.fnUntraced(function* (caller: Principal, id: TransferId, claim?: IdempotencyClaim) {
        const settlement = yield* cancellable(caller, id)
        if (settlement === undefined) return undefined
        const command_id = newUuid()
        const done = (at: Date) => moved(settlement, "cancelled", { at })
        const posted = yield* ledger
          .post({
            id: command_id,
            steps: releasing(settlement),
            fences: [{ scope: id, expected: settlement.version }],
            idempotency: claim,
            result: ({ at }) => (claim === undefined ? undefined : transferOnWire(done(at))),
            rows: ({ at }) => writeMoved(done(at), { at }),
            events: ({ at }) => [transferEvent(caller.tenant_id, "cancelled", done(at))]
          })
          .pipe(
            Effect.catchIf(
              (refusal) => refusal._tag !== "IDEMPOTENCY_KEY_REUSED",
              (refusal) => (refusal._tag === "SUPERSEDED" ? Effect.undefined : Effect.die(refusal))
            )
          )
        if (posted === undefined) return undefined
        if (posted.command_id !== command_id) return yield* again(posted.result)
        return { transfer: yield* Effect.orDie(transfers.get(caller, id)), replayed: false }
      })
      const cancel = Effect.fn("CrossBorder.cancel")(function* (
        caller: Principal,
        id: TransferId,
        claim?: IdempotencyClaim
      ) {
        for (let attempt = 0; attempt < 10; attempt++) {
          const cancelled = yield* orEarlier(withdraw(caller, id, claim), claim)
          if (cancelled !== undefined) return cancelled
        }
        return yield* Effect.die(ServiceUnavailable.because("others changed it each time"))
      })

      return CrossBorder.of({ create, cancel })
    })
  )
}

const decode = Schema.decodeUnknownEffect(Transfer)
