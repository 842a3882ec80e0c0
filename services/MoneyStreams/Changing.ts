import { DateTime, Duration, Effect, Option, Result } from "effect"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { type StreamId, toTypeId, TransferId } from "#domain/Ids.ts"
import { later } from "#domain/Instant.ts"
import type { MoneyStream, StreamState } from "#domain/MoneyStream.ts"
import { type Change, observe } from "#domain/MoneyStream/Change.ts"
import { shownAt } from "#domain/MoneyStream/Flow.ts"
import { actFor } from "#domain/Ownership.ts"
import type { AmountTooLarge, IdempotencyKeyReused, InsufficientBalance, WalletFrozen } from "#domain/PostingRefused.ts"
import type { Principal } from "#domain/Principal.ts"
import { type Forbidden, NotFound, ServiceUnavailable } from "#domain/Refusal.ts"
import type { Transfer } from "#domain/Transfer.ts"
import type { Ledger } from "../Ledger.ts"
import { newId } from "../NewId.ts"
import * as TransferRecords from "../Transfers/Records.ts"
import type * as Turns from "../Turns.ts"
import type { Wallets } from "../Wallets.ts"
import { changing, type MoneyAction, moving, readKept } from "./Moving.ts"
import * as Records from "./Records.ts"

/** How often a change is decided anew because another process was faster: each time that one got its own change through. */
const attempts = 200

/**
 * How old a decision may be when it is posted. It counts from when it was made: what the stream is shown to have done since, while its
 * process slept or waited for the ledger, would be taken back. Each that was too old allows the next to be twice as old: where the ledger
 * takes longer for all it is asked, a sender could not stop a stream otherwise.
 */
const timely = Duration.seconds(2)

/** How many streams are looked after in one step. */
const batch = 200

/** Something to do to a stream. */
export interface Wanted<Refused, Denied> {
  /** Whose it is to do this: the sender's, unless said. */
  readonly by?: "sender" | "recipient"
  /** What becomes of the stream as it is now. Asked again when somebody else was faster. */
  readonly decide: (stream: StreamState, now: Date) => Result.Result<Change, Refused>
  /** The transfers that it takes, in order. One of nothing is recorded and moves nothing. */
  readonly transfers?: (change: Change) => ReadonlyArray<readonly [action: MoneyAction, amount: bigint]>
  readonly memo?: string | null | undefined
  readonly claim?: IdempotencyClaim | undefined
  /** What the ledger's refusals are to the caller. A defect, when not said: what a stream owns is there. */
  readonly refuse?: (refusal: LedgerRefused) => Effect.Effect<never, Denied>
}

/** What the ledger may say to a wallet that pays, or to a key. */
export type LedgerRefused = InsufficientBalance | WalletFrozen | AmountTooLarge | IdempotencyKeyReused

/** The stream after a change, and the last of its transfers, if there was one. */
export interface Changed {
  readonly stream: MoneyStream
  readonly transfer: Transfer | undefined
  readonly replayed: boolean
}

/** Changes streams: every change is decided on the row as it was read, and posted only if it still is so. */
export const make = Effect.fnUntraced(function* (
  ledger: Ledger["Service"],
  wallets: Wallets["Service"],
  inTurn: Effect.Success<typeof Turns.make>
) {
  const streams = yield* Records.reader
  const readTransfer = yield* TransferRecords.reader

  const find = Effect.fnUntraced(function* (caller: Principal, id: StreamId) {
    const found = Option.getOrUndefined(yield* streams.find(caller.tenant_id, id))
    if (found !== undefined && (yield* wallets.sees(caller, [found.from_wallet_id, found.to_wallet_id]))) return found
    return yield* new NotFound({ resource: "stream", id: toTypeId("str", id) })
  })

  /** The stream with its wallets, when it is the caller's to do this to it. */
  const reach = Effect.fnUntraced(function* (caller: Principal, id: StreamId, by: "sender" | "recipient") {
    const before = yield* find(caller, id)
    const from = yield* Effect.orDie(wallets.known(caller, before.from_wallet_id))
    const to = yield* Effect.orDie(wallets.known(caller, before.to_wallet_id))
    yield* Effect.fromResult(actFor(caller, by === "sender" ? from : to, `this is for the ${by} of the stream to do`))
    return { before, from, to }
  })

  const answerKept = Effect.fnUntraced(function* (result: unknown) {
    const { stream, transfer } = yield* readKept(result)
    if (stream === null) return yield* Effect.die("An answer about a stream was kept without the stream")
    return { stream, transfer: transfer ?? undefined, replayed: true } satisfies Changed
  })

  const changeOnce = Effect.fnUntraced(function* <Refused, Denied = never>(
    caller: Principal,
    id: StreamId,
    { by = "sender", claim, decide, memo = null, refuse = Effect.die, transfers }: Wanted<Refused, Denied>,
    age: Duration.Duration
  ): Effect.fn.Return<Changed | "late" | "overtaken", NotFound | Forbidden | Refused | Denied> {
    const decided = yield* Effect.result(
      Effect.gen(function* () {
        const reached = yield* reach(caller, id, by)
        const now = yield* DateTime.nowAsDate
        return { ...reached, now, change: yield* Effect.fromResult(decide(reached.before, now)) }
      })
    )
    if (Result.isFailure(decided)) {
      // What cannot be done now may be what was done by the same request before.
      const known = claim === undefined ? Option.none() : yield* Effect.catch(ledger.recall(claim), refuse)
      return yield* Option.isSome(known) ? answerKept(known.value) : Effect.fail(decided.failure)
    }
    const { before, change, from, now, to } = decided.success
    const movings = yield* Effect.forEach(transfers?.(change) ?? [], ([action, amount]) =>
      Effect.map(newId(TransferId), (transfer_id) =>
        moving(action, transfer_id, amount, before, { caller, from, to, memo })
      )
    )
    const until = later(now, age)
    const { command, stream } = changing(before, change, now, movings, claim, until)
    const last = movings.at(-1)
    const posted = yield* ledger.post(command).pipe(
      Effect.catchTags({
        SUPERSEDED: () => Effect.undefined,
        NOT_FOUND: Effect.die,
        SAME_WALLET: Effect.die,
        CURRENCY_MISMATCH: Effect.die,
        HOLD_NOT_OPEN: Effect.die,
        INSUFFICIENT_BALANCE: refuse,
        WALLET_FROZEN: refuse,
        AMOUNT_TOO_LARGE: refuse,
        IDEMPOTENCY_KEY_REUSED: refuse
      })
    )
    if (posted === undefined) {
      // By somebody else, or by this very call where it ended the stream, and its first answer was lost on the way from the database.
      const { changed_by, version } = yield* find(caller, id)
      if (changed_by !== command.id) return version === before.version ? "late" : "overtaken"
      const made = last === undefined ? Option.none() : yield* readTransfer(caller.tenant_id, last.id)
      return { stream: shownAt(stream, now), transfer: Option.getOrUndefined(made), replayed: false }
    }
    if (posted.replayed && claim !== undefined) {
      return { ...(yield* answerKept(posted.result)), replayed: posted.command_id !== command.id }
    }
    if (posted.items?.some(Result.isFailure)) return yield* Effect.die("Money of a stream could not be moved")
    return { stream: shownAt(stream, now), transfer: last?.transfer(posted), replayed: false }
  })

  const change = <Refused, Denied = never>(caller: Principal, id: StreamId, wanted: Wanted<Refused, Denied>) =>
    inTurn(id)(
      Effect.gen(function* () {
        let age = timely
        for (let attempt = 0; attempt < attempts; attempt++) {
          const changed = yield* changeOnce(caller, id, wanted, age)
          if (typeof changed !== "string") return changed
          if (changed === "late") age = Duration.times(age, 2)
        }
        return yield* Effect.die(ServiceUnavailable.because("others changed it each time"))
      })
    )

  const lookAfter = Effect.fnUntraced(
    function* (before: StreamState, now: Date) {
      const decided = observe(before, now)
      if (Result.isFailure(decided)) return 0
      const { alerts } = decided.success
      yield* ledger.post(changing(before, decided.success, now, []).command)
      return alerts.length
    },
    // Somebody else was faster, and has said what there was to say.
    Effect.catchTag("SUPERSEDED", () => Effect.succeed(0)),
    Effect.catchCause((cause) => Effect.as(Effect.logError("A stream could not be looked after", cause), 0))
  )

  const alertDue = Effect.gen(function* () {
    let alerts = 0
    let found = batch
    // Those that fail stay due, and must not stand in the way of all that are due after them.
    let passed = 0
    while (found === batch) {
      const due = yield* streams.due(batch, passed)
      found = due.streams.length + due.unreadable
      const each = yield* Effect.forEach(due.streams, (stream) => lookAfter(stream, due.now), { concurrency: batch })
      alerts += each.reduce((sum, one) => sum + one, 0)
      passed += each.filter((said) => said === 0).length + due.unreadable
    }
    return alerts
  })

  return { find, answerKept, change, alertDue }
})
