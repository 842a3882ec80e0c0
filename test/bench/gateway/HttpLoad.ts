import { Effect, type Scope } from "effect"
import { median, percentile, type Round } from "../Bench.ts"
import { type Answer, Connection } from "./Connection.ts"

/** The answer, if it has this status; anything else ends the run with what came instead. */
export const expectStatus = (status: number, answer: Answer): Answer => {
  if (answer.status !== status) throw new Error(`Expected ${status}, got:\n${answer.head}\n\n${answer.body}`)
  return answer
}

/** Connections to a local server, until the scope closes. A server closes them when they are idle for some seconds. */
export const open = (
  port: number,
  count: number
): Effect.Effect<readonly [Connection, ...ReadonlyArray<Connection>], never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() =>
      Promise.all([Connection.open(port), ...Array.from({ length: count - 1 }, () => Connection.open(port))])
    ),
    (connections) =>
      Effect.sync(() => {
        for (const connection of connections) connection.close()
      })
  )

/** Does `work` once on each of some connections at the same time. */
export const onEach = (
  port: number,
  count: number,
  work: (connection: Connection, index: number) => Promise<void>
): Effect.Effect<void> =>
  Effect.scoped(
    Effect.flatMap(open(port, count), (connections) => Effect.promise(() => Promise.all(connections.map(work))))
  )

/**
 * Repeats `work` on every connection for `millis`, or until it answers false on one of them because there is nothing left to
 * do, and measures. Plain promises: a fiber for every request would cost more than the request.
 */
export const drive = (options: {
  readonly port: number
  readonly connections: number
  readonly millis: number
  readonly work: (connection: Connection, loop: number) => Promise<boolean>
}): Effect.Effect<Round> =>
  Effect.suspend(() => {
    const latencies: Array<number> = []
    let start = 0
    let end = Infinity
    const loop = async (connection: Connection, index: number) => {
      // All connections are open when the first one begins.
      if (start === 0) {
        start = performance.now()
        end = start + options.millis
      }
      let before = performance.now()
      while (before < end) {
        if (!(await options.work(connection, index))) {
          end = before
          return
        }
        const after = performance.now()
        latencies.push(after - before)
        before = after
      }
    }
    return Effect.map(onEach(options.port, options.connections, loop), () => ({
      perSecond: latencies.length / ((performance.now() - start) / 1000),
      p50: median(latencies),
      p99: percentile(latencies, 0.99)
    }))
  })
