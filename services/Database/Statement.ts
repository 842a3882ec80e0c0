import * as PgTypes from "@effect/sql-pg/PgTypes"

/** SQL with the types of its parameters. Each connection prepares it once. */
export interface Statement {
  readonly text: string
  readonly types: ReadonlyArray<number>
  /** The same for lists of one place, with what is in that place instead of each list; undefined where nothing is read from lists. */
  readonly alone?: Statement
}

export const { OID } = PgTypes

/** What is in a list, by the type of the list. */
const elements = new Map<number, number>([
  [OID.boolArray, OID.bool],
  [OID.byteaArray, OID.bytea],
  [OID.int2Array, OID.int2],
  [OID.int4Array, OID.int4],
  [OID.int8Array, OID.int8],
  [OID.jsonArray, OID.json],
  [OID.jsonbArray, OID.jsonb],
  [OID.textArray, OID.text],
  [OID.timestamptzArray, OID.timestamptz],
  [OID.uuidArray, OID.uuid]
])
const elementOf = (list: number): number => {
  const element = elements.get(list)
  if (element === undefined) throw new TypeError(`It is not known what a list of type ${list} is of`)
  return element
}

/** SQL that reads no lists, or reads them in its own way. */
export const statement = (types: ReadonlyArray<number>, text: string): Statement => ({ text, types })

/**
 * SQL over lists of one length: `text` gets what to read rows from, one for each place in the lists, with these columns and under this
 * name. Each column has the type of its list. The lists are parameters behind those `before`, and in front of those `after`.
 */
export const overLists = (
  name: string,
  columns: ReadonlyArray<readonly [column: string, type: number]>,
  text: (rows: string) => string,
  { after = [], before = [] }: { readonly before?: ReadonlyArray<number>; readonly after?: ReadonlyArray<number> } = {}
): Statement => {
  const over = (read: (parameter: string) => string, types: ReadonlyArray<number>): Statement => {
    const values = columns.map(([column], index) => `${read(`$${before.length + 1 + index}`)} AS ${column}`)
    // In a FROM, `unnest` of several lists would keep a copy of each before the first row is there.
    return { text: text(`(SELECT ${values.join(", ")}) AS ${name}`), types: [...before, ...types, ...after] }
  }
  const lists = columns.map(([, type]) => type)
  const alone = over((parameter) => parameter, lists.map(elementOf))
  return { ...over((parameter) => `unnest(${parameter})`, lists), alone }
}

/** The same execution without lists, where each has one place: the server does not take lists apart then. */
export const withoutLists = (step: Step): Step => {
  const { statement, values } = step
  const { alone, types } = statement
  if (alone === undefined) return step
  const inPlace: Array<unknown> = []
  for (const [place, value] of values.entries()) {
    if (alone.types[place] === types[place]) inPlace.push(value)
    else if (Array.isArray(value) && value.length === 1) inPlace.push(value[0])
    else return step
  }
  return { statement: alone, values: inPlace }
}

/** One execution of a statement. */
export interface Step {
  readonly statement: Statement
  readonly values: ReadonlyArray<unknown>
}

/** A value under the type that the statement gives it, as this and the shared pool understand it. */
export const parameter = ({ types }: Statement, value: unknown, index: number): PgTypes.Parameter => ({
  [PgTypes.ParameterTypeId]: PgTypes.ParameterTypeId,
  oid: types[index] ?? 0,
  value
})
