import type * as PgClient from "@effect/sql-pg/PgClient"
import { Cause, Clock, Context, Deferred, Duration, Effect, Latch, Metric, Result, Schedule, type Scope } from "effect"
import type { Posted } from "#domain/Command.ts"
import type { PostingRefused, Superseded } from "#domain/PostingRefused.ts"
import { ServiceUnavailable } from "#domain/Refusal.ts"
import * as Pipeline from "../Database/Pipeline.ts"
import { abandon, type Answer, type LedgerCommand, postGroup } from "./Group.ts"

/** How much may wait, how many commands share a transaction, and when we stop waiting for the database. */
export const LanePolicy = Context.Reference("turnpike/services/Ledger/Lane/LanePolicy", {
  defaultValue: () => ({
    waiting: 20_000,
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
const unavailable = new ServiceUnavailable({ retry_after: 1 })

/**
 * The ledger's posting lane: one fiber that owns one pipelined connection, takes whatever commands wait, and posts them
 * as one group while the next one collects. It adds no delay: alone, a command is a group of one.
 */
export const make = Effect.fnUntraced(function* (
  config: PgClient.PgClientConfig
): Effect.fn.Return<
  (command: LedgerCommand) => Effect.Effect<Posted, PostingRefused | Superseded>,
  never,
  Scope.Scope
> {
  const policy = yield* LanePolicy
  const clock = yield* Clock.Clock
  const arrived = Latch.makeUnsafe(false)
  let waiting: Array<Job> = []
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
  const overdue = (job: Job) => clock.currentTimeMillisUnsafe() - job.since > Duration.toMillis(policy.commandTimeout)
  const giveUpOverdue = () => {
    giveUp(waiting.filter(overdue))
    waiting = waiting.filter((job) => !overdue(job))
    if (waiting.length === 0) arrived.closeUnsafe()
  }

  const post = (command: LedgerCommand): Effect.Effect<Posted, PostingRefused | Superseded> =>
    Effect.suspend(() => {
      if (closed || waiting.length >= policy.waiting) return Effect.die(unavailable)
      const job: Job = { command, since: clock.currentTimeMillisUnsafe(), done: Deferred.makeUnsafe() }
      waiting.push(job)
      arrived.openUnsafe()
      return Deferred.await(job.done)
    })

  const take = Effect.map(arrived.await, () => {
    if (waiting.length <= policy.group) {
      const jobs = waiting
      waiting = []
      arrived.closeUnsafe()
      return jobs
    }
    return waiting.splice(0, policy.group)
  })

  const postAll = Effect.fnUntraced(function* (pipeline: Pipeline.Pipeline, jobs: ReadonlyArray<Job>) {
    const answers = yield* Effect.timeoutOrElse(
      postGroup(
        pipeline,
        jobs.map((job) => job.command),
        settleAnswered
      ),
      {
        duration: policy.groupTimeout,
        orElse: () => Effect.fail(new Cause.TimeoutError("The database did not answer the ledger in time"))
      }
    )
    yield* Metric.update(groupSizes, jobs.length)
    answered = answers.flatMap((answer, index) => {
      const job = jobs[index]
      return job === undefined ? [] : [[job, answer] as const]
    })
  })

  /** Serves on one connection until that connection is in doubt; commands whose outcome is unknown wait again, and their ids decide. */
  const serve = Effect.gen(function* () {
    const pipeline = yield* Pipeline.make(Pipeline.byKey(config, "turnpike-ledger"))
    while (true) {
      if (waiting.length === 0) settleAnswered()
      const jobs = yield* take
      posting = jobs
      const outcome = yield* Effect.result(postAll(pipeline, jobs))
      if (Result.isSuccess(outcome)) continue
      yield* Effect.logWarning("A ledger group failed", outcome.failure)
      if (endsConnection(outcome.failure)) return
      yield* abandon(pipeline)
      if ((outcome.failure._tag === "StatementFailed" && Pipeline.isContention(outcome.failure)) || jobs.length === 1) {
        giveUp(jobs)
        continue
      }
      // A broken row of one command must not take its neighbours down: each goes alone.
      for (const job of jobs) {
        const alone = yield* Effect.result(postAll(pipeline, [job]))
        if (Result.isSuccess(alone)) continue
        if (endsConnection(alone.failure)) return
        yield* Effect.logError("A ledger command could not be written", alone.failure)
        settle(job, Effect.die(alone.failure))
        yield* abandon(pipeline)
      }
    }
  }).pipe(Effect.scoped)
  const postAgain = Effect.sync(() => {
    settleAnswered()
    waiting = [...posting.filter((job) => !Deferred.isDoneUnsafe(job.done)), ...waiting]
    posting = []
    giveUpOverdue()
    if (waiting.length > 0) arrived.openUnsafe()
  })

  yield* serve.pipe(
    Effect.ensuring(postAgain),
    Effect.catchCause((cause) => Effect.logWarning("The ledger lost its database connection", cause)),
    Effect.repeat(Schedule.spaced(policy.reconnect)),
    Effect.forkScoped
  )
  // Nobody waits longer than promised, whatever the connection is doing.
  yield* arrived.await.pipe(
    Effect.andThen(Effect.sleep("500 millis")),
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

type GroupFailure = Pipeline.FlightFailure | Cause.TimeoutError

const endsConnection = (failure: GroupFailure): boolean =>
  failure._tag !== "StatementFailed" || endings.has(failure.code)

// Not allowed in any more, or a statement that the server has forgotten: a new connection prepares all again.
const endings = new Set(["28000", "28P01", "26000", "0A000"])
