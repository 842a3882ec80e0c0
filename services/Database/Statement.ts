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

/**
 * What a statement reads its lists from, under a name: a row for each place in them, with these columns, from parameter `first` on.
 * In a FROM, `unnest` of several lists would keep a copy of each before the first row is there.
 */
export const lists = (name: string, columns: ReadonlyArray<string>, first = 1): string =>
  `(SELECT ${columns.map((column, index) => `unnest($${first + index}) AS ${column}`).join(", ")}) AS ${name}`

const fromLists = /\(SELECT unnest\(\$\d+\) AS \w+(?:, unnest\(\$\d+\) AS \w+)*\) AS /g
const listed = /unnest\(\$(\d+)\)/g

export const statement = (types: ReadonlyArray<number>, text: string): Statement => {
  const places = new Set<number>()
  const alone = text.replaceAll(fromLists, (rows) =>
    rows.replaceAll(listed, (_, place: string) => {
      places.add(Number(place) - 1)
      return `$${place}`
    })
  )
  const inPlace = types.map((type, place) => (places.has(place) ? elements.get(type) : type))
  const known = inPlace.filter((type) => type !== undefined)
  return places.size === 0 || known.length < types.length
    ? { text, types }
    : { text, types, alone: { text: alone, types: known } }
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
