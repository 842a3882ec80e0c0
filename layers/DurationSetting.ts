import { Config, Duration, Effect, Schema, SchemaIssue, SchemaTransformation } from "effect"

/** Something that takes at least so long, and at most so long. */
export interface DurationRange {
  readonly shortest: Duration.Duration
  readonly longest: Duration.Duration
}

const names: ReadonlyArray<readonly [millis: number, ...names: ReadonlyArray<string>]> = [
  [1, "ms", "milli", "millis", "millisecond", "milliseconds"],
  [1000, "s", "sec", "second", "seconds"],
  [60_000, "m", "min", "minute", "minutes"],
  [3_600_000, "h", "hour", "hours"],
  [86_400_000, "d", "day", "days"]
]
const units = new Map(names.flatMap(([millis, ...spellings]) => spellings.map((name) => [name, millis] as const)))
const written = /^(\d+(?:\.\d+)?)(?:\s*-\s*(\d+(?:\.\d+)?))?\s*([a-z]+)$/

/** `2-5 s`, or a single duration for both ends; undefined for anything else. */
const parseRange = (text: string): DurationRange | undefined => {
  if (text.trim() === "0") return { shortest: Duration.zero, longest: Duration.zero }
  const [, low = "", high = low, name = ""] = written.exec(text.trim().toLowerCase()) ?? []
  const unit = units.get(name)
  if (unit === undefined || Number(low) > Number(high)) return undefined
  return { shortest: Duration.millis(Number(low) * unit), longest: Duration.millis(Number(high) * unit) }
}

/** `0`, `3 s`, `3s`, `500 ms`, `3 seconds`, `5 minutes`; undefined for anything else. */
export const parse = (text: string): Duration.Duration | undefined =>
  text.includes("-") ? undefined : parseRange(text)?.longest

const understood = <A>(value: A | undefined, expected: string) =>
  value === undefined ? Effect.fail(new SchemaIssue.InvalidValue({ message: expected })) : Effect.succeed(value)

const Single = Schema.String.pipe(
  Schema.decodeTo(
    Schema.Duration,
    SchemaTransformation.transformEffect({
      decode: (text: string) => understood(parse(text), 'must be a duration, such as "3 seconds", "500 ms" or "0"'),
      encode: (duration) => Effect.succeed(`${Duration.toMillis(duration)} ms`)
    })
  )
)

const Range = Schema.String.pipe(
  Schema.decodeTo(
    Schema.Struct({ shortest: Schema.Duration, longest: Schema.Duration }),
    SchemaTransformation.transformEffect({
      decode: (text: string) =>
        understood(parseRange(text), 'must be a duration or a range of them, such as "3 seconds" or "2-5 s"'),
      encode: ({ longest, shortest }) =>
        Effect.succeed(`${Duration.toMillis(shortest)}-${Duration.toMillis(longest)} ms`)
    })
  )
)

/** A setting that is a duration. All of them are written in the same ways. */
export const duration = (name: string): Config.Config<Duration.Duration> => Config.schema(Single, name)

/** A setting that is a duration, or a range of them. */
export const durationRange = (name: string): Config.Config<DurationRange> => Config.schema(Range, name)
