import { Data, DateTime, Effect, Metric, Result } from "effect"
import type { Book, Command, Decision, Posted } from "#domain/Command.ts"
import type { EventDraft } from "#domain/Event.ts"
import { decide } from "#domain/Posting.ts"
import type { PostingRefused, Superseded } from "#domain/PostingRefused.ts"
import * as Pipeline from "../Database/Pipeline.ts"
import { passed } from "../RealTime.ts"
import type { CompanionRow } from "./Companion.ts"
import { Custody } from "./Custody.ts"
import type { Known } from "./Known.ts"
import { after, asTrace, flat, headOf, locking, reading, type Touched, touchedBy } from "./Reading.ts"
import { writing } from "./Writing.ts"

/**
 * A command together with the facts and rows that commit with it. Both are asked for only when it is done now; of items before
 * that what has them.
 */
export interface LedgerCommand extends Command {
  readonly items?: ReadonlyArray<LedgerCommand> | undefined
  /** For whom it is: those of many items wait for the ledger in turn by it. */
  readonly owner?: string
  readonly events?: (posted: Posted) => ReadonlyArray<EventDraft>
  readonly rows?: (posted: Posted) => ReadonlyArray<CompanionRow>
}

const sizes = Metric.histogram("turnpike_ledger_group_size", {
  description: "Commands posted in one transaction",
  boundaries: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
})
const durations = Metric.histogram("turnpike_ledger_post_duration_seconds", {
  description: "From when the oldest command of a transaction was given to the ledger until it was on disk",
  boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
})

/** Measures a transaction that posted these, given to the ledger at such a time. */
export const measure = (commands: ReadonlyArray<{ readonly since: number }>) => {
  const now = passed()
  return Effect.andThen(
    Metric.update(sizes, commands.length),
    Metric.update(durations, (now - commands.reduce((oldest, { since }) => Math.min(oldest, since), now)) / 1000)
  )
}

export type Answer = Result.Result<Posted, PostingRefused | Superseded>

const rollback = [{ statement: Pipeline.statement([], "ROLLBACK"), values: [] }]
const commit = { statement: Pipeline.statement([], "COMMIT"), values: [] }

/** Leaves the transaction of a group that could not be posted. */
export const abandon = (pipeline: Pipeline.Pipeline) => pipeline.fly(rollback)

/** The answers of a posted group, in order. */
export interface PostedGroup {
  readonly answers: ReadonlyArray<Answer>
  /** Whether others had written to the log since the group before it. */
  readonly isShared: boolean
  /** Whether it was decided from memory. */
  readonly isRemembered: boolean
}

/** What was decided from memory could not be written. Nothing of it was. */
export class Misremembered extends Data.TaggedError("Misremembered")<{ readonly cause: Pipeline.StatementFailed }> {}

export const misremembered = Metric.counter("turnpike_ledger_misremembered_total", {
  description: "Groups decided from memory that the database refused, and that were decided again",
  incremental: true
})

/** When a group is decided, until when the keys used in it are remembered, and whether it may spend what is in wallets. */
export const terms = Effect.map(Effect.all([DateTime.now, Custody]), ([now, custody]) => ({
  at: DateTime.toDate(now),
  keysExpireAt: DateTime.toDate(DateTime.add(now, { hours: 24 })),
  custody
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

type Terms = Effect.Success<typeof terms>

/** A group decided from memory, and all that has to be written for it to be true, in one flight. */
export interface Remembered {
  readonly decision: Decision
  /** Without a BEGIN all of a flight is one transaction, which ends with it. */
  readonly steps: ReadonlyArray<Pipeline.Step>
}

/**
 * What is decided of a group from what is known. Undefined when not all of it is known, or when something about it has to be looked
 * up: a command may have been posted before. `behind` is a decision on its way that memory has in it already.
 */
export const remembering = (
  known: Known,
  group: ReadonlyArray<LedgerCommand>,
  given: Terms,
  behind?: Decision
): Remembered | undefined => {
  const all = flat(group)
  // Versions of things may change without a movement, so that the head does not tell.
  if (all.some(({ fences }) => fences !== undefined)) return undefined
  const recalled = known.recall(touchedBy(all))
  if (recalled === undefined) return undefined
  const book = { ...recalled, posted: [], keys: [], ...given }
  const decision = decide(book, group)
  return decision.movements.length > 0 && decision.answers.every((answer, index) => isNew(answer, group[index]))
    ? {
        decision,
        steps: writing(decision, book, extraOf(group, decision.answers), behind?.movements.at(-1))
      }
    : undefined
}

/**
 * Posts a group where others write to the log too, in two round trips: its head is waited for, and what the others did meanwhile
 * is read; then `commands` are asked for, because what has come until then can go along instead of waiting for the others once
 * more. What is known is enough to decide most of them; otherwise, or without `trust`, what they touch is read first.
 */
export const postShared = Effect.fnUntraced(function* (
  pipeline: Pipeline.Pipeline,
  known: Known,
  commands: () => ReadonlyArray<LedgerCommand>,
  meanwhile: () => void,
  trust: boolean
): Effect.fn.Return<PostedGroup, Pipeline.FlightFailure | Misremembered> {
  const answers = yield* pipeline.fly([...locking, ...after(known.seq())], meanwhile)
  const { isShared, seq } = yield* following(known, answers)
  const group = commands()
  const given = yield* terms
  const remembered = trust ? remembering(known, group, given) : undefined
  if (remembered !== undefined) {
    yield* Effect.catchTag(pipeline.fly([...remembered.steps, commit]), "StatementFailed", (cause) =>
      Effect.fail(new Misremembered({ cause }))
    )
    known.wrote(remembered.decision)
    return { answers: remembered.decision.answers, isShared, isRemembered: true }
  }
  const asked = reading(group)
  const found = asked.understand(yield* pipeline.fly(asked.steps))
  const posted = yield* postRead(pipeline, known, group, { ...found, seq, ...given }, asked.touched)
  return { answers: posted, isShared, isRemembered: false }
})

/** Posts a group in two round trips: what it touches is read, and it is written. `meanwhile` is done while the database reads. */
export const postGroup = Effect.fnUntraced(function* (
  pipeline: Pipeline.Pipeline,
  known: Known,
  group: ReadonlyArray<LedgerCommand>,
  meanwhile: () => void
): Effect.fn.Return<PostedGroup, Pipeline.FlightFailure> {
  const asked = reading(group)
  const first = [...locking, ...after(known.seq())]
  const answers = yield* pipeline.fly([...first, ...asked.steps], meanwhile)
  const { isShared, seq } = yield* following(known, answers)
  // Not before: what others have the head for takes time, in which a quote may end.
  const book = { ...asked.understand(answers.slice(first.length)), seq, ...(yield* terms) }
  return {
    answers: yield* postRead(pipeline, known, group, book, asked.touched),
    isShared,
    isRemembered: false
  }
})

/**
 * Posts a group `again`, once, where the first try came to nothing for no fault of its own: memory did not do, which is told, or Postgres
 * ended it for the sake of somebody else, who is through by then.
 */
export const orAgain = (
  pipeline: Pipeline.Pipeline,
  first: Effect.Effect<PostedGroup, Pipeline.FlightFailure | Misremembered>,
  again: Effect.Effect<PostedGroup, Pipeline.FlightFailure>,
  misled: () => void
): Effect.Effect<PostedGroup, Pipeline.FlightFailure> => {
  const anew = Effect.andThen(abandon(pipeline), again)
  return Effect.catchTags(first, {
    Misremembered: () => Effect.andThen(Effect.andThen(Metric.update(misremembered, 1), Effect.sync(misled)), anew),
    StatementFailed: (failure) => (Pipeline.isVictim(failure) ? anew : Effect.fail(failure))
  })
}

/** Goes along with the log, by the answers to what locks its head and reads the movements after what is known. */
const following = (known: Known, answers: ReadonlyArray<ReadonlyArray<Pipeline.Row>>) =>
  Effect.map(headOf(answers), (seq) => {
    const traces = known.seq() === undefined ? [] : (answers[locking.length] ?? []).map(asTrace)
    return { seq, isShared: known.follow(seq, traces) }
  })

/** Writes what is decided of what was read, all or nothing. */
const postRead = Effect.fnUntraced(function* (
  pipeline: Pipeline.Pipeline,
  known: Known,
  group: ReadonlyArray<LedgerCommand>,
  book: Book,
  touched: Touched
): Effect.fn.Return<ReadonlyArray<Answer>, Pipeline.FlightFailure> {
  const decision = decide(book, group)
  const extra = extraOf(group, decision.answers)
  const { keys, movements, tallies } = decision
  const isEmpty = movements.length + keys.length + tallies.length + extra.rows.length + extra.events.length === 0
  yield* isEmpty ? abandon(pipeline) : pipeline.fly([...writing(decision, book, extra), commit])
  known.read(book, touched.tallies)
  known.wrote(decision)
  return decision.answers
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
