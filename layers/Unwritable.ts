import { Predicate } from "effect"
import { accessSync, constants, existsSync } from "node:fs"
import { dirname } from "node:path"

const codeOf = (cause: unknown) => (Predicate.hasProperty(cause, "code") ? cause.code : undefined)

/** Why nobody can write below the nearest directory of `path` that is there. */
const obstacle = (path: string): unknown => {
  if (!existsSync(path) && dirname(path) !== path) return obstacle(dirname(path))
  try {
    accessSync(path, constants.W_OK)
    return undefined
  } catch (cause) {
    return cause
  }
}

/** Why `path` could not be written, for the operator. Of a read-only file system Node says that a directory is not there. */
export const reasonOf = (path: string, cause: unknown): string => {
  const isReadOnly = [cause, obstacle(path)].some((reason) => codeOf(reason) === "EROFS")
  if (isReadOnly) return "it is on a read-only file system"
  return cause instanceof Error ? cause.message : String(cause)
}
