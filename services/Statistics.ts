import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { Endpoint } from "#domain/Endpoint.ts"
import type { EndpointId } from "#domain/Ids.ts"
import { dateOf } from "#domain/Instant.ts"
import type { Principal } from "#domain/Principal.ts"
import type { NotFound } from "#domain/Refusal.ts"
import {
  type EndpointStatistics,
  frameOf,
  frameOfAll,
  isSliding,
  latencyOfBins,
  spread,
  type StatisticsWindow
} from "#domain/Statistics.ts"
import { Endpoints } from "./Endpoints.ts"
import * as Leaving from "./Statistics/Leaving.ts"
import * as RollUp from "./Statistics/RollUp.ts"
import { Lookout } from "./Lookout.ts"
import { upkeep } from "./Upkeep.ts"

/** What was paid for calls of endpoints, exact at every moment: a follower counts the event log, and who asks counts the rest of it. */
export class Statistics extends Context.Service<
  Statistics,
  {
    /** Of an endpoint of the caller's tenant: everything that was recorded when this was called, and nothing twice. */
    read(caller: Principal, endpoint: EndpointId, window: StatisticsWindow): Effect.Effect<EndpointStatistics, NotFound>
    /** Counts the next events; how many it went past. */
    readonly rollUp: Effect.Effect<number>
    /** Drops what windows that nobody looks at have slid past; how many windows that were. */
    readonly tidy: Effect.Effect<number>
  }
>()("turnpike/services/Statistics") {
  static readonly layer = Layer.effect(
    Statistics,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const endpoints = yield* Endpoints
      const { catchUp, rollUp } = yield* RollUp.make
      const { leave, tidy } = yield* Leaving.make

      // One statement, so that all parts are of one moment.
      const holding = SqlSchema.findOneOption({
        Request: Schema.Struct({ endpoint: Schema.String, window: Schema.String }),
        Result: Holding,
        execute: ({ endpoint, window }) =>
          sql`SELECT w.since, w.oldest, w.calls, w.revenue, w.payers,
              (SELECT coalesce(jsonb_agg(jsonb_build_object('at', extract(epoch FROM b.at)::bigint * 1000,
                  'calls', b.calls::text, 'revenue', b.revenue::text)), '[]')
                FROM statistics_buckets b WHERE b.endpoint_id = w.endpoint_id AND b.span = w.span) AS buckets,
              (SELECT coalesce(jsonb_agg(jsonb_build_object('payer', t.key, 'calls', t.count::text,
                  'revenue', t.amount::text) ORDER BY t.amount DESC, t.count DESC, t.key), '[]')
                FROM (
                  SELECT s.key, s.count, s.amount FROM statistics_sums s
                  WHERE s.endpoint_id = w.endpoint_id AND s.span = w.span AND s.kind = 'payer'
                  ORDER BY s.amount DESC, s.count DESC, s.key LIMIT 10
                ) t) AS top,
              (SELECT coalesce(jsonb_agg(jsonb_build_object('bin', s.key::int, 'count', s.count::text)), '[]')
                FROM statistics_sums s
                WHERE s.endpoint_id = w.endpoint_id AND s.span = w.span AND s.kind = 'latency') AS bins,
              (SELECT coalesce(jsonb_agg(jsonb_build_object('reason', s.key, 'calls', s.count::text)
                  ORDER BY s.count DESC, s.key), '[]')
                FROM statistics_sums s
                WHERE s.endpoint_id = w.endpoint_id AND s.span = w.span AND s.kind = 'failure') AS failures
            FROM statistics_windows w WHERE w.endpoint_id = ${endpoint} AND w.span = ${window}`
      })

      const look = (endpoint: string, window: StatisticsWindow) =>
        Effect.map(
          Effect.orDie(holding({ endpoint, window })),
          Option.getOrElse(() => nothing)
        )
      /** What the window holds, once nothing is left in it from before it begins. */
      const held = Effect.fnUntraced(function* (endpoint: string, window: StatisticsWindow, now: number) {
        let found = yield* look(endpoint, window)
        if (!isSliding(window)) return found
        while (true) {
          const { from } = frameOf(window, now, found.since.getTime())
          if (found.oldest === null || found.oldest.getTime() >= from) return found
          yield* leave(endpoint, window, from)
          found = yield* look(endpoint, window)
        }
      })

      const read = Effect.fn("Statistics.read")(function* (
        caller: Principal,
        id: EndpointId,
        window: StatisticsWindow
      ) {
        const endpoint = yield* endpoints.get(caller, id)
        yield* catchUp
        const now = yield* DateTime.nowAsDate
        return shown(endpoint, window, now, yield* held(endpoint.id, window, now.getTime()))
      })

      return Statistics.of({ read, rollUp, tidy })
    })
  )

  /** Follows the event log. Any number of processes may. */
  static readonly layerWorker = Layer.effectDiscard(
    Effect.gen(function* () {
      const { rollUp, tidy } = yield* Statistics
      const { keep } = yield* Lookout
      const sql = yield* SqlClient.SqlClient
      // A turn costs about as much for one event as for a thousand: under load they are gathered, and who asks counts the rest.
      yield* keep({
        failed: "Statistics could not be counted",
        isDue: () => RollUp.isBehind(sql),
        step: Effect.repeat(rollUp, { while: (passed) => passed >= Number(RollUp.batch) }),
        every: "2 seconds"
      })
      yield* upkeep("Statistics could not be tidied", tidy, "10 seconds")
    })
  )
}

const Counts = { calls: Schema.BigIntFromString, revenue: Schema.BigIntFromString }
const Holding = Schema.Struct({
  since: Schema.Date,
  oldest: Schema.NullOr(Schema.Date),
  calls: Schema.BigInt,
  revenue: Schema.BigInt,
  payers: Schema.BigInt,
  buckets: Schema.Array(Schema.Struct({ at: Schema.Int, ...Counts })),
  top: Schema.Array(Schema.Struct({ payer: Schema.String, ...Counts })),
  bins: Schema.Array(Schema.Struct({ bin: Schema.Int, count: Schema.BigIntFromString })),
  failures: Schema.Array(Schema.Struct({ reason: Schema.String, calls: Schema.BigIntFromString }))
})
type Holding = typeof Holding.Type

const nothing: Holding = {
  since: dateOf(0),
  oldest: null,
  calls: 0n,
  revenue: 0n,
  payers: 0n,
  buckets: [],
  top: [],
  bins: [],
  failures: []
}

const shown = (endpoint: Endpoint, window: StatisticsWindow, now: Date, holding: Holding): EndpointStatistics => {
  const frame = isSliding(window)
    ? frameOf(window, now.getTime(), holding.since.getTime())
    : frameOfAll(now.getTime(), endpoint.createdAt.getTime())
  return {
    endpointId: endpoint.id,
    window,
    currency: endpoint.currency,
    from: dateOf(frame.from),
    to: now,
    totalCalls: holding.calls,
    uniquePayers: holding.payers,
    totalRevenue: holding.revenue,
    bucketSeconds: frame.width / 1000,
    buckets: spread(frame, holding.buckets).map(({ at, calls, revenue }) => ({ start: dateOf(at), calls, revenue })),
    topPayers: holding.top,
    latency: latencyOfBins(holding.bins),
    totalFailures: holding.failures.reduce((sum, { calls }) => sum + calls, 0n),
    failures: holding.failures
  }
}
