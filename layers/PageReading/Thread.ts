import { Clock, Effect, type Scope } from "effect"
import { Worker } from "node:worker_threads"
import { PageUnread } from "#services/PageReading.ts"
import { realTime } from "#services/RealTime.ts"
import type { PageReadingPolicy } from "./Policy.ts"
import type { Reply, Task } from "./Task.ts"

/** A thread that reads one document at a time. */
export interface Thread {
  readonly isAlive: () => boolean
  /** Its answer; when it ends before that, the document was too much for it. */
  readonly ask: (task: Task) => Effect.Effect<Reply, PageUnread>
}

const ended = new PageUnread({ reason: "Ended" })
const slow = Effect.fail(new PageUnread({ reason: "Slow" }))

/** The next thing that the thread says. */
const next = (worker: Worker, isAlive: () => boolean, begin: () => void) =>
  Effect.callback<Reply, PageUnread>((resume) => {
    const settle = (answer: Effect.Effect<Reply, PageUnread>) => {
      forget()
      resume(answer)
    }
    const onMessage = (reply: Reply) => settle(Effect.succeed(reply))
    const onEnd = () => settle(Effect.fail(ended))
    const forget = () => worker.off("message", onMessage).off("messageerror", onEnd).off("exit", onEnd)
    worker.once("message", onMessage).once("messageerror", onEnd).once("exit", onEnd)
    if (isAlive()) begin()
    else onEnd()
    return Effect.sync(forget)
  })

/** All of the environment that a thread has: without it, each would strip the types of its program anew, and keep what does that. */
const compileCache = () => {
  const { NODE_COMPILE_CACHE } = process.env
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }
}

/** A thread for the length of the scope. It has nothing of ours but the text it is to read, and little memory. */
export const start = Effect.fnUntraced(function* ({ duration, memory, program, start: patience }: PageReadingPolicy) {
  let isOver = false
  const worker = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const worker = new Worker(program, {
        name: "pages",
        env: compileCache(),
        execArgv: [],
        resourceLimits: { maxYoungGenerationSizeMb: memory.young, maxOldGenerationSizeMb: memory.old }
      })
      // Without a listener an error in the thread would be one of ours.
      return worker.on("error", () => {
        isOver = true
      })
    }),
    (worker) => Effect.promise(() => worker.terminate())
  )
  worker.once("exit", () => {
    isOver = true
  })
  const isAlive = () => !isOver
  const nothing = () => undefined
  yield* next(worker, isAlive, nothing).pipe(
    Effect.timeoutOrElse({ duration: patience, orElse: () => slow }),
    Effect.provideService(Clock.Clock, realTime)
  )
  const ask: Thread["ask"] = (task) =>
    next(worker, isAlive, () => worker.postMessage(task)).pipe(
      Effect.timeoutOrElse({ duration, orElse: () => slow }),
      Effect.provideService(Clock.Clock, realTime)
    )
  const thread: Thread = { isAlive, ask }
  return thread
}) satisfies (policy: PageReadingPolicy) => Effect.Effect<Thread, PageUnread, Scope.Scope>
