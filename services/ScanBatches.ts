import { Clock, Context, DateTime, Duration, Effect, Latch, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { fromTypeId, type TenantId } from "#domain/Ids.ts"
import { DomainNotAllowed, merchantDomain } from "#domain/MerchantDomain.ts"
import type { IdempotencyKeyReused } from "#domain/PostingRefused.ts"
import { NotFound } from "#domain/Refusal.ts"
import {
  batchCredits,
  type BatchNames,
  maxBatchTargets,
  orderedBatch,
  progressed,
  ScanBatch
} from "#domain/ScanBatch.ts"
import type { InsufficientCredits } from "#domain/ScannerRefusal.ts"
import * as DueWork from "./DueWork.ts"
import { PublicHttpPolicy } from "./PublicHttp/Policy.ts"
import { ScanBatchPolicy } from "./ScanBatches/Policy.ts"
import * as Records from "./ScanBatches/Records.ts"
import * as Working from "./ScanBatches/Working.ts"
import { ScannerCredits } from "./ScannerCredits.ts"
import type { Billed, ScanOrder } from "./Scans.ts"

/** Batches of scans belong to the tenant that ordered them; the scans go into the corpus. */
export class ScanBatches extends Context.Service<
  ScanBatches,
  {
    /**
     * From 1 to 500 orders. Refused whole if any of the domains is not one. A domain that is named more than once is one target, as
     * it was named first.
     */
    create(
      tenant_id: TenantId,
      source: string,
      orders: ReadonlyArray<ScanOrder>,
      names?: BatchNames,
      claim?: IdempotencyClaim
    ): Effect.Effect<
      Billed<ScanBatch> & { readonly replayed: boolean },
      InsufficientCredits | DomainNotAllowed | IdempotencyKeyReused
    >
    get(tenant_id: TenantId, id: string): Effect.Effect<ScanBatch, NotFound>
    /**
     * What has not begun is not done, and what it would have cost is returned as soon as nothing of the batch is under way any more.
     * Cancelling what is over changes nothing.
     */
    cancel(tenant_id: TenantId, id: string): Effect.Effect<Billed<ScanBatch>, NotFound>
    /**
     * Takes up to so many waiting targets, those of dead processes among them: one piece of work for each, which never fails. They are
     * leased from now on, so all of it has to begin at once.
     */
    takeDue(limit: number): Effect.Effect<ReadonlyArray<Effect.Effect<void>>>
    /** Takes a few waiting targets, and waits until all of them are scanned and recorded; how many. */
    readonly scanDue: Effect.Effect<number>
    /** Waits until something may be due: for a target whose time comes, for a new batch, or for the end of what is scanned. */
    readonly untilDue: Effect.Effect<void>
  }
>()("turnpike/services/ScanBatches") {
  static readonly layer = Layer.effect(
    ScanBatches,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const credits = yield* ScannerCredits
      const rules = yield* PublicHttpPolicy
      const policy = yield* ScanBatchPolicy
      const records = yield* Records.make
      const close = yield* Working.closing
      const work = yield* Working.make(records, policy)
      const woken = Latch.makeUnsafe(false)

      const find = Effect.fnUntraced(function* (tenant_id: TenantId, id: string, how: "find" | "lock" = "find") {
        const uuid = fromTypeId("bat", id)
        const found = uuid === undefined ? Option.none() : yield* records[how](tenant_id, uuid)
        return Option.isSome(found) ? found.value : yield* new NotFound({ resource: "scan_batch", id })
      })
      const shown = Effect.fnUntraced(function* ({ billed: _, source: __, tenant_id, ...batch }: Records.BatchRow) {
        return { ...batch, targets: yield* records.targets(tenant_id, batch.id) }
      })
      const get = Effect.fn("ScanBatches.get")(function* (tenant_id: TenantId, id: string) {
        return yield* shown(yield* find(tenant_id, id))
      })

      /** One order for each domain, under its proper name. */
      const distinct = Effect.fnUntraced(function* (orders: ReadonlyArray<ScanOrder>) {
        const byDomain = new Map<string, ScanOrder>()
        for (const order of orders) {
          const domain = yield* Effect.mapError(
            Effect.fromResult(merchantDomain(order.domain, rules)),
            (reason) => new DomainNotAllowed({ domain: order.domain, reason })
          )
          if (!byDomain.has(domain)) byDomain.set(domain, { ...order, domain })
        }
        return [...byDomain.values()]
      })
      const create = Effect.fn("ScanBatches.create")(function* (
        tenant_id: TenantId,
        source: string,
        orders: ReadonlyArray<ScanOrder>,
        names: BatchNames = nameless,
        claim?: IdempotencyClaim
      ) {
        const wanted = yield* distinct(orders)
        if (wanted.length > maxBatchTargets) return yield* Effect.die(new RangeError(`${wanted.length} targets`))
        const credits_charged = batchCredits(wanted.length)
        const metadata = { targets: String(wanted.length) }
        const turn = Duration.toMillis(policy.turn)
        const domains = wanted.map(({ domain }) => domain)
        const { at, id, kept, remaining, replayed } = yield* credits.chargeOnce(
          { tenant_id, operation: "batch", credits: credits_charged, source, metadata },
          {
            rows: (made) =>
              Records.insertBatch({ ...made, ...names, tenant_id, source, credits_charged }, wanted, turn),
            record: (made) => encodeBatch(orderedBatch({ ...made, ...names }, domains))
          },
          claim
        )
        yield* woken.open
        const record = kept === undefined ? orderedBatch({ id, at, ...names }, domains) : yield* decodeBatch(kept)
        return { record, charged: replayed ? 0 : credits_charged, remaining, replayed }
      })

      const cancelled = Effect.fnUntraced(function* (tenant_id: TenantId, id: string) {
        const batch = yield* find(tenant_id, id, "lock")
        if (batch.status !== "processing") return batch
        const waiting = yield* records.cancelWaiting(tenant_id, batch.id)
        const next = progressed({ ...batch, status: "cancelled" }, { cancelled: waiting }, yield* DateTime.nowAsDate)
        yield* records.save(next)
        yield* close.decide(next)
        return next
      }, sql.withTransaction)
      const cancel = Effect.fn("ScanBatches.cancel")(function* (tenant_id: TenantId, id: string) {
        const batch = yield* Effect.catchTag(cancelled(tenant_id, id), "SqlError", Effect.die)
        const remaining = yield* close.pay(batch)
        return { record: yield* shown(batch), charged: 0, remaining }
      })

      const takeDue = Effect.fnUntraced(function* (limit: number) {
        const now = yield* DateTime.now
        const until = DateTime.toDate(DateTime.addDuration(now, policy.lease))
        return (yield* records.takeDue(DateTime.toDate(now), until, limit)).map((target) =>
          Effect.ensuring(work(target), woken.open)
        )
      })
      const scanDue = Effect.gen(function* () {
        const works = yield* takeDue(policy.atOnce)
        yield* Effect.all(works, { concurrency: policy.atOnce, discard: true })
        return works.length
      }).pipe(Effect.withSpan("ScanBatches.scanDue"))
      const untilDue = Effect.gen(function* () {
        const next = yield* records.nextDue
        const now = yield* Clock.currentTimeMillis
        const poll = Duration.toMillis(policy.poll)
        const left = Option.match(next, { onNone: () => poll, onSome: (due) => due.getTime() - now })
        // What is due already is in other hands at the moment.
        yield* Effect.timeoutOption(woken.await, Math.min(poll, Math.max(100, left)))
        woken.closeUnsafe()
      })

      return ScanBatches.of({ create, get, cancel, takeDue, scanDue, untilDue })
    })
  )

  /** Scans what waits. A slow site holds up no other while there is room. Any number of processes may. */
  static readonly layerWorker = Layer.effectDiscard(
    Effect.gen(function* () {
      const { takeDue, untilDue } = yield* ScanBatches
      const { atOnce } = yield* ScanBatchPolicy
      yield* DueWork.drive({ failed: "Batches could not be scanned on", atOnce, batch: atOnce, takeDue, untilDue })
    })
  )
}

const nameless: BatchNames = { name: null, description: null }

const encodeBatch = Schema.encodeSync(ScanBatch)
const decodeBatch = (kept: unknown) => Effect.orDie(Schema.decodeUnknownEffect(ScanBatch)(kept))
