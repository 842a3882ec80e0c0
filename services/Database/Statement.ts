import * as PgTypes from "@effect/sql-pg/PgTypes"

/** SQL with the types of its parameters. Each connection prepares it once. */
export interface Statement {
  readonly text: string
  readonly types: ReadonlyArray<number>
  /** The same where some of its lists are one value; undefined where nothing is read from lists. */
  readonly forms?: Forms
}

/** The forms of a statement, by which of its lists are one value: a bit for each, from the first one on. */
interface Forms {
  /** Where its lists are among its parameters, and how many of them have a bit. */
  readonly first: number
  readonly marked: number
  /** Whether every list has one. */
  readonly isWhole: boolean
  /** Those that were asked for. */
  readonly made: Map<number, Statement>
  readonly make: (plain: number) => Statement
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

/** How many forms of a statement a connection may have to prepare. */
const most = 24
/** How many lists of a statement may be one value: as many as a small integer has bits. Those behind them stay lists. */
const bits = 30
/** From how many places on a list of one value tells that more of its like will come. */
const telling = 4

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
  const first = before.length
  const marked = Math.min(columns.length, bits)
  const elements = columns.map(([, type]) => elementOf(type))
  const make = (plain: number): Statement => {
    const values = columns.map(([column], list) => {
      const given = `$${first + 1 + list}`
      return `${isPlain(plain, list) ? given : `unnest(${given})`} AS ${column}`
    })
    const types = columns.map(([, type], list) => (isPlain(plain, list) ? (elements[list] ?? type) : type))
    // In a FROM, `unnest` of several lists would keep a copy of each before the first row is there.
    return { text: text(`(SELECT ${values.join(", ")}) AS ${name}`), types: [...before, ...types, ...after] }
  }
  return { ...make(0), forms: { first, marked, isWhole: marked === columns.length, made: new Map(), make } }
}

const isPlain = (plain: number, list: number): boolean => list < bits && ((plain >> list) & 1) === 1

/**
 * The same execution with one value in place of each list that has it in every place: neither we nor the server take that list apart
 * then. Of rows that are written together most columns are alike.
 */
export const withoutLists = (step: Step): Step => {
  const { statement, values } = step
  const { forms } = statement
  if (forms === undefined) return step
  const { first, isWhole, marked } = forms
  const length = placesOf(values[first])
  if (length !== 1 && length < telling) return step
  let alike = 0
  for (let list = 0; list < marked; list++) if (isAlike(values[first + list])) alike |= 1 << list
  // Without a list there would be one row.
  if (length > 1 && isWhole && alike === 2 ** marked - 1) alike -= 1
  const plain = formFor(forms, alike, length === 1)
  const form = forms.made.get(plain)
  if (form === undefined) return step
  const given = (value: unknown, place: number) =>
    place >= first && isPlain(plain, place - first) && Array.isArray(value) ? value[0] : value
  return { statement: form, values: values.map(given) }
}

const placesOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0)

const isAlike = (list: unknown): boolean => {
  if (!Array.isArray(list)) return false
  const [value] = list
  for (let place = 1; place < list.length; place++) if (list[place] !== value) return false
  return true
}

/** The form for lists of which these are alike, or else the one that is there with most of them as values. */
const formFor = ({ made, make }: Forms, alike: number, isNeeded: boolean): number => {
  if (made.has(alike)) return alike
  if (isNeeded || made.size < most) {
    made.set(alike, make(alike))
    return alike
  }
  let best = 0
  for (const plain of made.keys()) if ((plain & alike) === plain && bitsOf(plain) > bitsOf(best)) best = plain
  return best
}

const bitsOf = (word: number): number => {
  let count = 0
  for (let rest = word; rest !== 0; rest &= rest - 1) count++
  return count
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
