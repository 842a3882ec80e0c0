import { Cause, DateTime, Duration, Effect, Latch, Metric, Result, Semaphore } from "effect"
import * as Pipeline from "../Database/Pipeline.ts"
import { OID } from "../Database/Pipeline.ts"
import { Deployment } from "../Deployment.ts"
import { untilBeat } from "../Upkeep.ts"
import * as Claiming from "./Claiming.ts"
import * as Connection from "./Connection.ts"
import { DeliveryPolicy } from "./Policy.ts"
import * as Recording from "./Recording.ts"
import * as Sending from "./Sending.ts"

const inFlightGauge = Metric.gauge("turnpike_webhook_calls_in_flight", {
  description: "Calls to receivers of webhooks that have not ended"
})
const attemptsMade = Metric.counter("turnpike_webhook_attempts_total", {
  description: "Attempts to deliver an event whose end was written",
  incremental: true
})

/** How long a database that is away is left alone, and how long one is waited for by a process that stops. */
const pause = "500 millis"
const lastWord = "1 second"

const endLeases = Pipeline.statement(
  [OID.uuidArray, OID.uuidArray, OID.timestamptz],
  `UPDATE webhook_deliveries d SET lease_until = $3 FROM unnest($1, $2) AS r (webhook_id, id)
  WHERE d.webhook_id = r.webhook_id AND d.id = r.id AND d.status = 'sending'`
)

/**
 * Takes what is due and calls, and beside that writes what came of calls: each in transactions of its own that are as large as what
 * has come together during the one before. So the busier it is, the more one statement does.
 */
export const make = Effect.gen(function* () {
  const policy = yield* DeliveryPolicy
  const { environment } = yield* Deployment
  const taking = yield* Connection.make("turnpike-webhooks-due")
  const writing = yield* Connection.make("turnpike-webhooks-ended")
  const oneTakes = yield* Semaphore.make(1)
  const oneWrites = yield* Semaphore.make(1)
  /** Open when a call ended that is not written, and when something may be due. */
  const callEnded = Latch.makeUnsafe(false)
  const maybeDue = Latch.makeUnsafe(false)
  /** Calls that ended and are not written yet; with those in flight never more than are taken. */
  let ended: Array<Sending.Ended> = []
  const inFlight = new Set<Claiming.Attempt>()

  const claim = yield* Claiming.make(taking, policy)
  const writeAll = yield* Recording.make(writing)
  const send = yield* Sending.make(
    taking,
    environment,
    policy,
    (one) => {
      inFlight.delete(one.attempt)
      ended.push(one)
      callEnded.openUnsafe()
    },
    (attempt) => {
      inFlight.delete(attempt)
      callEnded.openUnsafe()
    }
  )

  /** Whatever is wrong with one of them is wrong with a statement: it must not stop the others. */
  const record = (batch: ReadonlyArray<Sending.Ended>) =>
    Effect.catchDefect(writeAll(batch), (cause) =>
      Effect.fail(new Pipeline.StatementFailed({ code: "", message: "An outcome makes no sense", cause }))
    )

  /** One that cannot be written must not keep the others from it: its lease will end, and it is made again. */
  const recordEach = Effect.fnUntraced(function* (batch: ReadonlyArray<Sending.Ended>) {
    for (const one of batch) {
      const alone = yield* Effect.result(record([one]))
      if (Result.isSuccess(alone)) continue
      const { failure } = alone
      if (failure._tag === "ConnectionLost" || Pipeline.isContention(failure)) return yield* failure
      yield* Effect.logError("What came of a delivery could not be written", one.attempt.id, failure)
    }
  })
  const write = Effect.fnUntraced(
    function* () {
      const batch = ended.slice(0, policy.batch)
      if (batch.length === 0) return 0
      const outcome = yield* Effect.result(record(batch))
      if (Result.isFailure(outcome)) {
        const { failure } = outcome
        if (failure._tag === "ConnectionLost" || Pipeline.isContention(failure)) return yield* failure
        yield* recordEach(batch)
      }
      const written = new Set(batch)
      ended = ended.filter((one) => !written.has(one))
      yield* Metric.update(attemptsMade, batch.length)
      maybeDue.openUnsafe()
      return batch.length
    },
    oneWrites.withPermit,
    Effect.uninterruptible
  )
  const take = Effect.fnUntraced(
    function* () {
      const busy = inFlight.size + ended.length
      const left = policy.inFlight - busy
      if (left <= 0) return { attempts: [], lanes: 0 }
      const calls = new Map<string, number>()
      const count = ({ tenant_id }: Claiming.Attempt) => calls.set(tenant_id, (calls.get(tenant_id) ?? 0) + 1)
      inFlight.forEach(count)
      for (const { attempt } of ended) count(attempt)
      const claimed = yield* claim(left, busy, calls)
      for (const attempt of claimed.attempts) inFlight.add(attempt)
      yield* Effect.onError(send(claimed.attempts), () =>
        Effect.sync(() => {
          // None of them was called: the lease ends, and they are taken again.
          for (const attempt of claimed.attempts) inFlight.delete(attempt)
        })
      )
      yield* Metric.update(inFlightGauge, inFlight.size)
      return claimed
    },
    oneTakes.withPermit,
    Effect.uninterruptible
  )

  const isLate = (one: Sending.Ended, now: DateTime.Utc) =>
    DateTime.isGreaterThanOrEqualTo(now, DateTime.makeUnsafe(one.attempt.lease_until))
  /** After a failure: whose lease is over is somebody else's, and what is not is written when the database is back. */
  const recover = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
    if (Cause.hasInterruptsOnly(cause)) return
    yield* Effect.logError("Webhooks could not be delivered", cause)
    const now = yield* DateTime.now
    ended = ended.filter((one) => !isLate(one, now))
    yield* Effect.sleep(pause)
  })

  const forEver = (turn: Effect.Effect<unknown, Pipeline.FlightFailure>): Effect.Effect<never> =>
    turn.pipe(
      Effect.catchCause((cause) => (Cause.hasInterruptsOnly(cause) ? Effect.interrupt : recover(cause))),
      Effect.forever
    )
  const takeOn = Effect.gen(function* () {
    maybeDue.closeUnsafe()
    const { lanes } = yield* take()
    if (lanes === 0) yield* Effect.timeoutOption(maybeDue.await, yield* untilBeat(policy.poll))
  })
  const writeOn = Effect.gen(function* () {
    callEnded.closeUnsafe()
    if ((yield* write()) === 0 && ended.length === 0) yield* callEnded.await
  })
  /** Goes on for ever. */
  const run = Effect.asVoid(Effect.all([forEver(takeOn), forEver(writeOn)], { concurrency: 2 })).pipe(
    Effect.andThen(Effect.never)
  )

  /** Ends the leases of calls that are given up, so that another process makes them again without waiting for it. */
  const giveUp = Effect.gen(function* () {
    if (inFlight.size === 0) return
    const left = [...inFlight]
    const at = yield* DateTime.nowAsDate
    yield* taking.fly([
      { statement: endLeases, values: [left.map(({ webhook_id }) => webhook_id), left.map(({ id }) => id), at] }
    ])
  }).pipe(
    oneTakes.withPermit,
    Effect.timeoutOption(lastWord),
    Effect.catchCause((cause) => Effect.logWarning("Calls in flight are made again when their leases end", cause))
  )

  /** Waits for the calls in flight, as long as the policy says, writes what came of them, and gives up the rest. */
  const drain = Effect.gen(function* () {
    while (inFlight.size + ended.length > 0) {
      callEnded.closeUnsafe()
      if (ended.length === 0) yield* callEnded.await
      else yield* write()
    }
  }).pipe(
    Effect.timeoutOption(policy.drain),
    Effect.catchCause((cause) => Effect.logError("The last deliveries could not be written", cause)),
    Effect.when(Effect.sync(() => Duration.isGreaterThan(policy.drain, Duration.zero))),
    Effect.andThen(giveUp)
  )

  /** Takes what is due, and waits until all of it ended and was written; how many attempts that were. */
  const deliverDue = Effect.gen(function* () {
    let made = 0
    for (;;) {
      callEnded.closeUnsafe()
      const written = yield* write()
      const { attempts, lanes } = yield* take()
      made += attempts.length
      if (ended.length > 0) continue
      if (inFlight.size > 0) yield* callEnded.await
      else if (lanes + written === 0) return made
    }
  }).pipe(Effect.orDie)

  const wake = Effect.sync(() => void maybeDue.openUnsafe())
  return { run, drain, deliverDue, wake }
})
