import { Effect, Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { EndpointId } from "#domain/Ids.ts"
import { NotFound } from "#domain/Refusal.ts"
import { EndpointStatistics, StatisticsWindow } from "#domain/Statistics.ts"
import { Requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { problem } from "./Problems.ts"

/** Belongs to the endpoints' group. */
export const statistics = HttpApiEndpoint.get("stats", "/endpoints/:id/stats", {
  params: { id: EndpointId },
  query: { window: StatisticsWindow.pipe(Schema.withDecodingDefaultKey(Effect.succeed("24h" as const))) },
  success: Schema.Struct({ data: EndpointStatistics }),
  error: problem(NotFound)
})
  .annotate(Requires, { resource: "x402", action: "read" })
  .annotateMerge(
    documented({
      summary: "Get an endpoint's statistics",
      description:
        "What was paid for calls of an endpoint, exact and of now: a call is counted from the moment its charge is recorded, and the " +
        "totals of `all` are `totalCalls` and `totalRevenue` of the endpoint record. A call counts at the time it was charged, a free " +
        "call too; a failure counts at the time its money was given back, once for each attempt.\n\n" +
        "`window` is `24h` when left out. A window ends with the bucket of now and is so many whole buckets long, with buckets that " +
        "begin at whole multiples of their width since 1970-01-01T00:00:00Z: `1h` is 60 buckets of a minute, `24h` 96 of 15 minutes, `7d` " +
        "168 of an hour, `30d` 120 of 6 hours. So it reaches back by its length, less at most one bucket: `from` says where it begins " +
        "(inclusive), `to` when it was looked at. `all` begins with the bucket in which the endpoint was registered and has at most 100 " +
        "buckets, of 1, 7, 28 or 364 days. Every bucket of the window is listed, oldest first, empty ones with zeros.\n\n" +
        "`topPayers` are the ten who paid most, `payer` being a wallet or, for who pays on the chain, an address. `latency` is how many " +
        "milliseconds the origin took to answer, over charged and failed calls alike (`answers` of them): at most 6.25 % above the " +
        "exact percentile, never below it, and exact below 32 ms; null without any answer. `failures` counts by the `failure` of payments.",
      answer: {
        data: {
          endpointId: "01927f2e-8f6d-7c3b-9a51-2f0c9d3b7e10",
          window: "all",
          currency: "USDC",
          from: "2026-01-02T00:00:00.000Z",
          to: "2026-01-03T03:04:05.678Z",
          totalCalls: 12,
          uniquePayers: 2,
          totalRevenue: 0.12,
          bucketSeconds: 86_400,
          buckets: [
            { start: "2026-01-02T00:00:00.000Z", calls: 12, revenue: 0.12 },
            { start: "2026-01-03T00:00:00.000Z", calls: 0, revenue: 0 }
          ],
          topPayers: [
            { payer: "wal_01h455vb4pex5vsknk084sn02r", calls: 9, revenue: 0.09 },
            { payer: "wal_01h455vb4pex5vsknk084sn02s", calls: 3, revenue: 0.03 }
          ],
          latency: { answers: 13, p50: 18, p90: 43, p95: 51, p99: 51 },
          totalFailures: 1,
          failures: [{ reason: "origin_status", calls: 1 }]
        }
      }
    })
  )
