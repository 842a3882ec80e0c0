import { Context, Effect, Layer, Option, Schema } from "effect"
import { type Batch, type CreateBatch, routeOf } from "#domain/Batch.ts"
import { BatchId, toTypeId, TransferId, type WalletId } from "#domain/Ids.ts"
import { type IdempotencyKeyReused, isUnexpected, WalletFrozen } from "#domain/PostingRefused.ts"
import type { Principal } from "#domain/Principal.ts"
import { NotFound } from "#domain/Refusal.ts"
import * as Items from "./Batches/Items.ts"
import type { BatchClaims } from "./Batches/Items.ts"
import * as Parties from "./Batches/Parties.ts"
import * as Payers from "./Batches/Payers.ts"
import { posting } from "./Batches/Posting.ts"
import * as Records from "./Batches/Records.ts"
import { Ledger } from "./Ledger.ts"
import { newId } from "./NewId.ts"
import { Wallets } from "./Wallets.ts"

/** A batch, and whether it is the stored result of an earlier request. */
export interface Created {
  readonly batch: Batch
  readonly replayed: boolean
}

/** Why a batch is refused as a whole, with nothing made. */
export type BatchRefused = NotFound | WalletFrozen | IdempotencyKeyReused

/** Up to 1,000 transfers in one command to the ledger, each of which succeeds or fails alone, in order. */
export class Batches extends Context.Service<
  Batches,
  {
    /** Makes a transfer of every item. Without a paying wallet each is paid from the caller's account's own, by currency and network. */
    create(caller: Principal, batch: CreateBatch, claims: BatchClaims): Effect.Effect<Created, BatchRefused>
    get(caller: Principal, id: BatchId): Effect.Effect<Batch, NotFound>
  }
>()("turnpike/services/Batches") {
  static readonly layer = Layer.effect(
    Batches,
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const wallets = yield* Wallets
      const read = yield* Records.reader
      const partiesOf = yield* Parties.make
      const payersOf = yield* Payers.make

      const get = Effect.fn("Batches.get")(function* (caller: Principal, id: BatchId) {
        const found = yield* read(caller.tenant_id, id)
        return Option.isSome(found) ? found.value : yield* new NotFound({ resource: "batch", id: toTypeId("bat", id) })
      })

      const payerOf = Effect.fnUntraced(function* (caller: Principal, id: WalletId) {
        const wallet = yield* wallets.own(caller, id)
        const { frozen } = yield* Effect.orDie(ledger.account(id))
        if (frozen) return yield* new WalletFrozen({ wallet_id: toTypeId("wal", id) })
        return wallet
      })

      const make = Effect.fnUntraced(function* (
        caller: Principal,
        { from_wallet_id, transfers }: CreateBatch,
        claims: BatchClaims
      ) {
        const payer = from_wallet_id === undefined ? undefined : yield* payerOf(caller, from_wallet_id)
        const named = yield* wallets.knownAll(
          caller,
          transfers.flatMap(({ to_wallet_id }) => to_wallet_id ?? [])
        )
        const parties = yield* partiesOf(caller, transfers, named, payer === undefined)
        const batch_id = yield* newId(BatchId)
        const earlier = yield* payersOf(caller, payer === undefined ? transfers : [], claims.operation)
        const context = { batch_id, caller, claims, earlier }
        const placed = yield* Effect.forEach(transfers, (item, index) =>
          Effect.map(newId(TransferId), (id) => {
            const payers = payer === undefined ? parties.payers(item.currency) : [payer]
            return Items.place(context, index, id, item, routeOf(item.currency, payers, parties.destination(item)))
          })
        )
        const { batchOf, command } = posting(caller.tenant_id, batch_id, placed, claims.batch, encodeKept({ batch_id }))
        const posted = yield* ledger.post(command).pipe(
          // It was posted, and the answer was lost on the way from the database.
          Effect.catchTag("SUPERSEDED", () => Effect.undefined),
          Effect.catchIf(isUnexpected, Effect.die)
        )
        if (posted === undefined) return { batch: yield* Effect.orDie(get(caller, batch_id)), replayed: false }
        if (!posted.replayed) return { batch: batchOf(posted), replayed: false }
        return { batch: yield* again(caller, posted.result), replayed: posted.command_id !== batch_id }
      })

      const again = (caller: Principal, kept: unknown) =>
        Effect.orDie(Effect.flatMap(decodeKept(kept), ({ batch_id }) => get(caller, batch_id)))

      const create = Effect.fn("Batches.create")(function* (
        caller: Principal,
        batch: CreateBatch,
        claims: BatchClaims
      ): Effect.fn.Return<Created, BatchRefused> {
        const first = make(caller, batch, claims)
        const claim = claims.batch
        if (claim === undefined) return yield* first
        // What was answered under a key is answered again, also when it could not be done any more.
        return yield* Effect.catch(first, (refusal) =>
          Effect.flatMap(ledger.recall(claim), (known) =>
            Option.isNone(known)
              ? Effect.fail(refusal)
              : Effect.map(again(caller, known.value), (batch) => ({ batch, replayed: true }))
          )
        )
      })

      return Batches.of({ create, get })
    })
  )
}

/** What is kept with the key of a batch: the rest is in its transfers, which have ended. */
const Kept = Schema.Struct({ batch_id: BatchId })
const encodeKept = Schema.encodeSync(Kept)
const decodeKept = Schema.decodeUnknownEffect(Kept)
