import { Effect, Schema } from "effect"
import { fstatSync, statSync } from "node:fs"
import { devNull } from "node:os"
import { Unusable } from "./Unusable.ts"

/** What a command answered did not arrive. `message` is a sentence for the operator. */
class AnswerLost extends Schema.TaggedError<AnswerLost>()("AnswerLost", { message: Schema.String }) {}

/** A command whose answer could not be written has failed: what it made is there, and its key or password was seen by nobody. */
export const arrived = <A, E, R>(command: Effect.Effect<A, E, R>): Effect.Effect<A, E | AnswerLost, R> =>
  Effect.suspend(() => {
    let failure: Error | undefined
    // The console itself says nothing of what it could not write.
    process.stdout.on("error", (error) => {
      failure ??= error
    })
    const lost = (error: Error) =>
      new AnswerLost({
        message: `The answer could not be written to standard output: ${error.message}. What the command did is done.`
      })
    const flushed = Effect.callback<void, AnswerLost>((resume) => {
      process.stdout.write("", (error) => {
        const first = failure ?? error
        resume(first === null || first === undefined ? Effect.void : Effect.fail(lost(first)))
      })
    })
    return Effect.tap(command, () => flushed)
  })

/** Where standard output is closed, Node has opened the device that forgets all, and every write succeeds. */
const isForgotten = (): boolean => {
  try {
    const out = fstatSync(process.stdout.fd)
    return out.isCharacterDevice() && out.rdev === statSync(devNull).rdev
  } catch {
    return true
  }
}

/** Refuses to make what is shown once where nobody would see it: `what` is a key or a password. */
export const shownOnce = (what: string): Effect.Effect<void, Unusable> =>
  Effect.suspend(() =>
    isForgotten()
      ? Effect.fail(
          new Unusable({
            message: `Standard output is closed or ${devNull}, and the ${what} is shown once: nobody would see it. Nothing was done.`
          })
        )
      : Effect.void
  )
