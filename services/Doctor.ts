import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Assurance } from "./Doctor/Assurance.ts"
import * as AgentPromises from "./Doctor/Agents.ts"
import * as BatchPromises from "./Doctor/Batches.ts"
import * as ChannelPromises from "./Doctor/Channel.ts"
import * as EventLogPromises from "./Doctor/EventLog.ts"
import * as LedgerPromises from "./Doctor/Ledger.ts"
import * as PaymentPromises from "./Doctor/Payments.ts"
import * as RefundPromises from "./Doctor/Refunds.ts"
import * as ScannerCreditPromises from "./Doctor/ScannerCredits.ts"
import * as ScanPromises from "./Doctor/Scans.ts"
import * as SchedulePromises from "./Doctor/Schedules.ts"
import * as SettlementPromises from "./Doctor/Settlements.ts"
import * as StatisticsPromises from "./Doctor/Statistics.ts"
import * as StreamPromises from "./Doctor/Streams.ts"
import * as TransferPromises from "./Doctor/Transfers.ts"
import * as UserPromises from "./Doctor/Users.ts"
import * as WebhookPromises from "./Doctor/Webhooks.ts"
import { monotonicMillis } from "./RealTime.ts"

/** One promise about the books, whether it holds, and up to ten rows that break it. */
export interface Finding {
  readonly promise: string
  readonly broken: ReadonlyArray<unknown>
  readonly millis: number
}

/** Who promises something. */
const areas = [
  LedgerPromises,
  EventLogPromises,
  AgentPromises,
  PaymentPromises,
  StatisticsPromises,
  TransferPromises,
  SettlementPromises,
  BatchPromises,
  SchedulePromises,
  RefundPromises,
  StreamPromises,
  UserPromises,
  WebhookPromises,
  ChannelPromises,
  ScanPromises,
  ScannerCreditPromises
]

/** Proves the books on a live database, in one snapshot and in the memory of one page of rows. */
export class Doctor extends Context.Service<
  Doctor,
  {
    /** Every promise, checked from scratch. Nothing is repaired. */
    readonly examine: Effect.Effect<ReadonlyArray<Finding>>
  }
>()("turnpike/services/Doctor") {
  static readonly layer = Layer.effect(
    Doctor,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const Rows = Schema.Array(Schema.Record(Schema.String, Schema.Unknown))

      const check = Effect.fnUntraced(function* ({ promise, query }: Assurance) {
        const before = yield* monotonicMillis
        const broken = yield* Effect.flatMap(query, Schema.decodeUnknownEffect(Rows))
        return { promise, broken, millis: Math.round((yield* monotonicMillis) - before) } satisfies Finding
      })

      const examination = Effect.flatMap(DateTime.nowAsDate, (now) =>
        Effect.all(areas.flatMap(({ promises }) => promises(sql, now)).map(check))
      )
      const examine = sql`SET LOCAL statement_timeout = 0`.pipe(
        Effect.andThen(sql`SET LOCAL work_mem = '64MB'`),
        // Everything is read once, in order; whoever plans to look rows up one by one has wrong statistics.
        Effect.andThen(sql`SET LOCAL enable_nestloop = off`),
        Effect.andThen(sql`SET LOCAL enable_mergejoin = off`),
        Effect.andThen(examination),
        sql.withTransaction,
        Effect.provideService(SqlClient.BeginTransaction, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
        Effect.orDie,
        Effect.withSpan("Doctor.examine")
      )
      return Doctor.of({ examine })
    })
  )
}
