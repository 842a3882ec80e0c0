import { Context, DateTime, Effect, Layer, Option, Result, Schema } from "effect"
import { actorOf } from "#domain/CallerContext.ts"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { ScheduleId, toTypeId, type TransferId } from "#domain/Ids.ts"
import type { CurrencyMismatch, IdempotencyKeyReused, SameWallet } from "#domain/PostingRefused.ts"
import type { Principal } from "#domain/Principal.ts"
import { NotFound, ServiceUnavailable, type StateTransitionInvalid } from "#domain/Refusal.ts"
import { afterTrigger, ScheduledTransfer, scheduleOnWire, type ScheduleTrigger, shown } from "#domain/Schedule.ts"
import { type CreateScheduledTransfer, scheduleOf, type ScheduleRefused, timetableOf } from "#domain/ScheduleOrder.ts"
import { type NetworkMismatch, type Transfer, whyApart } from "#domain/Transfer.ts"
import { Deployment } from "./Deployment.ts"
import { Ledger } from "./Ledger.ts"
import { once as postedOnce } from "./Ledger/Once.ts"
import { newId, newUuid } from "./NewId.ts"
import * as Executing from "./Schedules/Executing.ts"
import * as Records from "./Schedules/Records.ts"
import { remembered } from "./Transfers.ts"
import { upkeep } from "./Upkeep.ts"
import { Wallets } from "./Wallets.ts"

/** A schedule, and whether it is the stored result of an earlier request. */
export interface Scheduled {
  readonly schedule: ScheduledTransfer
  readonly replayed: boolean
}

/** Transfers that are made later, once or again and again. Every method but `executeDue` sees the caller's tenant only. */
export class Schedules extends Context.Service<
  Schedules,
  {
    /** Moves nothing yet. A frozen or empty wallet is no reason to refuse: it may be another one by then. */
    create(
      caller: Principal,
      order: CreateScheduledTransfer,
      claim?: IdempotencyClaim
    ): Effect.Effect<
      Scheduled,
      NotFound | SameWallet | CurrencyMismatch | NetworkMismatch | ScheduleRefused | IdempotencyKeyReused
    >
    get(caller: Principal, id: ScheduleId): Effect.Effect<ScheduledTransfer, NotFound>
    /** Newest first, with the number of all that match. */
    list(
      caller: Principal,
      filter: Records.ScheduleFilter,
      range: { readonly limit: number; readonly offset: number }
    ): Effect.Effect<{ readonly schedules: ReadonlyArray<ScheduledTransfer>; readonly total: number }>
    /** The transfers it made, those that failed among them; newest first, from before `before`. */
    executions(
      caller: Principal,
      id: ScheduleId,
      range: { readonly limit: number; readonly before?: TransferId | undefined }
    ): Effect.Effect<ReadonlyArray<Transfer>, NotFound>
    /** What is being executed at the same time is either changed before or executed before, never both. */
    change(
      caller: Principal,
      id: ScheduleId,
      trigger: ScheduleTrigger,
      claim?: IdempotencyClaim
    ): Effect.Effect<Scheduled, NotFound | StateTransitionInvalid | IdempotencyKeyReused>
    /** Makes the transfers that are due, each once whatever the number of processes; how many attempts that were. */
    readonly executeDue: Effect.Effect<number>
  }
>()("turnpike/services/Schedules") {
  /** Executes what is due, every 30 seconds in sandbox and every 60 live; any number of processes may. */
  static readonly layerWorker = Layer.effectDiscard(
    Effect.gen(function* () {
      const { executeDue } = yield* Schedules
      const { environment } = yield* Deployment
      yield* upkeep("Scheduled transfers could not be executed", executeDue, polling[environment])
    })
  )

  static readonly layer = Layer.effect(
    Schedules,
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const wallets = yield* Wallets
      const records = yield* Records.make
      const execute = yield* Executing.make

      const find = Effect.fnUntraced(function* (caller: Principal, id: ScheduleId) {
        const found = yield* records.find(caller.tenant_id, id)
        if (Option.isSome(found)) return found.value
        return yield* new NotFound({ resource: "scheduled_transfer", id: toTypeId("sch", id) })
      })
      const get = Effect.fn("Schedules.get")(function* (caller: Principal, id: ScheduleId) {
        return shown(yield* find(caller, id))
      })

      const again = (kept: unknown): Effect.Effect<Scheduled> =>
        Effect.map(Effect.orDie(decode(kept)), (schedule) => ({ schedule, replayed: true }))

      const planned = Effect.fnUntraced(function* (caller: Principal, order: CreateScheduledTransfer) {
        const from = yield* wallets.own(caller, order.from_wallet_id)
        const to = yield* wallets.known(caller, order.to_wallet_id)
        const apart = whyApart(from, to, order.currency)
        if (apart !== undefined) return yield* apart
        const at = yield* DateTime.nowAsDate
        return scheduleOf(order, yield* Effect.fromResult(timetableOf(order, at)), {
          id: yield* newId(ScheduleId),
          tenant_id: caller.tenant_id,
          from_account_id: from.account_id,
          to_account_id: to.account_id,
          initiated_by: actorOf(caller),
          at
        })
      })
      const create = Effect.fn("Schedules.create")(function* (
        caller: Principal,
        order: CreateScheduledTransfer,
        claim?: IdempotencyClaim
      ) {
        // A repetition is answered although its time may be past by now.
        const known = claim === undefined ? Option.none() : yield* ledger.recall(claim)
        if (Option.isSome(known)) return yield* again(known.value)
        const schedule = yield* planned(caller, order)
        const posted = yield* ledger
          .post({
            id: schedule.id,
            steps: [],
            idempotency: claim,
            result: () => (claim === undefined ? undefined : scheduleOnWire(schedule)),
            rows: () => [Records.insertSchedule(schedule)]
          })
          .pipe(
            Effect.catchIf(
              (refused) => refused._tag !== "IDEMPOTENCY_KEY_REUSED",
              (refused) => Effect.die(refused)
            )
          )
        return !posted.replayed || posted.command_id === schedule.id
          ? { schedule: shown(schedule), replayed: false }
          : yield* again(posted.result)
      })

      const list = Effect.fn("Schedules.list")(function* (
        caller: Principal,
        filter: Records.ScheduleFilter,
        range: { readonly limit: number; readonly offset: number }
      ) {
        const { schedules, total } = yield* records.list({ ...filter, ...range, tenant_id: caller.tenant_id })
        return { schedules: schedules.map(shown), total }
      })

      const executions = Effect.fn("Schedules.executions")(function* (
        caller: Principal,
        id: ScheduleId,
        range: { readonly limit: number; readonly before?: TransferId | undefined }
      ) {
        yield* find(caller, id)
        return yield* records.executions(id, range)
      })

      const change = Effect.fn("Schedules.change")(function* (
        caller: Principal,
        id: ScheduleId,
        trigger: ScheduleTrigger,
        claim?: IdempotencyClaim
      ) {
        const command_id = newUuid()
        const decided = Effect.gen(function* () {
          const schedule = yield* find(caller, id)
          const now = yield* DateTime.nowAsDate
          return { schedule, advanced: yield* Effect.fromResult(afterTrigger(schedule, trigger, now)) }
        })
        for (let round = 0; round < 10; round++) {
          const possible = yield* Effect.result(decided)
          if (Result.isFailure(possible)) {
            // What cannot be done now may be what was done by the same request before.
            const known = claim === undefined ? Option.none() : yield* ledger.recall(claim)
            return yield* Option.isSome(known) ? again(known.value) : Effect.fail(possible.failure)
          }
          const { advanced, schedule } = possible.success
          // What is a pause's is what fell into it until it ended for everybody, and not until it was decided to end.
          const done = remembered(({ at }) => Result.getOrElse(afterTrigger(schedule, trigger, at), () => advanced))
          const posted = yield* Effect.result(
            ledger.post({
              id: command_id,
              steps: [],
              fences: [{ scope: id, expected: schedule.version }],
              idempotency: claim ?? postedOnce(caller.tenant_id, command_id).idempotency,
              result: (posted) => scheduleOnWire(done(posted).schedule),
              rows: (posted) => [Records.updateSchedule(done(posted).schedule)],
              events: (posted) => Records.scheduleEvents(done(posted))
            })
          )
          if (Result.isSuccess(posted)) {
            const { command_id: by, replayed, result } = posted.success
            if (!replayed) return { schedule: shown(done(posted.success).schedule), replayed }
            // Under its own id it was this very call, whose first answer was lost on the way from the database.
            return { ...(yield* again(result)), replayed: by !== command_id }
          }
          if (posted.failure._tag === "IDEMPOTENCY_KEY_REUSED") return yield* posted.failure
          if (posted.failure._tag !== "SUPERSEDED") return yield* Effect.die(posted.failure)
        }
        return yield* Effect.die(ServiceUnavailable.because("others changed it each time"))
      })

      return Schedules.of({
        create,
        get,
        list,
        executions,
        change,
        executeDue: Effect.withSpan(execute, "Schedules.executeDue")
      })
    })
  )
}

const polling = { sandbox: "30 seconds", live: "60 seconds" } as const

const decode = Schema.decodeUnknownEffect(ScheduledTransfer)
