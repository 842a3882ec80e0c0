import { Effect } from "effect"
import {
  chmodSync,
  chownSync,
  existsSync,
  fsyncSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  closeSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync
} from "node:fs"
import { join } from "node:path"
import { candidates } from "./Binaries.ts"
import * as Directory from "../Directory.ts"
import * as Unwritable from "../Unwritable.ts"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import { type Attempt, noRuntime } from "./NoRuntime.ts"
import { commandLine, end, processes, readText, type RunAs, run, workingDirectory } from "./Processes.ts"

/** An initialised database directory and what it takes to run a server on it. */
export interface Cluster {
  readonly dataDir: string
  /** What Postgres calls PGDATA. */
  readonly directory: string
  readonly binaries: string
  readonly runAs: RunAs
}

export const username = "turnpike"

const isRoot = process.getuid?.() === 0

/** Creates the data directory if it is missing. Only this user, and the identity Postgres runs as, may pass through it. */
export const prepareDirectory = (dataDir: string) =>
  Effect.try({
    try: () => {
      Directory.make(dataDir, isRoot ? 0o711 : 0o700)
      // Below a directory of root's, Postgres owns its cluster and its socket only, and must be able to reach them.
      if (statSync(dataDir).uid === process.getuid?.()) chmodSync(dataDir, isRoot ? 0o711 : 0o700)
    },
    catch: (cause) => unusable(dataDir, cause)
  })

/** Finds binaries and an identity that work here, and initialises the cluster unless it was done before. */
export const open = Effect.fnUntraced(function* (dataDir: string, options: { readonly durable: boolean }) {
  const directory = join(dataDir, "cluster")
  const { binaries, runAs } = yield* findRuntime(dataDir, directory)
  const cluster: Cluster = { dataDir, directory, binaries, runAs }
  yield* removeUnfinished(dataDir)
  if (existsSync(directory)) {
    yield* Effect.try({ try: () => own(directory, runAs), catch: (cause) => unusable(dataDir, cause) })
  } else {
    yield* initialise(cluster, options)
  }
  return cluster
})

/** Makes a directory that only the identity Postgres runs as (and root) can enter. */
export const makePrivate = (directory: string, runAs: RunAs) => {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  chmodSync(directory, 0o700)
  own(directory, runAs)
}

/** initdb works aside and the result is renamed into place, so a directory called `cluster` is always complete. */
const initialise = Effect.fnUntraced(function* (cluster: Cluster, options: { readonly durable: boolean }) {
  const { dataDir, directory, binaries, runAs } = cluster
  const fresh = yield* Effect.try({
    try: () => {
      const path = mkdtempSync(join(dataDir, unfinished))
      own(path, runAs)
      return path
    },
    catch: (cause) => unusable(dataDir, cause)
  })
  const result = yield* run(
    runAs,
    join(binaries, "initdb"),
    [
      "--pgdata",
      fresh,
      `--username=${username}`,
      "--encoding=UTF8",
      "--locale=C",
      "--data-checksums",
      // The gate is the socket: its directory and the socket itself belong to one user, and there is no TCP.
      "--auth=trust",
      ...(options.durable ? [] : ["--no-sync"])
    ],
    fresh
  )
  if (!result.ok) {
    return yield* new EmbeddedPostgresError({
      reason: "Initialise",
      dataDir,
      message: [
        `The database could not be created in ${dataDir}:`,
        result.output.trim(),
        ...(/could not look up effective user ID/.test(result.output) ? [unnamed] : [])
      ].join("\n")
    })
  }
  yield* Effect.try({
    try: () => {
      renameSync(fresh, directory)
      sync(dataDir)
    },
    catch: (cause) => unusable(dataDir, cause)
  })
})

/**
 * Tries every pair of binaries and identity until one can reach the data directory and run. A cluster that exists decides
 * the version, and is preferably run by the user who owns it.
 */
const findRuntime = Effect.fnUntraced(function* (dataDir: string, directory: string) {
  const version = readText(join(directory, "PG_VERSION")).trim()
  const attempts: Array<Attempt> = []
  for (const binaries of candidates()) {
    for (const runAs of identities(directory)) {
      const probe = yield* run(
        runAs,
        "/bin/sh",
        ["-c", `cd "$0" && exec "$1" --version`, dataDir, join(binaries, "postgres")],
        "/"
      )
      const major = /\(PostgreSQL\) (\d+)/.exec(probe.output)?.[1]
      if (probe.ok && (version === "" || major === version)) return { binaries, runAs }
      attempts.push({ binaries, ran: probe.ok, output: probe.output })
    }
  }
  return yield* noRuntime({ dataDir, isRoot, version }, attempts)
})

const identities = (directory: string): ReadonlyArray<RunAs> => {
  if (!isRoot) return [{ _tag: "Self" }]
  const owner = existsSync(directory) ? [statSync(directory)].filter(({ uid }) => uid !== 0) : []
  const users = [...owner, ...account("postgres"), ...account("nobody")]
  // A checkout below a directory that only root may enter: there, root is somebody else inside a user namespace.
  return [...users.map(({ uid, gid }): RunAs => ({ _tag: "User", uid, gid })), { _tag: "UserNamespace" }]
}

const account = (name: string): ReadonlyArray<{ readonly uid: number; readonly gid: number }> => {
  const fields = readText("/etc/passwd")
    .split("\n")
    .map((line) => line.split(":"))
    .find((line) => line[0] === name)
  return fields === undefined ? [] : [{ uid: Number(fields[2]), gid: Number(fields[3]) }]
}

/** Gives a tree to the identity Postgres runs as. The top goes last, so an interrupted change is begun anew. */
const own = (path: string, runAs: RunAs) => {
  if (!isRoot) return
  const { uid, gid } = runAs._tag === "User" ? runAs : { uid: 0, gid: 0 }
  if (statSync(path).uid === uid) return
  for (const entry of readdirSync(path, { recursive: true, encoding: "utf8" })) lchownSync(join(path, entry), uid, gid)
  chownSync(path, uid, gid)
}

const unfinished = "initdb-"

/** What an initdb left behind when its owner was killed; it may even still be at work. */
const removeUnfinished = Effect.fnUntraced(function* (dataDir: string) {
  const leftovers = readdirSync(dataDir).filter((entry) => entry.startsWith(unfinished))
  for (const directory of leftovers.map((entry) => join(dataDir, entry))) {
    yield* end(() => processes().filter((pid) => worksIn(pid, directory)), ["SIGKILL"])
    yield* Effect.sync(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }))
  }
})

const worksIn = (pid: number, directory: string) =>
  workingDirectory(pid) === directory || commandLine(pid).includes(directory)

const sync = (directory: string) => {
  const handle = openSync(directory, "r")
  fsyncSync(handle)
  closeSync(handle)
}

const unnamed =
  "Postgres makes a database only for a user with a name. Start Turnpike as a user that /etc/passwd knows (a container as the user of " +
  "its image), or set DATABASE_URL."

const unusable = (dataDir: string, cause: unknown) =>
  new EmbeddedPostgresError({
    reason: "DataDirectory",
    dataDir,
    message: `The database directory ${dataDir} cannot be used: ${Unwritable.reasonOf(dataDir, cause)}`
  })
