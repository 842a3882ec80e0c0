import { Clock, Duration, Effect, Predicate, Schedule } from "effect"
import { closeSync, openSync } from "node:fs"

/** So long what was said is not said again. */
const silence = Duration.toMillis("1 minute")

const limits: { readonly [code: string]: string } = {
  EMFILE: "This process has as many files and connections open as it may (ulimit -n)",
  ENFILE: "This machine has as many files and connections open as it may (fs.file-max)"
}

/** The limit that keeps this process from opening anything, if one does. */
const reached = (): string | undefined => {
  try {
    closeSync(openSync("/dev/null", "r"))
    return undefined
  } catch (cause) {
    return Predicate.hasProperty(cause, "code") ? limits[String(cause.code)] : undefined
  }
}

/** Says, once a minute at most, that nothing more can be opened. Nobody else does: the system takes a caller's connection and cuts it. */
export const watch = Effect.suspend(() => {
  let saidAt = Number.NEGATIVE_INFINITY
  const look = Effect.gen(function* () {
    const limit = reached()
    const now = yield* Clock.currentTimeMillis
    if (limit === undefined || now - saidAt < silence) return
    saidAt = now
    yield* Effect.logError(`${limit}: new callers are cut off without an answer until there is room`)
  })
  return Effect.repeat(look, Schedule.spaced("1 second"))
})
