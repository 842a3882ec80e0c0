import { Context, DateTime, type Duration, Effect, Layer, Option } from "effect"
import type { IdempotencyClaim } from "#domain/Command.ts"
import type { TenantId } from "#domain/Ids.ts"
import { systemAccount } from "#domain/LedgerAccount.ts"
import { parseDecimal, unit } from "#domain/Money.ts"
import type { IdempotencyKeyReused } from "#domain/PostingRefused.ts"
import { InsufficientCredits } from "#domain/ScannerRefusal.ts"
import { Ledger } from "./Ledger.ts"
import type { CompanionRow } from "./Ledger/Companion.ts"
import { newUuid } from "./NewId.ts"
import * as Charges from "./ScannerCredits/Charges.ts"
import * as CreditLedger from "./ScannerCredits/CreditLedger.ts"
import { ScannerCreditPolicy } from "./ScannerCredits/Policy.ts"
import { upkeep } from "./Upkeep.ts"

export { InsufficientCredits }

/** What is charged for, and how much in whole credits. `source` is the id of the request. */
export interface CreditOrder {
  readonly tenant_id: TenantId
  readonly operation: "scan" | "batch" | "test"
  readonly credits: number
  readonly source: string
  readonly metadata: Readonly<Record<string, string>>
}

/** What was charged, for whoever made the charge. */
export interface Charge {
  readonly id: string
  readonly tenant_id: TenantId
  readonly credits: number
}

/** A charge that is neither earned nor returned yet. */
export interface OpenCharge extends Charge {
  /** What the tenant has left, in whole credits. */
  readonly remaining: number
}

/** What commits with a charge, and what a repetition under its claim is to find. */
interface Beside {
  readonly rows?: (charge: Ordered) => ReadonlyArray<CompanionRow>
  readonly record: (charge: Ordered) => unknown
}
interface Ordered {
  readonly id: string
  readonly at: Date
}

/** `kept` is the record that is kept under the claim, of this charge or, if it is `replayed`, of an earlier one. */
export interface ChargedOnce extends OpenCharge {
  readonly at: Date
  readonly kept: unknown
  readonly replayed: boolean
}

/** The credits that pay for the scanner: taken before the work, given back when it could not be done. */
export class ScannerCredits extends Context.Service<
  ScannerCredits,
  {
    /** Takes the credits. The charge has to be ended within the lease, or prolonged. */
    charge(order: CreditOrder): Effect.Effect<OpenCharge, InsufficientCredits>
    /**
     * The same with what is `beside` in one transaction, and once under a claim. The charge of a batch has no lease: whoever makes a batch
     * keeps it until the batch is over.
     */
    chargeOnce(
      order: CreditOrder,
      beside: Beside,
      claim?: IdempotencyClaim
    ): Effect.Effect<ChargedOnce, InsufficientCredits | IdempotencyKeyReused>
    /** The work is done. Joins the caller's transaction, together with what the work gave. False when the charge was returned before. */
    earn(charge: Charge): Effect.Effect<boolean>
    /** Says how much will be given back, while the rest is earned. Joins the caller's transaction; `giveBack` after its commit gives it. */
    promiseBack(charge: Charge, reason: string, credits: number): Effect.Effect<void>
    /**
     * Gives all of it back, or only so many credits (the rest is earned), or what was promised; what the tenant has then. Twice is
     * once. Never inside a transaction: what it promises has to be committed before it is given.
     */
    giveBack(charge: Charge, reason: string, credits?: number): Effect.Effect<number>
    /** Whether it was given back, at least in part, and has come back. */
    isReturned(charge: Pick<Charge, "id" | "tenant_id">): Effect.Effect<boolean>
    /** Keeps a long-running charge from being taken for abandoned. */
    prolong(charge: Charge): Effect.Effect<void>
    /** `granted_total` less `consumed_total` is `balance`; what was returned was not consumed. */
    balance(tenant_id: TenantId): Effect.Effect<{
      readonly balance: number
      readonly granted_total: number
      readonly consumed_total: number
    }>
    /** Newest first, from before the position. */
    ledger(
      tenant_id: TenantId,
      page: { readonly before: Option.Option<bigint>; readonly limit: number }
    ): Effect.Effect<ReadonlyArray<CreditLedger.CreditEntry>>
    /** Returns charges whose process died, at most 100 a step; how many. */
    readonly returnAbandoned: Effect.Effect<number>
  }
>()("turnpike/services/ScannerCredits") {
  static readonly layer = Layer.effect(
    ScannerCredits,
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const { lease } = yield* ScannerCreditPolicy
      const charges = yield* Charges.make
      const { balance, ledger: lines } = yield* CreditLedger.make

      const take = Effect.fnUntraced(function* (order: CreditOrder, beside?: Beside, claim?: IdempotencyClaim) {
        const { credits, metadata, operation, source, tenant_id } = order
        yield* wholeAndSome(credits)
        const id = newUuid()
        const row = (at: Date) =>
          Charges.insertCharge.of({
            id,
            tenant_id,
            operation,
            credits,
            source,
            metadata,
            due_at: operation === "batch" ? null : isoAfter(at, lease),
            created_at: at.toISOString()
          })
        const posted = yield* ledger
          .post({
            id,
            ...(claim !== undefined && { idempotency: claim, result: ({ at }) => beside?.record({ id, at }) }),
            steps: [
              {
                kind: "transfer",
                debit: tenant_id,
                credit: fees,
                currency: "CREDIT",
                amount: BigInt(credits) * unit,
                code: operation,
                tally: Charges.chargedTally(tenant_id)
              }
            ],
            rows: ({ at }) => [row(at), ...(beside?.rows?.({ id, at }) ?? [])]
          })
          .pipe(
            Effect.catch((refused): Effect.Effect<never, InsufficientCredits | IdempotencyKeyReused> => {
              if (refused._tag === "IDEMPOTENCY_KEY_REUSED") return Effect.fail(refused)
              if (refused._tag !== "INSUFFICIENT_BALANCE") return Effect.die(refused)
              const available = CreditLedger.wholeCredits(parseDecimal(refused.available) ?? 0n)
              return Effect.fail(new InsufficientCredits({ balance: available, required: credits }))
            })
          )
        const { at, command_id, movements, result: kept } = posted
        const [taken] = movements
        // What is found by its key is found without its movements.
        const remaining =
          taken === undefined
            ? (yield* balance(tenant_id)).balance
            : CreditLedger.wholeCredits(taken.debit_posted - taken.debit_held)
        // Under its own id it was this very call, whose first answer was lost on the way from the database.
        return { id: command_id, tenant_id, credits, remaining, at, kept, replayed: command_id !== id }
      })
      const charge = Effect.fn("ScannerCredits.charge")((order: CreditOrder) =>
        Effect.catchTag(take(order), "IDEMPOTENCY_KEY_REUSED", Effect.die)
      )
      const chargeOnce = Effect.fn("ScannerCredits.chargeOnce")(take)

      const earn = Effect.fn("ScannerCredits.earn")(function* (earned: Charge) {
        return yield* charges.earn(earned, yield* DateTime.nowAsDate)
      })

      const untilLeaseEnds = Effect.map(DateTime.now, (now) => DateTime.toDate(DateTime.addDuration(now, lease)))
      const promise = Effect.fnUntraced(function* ({ id, tenant_id }: Charge, reason: string, returned: number) {
        return yield* charges.promise({ id, tenant_id, returned }, reason, yield* untilLeaseEnds)
      })
      const promiseBack = Effect.fn("ScannerCredits.promiseBack")(function* (
        of: Charge,
        reason: string,
        credits: number
      ) {
        yield* wholeAndSome(credits)
        yield* promise(of, reason, credits)
      })

      /** Gives what was promised. The command's id is the charge's own, so whoever comes second moves nothing. */
      const give = Effect.fnUntraced(function* (promised: Charges.Promised) {
        const { id, returned, tenant_id } = promised
        const { movements } = yield* ledger
          .post({
            id: Charges.returnId(id),
            steps: [
              {
                kind: "transfer",
                debit: fees,
                credit: tenant_id,
                currency: "CREDIT",
                amount: BigInt(returned) * unit,
                code: Charges.returnCode,
                tally: Charges.returnedTally(tenant_id)
              }
            ]
          })
          .pipe(Effect.orDie)
        yield* charges.returned(promised, yield* DateTime.nowAsDate)
        return CreditLedger.wholeCredits(movements[0]?.credit_posted ?? 0n)
      })
      const giveBack = Effect.fn("ScannerCredits.giveBack")(function* (
        of: Charge,
        reason: string,
        credits: number = of.credits
      ) {
        if (credits === 0) yield* charges.earn(of, yield* DateTime.nowAsDate)
        const promised = credits === 0 ? Option.none() : yield* promise(of, reason, credits)
        const owed = Option.isSome(promised) ? promised : yield* charges.underWay(of)
        return Option.isSome(owed) ? yield* give(owed.value) : (yield* balance(of.tenant_id)).balance
      })

      const prolong = Effect.fn("ScannerCredits.prolong")(function* (of: Charge) {
        yield* charges.prolong(of, yield* untilLeaseEnds)
      })

      const returnAbandoned = Effect.gen(function* () {
        const found = yield* charges.takeAbandoned(yield* DateTime.nowAsDate, yield* untilLeaseEnds, batch)
        const given = (promised: Charges.Promised) =>
          give(promised).pipe(
            Effect.catchCause((cause) =>
              Effect.logError("Credits could not be given back; they are once more", { id: promised.id }, cause)
            )
          )
        // The ledger posts them as one group.
        yield* Effect.forEach(found, given, { concurrency: batch, discard: true })
        return found.length
      }).pipe(Effect.withSpan("ScannerCredits.returnAbandoned"))

      return ScannerCredits.of({
        charge,
        chargeOnce,
        earn,
        promiseBack,
        giveBack,
        isReturned: Effect.fn("ScannerCredits.isReturned")(charges.isReturned),
        prolong,
        balance: Effect.fn("ScannerCredits.balance")(balance),
        ledger: Effect.fn("ScannerCredits.ledger")(lines),
        returnAbandoned
      })
    })
  )

  /** Gives back what the dead left behind. Any number of processes may. */
  static readonly layerWorker = Layer.effectDiscard(
    Effect.gen(function* () {
      const { returnAbandoned } = yield* ScannerCredits
      yield* upkeep(
        "Abandoned charges could not be returned",
        Effect.repeat(returnAbandoned, { while: (found) => found === batch }),
        "30 seconds"
      )
    })
  )
}

const batch = 100

/** Where credits go that are spent. */
const fees = systemAccount("fees", "CREDIT")

const wholeAndSome = (credits: number) =>
  Number.isSafeInteger(credits) && credits > 0
    ? Effect.void
    : Effect.die(new RangeError(`${credits} is no number of whole credits`))

const isoAfter = (at: Date, lease: Duration.Duration): string =>
  DateTime.formatIso(DateTime.addDuration(DateTime.makeUnsafe(at), lease))
