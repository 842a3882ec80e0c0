import { Result } from "effect"
import { InvalidRequest } from "./Refusal.ts"

const wrong = (path: string, message: string) => Result.fail(new InvalidRequest({ errors: [{ path, message }] }))

/** A field that may be spelled in two ways; both at once are refused, because they might differ. */
export const either = <Value>(
  [name, value]: readonly [name: string, value: Value | undefined],
  [alias, other]: readonly [alias: string, value: Value | undefined]
): Result.Result<Value | undefined, InvalidRequest> =>
  value !== undefined && other !== undefined
    ? wrong(alias, `is another spelling of ${name}: send one of the two`)
    : Result.succeed(value ?? other)

/** The same of a field that there must be. */
export const eitherNeeded = <Value>(
  field: readonly [name: string, value: Value | undefined],
  alias: readonly [alias: string, value: Value | undefined]
): Result.Result<Value, InvalidRequest> =>
  Result.flatMap(either(field, alias), (value) =>
    value === undefined ? wrong(field[0], "is needed") : Result.succeed(value)
  )
