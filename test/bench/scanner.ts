import { Effect } from "effect"
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { median, percentile, report, say } from "./Bench.ts"
import { residentMegabytes } from "./gateway/ProcessUse.ts"
import * as Turnpike from "./gateway/Turnpike.ts"

/** How long a scan takes and what it holds in memory, of shops with pages of 250 kB, over the API of a server of its own. */

const scans = Number(process.env["BENCH_SCANS"] ?? 20)
const latency = Number(process.env["BENCH_LATENCY"] ?? 200)
const atOnce = 20

/** The shops, in a process of their own. */
const shops = Effect.gen(function* () {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => fork(fileURLToPath(new URL("scanner/shops.ts", import.meta.url)))),
    (child) => Effect.promise(() => stopped(child))
  )
  const [ports] = yield* Effect.promise(() => once(child, "message"))
  const domains = (ports as ReadonlyArray<number>).map((port) => `127.0.0.1:${port}`)
  const setLatency = (millis: number) =>
    Effect.promise(async () => {
      const done = once(child, "message")
      child.send(millis)
      await done
    })
  return { domains, setLatency }
})

const stopped = async (child: ChildProcess) => {
  const ended = once(child, "exit")
  child.kill("SIGKILL")
  await ended
}

/** One scan; anything but a complete one ends the run. Answers how long it took. */
const scan = ({ credentials, port }: Turnpike.Turnpike, domain: string) =>
  Effect.promise(async () => {
    const began = performance.now()
    const response = await fetch(`http://127.0.0.1:${port}/v1/scanner/scan`, {
      method: "POST",
      headers: { authorization: `Bearer ${credentials.api_key}`, "content-type": "application/json" },
      body: JSON.stringify({ domain, merchant_category: "retail" })
    })
    const text = await response.text()
    const found = JSON.parse(text)
    const failed = (found.checks ?? []).filter(
      (check: { group: string; status: string }) => check.status === "fail" && check.group !== "protocol"
    )
    if (response.status !== 200 || found.status !== "completed" || failed.length > 0) {
      throw new Error(`A scan answered ${response.status}: ${text.slice(0, 500)}`)
    }
    return performance.now() - began
  })

const oneByOne = (server: Turnpike.Turnpike, domains: ReadonlyArray<string>, count: number) =>
  Effect.forEach(Array.from({ length: count }), (_, index) => scan(server, domains[index % domains.length] ?? ""))

/** The most that the process held while `work` ran. */
const peak = <A>(pid: number, work: Effect.Effect<A>) =>
  Effect.gen(function* () {
    let [most, isOver] = [0, false]
    const watch = Effect.promise(async () => {
      while (!isOver) {
        most = Math.max(most, residentMegabytes(pid))
        await setTimeout(20)
      }
    })
    const done = Effect.ensuring(
      work,
      Effect.sync(() => {
        isOver = true
      })
    )
    const [result] = yield* Effect.all([done, watch], { concurrency: 2 })
    return { result, most }
  })

const main = Effect.gen(function* () {
  const { domains, setLatency } = yield* shops
  process.env["TURNPIKE_ALLOW_HOSTS"] = domains.join(",")
  const data = yield* Turnpike.temporaryData
  // What a first start compiles is kept for all that follow.
  yield* Effect.scoped(Effect.flatMap(Turnpike.start(data), (first) => oneByOne(first, domains, 1)))
  const server = yield* Turnpike.start(data)
  const idle = residentMegabytes(server.pid)
  yield* oneByOne(server, domains, 3)

  const near = yield* oneByOne(server, domains, scans)
  say(`     ${scans} scans of a local shop, one by one: p95 ${percentile(near, 0.95).toFixed(0)} ms`)
  report("a scan of a local shop, median", median(near), 2_000, "at most", "ms")

  yield* setLatency(latency)
  const far = yield* oneByOne(server, domains, scans)
  say(`     with ${latency} ms before every answer: median ${median(far).toFixed(0)} ms`)
  report(`a scan with ${latency} ms before every answer, p95`, percentile(far, 0.95), 5_000, "at most", "ms")

  const rested = residentMegabytes(server.pid)
  const together = Effect.forEach(domains.slice(0, atOnce), (domain) => scan(server, domain), { concurrency: atOnce })
  const { most, result } = yield* peak(server.pid, together)
  say(`     ${atOnce} scans at once: the slowest took ${Math.max(...result).toFixed(0)} ms`)
  say(`     the server: ${idle.toFixed(0)} MB when it was started, ${rested.toFixed(0)} MB before the ${atOnce} scans`)
  report(`memory of the server with ${atOnce} scans at once`, most, 300, "at most", "MB")
  report("  of that more than when it was started", most - idle, 150, "at most", "MB")
})

await Effect.runPromise(main.pipe(Effect.scoped))
