import { Clock, Context, Duration, Effect } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { realTime } from "#services/RealTime.ts"
import { upkeep } from "#services/Upkeep.ts"
import { commandLine, parentOf, signal } from "../EmbeddedPostgres/Processes.ts"

/** How much memory a browser's processes may hold together, in bytes, and how often that is looked at. */
export interface MemoryPolicy {
  readonly most: number
  readonly every: Duration.Duration
}

/** A reference, so a deployment or a test changes it without touching the code. */
export const MemoryPolicy = Context.Reference<MemoryPolicy>("turnpike/layers/ShopBrowser/MemoryPolicy", {
  defaultValue: () => ({ most: 1_500_000_000, every: Duration.millis(250) })
})

const read = (path: string): string => {
  try {
    return readFileSync(path, "latin1")
  } catch {
    return ""
  }
}

/** What a process holds that is no file's, in bytes: files are there once for all processes. */
export const heldBy = (pid: number): number =>
  [...read(`/proc/${pid}/status`).matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB/gm)].reduce(
    (sum, [, kilobytes]) => sum + Number(kilobytes) * 1_024,
    0
  )

/** How deep below its first process one of a browser may be. */
const deepest = 8

const isBelow = (pid: number, root: number): boolean => {
  let parent = pid
  for (let depth = 0; depth < deepest && parent > 1; depth++) {
    if (parent === root) return true
    parent = parentOf(parent)
  }
  return false
}

/** The processes of a tree. Of others it is remembered that they are others, so that a machine with many costs little. */
const treeOf = (root: number) => {
  let known = new Map<number, boolean>()
  return (): ReadonlyArray<number> => {
    const living = readdirSync("/proc")
      .map(Number)
      .filter((pid) => pid > 0)
    known = new Map(living.map((pid) => [pid, known.get(pid) ?? isBelow(pid, root)]))
    return living.filter((pid) => known.get(pid) === true)
  }
}

/** How long a process has worked so far, in ticks of the clock. */
const workOf = (pid: number): number => {
  const stat = read(`/proc/${pid}/stat`)
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return Number(fields[11] ?? 0) + Number(fields[12] ?? 0)
}

/** A process that shows pages: when it ends, they end, and nobody else's. */
const showsPages = (pid: number): boolean => commandLine(pid).some((word) => word.includes("--type=renderer"))

/** A browser as it is kept within bounds. */
export interface Bounded {
  /** Its first process. */
  readonly root: number
  /** Whether its pages ask more than they may since this was asked last. */
  readonly isFlooded: () => boolean
  readonly endAll: Effect.Effect<void>
}

/**
 * Keeps a browser within its bounds for the length of the scope. Where its processes hold too much, the largest that shows pages ends, and
 * where that is not what is large, the browser; where pages ask without end, the busiest ends. A page that does such things cannot be asked
 * to close, and no switch of Chromium bounds what it may take.
 */
export const bound = Effect.fnUntraced(function* ({ endAll, isFlooded, root }: Bounded) {
  const { every, most } = yield* MemoryPolicy
  const tree = treeOf(root)
  let worked = new Map<number, number>()
  const end = (pid: number) => Effect.asVoid(Effect.sync(() => signal(pid, "SIGKILL")))
  const look = Effect.suspend(() => {
    const held = tree().map((pid) => ({ pid, bytes: heldBy(pid), work: workOf(pid) - (worked.get(pid) ?? 0) }))
    worked = new Map(held.map(({ pid, work }) => [pid, (worked.get(pid) ?? 0) + work]))
    const sum = held.reduce((all, { bytes }) => all + bytes, 0)
    const isFlood = isFlooded()
    if (sum <= most && !isFlood) return Effect.void
    const [first] = held
      .filter(({ pid }) => showsPages(pid))
      .toSorted((a, b) => (isFlood ? b.work - a.work : b.bytes - a.bytes))
    if (first === undefined || (!isFlood && sum - first.bytes > most)) return endAll
    return end(first.pid)
  })
  // Who cannot look now, because no more files are to be had, looks again: without him the browser has no bounds.
  yield* upkeep("The browser could not be looked after", look, every).pipe(Effect.provideService(Clock.Clock, realTime))
})
