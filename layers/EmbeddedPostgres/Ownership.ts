import { Effect, Schedule } from "effect"
import { chownSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import { bootId, pidNamespace, startedAt } from "./Processes.ts"

/**
 * Makes this process the only owner of the data directory until the scope closes.
 *
 * A claim is an empty file whose name is the claimant: pid, start time, boot, pid namespace. Whoever claims writes first and
 * looks at the others afterwards, so of two claimants at least one sees the other and withdraws; a claim left by `kill -9`
 * names a process that no longer exists, also when its pid has been given to somebody else.
 */
export const claim = Effect.fnUntraced(function* (dataDir: string) {
  yield* Effect.acquireRelease(
    // Two starters at the same moment may both withdraw; a real owner is still there after the retries.
    tryClaim(dataDir).pipe(
      Effect.retry({
        schedule: Schedule.jittered(Schedule.spaced("50 millis")),
        times: 5,
        while: (error) => error.reason === "InUse" && error.ownerPid !== process.pid
      })
    ),
    (file) => Effect.sync(() => rmSync(file, { force: true }))
  )
})

/** Whether a live process of this machine owns the data directory. */
export const isOwned = (dataDir: string): boolean => {
  try {
    return readdirSync(claimsOf(dataDir)).some(isLocalAndAlive)
  } catch {
    return false
  }
}

const tryClaim = Effect.fnUntraced(function* (dataDir: string) {
  const mine = join(claimsOf(dataDir), ownName())
  const others = yield* Effect.try({ try: () => writeClaim(dataDir, mine), catch: (cause) => refused(dataDir, cause) })
  for (const other of others) {
    if (isLocalAndAlive(other) || (yield* isServedFromAnotherContainer(dataDir, other))) {
      rmSync(mine, { force: true })
      return yield* inUse(dataDir, Number(other.split(".")[0]))
    }
    rmSync(join(claimsOf(dataDir), other), { force: true })
  }
  return mine
})

/** Writes our claim and answers with the claims of others. */
const writeClaim = (dataDir: string, mine: string): ReadonlyArray<string> => {
  const directory = claimsOf(dataDir)
  if (mkdirSync(directory, { recursive: true, mode: 0o700 }) !== undefined && process.getuid?.() === 0) {
    const { uid, gid } = statSync(dataDir)
    chownSync(directory, uid, gid)
  }
  writeFileSync(mine, "", { flag: "wx", mode: 0o600 })
  return readdirSync(directory).filter((other) => join(directory, other) !== mine)
}

const claimsOf = (dataDir: string) => join(dataDir, "owners")

const ownName = () => `${process.pid}.${startedAt(process.pid) ?? ""}.${bootId()}.${pidNamespace()}`

const isLocalAndAlive = (name: string): boolean => {
  const [pid, started, boot, namespace] = name.split(".")
  return boot === bootId() && namespace === pidNamespace() && startedAt(Number(pid)) === started
}

/** Pids mean nothing across containers that share the directory, but a socket in it reaches the server behind it. */
const isServedFromAnotherContainer = (dataDir: string, name: string) =>
  Effect.callback<boolean>((resume) => {
    const [, , boot, namespace] = name.split(".")
    if (boot !== bootId() || namespace === pidNamespace()) return resume(Effect.succeed(false))
    const socket = connect(join(dataDir, "socket", ".s.PGSQL.5432"))
    const answer = (isServed: boolean) => {
      socket.destroy()
      resume(Effect.succeed(isServed))
    }
    socket.once("connect", () => answer(true))
    socket.once("error", () => answer(false))
  })

const refused = (dataDir: string, cause: unknown) =>
  cause instanceof Error && "code" in cause && cause.code === "EEXIST"
    ? inUse(dataDir, process.pid)
    : new EmbeddedPostgresError({
        reason: "DataDirectory",
        dataDir,
        message: `This user cannot write the database directory ${dataDir}: ${cause instanceof Error ? cause.message : String(cause)}`
      })

const inUse = (dataDir: string, ownerPid: number) =>
  new EmbeddedPostgresError({
    reason: "InUse",
    dataDir,
    ownerPid,
    message:
      `The database directory ${dataDir} is in use by another Turnpike (process ${ownerPid}). ` +
      "Stop that one, or give this one its own TURNPIKE_DATA_DIR or a DATABASE_URL."
  })
