import * as PgClient from "@effect/sql-pg/PgClient"
import { Context, DateTime, Duration, Effect, Layer, Option, Predicate, Schema, Semaphore } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { ServiceUnavailable } from "#domain/Refusal.ts"
import { Database } from "./Database.ts"
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
import * as StructurePromises from "./Doctor/Structure.ts"
import * as TransferPromises from "./Doctor/Transfers.ts"
import * as UserPromises from "./Doctor/Users.ts"
import * as WalletPromises from "./Doctor/Wallets.ts"
import * as WebhookPromises from "./Doctor/Webhooks.ts"
import { monotonicMillis, within } from "./RealTime.ts"

/** One promise about the books, whether it holds, and up to ten rows that break it. */
export interface Finding {
  readonly promise: string
  readonly broken: ReadonlyArray<unknown>
  readonly millis: number
}

/** A row in JSON: counts come as big integers, which that has no word for. */
export const shown = (row: unknown): string =>
  JSON.stringify(row, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value))

/** How long an examination beside the work of a server may take. A reference, because a test has no minutes. */
export const DoctorPatience = Context.Reference("turnpike/services/Doctor/DoctorPatience", {
  defaultValue: () => Duration.minutes(5)
})

/** Who promises something. */
const areas = [
  LedgerPromises,
  StructurePromises,
  EventLogPromises,
  WalletPromises,
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
    /**
     * The same beside the work of a server: on a connection of its own, so that nobody else waits for one, in a few minutes at most, and
     * one at a time in this process.
     */
    readonly examineAside: Effect.Effect<ReadonlyArray<Finding>, ServiceUnavailable>
  }
>()("turnpike/services/Doctor") {
  static readonly layer = Layer.effect(
    Doctor,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { config } = yield* Database
      const patience = yield* DoctorPatience
      const turn = yield* Semaphore.make(1)

      // Not watched, as those of the pool are: one question may take longer than anything else that is asked here.
      const aside = PgClient.makeClient({ ...config, applicationName: "turnpike-doctor" }).pipe(
        Effect.flatMap(examination),
        Effect.scoped,
        Effect.provideServiceEffect(Reactivity.Reactivity, Reactivity.make),
        Effect.orDie
      )
      const inTime = within(aside, {
        duration: patience,
        orElse: () => Effect.fail(ServiceUnavailable.because("the doctor takes too long beside the work", 60))
      })
      const examineAside = turn
        .withPermitsIfAvailable(1)(inTime)
        .pipe(
          Effect.flatMap(
            Option.match({
              onNone: () => Effect.fail(ServiceUnavailable.because("the doctor is at work", 10)),
              onSome: Effect.succeed
            })
          )
        )
      return Doctor.of({ examine: Effect.orDie(examination(sql)), examineAside })
    })
  )
}

const Rows = Schema.Array(Schema.Record(Schema.String, Schema.Unknown))

/** What Postgres says of a value that is not what it has to be, of a page or a file that is damaged, or of what is not there. */
const unreadable = ({ reason: { cause } }: SqlError) =>
  Predicate.hasProperty(cause, "code") && /^(22|42(P01|703|883)|58|XX)/.test(String(cause.code))
    ? String(Predicate.hasProperty(cause, "message") ? cause.message : cause.code)
    : undefined

/** A damaged row, or a table that is missing, may not keep the other promises from being looked at: it breaks the one that cannot read it. */
const check = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* ({ promise, query }: Assurance) {
    const before = yield* monotonicMillis
    const rows = yield* sql.withTransaction(query).pipe(
      Effect.catchTag("SqlError", (error) => {
        const said = unreadable(error)
        return said === undefined ? Effect.fail(error) : Effect.succeed([{ unreadable: said }])
      })
    )
    const broken = yield* Schema.decodeUnknownEffect(Rows)(rows)
    return { promise, broken, millis: Math.round((yield* monotonicMillis) - before) } satisfies Finding
  })

/** All promises over this connection, in one snapshot. */
const examination = (sql: SqlClient.SqlClient) => {
  const checked = Effect.flatMap(DateTime.nowAsDate, (now) =>
    Effect.all(areas.flatMap(({ promises }) => promises(sql, now)).map(check(sql)))
  )
  return sql`SET LOCAL statement_timeout = 0`.pipe(
    // Postgres 17 is the first that knows it.
    Effect.andThen(sql`SELECT set_config(name, '0', true) FROM pg_settings WHERE name = 'transaction_timeout'`),
    Effect.andThen(sql`SET LOCAL work_mem = '64MB'`),
    // Everything is read once, in order; whoever plans to look rows up one by one has wrong statistics.
    Effect.andThen(sql`SET LOCAL enable_nestloop = off`),
    Effect.andThen(sql`SET LOCAL enable_mergejoin = off`),
    Effect.andThen(checked),
    sql.withTransaction,
    Effect.provideService(SqlClient.BeginTransaction, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
    Effect.withSpan("Doctor.examine")
  )
}
