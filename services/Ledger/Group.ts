import { DateTime, Effect, Result } from "effect"
import type { Command, Posted } from "#domain/Command.ts"
import type { EventDraft } from "#domain/Event.ts"
import { decide } from "#domain/Posting.ts"
import type { PostingRefused, Superseded } from "#domain/PostingRefused.ts"
import * as Pipeline from "../Database/Pipeline.ts"
import type { CompanionRow } from "./Companion.ts"
import { type Head, headOf, locking, reading } from "./Reading.ts"
import { writing } from "./Writing.ts"

/**
 * A command together with the facts and rows that commit with it. Both are asked for only when it is done now; of items before
 * that what has them.
 */
export interface LedgerCommand extends Command {
  readonly items?: ReadonlyArray<LedgerCommand> | undefined
  readonly events?: (posted: Posted) => ReadonlyArray<EventDraft>
  readonly rows?: (posted: Posted) => ReadonlyArray<CompanionRow>
}

export type Answer = Result.Result<Posted, PostingRefused | Superseded>

const rollback = [{ statement: Pipeline.statement([], "ROLLBACK"), values: [] }]

/** Leaves the transaction of a group that could not be posted. */
export const abandon = (pipeline: Pipeline.Pipeline) => pipeline.fly(rollback)

/** Where a posted group left the log, and its answers in order. */
export interface PostedGroup {
  readonly head: Head
  /** Where the log stood before; not where we left it, if others write too. */
  readonly found: Head
  readonly answers: ReadonlyArray<Answer>
}

/**
 * Posts a group on a connection of its own: two round trips, all or nothing. `meanwhile` is done while the database reads. Where
 * others write to the log too, its head is waited for first, and then `commands` are asked for: what has come until then goes
 * along, instead of waiting for the others once more.
 */
export const postGroup = Effect.fnUntraced(function* (
  pipeline: Pipeline.Pipeline,
  commands: () => ReadonlyArray<LedgerCommand>,
  meanwhile: () => void,
  isShared: boolean
): Effect.fn.Return<PostedGroup, Pipeline.FlightFailure> {
  const locked = isShared ? yield* pipeline.fly(locking, meanwhile) : undefined
  const group = commands()
  const now = yield* DateTime.now
  const at = DateTime.toDate(now)
  const { steps, understand } = reading(group)
  const answers = yield* locked === undefined ? pipeline.fly([...locking, ...steps], meanwhile) : pipeline.fly(steps)
  const found = headOf(locked ?? answers)
  if (found === undefined) return yield* Effect.die("The ledger has no head row")
  const book = understand(locked === undefined ? answers.slice(locking.length) : answers)
  const keysExpireAt = DateTime.toDate(DateTime.add(now, { hours: 24 }))
  const decision = decide({ ...book, seq: found.movements, at, keysExpireAt }, group)
  const events: Array<EventDraft> = []
  const rows: Array<CompanionRow> = []
  const collect = (command: LedgerCommand | undefined, answer: Answer | undefined) => {
    if (command === undefined || answer === undefined || Result.isFailure(answer)) return
    const posted = answer.success
    for (const [index, item] of (command.items ?? []).entries()) collect(item, posted.items?.[index])
    if (posted.replayed) return
    if (command.events !== undefined) events.push(...command.events(posted))
    if (command.rows !== undefined) rows.push(...command.rows(posted))
  }
  for (const [index, answer] of decision.answers.entries()) collect(group[index], answer)
  const { keys, movements, tallies } = decision
  const isEmpty = movements.length + keys.length + tallies.length + rows.length + events.length === 0
  yield* isEmpty ? abandon(pipeline) : pipeline.fly(writing(decision, book.holds, { events, rows }, found, at))
  const head = {
    movements: found.movements + BigInt(movements.length),
    events: found.events + BigInt(events.length)
  }
  return { answers: decision.answers, found, head }
})
