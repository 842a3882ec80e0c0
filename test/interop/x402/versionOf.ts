import { readFileSync } from "node:fs"
import { join } from "node:path"

/** The version of a package that is installed in this folder, or in another. */
export const versionOf = (name: string, home: string = import.meta.dirname): string =>
  JSON.parse(readFileSync(join(home, "node_modules", name, "package.json"), "utf8")).version
