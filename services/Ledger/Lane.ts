import * as PgClient from "@effect/sql-pg/PgClient"
import {
  Cause,
  Clock,
  Context,
  Deferred,
  Duration,
  Effect,
  Latch,
  Metric,
  Result,
  Schedule,
  type Schema,
  type Scope
} from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlClient, SqlError } from "effect/sql"
import type { Posted } from "#domain/Command.ts"
import type { PostingRefused } from "#domain/PostingRefused.ts"
import { ServiceUnavailable } from "#domain/Refusal.ts"
import { type LedgerCommand, postGroup } from "./Group.ts"

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
  readonly done: Deferred.Deferred<Posted, PostingRefused>
}

const groupSizes = Metric.histogram("turnpike_ledger_group_size", {
  description: "Commands posted in one transaction",
  boundaries: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
})
/**
 * Every statement here looks up a few rows by key: one plan is right for all of them, and making one costs more than running
 * it. It is kept for the life of the connection, so one made while a table was small must not read it whole when it is large.
 */
const byKey = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off"
}
const unavailable = new ServiceUnavailable({ retry_after: 1 })

/**
 * The ledger's posting lane: one fiber that owns one pipelined connection, takes whatever commands wait, and posts them
 * as one group while the next one collects. It adds no delay: alone, a command is a group of one.
 */
export const make = Effect.fnUntraced(function* (
  config: PgClient.PgClientConfig
): Effect.fn.Return<(command: LedgerCommand) => Effect.Effect<Posted, PostingRefused>, never, Scope.Scope> {
  const policy = yield* LanePolicy
  const reactivity = yield* Reactivity.make
  const clock = yield* Clock.Clock
  const arrived = Latch.makeUnsafe(false)
  let waiting: Array<Job> = []
  let posting: ReadonlyArray<Job> = []
  let closed = false

  const settle = (job: Job, answer: Effect.Effect<Posted, PostingRefused>) => {
    Deferred.doneUnsafe(job.done, answer)
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

  const post = (command: LedgerCommand): Effect.Effect<Posted, PostingRefused> =>
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

  const postAll = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, jobs: ReadonlyArray<Job>) {
    const answers = yield* Effect.timeoutOrElse(
      postGroup(
        sql,
        jobs.map((job) => job.command)
      ),
      {
        duration: policy.groupTimeout,
        orElse: () => Effect.fail(new Cause.TimeoutError("The database did not answer the ledger in time"))
      }
    )
    yield* Metric.update(groupSizes, jobs.length)
    answers.forEach((answer, index) => {
      const job = jobs[index]
      if (job !== undefined) settle(job, Effect.fromResult(answer))
    })
  })

  /** Serves on one connection until that connection is in doubt; commands whose outcome is unknown wait again, and their ids decide. */
  const serve = Effect.gen(function* () {
    const sql = yield* PgClient.makeClient({
      ...config,
      multiplex: true,
      applicationName: "turnpike-ledger",
      startupParameters: { ...config.startupParameters, ...byKey }
    })
    while (true) {
      const jobs = yield* take
      posting = jobs
      const outcome = yield* Effect.result(postAll(sql, jobs))
      if (Result.isSuccess(outcome)) continue
      yield* Effect.logWarning("A ledger group failed", outcome.failure)
      if (endsConnection(outcome.failure)) return
      yield* sql`ROLLBACK`
      if (isContention(outcome.failure) || jobs.length === 1) {
        giveUp(jobs)
        continue
      }
      // A broken row of one command must not take its neighbours down: each goes alone.
      for (const job of jobs) {
        const alone = yield* Effect.result(postAll(sql, [job]))
        if (Result.isSuccess(alone)) continue
        if (endsConnection(alone.failure)) return
        yield* Effect.logError("A ledger command could not be written", alone.failure)
        settle(job, Effect.die(alone.failure))
        yield* sql`ROLLBACK`
      }
    }
  }).pipe(Effect.scoped, Effect.provideService(Reactivity.Reactivity, reactivity))
  const postAgain = Effect.sync(() => {
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
      giveUp([...posting, ...waiting])
    })
  )
  return post
})

type GroupFailure = SqlError.SqlError | Schema.SchemaError | Cause.TimeoutError

const endsConnection = (failure: GroupFailure): boolean =>
  failure._tag === "TimeoutError" ||
  (failure._tag === "SqlError" &&
    (failure.reason._tag === "ConnectionError" || failure.reason._tag === "AuthenticationError"))

const isContention = (failure: GroupFailure): boolean => failure._tag === "SqlError" && failure.isRetryable
