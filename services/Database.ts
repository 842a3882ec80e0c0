import type * as PgClient from "@effect/sql-pg/PgClient"
import { Context } from "effect"

/** Where the database is, for those who need a connection of their own beside the shared pool. */
export class Database extends Context.Service<
  Database,
  {
    /** Settings for `PgClient.makeClient`: same server, same session defaults as the pool. */
    readonly config: PgClient.PgClientConfig
    /** Whether Turnpike runs this Postgres itself. */
    readonly embedded: boolean
  }
>()("turnpike/services/Database") {}
