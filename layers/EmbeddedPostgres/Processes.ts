import { Duration, Effect, Option, Schedule } from "effect"
import { type ChildProcess, spawn, type StdioOptions } from "node:child_process"
import { readdirSync, readFileSync, readlinkSync } from "node:fs"

/** Under which identity Postgres runs: it refuses to be root. */
export type RunAs =
  | { readonly _tag: "Self" }
  | { readonly _tag: "User"; readonly uid: number; readonly gid: number }
  | { readonly _tag: "UserNamespace" }

const environment = {
  LC_ALL: "C",
  TZ: "UTC",
  PATH: "/usr/bin:/bin",
  // A session takes and returns the same memory with every statement: the C library is not to ask the system for it each time.
  MALLOC_TOP_PAD_: "1048576",
  MALLOC_TRIM_THRESHOLD_: "8388608",
  MALLOC_MMAP_THRESHOLD_: "4194304"
}

/** Starts a command in its own session, so that Ctrl-C reaches Turnpike alone and Postgres is stopped after the drain. */
export const start = (runAs: RunAs, command: string, args: ReadonlyArray<string>, cwd: string, stdio: StdioOptions) => {
  const options = { cwd, stdio, detached: true, env: environment }
  switch (runAs._tag) {
    case "Self":
      return spawn(command, args, options)
    case "User":
      return spawn(command, args, { ...options, uid: runAs.uid, gid: runAs.gid })
    case "UserNamespace":
      return spawn("unshare", ["--user", "--map-user=1000", "--map-group=1000", command, ...args], options)
  }
}

/** Runs a command to its end. An interruption kills it with everything it started. */
export const run = (runAs: RunAs, command: string, args: ReadonlyArray<string>, cwd: string) =>
  Effect.callback<{ readonly ok: boolean; readonly output: string }>((resume) => {
    const child = tryStart(runAs, command, args, cwd)
    if (child instanceof Error) return resume(Effect.succeed({ ok: false, output: child.message }))
    let output = ""
    const collect = (chunk: Buffer) => {
      output = (output + chunk.toString("utf8")).slice(-8192)
    }
    child.stdout?.on("data", collect)
    child.stderr?.on("data", collect)
    child.once("error", (error) => resume(Effect.succeed({ ok: false, output: error.message })))
    child.once("close", (code) => resume(Effect.succeed({ ok: code === 0, output })))
    return Effect.sync(() => killGroup(child))
  })

/** Where this user may not become another one, Node throws instead of telling the child's listeners. */
const tryStart = (runAs: RunAs, command: string, args: ReadonlyArray<string>, cwd: string): ChildProcess | Error => {
  try {
    return start(runAs, command, args, cwd, ["ignore", "pipe", "pipe"])
  } catch (cause) {
    return cause instanceof Error ? cause : new Error(String(cause))
  }
}

const killGroup = (child: ChildProcess) => {
  if (child.pid !== undefined && child.exitCode === null) signal(-child.pid, "SIGKILL")
}

/** Sends a signal; false when there is nobody to receive it. */
export const signal = (pid: number, name: NodeJS.Signals): boolean => {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

/** How long a process may take to follow a signal before it gets a firmer one. */
export const patience = Duration.seconds(10)

/** Signals processes, ever more firmly, until there are none; tells whether that was reached. */
export const end = Effect.fnUntraced(function* (
  find: () => ReadonlyArray<number>,
  signals: ReadonlyArray<NodeJS.Signals>
) {
  for (const name of signals) {
    for (const pid of find()) signal(pid, name)
    const gone = yield* Effect.sync(find).pipe(
      Effect.repeat({ until: (pids) => pids.length === 0, schedule: Schedule.spaced("5 millis") }),
      Effect.timeoutOption(patience)
    )
    if (Option.isSome(gone)) return true
  }
  return false
})

/** The live processes of this machine, as far as this user may see them. */
export const processes = (): ReadonlyArray<number> =>
  readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && startedAt(pid) !== undefined)

/** When a process started, in clock ticks since boot; undefined when it is gone. With the pid it names one process for ever. */
export const startedAt = (pid: number): string | undefined => {
  const [state, ...fields] = status(pid)
  // A zombie is gone: where the first process of a container reaps nobody, it stays listed for ever.
  return state === undefined || state === "" || state === "Z" || state === "X" ? undefined : fields[18]
}

export const parentOf = (pid: number): number => Number(status(pid)[1])

/** The name of the program that a process runs, of which Linux keeps 15 bytes; empty when it is gone. */
export const programOf = (pid: number): string => readProc(`${pid}/comm`).trimEnd()

/** The arguments a process was started with; empty when it is gone. */
export const commandLine = (pid: number): ReadonlyArray<string> => readProc(`${pid}/cmdline`).split("\0")

/** The directory a process works in; undefined when it is gone or this user may not know. */
export const workingDirectory = (pid: number): string | undefined => readProcLink(`${pid}/cwd`)

/** Tells one boot of this machine from another. */
export const bootId = (): string => readProc("sys/kernel/random/boot_id").slice(0, 8)

/** Tells containers apart: a pid means something only within its namespace. */
export const pidNamespace = (): string => readProcLink("self/ns/pid")?.replace(/\D/g, "") ?? ""

// State, parent and so on. The command name before them may hold spaces and brackets, so they begin after its last bracket.
const status = (pid: number): ReadonlyArray<string> => {
  const stat = readProc(`${pid}/stat`)
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")
}

const readProc = (path: string): string => {
  try {
    return readFileSync(`/proc/${path}`, "latin1")
  } catch {
    return ""
  }
}

const readProcLink = (path: string): string | undefined => {
  try {
    return readlinkSync(`/proc/${path}`)
  } catch {
    return undefined
  }
}

/** Empty where it cannot be read. */
export const readText = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}
