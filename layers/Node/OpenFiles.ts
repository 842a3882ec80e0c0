import { Context, Effect } from "effect"
import { readFileSync } from "node:fs"

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
