import { statSync } from "node:fs"
import { dirname, join } from "node:path"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"

/** Binaries that were tried under an identity: whether they ran at all, and what came of it. */
export interface Attempt {
  readonly binaries: string
  readonly ran: boolean
  readonly output: string
}

/** Why no Postgres can run a data directory, and what to do. `version` is of the cluster in it, empty when there is none. */
export const noRuntime = (
  { dataDir, isRoot, version }: { readonly dataDir: string; readonly isRoot: boolean; readonly version: string },
  attempts: ReadonlyArray<Attempt>
): EmbeddedPostgresError => {
  const complaints = [...new Set(attempts.map(({ binaries, output }) => `${binaries}: ${output.trim()}`))]
  const refuse = (reason: EmbeddedPostgresError["reason"], message: string) =>
    new EmbeddedPostgresError({ reason, dataDir, message: [message, ...complaints].join("\n") })
  const mismatch = `The database in ${dataDir} was made by Postgres ${version}, and no Postgres ${version} that runs here was found.`
  if (attempts.length > 0 && attempts.every(({ ran }) => !ran)) {
    return refuse("NotRunnable", isRoot ? asRoot(dataDir, attempts) : doesNotRun)
  }
  if (version !== "") return refuse("Version", mismatch)
  return refuse(
    "NoBinaries",
    "No Postgres was found. Install the package's optional dependencies or Postgres 15 or newer, or set DATABASE_URL."
  )
}

const doesNotRun = "Postgres is there, but does not run here. Install Postgres 15 or newer, or set DATABASE_URL."

/** Postgres refuses to be root, so it needs another user, or a user namespace, that reaches both its program and the data. */
const asRoot = (dataDir: string, attempts: ReadonlyArray<Attempt>): string => {
  const ways = [dataDir, ...attempts.map(({ binaries }) => join(binaries, "postgres"))]
  const closed = [...new Set(ways.flatMap((path) => closedOnTheWayTo(path) ?? []))]
  return closed.length === 0
    ? "Postgres is there, but does not run here. Start Turnpike as an ordinary user, install Postgres 15 or newer, or set DATABASE_URL."
    : `Postgres does not run as root, other users cannot enter ${closed.join(" and ")}, and there are no user namespaces here. ` +
        "Move Turnpike and its TURNPIKE_DATA_DIR to where everybody may enter (such as /opt/turnpike), start it as an " +
        "ordinary user, or set DATABASE_URL."
}

/** The first directory on the way to a path that only its owner and group may enter. */
const closedOnTheWayTo = (path: string): string | undefined => {
  const parent = dirname(path)
  if (parent === path) return undefined
  const mode = statSync(parent, { throwIfNoEntry: false })?.mode ?? 0o001
  return closedOnTheWayTo(parent) ?? ((mode & 0o001) === 0 ? parent : undefined)
}
