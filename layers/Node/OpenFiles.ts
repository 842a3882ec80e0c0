import { Context, Duration, Effect, Predicate } from "effect"
import { closeSync, openSync, readFileSync } from "node:fs"
import { monotonicMillis } from "#services/RealTime.ts"
import { atBeats } from "#services/Upkeep.ts"

/** How many files a process may have open, by what Linux says of its limits; Infinity where that is not said, or unlimited. */
export const readLimit = (limits: string): number => Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity)

/** How many files this process may have open. */
export const OpenFiles = Context.Reference("turnpike/layers/Node/OpenFiles", {
  defaultValue: (): Effect.Effect<number> =>
    Effect.sync(() => {
      try {
        return readLimit(readFileSync("/proc/self/limits", "latin1"))
      } catch {
        return Infinity
      }
    })
})

/**
 * How many connections can be taken of those that are `wanted`. Each is an open file, and so is what we open ourselves: connections to
 * the database and to origins, which have a quarter of them. Where there is none left the system takes nobody's connection.
 */
export const bounded = Effect.fnUntraced(function* (wanted: number) {
  const files = yield* Effect.flatten(OpenFiles)
  const most = Math.max(1, Math.floor((files * 3) / 4))
  if (wanted <= most) return wanted
  yield* Effect.logWarning(
    `This process may have ${files} files open and takes ${most} connections at most, not ${wanted}: raise its limit of open files`
  )
  return most
})

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
    const now = yield* monotonicMillis
    if (limit === undefined || now - saidAt < silence) return
    saidAt = now
    yield* Effect.logError(`${limit}: new callers are cut off without an answer until there is room`)
  })
  return atBeats(look, "1 second")
})
