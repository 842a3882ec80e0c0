import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { TestClock } from "effect/testing"
import * as ProcessMetrics from "#layers/ProcessMetrics.ts"

/** What is told of a name. */
const told = (name: string) =>
  Effect.map(PrometheusMetrics.format(), (text) => {
    const line = text.split("\n").find((each) => each.startsWith(`${name} `))
    return Number(line?.slice(name.length + 1))
  })

const work = Effect.sync(() => {
  const until = process.cpuUsage().user + 50_000
  while (process.cpuUsage().user < until);
})

layer(ProcessMetrics.layer)("what a process uses of its machine", (it) => {
  it.effect("is told from the start", () =>
    Effect.gen(function* () {
      assert.isAbove(yield* told("process_resident_memory_bytes"), 10_000_000)
      assert.isAbove(yield* told("nodejs_heap_size_used_bytes"), 1_000_000)
      assert.isAbove(yield* told("process_max_fds"), yield* told("process_open_fds"))
      assert.approximately(yield* told("process_start_time_seconds"), Date.now() / 1000 - process.uptime(), 5)
      assert.isAbove(yield* told('nodejs_eventloop_time_seconds_total{state="active"}'), 0)
    })
  )

  it.effect("grows with its work, and is told anew every five seconds", () =>
    Effect.gen(function* () {
      const before = yield* told("process_cpu_seconds_total")
      yield* work
      assert.strictEqual(yield* told("process_cpu_seconds_total"), before)
      yield* TestClock.adjust("5 seconds")
      assert.isAbove(yield* told("process_cpu_seconds_total"), before + 0.049)
    })
  )
})
