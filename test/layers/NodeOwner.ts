import { Console, Effect } from "effect"
import { runMain, tellingWhy } from "#layers/Node.ts"

// A process that stands on something until it is asked to stop, and says when that is put away, or does not come to it.
const putAway = process.argv[2] === "stuck" ? Effect.die(new Error("it is stuck")) : Console.log("put away")
Effect.acquireRelease(Console.log("ready"), () => putAway).pipe(
  Effect.andThen(Effect.never),
  Effect.scoped,
  tellingWhy("The owner"),
  runMain
)
