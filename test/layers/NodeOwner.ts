import { Console, Effect } from "effect"
import { runMain } from "#layers/Node.ts"

// A process that stands on something until it is asked to stop, and says when that is put away.
Effect.acquireRelease(Console.log("ready"), () => Console.log("put away")).pipe(
  Effect.andThen(Effect.never),
  Effect.scoped,
  runMain
)
