import type * as PgClient from "@effect/sql-pg/PgClient"
import { Cause, Deferred, Duration, Effect, Latch, Metric, Result, type Scope } from "effect"
import type { Decision, Posted } from "#domain/Command.ts"
import type { PostingRefused, Superseded } from "#domain/PostingRefused.ts"
import * as Pipeline from "../Database/Pipeline.ts"
import { sayingOf } from "../Database/Reasons.ts"
import { passed, sleep, within } from "../RealTime.ts"
import type { Answer, LedgerCommand } from "./Group.ts"
import * as Group from "./Group.ts"
import { attempt, endsConnection, type GroupFailure, isElsewhere, isPassing, undecided } from "./Failure.ts"
import * as Known from "./Known.ts"
import { LanePolicy } from "./LanePolicy.ts"
import * as Presence from "./Presence.ts"
import { giveUp, settle, stopped, unavailable } from "./Telling.ts"
import * as Telling from "./Telling.ts"
import * as Trust from "./Trust.ts"
import * as Waiting from "./Waiting.ts"
import type { Job } from "./Waiting.ts"

export interface Lane extends Pick<ReturnType<typeof Presence.make>, "isServing" | "crowded"> {
  readonly post: (command: LedgerCommand) => Effect.Effect<Posted, PostingRefused | Superseded>
}

/** A group on its way that was decided from memory. */
interface Sent {
  readonly jobs: ReadonlyArray<Job>
  /** When it was sent, or became the oldest. */
  since: number
  readonly decision: Decision
  /** Whether memory has it already, because another group was decided on top of it. */
  isKnown: boolean
  landing: Pipeline.Landing | undefined
}

/**
 * The ledger's posting lane: one fiber that owns one pipelined connection, takes whatever commands wait, and posts them
 * as one group while the next one collects. It adds no delay: alone, a command is a group of one. Where memory does, the next group
 * is sent behind the one on its way as soon as it is as large, so that the database does not wait for us; it fails when the one
 * before it does. `committed` is called after each group; `makeRoom` where the database has no place for the connection.
 */
export const make = Effect.fnUntraced(function* (
  config: PgClient.PgClientConfig,
  committed: () => void,
  makeRoom: Effect.Effect<void>
): Effect.fn.Return<Lane, never, Scope.Scope> {
  const policy = yield* LanePolicy
  const stirred = Latch.makeUnsafe(false)
  /** Open while somebody waits. */
  const arrived = Latch.makeUnsafe(false)
  const waiting = Waiting.make(policy)
  /** Taken, and not on their way by themselves. */
  let posting: ReadonlyArray<Job> = []
  /** On their way, oldest first. */
  const flying: Array<Sent> = []
  let closed = false

  const telling = Telling.make()
  const giveUpOverdue = () => {
    // Perhaps nothing is left to be posted, and then nobody else tells them.
    telling.now()
    giveUp(waiting.takeOverdue(), "the ledger did not come to it in time")
  }

  const known = Known.make()
  const trust = Trust.make()
  const presence = Presence.make(makeRoom)
  /** Memory did not do for what waits: it is looked up when all has landed. */
  let stuck = false

  /** Whether a group may be sent. */
  const isFree = () => {
    const [first, second] = flying
    if (waiting.size() === 0) return false
    if (first === undefined) return true
    return second === undefined && !stuck && isRemembering() && waiting.size() >= first.jobs.length
  }
  const isRemembering = () => trust.isTrusted() && !trust.isShared()

  const post = (command: LedgerCommand): Effect.Effect<Posted, PostingRefused | Superseded> =>
    Effect.suspend(() => {
      const job: Job = { command, since: passed(), done: Deferred.makeUnsafe() }
      if (closed || !waiting.add(job)) return unavailable(closed ? stopped : "too many wait for the ledger")
      arrived.openUnsafe()
      if (isFree()) stirred.openUnsafe()
      return Deferred.await(job.done)
    })

  const inTime = <A, E>(effect: Effect.Effect<A, E>, since = passed()) =>
    within(effect, {
      duration: Duration.subtract(policy.groupTimeout, Duration.millis(passed() - since)),
      orElse: () => Effect.fail(new Cause.TimeoutError("The database did not answer the ledger in time"))
    })

  const posted = (jobs: ReadonlyArray<Job>, answers: ReadonlyArray<Answer>) => {
    telling.add(jobs, answers)
    committed()
    return Effect.andThen(presence.took, Group.measure(jobs))
  }

  /** Sends what is taken behind what is on its way, if memory does for it. */
  const send = (wire: Pipeline.Wire, terms: Effect.Success<typeof Group.terms>): boolean => {
    const before = flying.at(-1)
    if (before?.isKnown === false) {
      known.wrote(before.decision)
      before.isKnown = true
    }
    const remembered = attempt(() =>
      Group.remembering(
        known,
        posting.map(({ command }) => command),
        terms,
        before?.decision
      )
    )
    if (remembered === undefined) return false
    const sent: Sent = {
      jobs: posting,
      since: passed(),
      decision: remembered.decision,
      isKnown: false,
      landing: undefined
    }
    flying.push(sent)
    posting = []
    wire.send(remembered.steps, (landing) => {
      sent.landing = landing
      stirred.openUnsafe()
    })
    telling.now()
    return true
  }

  const postAll = Effect.fnUntraced(function* (
    wire: Pipeline.Wire,
    jobs: () => ReadonlyArray<Job>,
    isLooked: boolean
  ): Effect.fn.Return<boolean, GroupFailure> {
    let group: ReadonlyArray<Job> = []
    const taken = () => {
      group = jobs()
      return group.map(({ command }) => command)
    }
    const isTrusted = trust.isTrusted()
    trust.looked()
    const looked = Effect.suspend(() => Group.postGroup(wire, known, taken(), telling.now))
    const first = isLooked || !trust.isShared() ? looked : Group.postShared(wire, known, taken, telling.now, isTrusted)
    const posting = Group.orAgain(wire, first, looked, trust.doubt)
    const done = yield* inTime(Effect.catchDefect(posting, (cause) => Effect.fail(undecided(cause))))
    if (done.isRemembered) trust.confirm()
    trust.saw(done.isShared)
    yield* posted(group, done.answers)
    return done.isShared
  })

  /** Posts what was taken, alone on the connection; whether the connection is still good. */
  const postHere = Effect.fnUntraced(function* (wire: Pipeline.Wire, isLooked: boolean, wasMisremembered: boolean) {
    const withThoseWhoCame = () => {
      if (waiting.size() > 0 && posting.length < policy.group) posting = waiting.take(posting)
      return posting
    }
    const outcome = yield* Effect.result(postAll(wire, withThoseWhoCame, isLooked))
    if (Result.isSuccess(outcome)) {
      // Where others have just written that was why, and now we know.
      if (wasMisremembered && !outcome.success) trust.doubt()
      posting = []
      return true
    }
    yield* presence.refused(outcome.failure)
    known.forget()
    if (endsConnection(outcome.failure)) return false
    yield* inTime(Group.abandon(wire))
    if (isPassing(outcome.failure)) {
      giveUp(posting, sayingOf(outcome.failure))
      posting = []
      return !isElsewhere(outcome.failure)
    }
    // A broken row of one command must not take its neighbours down: each goes alone.
    for (const job of posting) {
      const alone = yield* Effect.result(postAll(wire, () => [job], true))
      if (Result.isSuccess(alone)) continue
      if (endsConnection(alone.failure)) return false
      yield* Effect.logError("A ledger command could not be written", alone.failure)
      settle(job, isPassing(alone.failure) ? unavailable(sayingOf(alone.failure)) : Effect.die(alone.failure))
      yield* inTime(Group.abandon(wire))
    }
    posting = []
    return true
  })

  /** What the oldest group on its way has come to; whether the connection is still good. */
  const land = Effect.fnUntraced(function* (wire: Pipeline.Wire, sent: Sent, landing: Pipeline.Landing) {
    if (Result.isSuccess(landing)) {
      flying.shift()
      const [next] = flying
      if (next !== undefined) next.since = passed()
      if (!sent.isKnown) known.wrote(sent.decision)
      trust.confirm()
      yield* posted(sent.jobs, sent.decision.answers)
      return true
    }
    if (landing.failure._tag === "ConnectionLost") return false
    yield* Metric.update(Group.misremembered, 1)
    if (sent.isKnown) known.forget()
    telling.now()
    // Those behind it were decided on top of it, so they fail as well, and wait for its end.
    while (flying.some((other) => other.landing === undefined)) {
      stirred.closeUnsafe()
      yield* inTime(stirred.await, sent.since)
    }
    flying.shift()
    const behind = flying.splice(0)
    posting = sent.jobs
    waiting.putBack(behind.flatMap(({ jobs }) => jobs))
    return yield* postHere(wire, true, true)
  })

  /** Serves on one connection until that connection is in doubt; commands whose outcome is unknown wait again, and their ids decide. */
  const serve = Effect.gen(function* () {
    const wire = yield* Pipeline.make(Presence.settings(config))
    yield* presence.came
    // Who is idle would notice with the next group only, and be called ready until then.
    wire.onLost(() => stirred.openUnsafe())
    // It may lead to a server that never heard of the last things we wrote.
    known.forget()
    while (true) {
      const [first] = flying
      if (first?.landing !== undefined) {
        if (!(yield* land(wire, first, first.landing))) return
        continue
      }
      if (!isFree()) {
        telling.now()
        // Those who were told may have more to do.
        if (isFree()) continue
        if (first === undefined && wire.isLost()) return
        stirred.closeUnsafe()
        yield* first === undefined ? stirred.await : inTime(stirred.await, first.since)
        continue
      }
      if (first === undefined) stuck = false
      posting = waiting.take([])
      if (isRemembering() && send(wire, yield* Group.terms)) continue
      if (flying.length > 0) {
        waiting.putBack(posting)
        posting = []
        stuck = true
        continue
      }
      if (!(yield* postHere(wire, false, false))) return
    }
  }).pipe(Effect.scoped, Effect.catchTag("TimeoutError", presence.refused))
  const postAgain = Effect.sync(() => {
    telling.now()
    const unknown = [...flying.splice(0).flatMap(({ jobs }) => jobs), ...posting]
    posting = []
    waiting.putBack(unknown.filter((job) => !Deferred.isDoneUnsafe(job.done)))
    giveUpOverdue()
    if (waiting.size() === 0) return
    arrived.openUnsafe()
    stirred.openUnsafe()
  })

  yield* serve.pipe(
    Effect.ensuring(postAgain),
    Effect.andThen(presence.went),
    Effect.catchCause(presence.failed),
    Effect.andThen(sleep(policy.reconnect)),
    Effect.forever,
    Effect.forkScoped
  )
  // Nobody waits longer than promised, whatever the connection is doing.
  yield* arrived.await.pipe(
    Effect.andThen(sleep("500 millis")),
    Effect.andThen(
      Effect.sync(() => {
        giveUpOverdue()
        if (waiting.size() === 0) arrived.closeUnsafe()
      })
    ),
    Effect.forever,
    Effect.forkScoped
  )
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      closed = true
      telling.now()
      giveUp([...flying.flatMap(({ jobs }) => jobs), ...posting, ...waiting.takeAll()], stopped)
    })
  )
  return { post, isServing: presence.isServing, crowded: presence.crowded }
})
