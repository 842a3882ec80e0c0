import type { Statement } from "effect/sql"

/** A promise about what is stored, and the query that lists up to ten rows which break it. */
export interface Assurance {
  readonly promise: string
  readonly query: Statement.Statement<object>
}
