import { Clock, Effect, Layer, RcRef } from "effect"
import * as FairTurns from "#services/FairTurns.ts"
import { PageReading, PageUnread } from "#services/PageReading.ts"
import { realTime } from "#services/RealTime.ts"
import { readerOver } from "./PageReading/Asking.ts"
import { PageReadingPolicy } from "./PageReading/Policy.ts"
import type { Task } from "./PageReading/Task.ts"
import * as Thread from "./PageReading/Thread.ts"

/**
 * Reads in one thread of this process, started when there is something to read and ended when there has been nothing for a while.
 * A document that takes too long or too much memory ends the thread, and the next document gets another.
 */
export const layer = Layer.effect(
  PageReading,
  Effect.gen(function* () {
    const policy = yield* PageReadingPolicy
    const thread = yield* RcRef.make({ acquire: Thread.start(policy), idleTimeToLive: policy.idle })
    const turns = FairTurns.make(1)
    const busy = Effect.fail(new PageUnread({ reason: "Busy" }))
    let waiting = 0

    const turn = Effect.flatMap(FairTurns.Owner, (owner) => {
      if (waiting >= policy.waiting) return busy
      waiting++
      return turns(owner).pipe(
        Effect.timeoutOrElse({ duration: policy.turn, orElse: () => busy }),
        Effect.provideService(Clock.Clock, realTime),
        Effect.ensuring(Effect.sync(() => waiting--))
      )
    })

    /** A thread that lives. */
    const current = Effect.fnUntraced(function* () {
      for (const _ of ["as it is", "started again"]) {
        const running = yield* RcRef.get(thread)
        if (running.isAlive()) return running
        yield* RcRef.invalidate(thread)
      }
      return yield* new PageUnread({ reason: "Ended" })
    })

    /** The thread is still busy with whatever was given up, so that it ends. */
    const perform = Effect.fn("PageReading.read")(function* (task: Task) {
      yield* turn
      const running = yield* current()
      return yield* running.ask(task).pipe(Effect.onError(() => RcRef.invalidate(thread)))
    }, Effect.scoped)

    return readerOver(perform)
  })
)
