import { Effect, Result, Schema } from "effect"

/** A row as the database gives it. */
export const Raw = Schema.Record(Schema.String, Schema.Unknown)
export type Raw = typeof Raw.Type

/** What of some rows could be read; the others are as they came, for whoever has to put them off. */
export interface Read<A> {
  readonly rows: ReadonlyArray<A>
  readonly unreadable: ReadonlyArray<Raw>
}

/**
 * Reads rows one by one: what a newer version wrote, or what is broken, must not keep the others back. It is reported as `what`
 * under its `key`, and it is for the operator, because whoever takes what is due meets it again and again.
 */
export const reader = <S extends Schema.ConstraintDecoder<unknown>>(
  what: string,
  row: S,
  key: ReadonlyArray<string> = ["id"]
) => {
  const read = Schema.decodeUnknownResult(row)
  return Effect.fnUntraced(function* (found: ReadonlyArray<Raw>): Effect.fn.Return<Read<S["Type"]>> {
    const rows: Array<S["Type"]> = []
    const unreadable: Array<Raw> = []
    for (const one of found) {
      const result = read(one)
      if (Result.isSuccess(result)) rows.push(result.success)
      else {
        unreadable.push(one)
        const id = Object.fromEntries(key.map((name) => [name, one[name]]))
        yield* Effect.logError(`ALERT: ${what} could not be read`, id, result.failure)
      }
    }
    return { rows, unreadable }
  })
}

/** The ids of rows that could not be read. */
export const idsOf = (unreadable: ReadonlyArray<Raw>): ReadonlyArray<string> => unreadable.map(({ id }) => String(id))
