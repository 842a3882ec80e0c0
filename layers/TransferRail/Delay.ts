import { Config, Duration, Effect, Schema, SchemaIssue, SchemaTransformation } from "effect"

/** How long a simulated settlement takes. */
export interface Delay {
  readonly shortest: Duration.Duration
  readonly longest: Duration.Duration
}

const units = new Map<string, number>([
  ...["ms", "milli", "millis", "millisecond", "milliseconds"].map((name) => [name, 1] as const),
  ...["s", "sec", "second", "seconds"].map((name) => [name, 1000] as const),
  ...["m", "min", "minute", "minutes"].map((name) => [name, 60_000] as const)
])
const written = /^(\d+(?:\.\d+)?)(?:\s*-\s*(\d+(?:\.\d+)?))?\s*([a-z]+)$/

/** `0`, `3 seconds`, `500 ms` or a range such as `2-5 s`; undefined for anything else. */
export const parseDelay = (text: string): Delay | undefined => {
  if (text.trim() === "0") return { shortest: Duration.zero, longest: Duration.zero }
  const [, low = "", high = low, name = ""] = written.exec(text.trim().toLowerCase()) ?? []
  const unit = units.get(name)
  if (unit === undefined || Number(low) > Number(high)) return undefined
  return { shortest: Duration.millis(Number(low) * unit), longest: Duration.millis(Number(high) * unit) }
}

const FromText = Schema.String.pipe(
  Schema.decodeTo(
    Schema.Struct({ shortest: Schema.Duration, longest: Schema.Duration }),
    SchemaTransformation.transformEffect({
      decode: (text: string) => {
        const delay = parseDelay(text)
        return delay === undefined
          ? Effect.fail(
              new SchemaIssue.InvalidValue({
                message: 'must be a duration or a range of them, such as "3 seconds" or "2-5 s"'
              })
            )
          : Effect.succeed(delay)
      },
      encode: ({ longest, shortest }) =>
        Effect.succeed(`${Duration.toMillis(shortest)}-${Duration.toMillis(longest)} ms`)
    })
  )
)

/** `TURNPIKE_SETTLEMENT_DELAY`. */
export const config: Config.Config<Delay> = Config.schema(FromText, "TURNPIKE_SETTLEMENT_DELAY").pipe(
  Config.withDefault({ shortest: Duration.seconds(2), longest: Duration.seconds(5) })
)
