import { Deferred, Effect, Schedule } from "effect"
import type { ChildProcess } from "node:child_process"
import { closeSync, constants, fstatSync, ftruncateSync, openSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import type { Cluster } from "./Cluster.ts"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import {
  commandLine,
  end,
  parentOf,
  patience,
  processes,
  programOf,
  readText,
  signal,
  start as startProcess,
  startedAt,
  workingDirectory
} from "./Processes.ts"
import * as ServerLog from "./ServerLog.ts"

/** A Postgres server we started. `ended` completes with the way it ended. */
export interface Postmaster {
  readonly process: ChildProcess
  readonly ended: Deferred.Deferred<string>
  /** Completes when the server accepts connections; fails when it ends before that. */
  readonly ready: Effect.Effect<void, EmbeddedPostgresError>
}

const largestLog = 10 * 1024 * 1024

/** Starts the server; use `ready` to wait for it. */
export const launch = (cluster: Cluster, settings: Readonly<Record<string, string>>) =>
  Effect.try({
    try: (): Postmaster => {
      const logFile = join(cluster.dataDir, "postgres.log")
      const log = openSync(
        logFile,
        constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW,
        0o600
      )
      try {
        if (fstatSync(log).size > largestLog) ftruncateSync(log)
        const logStart = fstatSync(log).size
        const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
        const child = startProcess(
          cluster.runAs,
          join(cluster.binaries, "postgres"),
          ["-D", cluster.directory, ...args],
          cluster.directory,
          ["ignore", log, log]
        )
        const ended = Deferred.makeUnsafe<string>()
        const end = (how: string) => Deferred.doneUnsafe(ended, Effect.succeed(how))
        child.once("error", (error) => end(error.message))
        const logged = () => ServerLog.end(logFile, logStart)
        child.once("exit", (code, name) => end(name ?? endOf(code, logged())))
        return { process: child, ended, ready: awaitReady(cluster, child, ended, logged) }
      } finally {
        closeSync(log)
      }
    },
    catch: (cause) => failed(cluster, String(cause))
  })

/** Stops the server, first politely: sessions are cut and everything is written; then it is made to end. */
export const stop = Effect.fnUntraced(function* (postmaster: Postmaster) {
  const { pid } = postmaster.process
  if (pid === undefined) return
  for (const name of stopSignals) {
    if (yield* Deferred.isDone(postmaster.ended)) return
    signal(pid, name)
    yield* Effect.timeoutOption(Deferred.await(postmaster.ended), patience)
  }
})

/**
 * Clears away what a server left on the cluster when it or its owner was killed: a server that still runs, sessions that
 * outlived their server, and the pid file. Only for the owner of the data directory.
 */
export const clear = Effect.fnUntraced(function* ({ directory }: Pick<Cluster, "directory">) {
  const { pid, socketDir } = pidFile(directory)
  if (pid === undefined) return
  if (isServerOf(directory, pid)) {
    yield* Effect.logWarning(`Ending the Postgres (process ${pid}) that a killed Turnpike left behind`)
    yield* end(() => (startedAt(pid) === undefined ? [] : [pid]), stopSignals)
  }
  // Postgres refuses to start when any process has the pid in its two lock files: a stranger who got it later, or a zombie.
  // It also uses the first to find sessions of the old server, so that may only go when there are none.
  if (!(yield* end(() => sessionsOf(directory), ["SIGQUIT", "SIGKILL"]))) return
  yield* Effect.sync(() => {
    if (socketDir !== undefined) rmSync(join(socketDir, ".s.PGSQL.5432.lock"), { force: true })
    rmSync(join(directory, "postmaster.pid"), { force: true })
  })
})

/**
 * The server that runs on a cluster now: its pid, the directory of its socket, and whether it accepts connections. A copy of a
 * cluster whose server ran brings along a file about that server, which is none of the copy's.
 */
export const pidFile = (directory: string) => {
  const text = readText(join(directory, "postmaster.pid")).split("\n")
  const lines = isSame(directory, text[1] ?? "") ? text : [text[0]]
  const pid = Number(lines[0])
  const alive = pid > 0 && startedAt(pid) !== undefined
  return { pid: pid > 0 ? pid : undefined, socketDir: lines[4], ready: alive && lines[7]?.trim() === "ready" }
}

// Fast shutdown, immediate shutdown, and for a server that does not even answer that.
const stopSignals = ["SIGINT", "SIGQUIT", "SIGKILL"] as const

// Crash recovery takes as long as it takes, so there is no deadline while the server lives.
const awaitReady = (cluster: Cluster, child: ChildProcess, ended: Deferred.Deferred<string>, logged: () => string) =>
  Effect.sync(() => pidFile(cluster.directory)).pipe(
    Effect.repeat({ until: ({ pid, ready }) => ready && pid === child.pid, schedule: Schedule.spaced("5 millis") }),
    Effect.raceFirst(
      Deferred.await(ended).pipe(Effect.flatMap((how) => Effect.fail(failed(cluster, inFull(how, logged())))))
    ),
    Effect.asVoid
  )

/** One directory, by whatever path. */
const isSame = (one: string, other: string) => {
  try {
    const [here, there] = [statSync(one), statSync(other)]
    return here.dev === there.dev && here.ino === there.ino
  } catch {
    return false
  }
}

const isServerOf = (directory: string, pid: number) => {
  const args = commandLine(pid)
  return isServer(args) && args[args.indexOf("-D") + 1] === directory && startedAt(pid) !== undefined
}

const isServer = (args: ReadonlyArray<string>) => (args[0] ?? "").endsWith("/postgres") && args.includes("-D")

/**
 * Whoever of a server may still have its shared memory. They work in the cluster's directory, and are known by the name of the
 * program: their arguments do not tell of one that has just been forked, nor of one that is just ending. Where the directory
 * may not be known, an orphan among sessions is taken for one.
 */
const sessionsOf = (directory: string) =>
  processes().filter((pid) => {
    if (programOf(pid) !== "postgres") return false
    const where = workingDirectory(pid)
    if (where !== undefined) return where === directory
    return (commandLine(pid)[0] ?? "").startsWith("postgres:") && !isServer(commandLine(parentOf(pid)))
  })

/** Who was asked to end, by whomever, has no reason of its own: the last one in its log would be some session's. */
const endOf = (code: number | null, log: string) => {
  const reason = code === 0 ? undefined : ServerLog.reasonIn(log)
  return `exit code ${code}${reason === undefined ? "" : `: ${reason}`}`
}

/** Where the server gave no reason, whatever it said last may be one. */
const inFull = (how: string, log: string) =>
  ServerLog.reasonIn(log) === undefined ? `${how}\n${log.slice(-4096).trim()}` : how

const failed = ({ dataDir }: Cluster, detail: string) =>
  new EmbeddedPostgresError({
    reason: "Start",
    dataDir,
    message: `Postgres did not start on ${dataDir}: ${detail}`
  })
