import { Duration, Effect, Layer, Metric } from "effect"
import { readdir } from "node:fs/promises"
import { performance } from "node:perf_hooks"
import { atBeats } from "#services/Upkeep.ts"
import { OpenFiles } from "./Node/OpenFiles.ts"

// By the names that dashboards for Prometheus know.
const processor = Metric.counter("process_cpu_seconds_total", {
  description: "Processor time of this process, without its Postgres",
  incremental: true
})
const resident = Metric.gauge("process_resident_memory_bytes", {
  description: "Memory of this process, without its Postgres"
})
const started = Metric.gauge("process_start_time_seconds", { description: "When this process began, in Unix time" })
const open = Metric.gauge("process_open_fds", { description: "Files and connections this process has open" })
const most = Metric.gauge("process_max_fds", { description: "Files and connections this process may have open" })
const heap = Metric.gauge("nodejs_heap_size_used_bytes", {
  description: "What lives on the heap of JavaScript, or is not collected yet"
})
const loop = Metric.counter("nodejs_eventloop_time_seconds_total", {
  description: "How long the event loop was active, and how long it waited",
  incremental: true
})
const states = ["active", "idle"] as const

/** How old what is told may be. Scrapes come every fifteen seconds or more seldom. */
const interval = Duration.seconds(5)

/** What a counter is raised by, of a sum. */
const growth = (counter: Metric.Counter<number>) => {
  let before = 0
  return (sum: number) =>
    Effect.suspend(() => {
      const more = Math.max(0, sum - before)
      before += more
      return Metric.update(counter, more)
    })
}

/** Nothing where there is no such list, as outside Linux. */
const countOpen = Effect.tryPromise(() => readdir("/proc/self/fd")).pipe(
  // Reading the list is one of them.
  Effect.flatMap((files) => Metric.update(open, files.length - 1)),
  Effect.ignore
)

/** What this process uses of its machine. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const worked = growth(processor)
    const looped = states.map((state) => ({ state, grow: growth(Metric.withAttributes(loop, { state })) }))
    const observe = Effect.suspend(() => {
      const { system, user } = process.cpuUsage()
      const { heapUsed, rss } = process.memoryUsage()
      const times = performance.eventLoopUtilization()
      return Effect.all([
        worked((user + system) / 1e6),
        Metric.update(resident, rss),
        Metric.update(heap, heapUsed),
        // Deno says nothing of it.
        ...looped.filter(() => times.active > 0).map(({ grow, state }) => grow(times[state] / 1000)),
        countOpen
      ])
    })
    yield* Metric.update(started, performance.timeOrigin / 1000)
    const files = yield* Effect.flatten(OpenFiles)
    if (Number.isFinite(files)) yield* Metric.update(most, files)
    yield* observe
    yield* Effect.forkScoped(atBeats(observe, interval))
  })
)
