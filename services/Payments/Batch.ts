import { Deferred, Duration, Effect, Exit, Latch, type Scope } from "effect"
import { ServiceUnavailable } from "#domain/Refusal.ts"

/** How much may wait for its turn, and how much shares a statement. */
export const batchPolicy = { waiting: 20_000, size: 256 }

interface Job<A, B> {
  readonly item: A
  readonly done: Deferred.Deferred<B>
}

/** `ask` waits for its answer; `tell` does not, and says whether there was room for it. */
export interface Batch<A, B> {
  readonly ask: (item: A) => Effect.Effect<B>
  readonly tell: (item: A) => boolean
}

/**
 * One fiber that takes whatever waits and runs it as one batch while the next one collects. It adds no delay unless it is told
 * to `gather`, which it does while there is room in the batch. `run` answers in the order of its items, and whoever it has no answer for is told to come again; it may call
 * `meanwhile` when it has nothing to do but wait: those who asked before are told then, which takes time. What waits when the scope
 * ends is run before it does.
 */
export const make = Effect.fnUntraced(function* <A, B>(
  run: (items: ReadonlyArray<A>, meanwhile: () => void) => Effect.Effect<ReadonlyArray<B | undefined>>,
  gather: Duration.Duration = Duration.zero
): Effect.fn.Return<Batch<A, B>, never, Scope.Scope> {
  const pause = Duration.isZero(gather)
    ? Effect.void
    : Effect.suspend(() => (waiting.length < batchPolicy.size ? Effect.sleep(gather) : Effect.void))
  const arrived = Latch.makeUnsafe(false)
  const waiting: Array<Job<A, B>> = []
  const unavailable = (why: string) => Exit.die(ServiceUnavailable.because(why))

  let answered: () => void = () => undefined
  const settleAnswered = () => {
    const settle = answered
    answered = () => undefined
    settle()
  }
  const runBatch = Effect.suspend(() => {
    const jobs = waiting.splice(0, batchPolicy.size)
    if (waiting.length === 0) arrived.closeUnsafe()
    const items = jobs.map((job) => job.item)
    return Effect.map(Effect.exit(run(items, settleAnswered)), (exit) => {
      settleAnswered()
      answered = () =>
        jobs.forEach((job, index) => {
          const answer = Exit.isSuccess(exit) ? exit.value[index] : undefined
          if (answer !== undefined) Deferred.doneUnsafe(job.done, Exit.succeed(answer))
          else
            Deferred.doneUnsafe(
              job.done,
              Exit.isFailure(exit) ? Exit.failCause(exit.cause) : unavailable("nothing was said of it")
            )
        })
      if (waiting.length === 0 || !Duration.isZero(gather)) settleAnswered()
    })
  })
  // Released after the fiber below: what it left is run here.
  yield* Effect.addFinalizer(() =>
    Effect.whileLoop({ while: () => waiting.length > 0, body: () => runBatch, step: () => undefined })
  )
  yield* arrived.await.pipe(Effect.andThen(pause), Effect.andThen(runBatch), Effect.forever, Effect.forkScoped)

  const put = (item: A): Job<A, B> | undefined => {
    if (waiting.length >= batchPolicy.waiting) return undefined
    const job: Job<A, B> = { item, done: Deferred.makeUnsafe() }
    waiting.push(job)
    arrived.openUnsafe()
    return job
  }
  return {
    ask: (item) =>
      Effect.suspend(() => {
        const job = put(item)
        return job === undefined ? unavailable("too many payments wait for the database") : Deferred.await(job.done)
      }),
    tell: (item) => put(item) !== undefined
  }
})
