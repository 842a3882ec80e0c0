import { mkdirSync, statSync } from "node:fs"
import { dirname } from "node:path"

const isThere = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** Makes a directory and those above it that are missing. Node's own way tries for ever where none can be made, as below /proc. */
export const make = (path: string, mode: number): void => {
  if (isThere(path)) return
  if (dirname(path) !== path) make(dirname(path), mode)
  try {
    mkdirSync(path, { mode })
  } catch (cause) {
    // Another process may have been first.
    if (!isThere(path)) throw cause
  }
}
