import { DateTime, Effect, Result } from "effect"
import type { Command, Posted } from "#domain/Command.ts"
import type { EventDraft } from "#domain/Event.ts"
import { decide } from "#domain/Posting.ts"
import type { PostingRefused, Superseded } from "#domain/PostingRefused.ts"
import * as Pipeline from "../Database/Pipeline.ts"
import type { CompanionRow } from "./Companion.ts"
import type { Known } from "./Known.ts"
import { flat, headOf, locking, reading, touchedBy } from "./Reading.ts"
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
const commit = { statement: Pipeline.statement([], "COMMIT"), values: [] }

/** Leaves the transaction of a group that could not be posted. */
export const abandon = (pipeline: Pipeline.Pipeline) => pipeline.fly(rollback)

/** The answers of a posted group, in order, and whether others had written to the log since the group before it. */
export interface PostedGroup {
  readonly isShared: boolean
  readonly answers: ReadonlyArray<Answer>
}

/** When a group is decided, and until when the keys used in it are remembered. */
const timing = Effect.map(DateTime.now, (now) => ({
  at: DateTime.toDate(now),
  keysExpireAt: DateTime.toDate(DateTime.add(now, { hours: 24 }))
}))

/** The facts and rows of all that was done now. */
const extraOf = (group: ReadonlyArray<LedgerCommand>, answers: ReadonlyArray<Answer>) => {
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
  for (const [index, answer] of answers.entries()) collect(group[index], answer)
  return { events, rows }
}

/**
 * Posts a group on a connection of its own: two round trips, all or nothing. `meanwhile` is done while the database reads. Where
 * others write to the log too, its head is waited for first, and then `commands` are asked for: what has come until then goes
 * along, instead of waiting for the others once more.
 */
export const postGroup = Effect.fnUntraced(function* (
  pipeline: Pipeline.Pipeline,
  known: Known,
  commands: () => ReadonlyArray<LedgerCommand>,
  meanwhile: () => void,
  isShared: boolean
): Effect.fn.Return<PostedGroup, Pipeline.FlightFailure> {
  const locked = isShared ? yield* pipeline.fly(locking, meanwhile) : undefined
  const group = commands()
  const all = flat(group)
  const touched = touchedBy(all)
  const { steps, understand } = reading(all, touched)
  const { at, keysExpireAt } = yield* timing
  const answers = yield* locked === undefined ? pipeline.fly([...locking, ...steps], meanwhile) : pipeline.fly(steps)
  const found = headOf(locked ?? answers)
  if (found === undefined) return yield* Effect.die("The ledger has no head row")
  const book = {
    ...understand(locked === undefined ? answers.slice(locking.length) : answers),
    seq: found,
    at,
    keysExpireAt
  }
  const decision = decide(book, group)
  const extra = extraOf(group, decision.answers)
  const { keys, movements, tallies } = decision
  const isEmpty = movements.length + keys.length + tallies.length + extra.rows.length + extra.events.length === 0
  yield* isEmpty ? abandon(pipeline) : pipeline.fly([...writing(decision, book, extra), commit])
  const others = known.read(book, touched.tallies)
  known.wrote(decision)
  return { answers: decision.answers, isShared: others }
})

/**
 * Posts a group from what is known, in one round trip. Undefined when not all of it is known, or when something about it has to be
 * looked up: somebody else has written since, a command may have been posted before. Nothing has happened then.
 */
export const postKnown = Effect.fnUntraced(function* (
  pipeline: Pipeline.Pipeline,
  known: Known,
  group: ReadonlyArray<LedgerCommand>,
  meanwhile: () => void
): Effect.fn.Return<PostedGroup | undefined, Pipeline.FlightFailure> {
  const all = flat(group)
  // Versions of things may change without a movement, so that the head does not tell.
  if (all.some(({ fences }) => fences !== undefined)) return undefined
  const recalled = known.recall(touchedBy(all))
  if (recalled === undefined) return undefined
  const book = { ...recalled, posted: [], keys: [], ...(yield* timing) }
  const decision = decide(book, group)
  if (decision.movements.length === 0 || !decision.answers.every((answer, index) => isNew(answer, group[index])))
    return undefined
  // Without a BEGIN all of a flight is one transaction, which ends with it.
  yield* pipeline.fly(writing(decision, book, extraOf(group, decision.answers)), meanwhile)
  known.wrote(decision)
  return { answers: decision.answers, isShared: false }
})

/**
 * Whether this was surely not posted before, to the last item, if it can be written: its movements, or its keys, are there once.
 * What is refused, or moves nothing this time, may have been.
 */
const isNew = (answer: Answer, command: LedgerCommand | undefined): boolean => {
  if (command === undefined || Result.isFailure(answer)) return false
  const { items = [], movements, replayed } = answer.success
  return (
    !replayed &&
    (movements.length > 0 || command.steps.length === 0) &&
    items.every((item, index) => isNew(item, command.items?.[index]))
  )
}
