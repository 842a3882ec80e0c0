/** A statement that writes other services' rows in the transaction of the movements they belong to. */
export interface Companion<Row extends object> {
  /** Takes one parameter: a jsonb array of the group's rows. Must be set-based and must not fail on valid rows. */
  readonly statement: string
  /** One row of it; values must survive JSON, so bigints and dates go as strings. */
  of(row: Row): CompanionRow
}

export interface CompanionRow {
  readonly statement: string
  readonly row: object
}

/** Names a statement such as `INSERT INTO t SELECT … FROM jsonb_to_recordset($1::jsonb) AS r (…)`. */
export const companion = <Row extends object>(statement: string): Companion<Row> => ({
  statement,
  of: (row) => ({ statement, row })
})
