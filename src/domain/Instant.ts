import { DateTime, type Duration, Effect, Option, Schema, SchemaIssue, SchemaTransformation } from "effect"

/** The moment so many milliseconds after 1970 began. */
export const dateOf = (millis: number): Date => DateTime.toDate(DateTime.makeUnsafe(millis))

/** The moment so much after another; a number is milliseconds. */
export const later = (at: Date, by: Duration.Input): Date =>
  DateTime.toDate(DateTime.addDuration(DateTime.makeUnsafe(at), by))

const iso =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))T((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d{1,9}))?(Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/u

/**
 * The moment that an ISO 8601 text names, to the millisecond; undefined without an offset, or for a day or second that no
 * calendar has, such as 30 February or a leap second.
 */
export const parseInstant = (text: string): Date | undefined => {
  const match = iso.exec(text)
  if (match === null) return undefined
  const [, day = "", time = "", fraction = "", offset = ""] = match
  const local = `${day}T${time}.${fraction.slice(0, 3).padEnd(3, "0")}`
  // The platform reads 30 February as 2 March: what comes back must be what was written.
  const written = Option.map(DateTime.make(`${local}Z`), DateTime.formatIso)
  if (Option.isNone(written) || written.value !== `${local}Z`) return undefined
  // An offset may lead out of the years that have four digits, and we could not write it as we read it.
  const moment = Option.filter(
    DateTime.make(local + offset),
    (at) => DateTime.formatIso(at).length === written.value.length
  )
  return Option.getOrUndefined(Option.map(moment, DateTime.toDate))
}

const description = "ISO 8601 with seconds and with Z or an offset, such as 2030-01-31T09:00:00+01:00"

const message = "must be a moment that exists, with Z or an offset, such as 2030-01-31T09:00:00+01:00"

const wireOf = (parse: (text: string) => Date | undefined) =>
  Schema.String.annotate({ format: "date-time" })
    .check(Schema.isPattern(iso, { message }))
    .annotate({ description })
    .pipe(
      Schema.decodeTo(
        Schema.Date,
        SchemaTransformation.transformEffect({
          decode: (text: string) => {
            const date = parse(text)
            return date === undefined ? Effect.fail(new SchemaIssue.InvalidValue({ message })) : Effect.succeed(date)
          },
          encode: (date: Date) => Effect.succeed(date.toISOString())
        })
      )
    )

/** A moment on the wire: ISO 8601 with seconds and with `Z` or an offset, never local time. */
export const Instant = wireOf(parseInstant)

const lastMillisecond = Date.parse("9999-12-31T23:59:59.999Z")

/** The first millisecond that is not before the moment of a text: what is dated by the millisecond is before both or before neither. */
const parseBound = (text: string): Date | undefined => {
  const cut = parseInstant(text)
  if (cut === undefined || !/\.\d{3}\d*[1-9]/u.test(text)) return cut
  return dateOf(Math.min(cut.getTime() + 1, lastMillisecond))
}

/** Where a list by time begins or ends, written as `Instant` is. */
export const Bound = wireOf(parseBound)

/** A moment that we say: ISO 8601 in UTC, with milliseconds. */
export const Moment = Schema.String.annotate({ format: "date-time" }).pipe(
  Schema.decodeTo(Schema.Date, SchemaTransformation.dateFromString)
)
