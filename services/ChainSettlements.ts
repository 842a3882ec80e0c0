import {
  Cause,
  Clock,
  Context,
  Data,
  Duration,
  Effect,
  Fiber,
  FiberMap,
  Layer,
  Metric,
  Option,
  Schedule,
  Semaphore
} from "effect"
import { type ChainSettlement, moves, type Outcome, outcomeOf, settlementOf } from "#domain/ChainSettlement.ts"
import { ChainPolicy } from "./ChainSettlements/Policy.ts"
import * as Records from "./ChainSettlements/Records.ts"
import { Rail } from "./Rail.ts"
import { monotonic } from "./RealTime.ts"
import { atBeats, upkeep } from "./Upkeep.ts"

export { bookChainSettlement, type ChainOrder } from "./ChainSettlements/Records.ts"

/** A settlement of a payment whose outcome is known, to be booked under the settlement's id. */
export interface Concluded {
  readonly id: string
  readonly payment_id: string
  readonly amount: bigint
  readonly outcome: Exclude<Outcome, { readonly _tag: "Pending" }>
}

/** Under this id money is taken otherwise: to another receiver, or another amount. What becomes of that says nothing about this order. */
export class SettlesAnother extends Data.TaggedError("SettlesAnother")<{ readonly id: string }> {}

/** Takes signed money on chains: at most once, and what became of it is found out, never guessed. */
export class ChainSettlements extends Context.Service<
  ChainSettlements,
  {
    /**
     * Settles, and waits a while for the outcome; `Pending` when there is none yet. One id is settled once, however often it is
     * asked for, and fails at once for every order but the first. An authorisation that is being settled under another id is refused
     * as `duplicate_settlement`. Whoever cannot come back for the outcome waits for `longer` besides, however many others wait.
     */
    settle(order: Records.ChainOrder, longer?: Duration.Duration): Effect.Effect<Outcome, SettlesAnother>
    /**
     * Places an order in the caller's transaction: once that has committed it is settled, whatever becomes of the caller. What is given
     * back settles it at once, and waits as `settle` does.
     */
    place(
      order: Records.ChainOrder
    ): Effect.Effect<(longer?: Duration.Duration) => Effect.Effect<Outcome, SettlesAnother>>
    get(id: string): Effect.Effect<Option.Option<ChainSettlement>>
    /** Asks the rail about settlements that are due, those of dead processes among them; how many. */
    readonly reconcileDue: Effect.Effect<number>
    /**
     * Hands outcomes that nobody booked in time to `book`, which must be idempotent by the settlement's id and write
     * `bookChainSettlement` in the transaction of the booking: an outcome is handed out again until it has. How many were.
     */
    deliverDue(book: (concluded: Concluded) => Effect.Effect<void>): Effect.Effect<number>
    /** What a clock that has been set back since would have wait for as long is due now. */
    readonly bringForward: Effect.Effect<void>
    /** Counts those that were left to the operator, for whoever watches the metrics. */
    readonly countUnresolved: Effect.Effect<void>
  }
>()("turnpike/services/ChainSettlements") {
  static readonly layer = Layer.effect(
    ChainSettlements,
    Effect.gen(function* () {
      const rail = yield* Rail
      const policy = yield* ChainPolicy
      const records = yield* Records.make(policy)
      const drivers = yield* FiberMap.make<string, void>()

      const ask = Effect.fnUntraced(
        function* (row: ChainSettlement) {
          const settlement = settlementOf(row)
          return yield* row.state === "pending" ? rail.status(settlement) : rail.settle(settlement)
        },
        Effect.timeoutOrElse({ duration: policy.callTimeout, orElse: () => Effect.succeed(nothingKnown) }),
        Effect.catchTag("RAIL_UNAVAILABLE", ({ reason }) =>
          Effect.as(Effect.logWarning("The settlement rail gave no answer", { reason }), nothingKnown)
        ),
        // A bug of the rail says as little about the money as a lost connection.
        Effect.catchDefect((defect) => Effect.as(Effect.logError("The settlement rail failed", defect), nothingKnown)),
        // What the rail says by itself of its chain names the settlement as well.
        (asking, { id }) => Effect.annotateLogs(asking, { settlement: id })
      )
      const askAndRecord = (row: ChainSettlement) =>
        Effect.flatMap(ask(row), (outcome) => records.record(row.id, row.attempts, outcome))

      /** Asks about one settlement until its outcome is known or nobody waits for it any more. */
      const drive = Effect.fnUntraced(function* (id: string) {
        const clock = yield* Clock.Clock
        const end = monotonic(clock) + Duration.toMillis(policy.wait)
        while (monotonic(clock) < end) {
          const taken = yield* records.takeOne(id)
          const row = taken === undefined ? Option.getOrUndefined(yield* records.find(id)) : yield* askAndRecord(taken)
          if (row === undefined || !records.isOpen(row)) return
          const due = (row.due_at?.getTime() ?? 0) - clock.currentTimeMillisUnsafe()
          // Whoever else asks, the worker or another process, may know long before its lease ends.
          const pause = taken === undefined ? Math.min(due, Duration.toMillis(policy.lookAgain)) : due
          yield* Effect.sleep(Duration.millis(Math.min(Math.max(pause, 50), end - monotonic(clock))))
        }
      }, logged)

      const current = (id: string) =>
        Effect.map(records.find(id), (row): Outcome => (Option.isSome(row) ? outcomeOf(row.value) : nothingKnown))

      /** What became of a settlement that the worker asks about; `Pending` when that is not known in time. */
      const followed = (id: string, longer: Duration.Duration) =>
        current(id).pipe(
          Effect.repeat({ schedule: Schedule.spaced("1 second"), until: ({ _tag }) => _tag !== "Pending" }),
          Effect.timeoutOrElse({ duration: longer, orElse: () => current(id) })
        )

      const settlePlaced = Effect.fn("ChainSettlements.settle")(function* (
        order: Records.ChainOrder,
        row: Option.Option<ChainSettlement>,
        longer?: Duration.Duration
      ): Effect.fn.Return<Outcome, SettlesAnother> {
        if (Option.isNone(row)) return { _tag: "Refused", reason: "duplicate_settlement" }
        if (!moves(row.value, order)) return yield* new SettlesAnother({ id: order.id })
        if (!records.isOpen(row.value)) return outcomeOf(row.value)
        // What is too much to wait for is stored all the same, and the worker finds it.
        if ((yield* FiberMap.size(drivers)) >= policy.concurrency) {
          return longer === undefined ? outcomeOf(row.value) : yield* followed(order.id, longer)
        }
        // The caller may go away; the settlement goes on.
        const driving = Option.getOrUndefined(FiberMap.getUnsafe(drivers, order.id))
        const driver = driving ?? (yield* FiberMap.run(drivers, order.id, drive(order.id)))
        yield* Fiber.await(driver).pipe(Effect.timeoutOption(policy.wait))
        return yield* longer === undefined ? current(order.id) : followed(order.id, longer)
      })

      const place = (order: Records.ChainOrder) =>
        Effect.map(records.insert(order), (row) => (longer?: Duration.Duration) => settlePlaced(order, row, longer))

      const reconcileDue = Effect.gen(function* () {
        const rows = yield* records.takeDue(batch)
        // One whose outcome cannot be written must not cut off the others, which wait for the rail.
        const each = (row: ChainSettlement) =>
          Effect.catchCause(askAndRecord(row), (cause) =>
            Effect.logError("What the rail said of a settlement could not be written", { id: row.id }, cause)
          )
        yield* Effect.forEach(rows, each, { concurrency: batch, discard: true })
        return rows.length
      }).pipe(Effect.withSpan("ChainSettlements.reconcileDue"))

      const deliverDue = Effect.fn("ChainSettlements.deliverDue")(function* (
        book: (concluded: Concluded) => Effect.Effect<void>
      ) {
        const rows = yield* records.takeUnbooked(batch)
        const deliver = (row: ChainSettlement) => {
          const outcome = outcomeOf(row)
          if (row.payment_id === null || outcome._tag === "Pending") return Effect.void
          return book({ id: row.id, payment_id: row.payment_id, amount: row.amount, outcome }).pipe(
            Effect.catchCause((cause) => Effect.logError("A settlement could not be booked yet", { id: row.id }, cause))
          )
        }
        yield* Effect.forEach(rows, deliver, { concurrency: batch, discard: true })
        return rows.length
      })

      const countUnresolved = Effect.flatMap(records.unresolved, (count) => Metric.update(unresolved, count))

      return ChainSettlements.of({
        settle: (order, longer) => Effect.flatMap(place(order), (settled) => settled(longer)),
        place,
        get: records.find,
        reconcileDue,
        deliverDue,
        bringForward: records.bringForward,
        countUnresolved
      })
    })
  )

  /** Asks about what is due, every second; does nothing where there is no chain. */
  static readonly layerWorker = Layer.effectDiscard(
    Effect.gen(function* () {
      const settlements = yield* Effect.serviceOption(ChainSettlements)
      if (Option.isNone(settlements)) return
      const turns = yield* Semaphore.make(turnsAtOnce)
      // One that the rail keeps waiting must not keep those waiting that are due a second later.
      yield* settlements.value.reconcileDue.pipe(
        Effect.catchCause((cause) => Effect.logError("Settlements could not be reconciled", cause)),
        turns.withPermitsIfAvailable(1),
        Effect.forkScoped,
        (turn) => atBeats(turn, "1 second"),
        Effect.forkScoped
      )
      yield* upkeep("Settlements could not be brought forward", settlements.value.bringForward, "1 minute")
      yield* upkeep("Settlements could not be counted", settlements.value.countUnresolved, "15 seconds")
    })
  )
}

const batch = 50
/** Turns of the worker that may wait for the rail at once. */
const turnsAtOnce = 4

export const unresolved = Metric.gauge("turnpike_chain_settlements_unresolved", {
  description: "Settlements on a chain that were left to the operator, of all processes"
})

/** Whoever waits for the settlement only sees that there is no outcome yet. */
const logged = (driving: Effect.Effect<void>, id: string) =>
  Effect.tapCause(driving, (cause) =>
    Cause.hasInterruptsOnly(cause)
      ? Effect.void
      : Effect.logError("A settlement could not be driven on; the worker asks again", { id }, cause)
  )

const nothingKnown: Outcome = { _tag: "Pending", transaction: undefined }
