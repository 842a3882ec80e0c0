import * as Pipeline from "../Database/Pipeline.ts"

/** A statement that writes other services' rows in the transaction of the movements they belong to, all rows of a group at once. */
export interface Companion<Row extends object> {
  /** Must be set-based and must not fail on valid rows. */
  readonly statement: Pipeline.Statement
  /** One row of it. */
  of(row: Row): CompanionRow
}

export interface CompanionRow {
  readonly statement: Pipeline.Statement
  /** What this row adds to each parameter of the statement, every one of which is a list. */
  readonly cells: ReadonlyArray<unknown>
}

/**
 * Names a statement such as `INSERT INTO t SELECT … FROM jsonb_to_recordset($1::jsonb) AS r (…)`. Values must survive JSON, so
 * bigints and dates go as strings.
 */
export const companion = <Row extends object>(text: string): Companion<Row> => {
  const statement = Pipeline.statement([Pipeline.OID.jsonb], text)
  return { statement, of: (row) => ({ statement, cells: [row] }) }
}

/**
 * Names a statement that takes a list for each column, which the server reads several times as fast: `UPDATE t SET … FROM ${rows}`
 * or `INSERT INTO t (${names}) SELECT * FROM ${rows}`. `columns` are in the order of the parameters, each with the type of its list;
 * `rows` is called `r` and has a row for each place in the lists, with columns of these `names`.
 */
export const columnar = <Row extends object>(
  columns: ReadonlyArray<readonly [column: keyof Row & string, type: number]>,
  text: (rows: string, names: string) => string
): Companion<Row> => {
  const names = columns.map(([name]) => name).join(", ")
  const statement = Pipeline.overLists("r", columns, (rows) => text(rows, names))
  return { statement, of: (row) => ({ statement, cells: columns.map(([column]) => row[column]) }) }
}

/** The executions that write these rows, one for each statement. */
export const stepsOf = (rows: ReadonlyArray<CompanionRow>): ReadonlyArray<Pipeline.Step> =>
  [...Map.groupBy(rows, ({ statement }) => statement)].map(([statement, same]) => ({
    statement,
    values: statement.types.map((_, parameter) => same.map(({ cells }) => cells[parameter]))
  }))
