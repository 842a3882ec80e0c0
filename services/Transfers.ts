import { Context, Effect, Layer, Option, Result, Schema } from "effect"
import { actorOf } from "#domain/CallerContext.ts"
import type { IdempotencyClaim, Posted } from "#domain/Command.ts"
import { toTypeId, TransferId } from "#domain/Ids.ts"
import type { AmountTooLarge, IdempotencyKeyReused, WalletFrozen } from "#domain/PostingRefused.ts"
import type { Principal } from "#domain/Principal.ts"
import { NotFound } from "#domain/Refusal.ts"
import { codeOf, type PlainTransfer, type Transfer, type TransferFilter } from "#domain/Transfer.ts"
import { Ledger } from "./Ledger.ts"
import { newId } from "./NewId.ts"
import { type Apart, endsOf } from "./Transfers/Ends.ts"
import * as Listing from "./Transfers/Listing.ts"
import * as Logged from "./Transfers/Logged.ts"
import * as Records from "./Transfers/Records.ts"
import { Wallets } from "./Wallets.ts"

/** A transfer, and whether it is the stored result of an earlier request. */
export interface Created {
  readonly transfer: Transfer
  readonly replayed: boolean
}

/** Why a plain transfer is refused without being made. A payer with too little is no refusal: that transfer fails. */
export type TransferRefused = Apart | WalletFrozen | AmountTooLarge | IdempotencyKeyReused

/** Money from one wallet of a tenant to another. Every method sees what moves between wallets of which the caller reaches one. */
export class Transfers extends Context.Service<
  Transfers,
  {
    /** Moves money within one currency and network, at once: the transfer is completed, or failed for insufficient funds. */
    create(
      caller: Principal,
      transfer: PlainTransfer,
      claim?: IdempotencyClaim
    ): Effect.Effect<Created, TransferRefused>
    /** Also what the faucet, paid calls and the facilitator moved, which statements name as transfers though nobody ordered one. */
    get(caller: Principal, id: TransferId): Effect.Effect<Transfer, NotFound>
    /** Newest first, from before `before`. */
    list(
      caller: Principal,
      filter: TransferFilter,
      range: { readonly limit: number; readonly before?: TransferId | undefined }
    ): Effect.Effect<ReadonlyArray<Transfer>>
  }
>()("turnpike/services/Transfers") {
  static readonly layer = Layer.effect(
    Transfers,
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const wallets = yield* Wallets
      const read = yield* Records.reader
      const readLog = yield* Logged.reader
      const listing = yield* Listing.make

      const get = Effect.fn("Transfers.get")(function* (caller: Principal, id: TransferId) {
        const ordered = yield* read(caller.tenant_id, id)
        const found = Option.getOrUndefined(Option.isSome(ordered) ? ordered : yield* readLog(caller.tenant_id, id))
        if (found !== undefined && (yield* wallets.sees(caller, [found.from_wallet_id, found.to_wallet_id])))
          return found
        return yield* new NotFound({ resource: "transfer", id: toTypeId("tx", id) })
      })

      const again = Effect.fnUntraced(function* (caller: Principal, kept: unknown) {
        const first = yield* Effect.flatMap(decode(kept), ({ transfer_id }) => get(caller, transfer_id))
        return { transfer: asAnswered(first), replayed: true }
      }, Effect.orDie)

      const create = Effect.fnUntraced(function* (caller: Principal, order: PlainTransfer, claim?: IdempotencyClaim) {
        const ends = yield* Effect.result(endsOf(wallets, caller, order))
        if (Result.isFailure(ends)) {
          // The ledger, which knows the keys, is not asked for what it could never do.
          const known = claim === undefined ? Option.none() : yield* ledger.recall(claim)
          return yield* Option.isSome(known) ? again(caller, known.value) : Effect.fail(ends.failure)
        }
        const { from, to } = ends.success
        const { amount, currency, memo = null, type } = order
        const id = yield* newId(TransferId)
        const made = remembered(({ at, refused }) =>
          Records.newTransfer({
            id,
            type,
            status: refused === undefined ? "completed" : "failed",
            failure_reason: refused === undefined ? null : Records.failureOf(refused),
            amount,
            currency,
            ...Records.between(from, to),
            memo,
            initiated_by: actorOf(caller),
            created_at: at
          })
        )
        const posted = yield* ledger
          .post({
            id,
            steps: [{ kind: "transfer", debit: from.id, credit: to.id, currency, amount, code: codeOf(type) }],
            idempotency: claim,
            concedes: Records.isInsufficient,
            result: ({ refused }) => (claim === undefined ? undefined : Records.keptOf(id, refused)),
            rows: (done) => [Records.insertTransfer(caller.tenant_id, made(done))],
            events: (done) => Records.endedEvents(caller.tenant_id, made(done))
          })
          .pipe(Effect.catchTags({ INSUFFICIENT_BALANCE: Effect.die, HOLD_NOT_OPEN: Effect.die }))
        if (!posted.replayed) return { transfer: made(posted), replayed: false }
        // Under its own id it was this very call, whose first answer was lost on the way from the database.
        if (posted.command_id === id) return { transfer: yield* Effect.orDie(get(caller, id)), replayed: false }
        return yield* again(caller, posted.result)
      })

      const list = Effect.fn("Transfers.list")((...request: Parameters<typeof listing>) => listing(...request))

      return Transfers.of({ create, get, list })
    })
  )
}

/** Makes a thing of an outcome once, although its result, its rows and its events all want it; anew when it is posted anew. */
export const remembered = <Thing>(make: (posted: Posted) => Thing): ((posted: Posted) => Thing) => {
  let last: readonly [movements: unknown, thing: Thing] | undefined
  return (posted) => {
    if (last === undefined || last[0] !== posted.movements) last = [posted.movements, make(posted)]
    return last[1]
  }
}

/** What a plain transfer's first answer said: nothing but refunds ever happens to it afterwards. */
const asAnswered = (transfer: Transfer): Transfer => ({
  ...transfer,
  refunded_amount: 0n,
  updated_at: transfer.created_at
})

const Kept = Schema.toType(Schema.Struct({ transfer_id: TransferId }))
const decode = Schema.decodeUnknownEffect(Kept)
