import { Clock, Context, DateTime, Duration, Effect, Latch, Layer, Option } from "effect"
import { retryAfter } from "#domain/ChainSettlement.ts"
import type { TransferId } from "#domain/Ids.ts"
import { later } from "#domain/Instant.ts"
import {
  type Completed,
  eventOf,
  orderOf,
  type Outcome,
  type Rejected,
  releasing,
  type Settlement,
  settling,
  stateAfter,
  underWay
} from "#domain/Settlement.ts"
import * as DueWork from "./DueWork.ts"
import { Ledger } from "./Ledger.ts"
import { newUuid } from "./NewId.ts"
import { SettlementPolicy } from "./Settlements/Policy.ts"
import * as Records from "./Settlements/Records.ts"
import { TransferRail } from "./TransferRail.ts"
import { transferEvent } from "./Transfers/Records.ts"
import { upkeep } from "./Upkeep.ts"

/** What the rail said, or why it said nothing. */
type Answer = { readonly outcome: Outcome } | { readonly outcome: undefined; readonly error: string }

/** Takes transfers over the settlement rail: the rail is asked at least once, and the money moves at most once. */
export class Settlements extends Context.Service<
  Settlements,
  {
    /** Whether there is a rail to settle over. */
    readonly isAvailable: boolean
    /**
     * Takes settlements that are due, those of dead processes among them, and asks the rail about each: one piece of work for each,
     * which never fails. They are leased from now on, so all of it has to begin at once.
     */
    takeDue(limit: number): Effect.Effect<ReadonlyArray<Effect.Effect<void>>>
    /** Takes some of what is due, and waits until all of it was asked about; how many. */
    readonly settleDue: Effect.Effect<number>
    /** What a clock that has been set back since would have wait for as long is due now. */
    readonly bringForward: Effect.Effect<void>
    /** Tells the worker of this process to look again. */
    readonly wake: Effect.Effect<void>
    /** Waits until something may be due, at most five seconds: another process may have died between writing and asking. */
    readonly untilDue: Effect.Effect<void>
    /** Says so in the log when settlements have waited for longer than any process would let them. */
    readonly tellNeglected: Effect.Effect<void>
    find(id: TransferId): Effect.Effect<Option.Option<Settlement>>
    /** Those that were left to the operator, oldest first and at most 200. */
    readonly unresolved: Effect.Effect<ReadonlyArray<Records.Unresolved>>
    /** The operator's word on a settlement no rail could answer; false when it is not under way. */
    conclude(id: TransferId, outcome: Completed | Rejected): Effect.Effect<boolean>
    /** Asks the rail again about a settlement that was left to the operator. */
    resume(id: TransferId): Effect.Effect<boolean>
  }
>()("turnpike/services/Settlements") {
  static readonly layer = Layer.effect(
    Settlements,
    Effect.gen(function* () {
      const rail = Option.getOrUndefined(yield* Effect.serviceOption(TransferRail))
      const ledger = yield* Ledger
      const policy = yield* SettlementPolicy
      const records = yield* Records.make
      const pauses = {
        first: Duration.toMillis(policy.firstRetry),
        longest: Duration.toMillis(policy.longestRetry)
      }
      const alert = (message: string, settlement: Settlement, about: object = {}) =>
        Effect.logError(`ALERT: ${message}`, { id: settlement.id, ...about })

      /** Makes it processing before the rail hears of it, so that it cannot be cancelled any more; undefined when it was. */
      const begin = Effect.fnUntraced(function* (settlement: Settlement) {
        const state = stateAfter(settlement.state, "taken")
        if (state === undefined) return undefined
        const submission = (at: Date) => ({
          submitted_at: at,
          give_up_at: later(at, policy.patience)
        })
        const move = (at: Date) => Records.moved(settlement, state, { at })
        return yield* ledger
          .post({
            id: newUuid(),
            steps: [],
            fences: [fenceOf(settlement)],
            rows: ({ at }) => Records.writeMoved(move(at), { at }, submission(at))
          })
          .pipe(
            Effect.map(({ at }) => ({ ...move(at), give_up_at: submission(at).give_up_at })),
            // Our own command whose answer was lost is superseded by itself: then what counts is whose lease it is.
            Effect.catchTag("SUPERSEDED", () =>
              Effect.map(records.find(settlement.id), (now) =>
                Option.getOrUndefined(
                  Option.filter(now, (row) => row.state === state && row.attempts === settlement.attempts)
                )
              )
            ),
            Effect.orDie
          )
      })

      const ask = (port: TransferRail["Service"], settlement: Settlement): Effect.Effect<Answer> =>
        (settlement.state === "submitted" ? port.status(orderOf(settlement)) : port.submit(orderOf(settlement))).pipe(
          Effect.map((outcome): Answer => ({ outcome })),
          Effect.timeoutOrElse({
            duration: policy.callTimeout,
            orElse: () => Effect.succeed(silence("no answer in time"))
          }),
          Effect.catchTag("RAIL_UNAVAILABLE", ({ reason }) => Effect.succeed(silence(reason))),
          // A bug of the rail says as little about the money as a lost connection.
          Effect.catchDefect((defect) =>
            Effect.as(Effect.logError("The settlement rail failed", defect), silence("the rail failed"))
          )
        )

      /** The one command that ends a settlement with the money moved. */
      const complete = (settlement: Settlement, { rail_reference }: Completed) => {
        const move = (at: Date) => ({ at, rail_reference })
        const done = (at: Date) => Records.moved(settlement, "completed", move(at))
        return ledger.post({
          // The statements of both wallets name the transfer by the id of the command that moved its money.
          id: settlement.id,
          steps: settling(settlement),
          fences: [fenceOf(settlement)],
          rows: ({ at }) => Records.writeMoved(done(at), move(at)),
          events: ({ at }) => [transferEvent(settlement.tenant_id, "completed", done(at))]
        })
      }
      /** The one command that ends a settlement with the money given back. */
      const reject = (settlement: Settlement, { reason }: Rejected) => {
        const done = (at: Date) => Records.moved(settlement, "failed", { at, failure_reason: reason })
        return ledger.post({
          id: newUuid(),
          steps: releasing(settlement),
          fences: [fenceOf(settlement)],
          rows: ({ at }) => Records.writeMoved(done(at), { at }),
          events: ({ at }) => [transferEvent(settlement.tenant_id, "failed", done(at))]
        })
      }

      const contradicted = Effect.fnUntraced(function* (settlement: Settlement, outcome: Completed | Rejected) {
        const ended = yield* records.find(settlement.id)
        const state = stateAfter("unknown", eventOf(outcome))
        if (Option.isNone(ended) || ended.value.state === state) return
        yield* alert("a rail contradicts the outcome of a settlement", ended.value, { outcome })
      })

      const end = (settlement: Settlement, outcome: Completed | Rejected) => {
        const ending =
          outcome._tag === "Rejected"
            ? reject(settlement, outcome)
            : complete(settlement, outcome).pipe(
                Effect.catchTag("AMOUNT_TOO_LARGE", () =>
                  Effect.andThen(
                    alert("the receiver cannot take what the rail settled", settlement, { outcome }),
                    reject(settlement, { _tag: "Rejected", reason: "amount_too_large" })
                  )
                )
              )
        // Somebody else has ended it, or our own first answer was lost.
        return Effect.orDie(Effect.catchTag(ending, "SUPERSEDED", () => contradicted(settlement, outcome)))
      }

      const noteWhat = Effect.fnUntraced(function* (settlement: Settlement, answer: Answer) {
        const now = yield* DateTime.nowAsDate
        const { outcome } = answer
        const unanswered = outcome === undefined ? settlement.unanswered + 1 : 0
        const isOver = unanswered >= policy.silences || (settlement.give_up_at ?? now) <= now
        const state = stateAfter(settlement.state, isOver ? "given_up" : eventOf(outcome))
        if (state === undefined) return
        const last_error = outcome === undefined ? answer.error : null
        if (state === "unresolved") yield* alert("a settlement is left to the operator", settlement, { last_error })
        else if (last_error !== null) {
          yield* Effect.logWarning("The settlement rail gave no answer", { id: settlement.id, last_error })
        }
        const expected = outcome?._tag === "Pending" ? (outcome.again_at?.getTime() ?? 0) : 0
        const asked = outcome === undefined ? unanswered : settlement.attempts
        const pause =
          expected > now.getTime() ? Math.min(expected - now.getTime(), pauses.longest) : retryAfter(asked, pauses)
        const due_at = DateTime.toDate(DateTime.add(DateTime.makeUnsafe(now), { milliseconds: pause }))
        yield* records.note(settlement, { state, unanswered, due_at, last_error })
      })

      const record = Effect.fnUntraced(function* (settlement: Settlement, answer: Answer) {
        const { outcome } = answer
        if (outcome === undefined || outcome._tag === "Pending") return yield* noteWhat(settlement, answer)
        if (outcome._tag === "Completed") return yield* end(settlement, outcome)
        // That money moved is true whoever learned it; that none did only while nobody asks again, until it is written down.
        if (yield* records.keepLease(settlement, policy.lease)) yield* end(settlement, outcome)
        else yield* Effect.logWarning("A late rejection of the settlement rail does not count", { id: settlement.id })
      })

      const settle = (port: TransferRail["Service"]) =>
        Effect.fnUntraced(
          function* (settlement: Settlement) {
            const begun = settlement.state === "pending" ? yield* begin(settlement) : settlement
            if (begun !== undefined) yield* record(begun, yield* ask(port, begun))
          },
          (working, { id }) =>
            Effect.catchCause(working, (cause) =>
              Effect.logError("A settlement could not be driven on; it is tried again", { id }, cause)
            )
        )
      const woken = Latch.makeUnsafe(false)
      const takeDue = (limit: number) =>
        rail === undefined
          ? Effect.succeed([])
          : Effect.map(records.takeDue(limit, policy.lease), (due) =>
              due.map((settlement) => Effect.ensuring(settle(rail)(settlement), woken.open))
            )
      const settleDue = Effect.gen(function* () {
        const works = yield* takeDue(batch)
        yield* Effect.all(works, { concurrency: batch, discard: true })
        return works.length
      }).pipe(Effect.withSpan("Settlements.settleDue"))

      const untilDue = Effect.gen(function* () {
        const clock = yield* Clock.Clock
        const due = (yield* records.firstDue)?.getTime() ?? Number.POSITIVE_INFINITY
        const pause = Math.min(5000, Math.max(20, due - clock.currentTimeMillisUnsafe()))
        yield* Effect.timeoutOption(woken.await, Duration.millis(pause))
        woken.closeUnsafe()
      })

      const tellNeglected = Effect.gen(function* () {
        const due_at = yield* records.firstDue
        const taken = DateTime.subtractDuration(yield* DateTime.now, policy.lease)
        if (due_at === null || due_at >= DateTime.toDate(taken)) return
        yield* Effect.logError("ALERT: nobody asks about settlements: this server has no rail for them", { due_at })
      })

      const conclude = Effect.fn("Settlements.conclude")(function* (id: TransferId, outcome: Completed | Rejected) {
        const before = yield* records.find(id)
        if (Option.isNone(before) || !underWay.includes(before.value.state)) return false
        yield* end(before.value, outcome)
        const after = yield* records.find(id)
        return Option.isSome(after) && after.value.state === stateAfter("unresolved", eventOf(outcome))
      })

      return Settlements.of({
        isAvailable: rail !== undefined,
        takeDue,
        settleDue,
        wake: woken.open,
        untilDue,
        // Clocks of processes are a little apart.
        bringForward: records.bringForward(
          Duration.sum(Duration.max(policy.lease, policy.longestRetry), Duration.minutes(1))
        ),
        tellNeglected,
        find: records.find,
        unresolved: records.unresolved,
        conclude,
        resume: (id) => Effect.tap(records.resume(id, policy.patience), woken.open)
      })
    })
  )

  /** Settles what is due, as soon as it is. One that hangs holds up no other: there is room for `atOnce` of them. */
  static readonly layerWorker = Layer.effectDiscard(
    Effect.gen(function* () {
      const { bringForward, isAvailable, takeDue, tellNeglected, untilDue } = yield* Settlements
      // What was begun while there was one holds its payer's money until somebody asks, or the operator has a word.
      if (!isAvailable) return yield* upkeep("Settlements could not be looked for", tellNeglected, "1 hour")
      yield* upkeep("Settlements could not be brought forward", bringForward, "1 minute")
      yield* DueWork.drive({ failed: "Settlements could not be driven on", atOnce, batch, takeDue, untilDue })
    })
  )
}

const batch = 50
/** How many settlements one process asks the rail about at a time. */
const atOnce = 200

const silence = (error: string): Answer => ({ outcome: undefined, error })

const fenceOf = ({ id, version }: Settlement) => ({ scope: id, expected: version })
