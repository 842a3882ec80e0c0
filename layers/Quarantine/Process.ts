import { Clock, Data, Deferred, Effect, Option, type Scope } from "effect"
import { type ChildProcess, fork } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { realTime, within } from "#services/RealTime.ts"
import { upkeep } from "#services/Upkeep.ts"
import { heldBy } from "../ShopBrowser/Memory.ts"
import type { Calls, Heard, Name, Sent } from "./Calls.ts"
import type { QuarantinePolicy } from "./Policy.ts"

/** The process is no more, or did not come about. Whatever it was asked is not answered. */
export class ProcessEnded extends Data.TaggedError("ProcessEnded") {}

/** The process that handles what strangers wrote. */
export interface Process {
  readonly isAlive: () => boolean
  /** An interruption ends the call there as well. A process that does not answer in time ends. */
  readonly call: <N extends Name>(
    name: N,
    ...args: Parameters<Calls[N]>
  ) => Effect.Effect<ReturnType<Calls[N]>, ProcessEnded>
  /** Whether a checkout of this visit was in doubt when that was heard of last. */
  readonly isInDoubt: (visit: number) => boolean
}

/** All of the environment that it has. What a server knows is not for a process that handles what strangers wrote. */
const environment = (home: string | undefined): NodeJS.ProcessEnv => {
  const { MALLOC_ARENA_MAX, MALLOC_MMAP_THRESHOLD_, MALLOC_TRIM_THRESHOLD_, NODE_COMPILE_CACHE: compiled } = process.env
  const NODE_COMPILE_CACHE = compiled === undefined ? undefined : resolve(compiled)
  const kept = { MALLOC_ARENA_MAX, MALLOC_MMAP_THRESHOLD_, MALLOC_TRIM_THRESHOLD_, NODE_COMPILE_CACHE }
  const said = Object.entries(kept).filter(([, value]) => value !== undefined)
  const places = home === undefined ? {} : { HOME: home, TMPDIR: home }
  return { PATH: "/usr/bin:/bin", LANG: "C.UTF-8", ...places, ...Object.fromEntries(said) }
}

/** What a server is preloaded with by a path makes this one start as quickly; how much memory it is given is not this one's. */
const preloads = (): ReadonlyArray<string> =>
  process.execArgv.flatMap((word, at, all) => {
    const path = word === "-r" || word === "--require" ? all[at + 1] : undefined
    return path === undefined || !/^[./]/.test(path) ? [] : [word, resolve(path)]
  })

/** How much is kept of what it says before it ends, for the log. */
const mostSaid = 2_000

/** Where it writes; undefined where nothing can be written, which only a browser minds. */
const home = Effect.acquireRelease(
  Effect.option(Effect.try(() => mkdtempSync(join(tmpdir(), "turnpike-quarantine-")))),
  Option.match({
    onNone: () => Effect.void,
    onSome: (home) => Effect.sync(() => rmSync(home, { recursive: true, force: true, maxRetries: 3 }))
  })
).pipe(Effect.map(Option.getOrUndefined))

const spawned = (home: string | undefined, { memory, program }: QuarantinePolicy, chromium: string | undefined) =>
  fork(program, [home ?? "", chromium ?? ""], {
    serialization: "advanced",
    // Where what is left of a crash is gone with the rest.
    cwd: home ?? "/",
    // In a session of its own, so that Ctrl-C reaches the server alone, which drains first.
    detached: true,
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    env: environment(home),
    // Little room for young garbage: most of what comes here is thrown away as soon as it is read.
    execArgv: [...preloads(), `--max-old-space-size=${memory.heap}`, "--max-semi-space-size=2"]
  })

interface State {
  isOver: boolean
  /** Until it is asked to end. */
  isWanted: boolean
  /** Why we ended it. */
  why: string | undefined
  /** The last things that it wrote. */
  said: string
}

/** What is waited for of a process, and what is known of it. */
const listen = (child: ChildProcess, log: (line: Effect.Effect<void>) => void) => {
  const ready = Deferred.makeUnsafe<void, ProcessEnded>()
  const pending = new Map<number, Deferred.Deferred<unknown, ProcessEnded>>()
  const doubts = new Set<number>()
  const state: State = { isOver: false, isWanted: true, why: undefined, said: "" }
  const settle = (id: number, answer: Effect.Effect<unknown, ProcessEnded>) => {
    const waiting = pending.get(id)
    if (waiting !== undefined) Deferred.doneUnsafe(waiting, answer)
    pending.delete(id)
  }
  const over = (cause: unknown) => {
    if (state.isOver) return
    state.isOver = true
    const none = Effect.fail(new ProcessEnded())
    Deferred.doneUnsafe(ready, none)
    for (const id of [...pending.keys()]) settle(id, none)
    const { isWanted, said, why } = state
    if (isWanted) log(Effect.logWarning("The process that reads strangers' pages ended", { cause: why ?? cause, said }))
  }
  const hear = (heard: Heard): void => {
    if (heard._tag === "Ready") Deferred.doneUnsafe(ready, Effect.void)
    else if (heard._tag === "Answer") settle(heard.id, Effect.succeed(heard.answer))
    else if (heard._tag === "Died") settle(heard.id, Effect.fail(new ProcessEnded()))
    else if (heard._tag === "Doubt") doubts[heard.isOpen ? "add" : "delete"](heard.visit)
    else log((heard.level === "Error" ? Effect.logError : Effect.logWarning)(heard.message, heard.details))
  }
  child.on("message", hear)
  child.on("error", over)
  child.on("exit", (code, signal) => over(signal ?? `exit code ${code}`))
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    state.said = (state.said + text).slice(-mostSaid)
  })
  return { child, doubts, pending, ready: Deferred.await(ready), state }
}

/** Asks a process to end, and ends it. What it started leads groups of its own, and ends when it hears no more of it. */
const end = (child: ChildProcess, { end: duration }: QuarantinePolicy) =>
  within(
    Effect.callback<void>((resume) => {
      child.once("exit", () => resume(Effect.void))
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) resume(Effect.void)
      else if (child.connected) child.disconnect()
    }),
    { duration, orElse: () => Effect.sync(() => void child.kill("SIGKILL")) }
  )

/** A process for the length of the scope, which ends with this one, however this one ends. `chromium` is the browser's program, if any. */
export const start = Effect.fnUntraced(function* (
  policy: QuarantinePolicy,
  chromium: string | undefined
): Effect.fn.Return<Process, ProcessEnded, Scope.Scope> {
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const log = (line: Effect.Effect<void>) => void fork(line)
  const notStarted = (cause: unknown) =>
    Effect.andThen(
      Effect.logWarning("The process that reads strangers' pages does not start", { cause }),
      new ProcessEnded()
    )
  const place = yield* home
  const { child, doubts, pending, ready, state } = yield* Effect.acquireRelease(
    // Listened to at once: that it could not be started is told a moment later, and would be nobody's error.
    Effect.catch(
      Effect.try(() => listen(spawned(place, policy, chromium), log)),
      notStarted
    ),
    ({ child }) => end(child, policy)
  )
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      state.isWanted = false
    })
  )
  const kill = (why: string) =>
    Effect.sync(() => {
      state.why = why
      child.kill("SIGKILL")
    })
  const late = Effect.andThen(kill("It does not answer"), new ProcessEnded())
  yield* within(ready, { duration: policy.start, orElse: () => late })

  const look = Effect.suspend(() => {
    const { pid } = child
    return pid !== undefined && heldBy(pid) > policy.memory.most ? kill("It holds too much memory") : Effect.void
  })
  yield* upkeep("The process that reads strangers' pages could not be looked after", look, policy.memory.every).pipe(
    Effect.provideService(Clock.Clock, realTime)
  )

  let calls = 0
  const send = (sent: Sent) => {
    // Who cannot be reached has ended, and says so by itself.
    if (child.connected) child.send(sent, () => undefined)
  }
  const call: Process["call"] = (name, ...args) =>
    Effect.suspend(() => {
      if (state.isOver) return new ProcessEnded()
      const id = ++calls
      const waiting = Deferred.makeUnsafe<unknown, ProcessEnded>()
      pending.set(id, waiting)
      send({ _tag: "Call", id, name, args })
      const answer = Deferred.await(waiting) as Effect.Effect<ReturnType<Calls[typeof name]>, ProcessEnded>
      return within(answer, { duration: policy.patience[name], orElse: () => late }).pipe(
        Effect.onInterrupt(() => Effect.sync(() => send({ _tag: "Cancel", id }))),
        Effect.ensuring(Effect.sync(() => pending.delete(id)))
      )
    })
  return { isAlive: () => !state.isOver, call, isInDoubt: (visit) => doubts.has(visit) }
})
