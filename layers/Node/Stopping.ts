import { Context, Duration, Effect } from "effect"
import type { Server } from "node:http"
import { Server as Listener } from "node:net"
import { sleep } from "#services/RealTime.ts"

/**
 * Takes no more connections, and ends when the last one is closed. An HTTP server's own `close` would cut those that are idle at the same
 * time.
 */
export const closed = (server: Server): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (!server.listening) return resume(Effect.void)
    // Deno's is no listener of Node's.
    const { close } = server instanceof Listener ? Listener.prototype : server
    close.call(server, () => resume(Effect.void))
  })

/** Ends when what has arrived by now is read: in a process that stood still its timers come first. */
export const read: Effect.Effect<void> = Effect.callback((resume) => {
  const turn = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(turn))
})

/** How long everything behind the listener may take to end when nobody is served any more, in real time. */
export const Patience = Context.Reference<Duration.Duration>("turnpike/layers/Node/Stopping/Patience", {
  defaultValue: () => Duration.seconds(15)
})

/** Ends the process as it is. */
export const End = Context.Reference("turnpike/layers/Node/Stopping/End", {
  defaultValue: () => Effect.sync(() => process.exit(1))
})

/**
 * From when it is run, what stands on this scope has so long to end. A database that is frozen, or behind a network that is gone, answers
 * no goodbye either, and whoever stops us would wait for it; nothing is lost that a kill would not lose.
 */
export const deadline = Effect.gen(function* () {
  const scope = yield* Effect.scope
  const end = yield* End
  const patience = yield* Patience
  const late = Effect.logError("The process could not stop in time, and ends as it is: does the database answer?")
  return sleep(patience).pipe(Effect.andThen(late), Effect.andThen(end), Effect.forkIn(scope), Effect.asVoid)
})
