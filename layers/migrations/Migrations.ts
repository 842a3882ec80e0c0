import { Effect, Predicate } from "effect"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import { innermost, sayingOf } from "#services/Database/Reasons.ts"
import { sleep } from "#services/RealTime.ts"

/** Every migration of Turnpike. A file's default export is an Effect over `SqlClient`; released files never change. */
export const all = Migrator.fromGlob({
  "0001_init.ts": () => import("./0001_init.ts"),
  "0002_chain_settlements.ts": () => import("./0002_chain_settlements.ts"),
  "0003_statistics.ts": () => import("./0003_statistics.ts"),
  "0004_transfers.ts": () => import("./0004_transfers.ts"),
  "0005_quotes.ts": () => import("./0005_quotes.ts"),
  "0006_settlements.ts": () => import("./0006_settlements.ts"),
  "0007_batches.ts": () => import("./0007_batches.ts"),
  "0008_schedules.ts": () => import("./0008_schedules.ts"),
  "0009_refunds.ts": () => import("./0009_refunds.ts"),
  "0010_streams.ts": () => import("./0010_streams.ts"),
  "0011_followers.ts": () => import("./0011_followers.ts"),
  "0012_agents.ts": () => import("./0012_agents.ts"),
  "0013_users.ts": () => import("./0013_users.ts"),
  "0014_webhooks.ts": () => import("./0014_webhooks.ts"),
  "0015_channel.ts": () => import("./0015_channel.ts"),
  "0016_quotes_of_agents.ts": () => import("./0016_quotes_of_agents.ts"),
  "0017_relays.ts": () => import("./0017_relays.ts"),
  "0018_scanner_credits.ts": () => import("./0018_scanner_credits.ts"),
  "0019_merchant_scans.ts": () => import("./0019_merchant_scans.ts"),
  "0020_shopping_tests.ts": () => import("./0020_shopping_tests.ts"),
  "0021_own_endpoints.ts": () => import("./0021_own_endpoints.ts"),
  "0022_lighter_rows.ts": () => import("./0022_lighter_rows.ts"),
  "0023_own_changes.ts": () => import("./0023_own_changes.ts"),
  "0024_last_failures.ts": () => import("./0024_last_failures.ts"),
  "0025_facilitated.ts": () => import("./0025_facilitated.ts"),
  "0026_endpoint_webhooks.ts": () => import("./0026_endpoint_webhooks.ts"),
  "0027_scan_batch_names.ts": () => import("./0027_scan_batch_names.ts"),
  "0028_targets_by_time.ts": () => import("./0028_targets_by_time.ts"),
  "0029_chain_transfers.ts": () => import("./0029_chain_transfers.ts"),
  "0030_waiting_replays.ts": () => import("./0030_waiting_replays.ts"),
  "0031_told_settlements.ts": () => import("./0031_told_settlements.ts"),
  "0032_revoked_keys.ts": () => import("./0032_revoked_keys.ts"),
  "0033_paused_endpoints.ts": () => import("./0033_paused_endpoints.ts"),
  "0034_relayer_nonces.ts": () => import("./0034_relayer_nonces.ts"),
  "0035_delivery_history.ts": () => import("./0035_delivery_history.ts"),
  "0036_signed_schemes.ts": () => import("./0036_signed_schemes.ts"),
  "0037_lighter_payments.ts": () => import("./0037_lighter_payments.ts"),
  "0038_narrowed_lists.ts": () => import("./0038_narrowed_lists.ts"),
  "0039_few_of_many.ts": () => import("./0039_few_of_many.ts")
})

/**
 * Applies the migrations that are missing, all of them or none, and returns them. Any number of processes may call this at
 * once on one database: the first does the work, the others wait for it.
 */
export const run = Effect.fn("Migrations.run")(function* (loader: Migrator.Loader = all) {
  const sql = yield* SqlClient.SqlClient
  let tries = 0
  return yield* sql
    .withTransaction(
      // Who stands still in the middle of it (a frozen process, a network that is gone) has what all who serve need: Postgres ends
      // such a session before the ledger gives up those who wait, and nothing has happened.
      sql`SET LOCAL idle_in_transaction_session_timeout = '5s'`.pipe(
        // The table of migrations cannot be locked before it exists, and creating it twice at once fails.
        Effect.andThen(sql`SELECT pg_advisory_xact_lock(${lock})`),
        // A table that somebody uses is waited for in front of all others who do: for less than Postgres takes to look for deadlocks, so
        // that it ends none of those who serve, unless nothing else has helped.
        Effect.andThen(Effect.suspend(() => sql`SELECT set_config('lock_timeout', ${`${patience(tries)}ms`}, true)`)),
        Effect.andThen(mayBegin(loader)),
        Effect.andThen(migrator({ loader, table: "schema_migrations" }))
      )
    )
    .pipe(
      // Whoever serves meanwhile takes the tables in an order of his own. Nothing has happened yet, so all of it is done again: later
      // each time, because all who serve wait behind whoever waits for a table, and somebody may read it for as long as a dump takes.
      Effect.tapError((failed) =>
        isInTheWay(failed) && tries < retries ? sleep(Math.min(100 * 2 ** tries++, 10_000)) : Effect.void
      ),
      Effect.retry({ while: isInTheWay, times: retries }),
      Effect.catchTag("MigrationError", (failed) => Effect.fail(withReason(failed)))
    )
})

/** How often a migration that somebody is in the way of is tried again: for about five minutes. */
const retries = 30

/** For how many milliseconds a try waits for a lock; as long as somebody may work with a table only when nothing else has helped. */
const patience = (tries: number) => (tries < 10 ? Math.min(100 * 2 ** tries, 800) : 2000)

/** What Postgres says of a database that can take no first table is lost on the way. */
const mayBegin = Effect.fnUntraced(function* (loader: Migrator.Loader) {
  const sql = yield* SqlClient.SqlClient
  const [row] =
    yield* sql`SELECT to_regclass('schema_migrations') IS NOT NULL AS begun, quote_ident(current_schema()) AS place,
    2 = (
      SELECT count(*) FROM pg_attribute
      WHERE attrelid = to_regclass('schema_migrations') AND attname IN ('migration_id', 'name') AND NOT attisdropped
    ) AS shaped,
    coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may,
    current_setting('transaction_read_only') = 'on' AS fixed, current_setting('search_path') AS path`
  const done = row?.["shaped"] === true ? yield* sql`SELECT migration_id, name FROM schema_migrations` : []
  const names = new Map((yield* loader).map(([id, name]) => [id, name]))
  // Programs of others count theirs in a table of this shape as well. Those of a newer version of ours have names not known here.
  const ours = done.every((one) => [undefined, one["name"]].includes(names.get(Number(one["migration_id"]))))
  const message = row && unfit({ ...row, ours: row["shaped"] === true && ours })
  if (message !== undefined) return yield* new Migrator.MigrationError({ kind: "Failed", message })
})

const unfit = ({ begun, fixed, may, ours, path, place }: Readonly<Record<string, unknown>>) => {
  if (begun === true) {
    return ours === true
      ? undefined
      : "The database is somebody else's: its table schema_migrations is no Turnpike's. Name one of Turnpike's own."
  }
  if (fixed === true) {
    return "The database is a standby, or was set to read only (default_transaction_read_only), and no Turnpike was ever started on it: name one that can be written."
  }
  if (place === null)
    return (
      `No schema of the search_path of the database is there, or none that its user may use: ${path}. Tables would have no place: ` +
      "make one of them, or GRANT USAGE, CREATE ON it TO the user."
    )
  // Nobody is to be given a right there, not even to follow our advice.
  if (place === "pg_catalog")
    return `The search_path of the database begins with pg_catalog, where no tables belong: ${path}. Name another schema before it.`
  // Who owns the database owns the schema public, and no other one.
  const owner = place === "public" ? "the database" : "that schema"
  return may === true
    ? undefined
    : `The user of the database may create no tables in it: GRANT CREATE ON SCHEMA ${place} TO it, or have it own ${owner}.`
}

/** Somebody else's locks: two who wait for each other, or one who keeps his. */
const isInTheWay = (error: unknown) => {
  const fault = innermost(error)
  return Predicate.hasProperty(fault, "code") && (fault.code === "40P01" || fault.code === "55P03")
}

/** Also says what Postgres said. */
const withReason = ({ cause, kind, message }: Migrator.MigrationError) =>
  new Migrator.MigrationError({
    kind,
    cause,
    message: cause === undefined ? message : `${message}: ${sayingOf(cause)}`
  })

const migrator = Migrator.make({})

// "turnpike" in ASCII: advisory locks share one space with whatever else uses the database.
const lock = 0x7475726e70696b65n
