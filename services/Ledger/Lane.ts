import type * as PgClient from "@effect/sql-pg/PgClient"
import { Cause, Context, Deferred, Duration, Effect, Latch, Metric, Result, type Scope } from "effect"
import type { Posted } from "#domain/Command.ts"
import type { PostingRefused, Superseded } from "#domain/PostingRefused.ts"
import { ServiceUnavailable } from "#domain/Refusal.ts"
import * as Pipeline from "../Database/Pipeline.ts"
import { realTime, sleep, within } from "../RealTime.ts"
import {
  abandon,
  type Answer,
  type LedgerCommand,
  type PostedGroup,
  postGroup,
  postKnown,
  postShared
} from "./Group.ts"
import * as Known from "./Known.ts"

/**
 * How many commands may wait (and how many items of commands, unless one has more and waits alone), how many commands share a
 * transaction (and how many items), and when we stop waiting for the database.
 */
export const LanePolicy = Context.Reference("turnpike/services/Ledger/Lane/LanePolicy", {
  defaultValue: () => ({
    waiting: 20_000,
    waitingItems: 50_000,
    group: 512,
    groupTimeout: Duration.seconds(6),
    commandTimeout: Duration.seconds(8),
    reconnect: Duration.millis(100)
  })
})

interface Job {
  readonly command: LedgerCommand
  readonly since: number
  readonly done: Deferred.Deferred<Posted, PostingRefused | Superseded>
}

const groupSizes = Metric.histogram("turnpike_ledger_group_size", {
  description: "Commands posted in one transaction",
  boundaries: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
})
const misremembered = Metric.counter("turnpike_ledger_misremembered", {
  description: "Groups decided from memory that the database refused, and that were decided again"
})
const unavailable = new ServiceUnavailable({ retry_after: 1 })

/**
 * The ledger's posting lane: one fiber that owns one pipelined connection, takes whatever commands wait, and posts them
 * as one group while the next one collects. It adds no delay: alone, a command is a group of one. `committed` is called after each
 * group.
 */
export const make = Effect.fnUntraced(function* (
  config: PgClient.PgClientConfig,
  committed: () => void
): Effect.fn.Return<
  (command: LedgerCommand) => Effect.Effect<Posted, PostingRefused | Superseded>,
  never,
  Scope.Scope
> {
  const policy = yield* LanePolicy
  const arrived = Latch.makeUnsafe(false)
  let waiting: Array<Job> = []
  let waitingItems = 0
  let posting: ReadonlyArray<Job> = []
  let closed = false

  const settle = (job: Job, answer: Effect.Effect<Posted, PostingRefused | Superseded>) => {
    Deferred.doneUnsafe(job.done, answer)
  }
  /** Whose group is committed. They are told when the next group's reads are on their way: what they do then takes time. */
  let answered: ReadonlyArray<readonly [Job, Answer]> = []
  const settleAnswered = () => {
    const now = answered
    answered = []
    for (const [job, answer] of now) settle(job, Effect.fromResult(answer))
  }
  const giveUp = (jobs: ReadonlyArray<Job>) => {
    for (const job of jobs) settle(job, Effect.die(unavailable))
  }
  const overdue = (job: Job) =>
    realTime.currentTimeMillisUnsafe() - job.since > Duration.toMillis(policy.commandTimeout)
  /** What waits from now on. */
  const keepWaiting = (jobs: Array<Job>) => {
    waiting = jobs
    waitingItems = jobs.reduce((sum, { command }) => sum + itemsOf(command), 0)
    if (jobs.length === 0) arrived.closeUnsafe()
  }
  const giveUpOverdue = () => {
    // Perhaps nothing is left to be posted, and then nobody else tells them.
    settleAnswered()
    giveUp(waiting.filter(overdue))
    keepWaiting(waiting.filter((job) => !overdue(job)))
  }

  const post = (command: LedgerCommand): Effect.Effect<Posted, PostingRefused | Superseded> =>
    Effect.suspend(() => {
      const items = itemsOf(command)
      const isFull = waiting.length >= policy.waiting
      // Each item is as heavy as a command: what may wait has to fit into memory, and to be done before it is overdue.
      const isHeavy = items > 0 && waitingItems > 0 && waitingItems + items > policy.waitingItems
      if (closed || isFull || isHeavy) return Effect.die(unavailable)
      const job: Job = { command, since: realTime.currentTimeMillisUnsafe(), done: Deferred.makeUnsafe() }
      waiting.push(job)
      waitingItems += items
      arrived.openUnsafe()
      return Deferred.await(job.done)
    })

  /** Takes what waits, behind those who were taken before. */
  const takeMore = (before: ReadonlyArray<Job>): ReadonlyArray<Job> => {
    const jobs = [...before]
    const left: Array<Job> = []
    let items = jobs.reduce((sum, { command }) => sum + itemsOf(command), 0)
    let place = 0
    for (; place < waiting.length && jobs.length < policy.group; place++) {
      const job = waiting[place]
      if (job === undefined) continue
      const more = itemsOf(job.command)
      // One that is a group by itself goes with single ones and not with its like: they would be out of time together.
      if (more > 0 && items > 0 && items + more > policy.group) left.push(job)
      else {
        jobs.push(job)
        items += more
      }
    }
    keepWaiting(left.concat(waiting.slice(place)))
    return jobs
  }
  const take = Effect.map(arrived.await, () => {
    posting = takeMore([])
  })

  const known = Known.make()
  /** For how many groups more the log counts as one that others write to as well: those who do need not come each time. */
  let shared = 0
  /** For how many groups more we look everything up: the more often memory did not do, the longer. */
  let doubts = 0
  let doubtsNext = 1

  /** The group, from memory when that does. */
  const postTaken = Effect.fnUntraced(function* (
    pipeline: Pipeline.Pipeline,
    taken: () => ReadonlyArray<LedgerCommand>
  ): Effect.fn.Return<PostedGroup, Pipeline.FlightFailure> {
    const isShared = shared > 0
    const trust = doubts === 0
    if (!trust) doubts--
    const looked = Effect.suspend(() => postGroup(pipeline, known, taken(), settleAnswered))
    const remembered = isShared
      ? postShared(pipeline, known, taken, settleAnswered, trust)
      : trust
        ? Effect.flatMap(postKnown(pipeline, known, taken(), settleAnswered), (posted) =>
            posted === undefined ? looked : Effect.succeed(posted)
          )
        : looked
    const posted = yield* Effect.catchTag(remembered, "Misremembered", () =>
      Effect.gen(function* () {
        yield* Metric.update(misremembered, 1)
        if (isShared) yield* abandon(pipeline)
        const posted = yield* looked
        // Where others have just written that was why, and now we know.
        if (isShared || !posted.isShared) {
          doubts = doubtsNext
          doubtsNext = Math.min(2 * doubtsNext, 64)
        }
        return posted
      })
    )
    if (posted.isRemembered) doubtsNext = 1
    shared = posted.isShared ? 16 : Math.max(shared - 1, 0)
    return posted
  })

  const inTime = <A, E>(effect: Effect.Effect<A, E>) =>
    within(effect, {
      duration: policy.groupTimeout,
      orElse: () => Effect.fail(new Cause.TimeoutError("The database did not answer the ledger in time"))
    })

  const postAll = Effect.fnUntraced(function* (
    pipeline: Pipeline.Pipeline,
    jobs: () => ReadonlyArray<Job>
  ): Effect.fn.Return<void, GroupFailure> {
    let group: ReadonlyArray<Job> = []
    const taken = () => {
      group = jobs()
      return group.map(({ command }) => command)
    }
    const posted = yield* inTime(
      Effect.catchDefect(postTaken(pipeline, taken), (cause) => Effect.fail(undecided(cause)))
    )
    committed()
    yield* Metric.update(groupSizes, group.length)
    answered = posted.answers.flatMap((answer, index) => {
      const job = group[index]
      return job === undefined ? [] : [[job, answer] as const]
    })
  })

  /** Serves on one connection until that connection is in doubt; commands whose outcome is unknown wait again, and their ids decide. */
  const serve = Effect.gen(function* () {
    const pipeline = yield* Pipeline.make(Pipeline.byKey(config, "turnpike-ledger"))
    // It may lead to a server that never heard of the last things we wrote.
    known.forget()
    while (true) {
      if (waiting.length === 0) settleAnswered()
      yield* take
      const withThoseWhoCame = () => {
        if (waiting.length > 0 && posting.length < policy.group) posting = takeMore(posting)
        return posting
      }
      const outcome = yield* Effect.result(postAll(pipeline, withThoseWhoCame))
      if (Result.isSuccess(outcome)) continue
      yield* Effect.logWarning("A ledger group failed", outcome.failure)
      known.forget()
      if (endsConnection(outcome.failure)) return
      yield* inTime(abandon(pipeline))
      if (isPassing(outcome.failure)) {
        giveUp(posting)
        if (isElsewhere(outcome.failure)) return
        continue
      }
      // A broken row of one command must not take its neighbours down: each goes alone.
      for (const job of posting) {
        const alone = yield* Effect.result(postAll(pipeline, () => [job]))
        if (Result.isSuccess(alone)) continue
        if (endsConnection(alone.failure)) return
        yield* Effect.logError("A ledger command could not be written", alone.failure)
        settle(job, Effect.die(isPassing(alone.failure) ? unavailable : alone.failure))
        yield* inTime(abandon(pipeline))
      }
    }
  }).pipe(Effect.scoped)
  const postAgain = Effect.sync(() => {
    settleAnswered()
    keepWaiting([...posting.filter((job) => !Deferred.isDoneUnsafe(job.done)), ...waiting])
    posting = []
    giveUpOverdue()
    if (waiting.length > 0) arrived.openUnsafe()
  })

  yield* serve.pipe(
    Effect.ensuring(postAgain),
    Effect.catchCause((cause) => Effect.logWarning("The ledger lost its database connection", cause)),
    Effect.andThen(sleep(policy.reconnect)),
    Effect.forever,
    Effect.forkScoped
  )
  // Nobody waits longer than promised, whatever the connection is doing.
  yield* arrived.await.pipe(
    Effect.andThen(sleep("500 millis")),
    Effect.andThen(Effect.sync(() => giveUpOverdue())),
    Effect.forever,
    Effect.forkScoped
  )
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      closed = true
      settleAnswered()
      giveUp([...posting, ...waiting])
    })
  )
  return post
})

/** A command of the group, or what it wants to write, threw: that is no fault of the connection. */
const undecided = (cause: unknown) =>
  new Pipeline.StatementFailed({ code: "", message: "A ledger command threw", cause })

type GroupFailure = Pipeline.FlightFailure | Cause.TimeoutError

const endsConnection = (failure: GroupFailure): boolean =>
  failure._tag !== "StatementFailed" || endings.has(failure.code)

const isPassing = (failure: GroupFailure): boolean =>
  failure._tag === "StatementFailed" && Pipeline.isContention(failure)

/** A server that only reads is not the one to write to any more: a new connection may find that one. */
const isElsewhere = (failure: GroupFailure): boolean => failure._tag === "StatementFailed" && failure.code === "25006"

const itemsOf = ({ items }: LedgerCommand): number => items?.length ?? 0

// Not allowed in any more, or a statement that the server has forgotten: a new connection prepares all again.
const endings = new Set(["28000", "28P01", "26000", "0A000"])
