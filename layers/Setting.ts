import { Config, Effect, Redacted, Schema, SchemaIssue } from "effect"

const wrong = (name: string, message: string) =>
  Effect.fail(
    new Config.ConfigError(
      new Schema.SchemaError(new SchemaIssue.Pointer([name], new SchemaIssue.InvalidValue({ message })))
    )
  )

/** A setting as `read` understands it, which says `undefined` to what is none; `expected` tells the operator what would be one. */
export const understood = <A>(name: string, expected: string, read: (text: string) => A | undefined) =>
  Config.mapEffect(Config.String(name), (text) => {
    const value = read(text.trim())
    return value === undefined ? wrong(name, `expected ${expected}`) : Effect.succeed(value)
  })

/** A setting of several, with commas between them. One that `read` does not understand is named. */
export const list = <A>(name: string, expected: string, read: (text: string) => A | undefined) =>
  Config.mapEffect(Config.String(name), (text) =>
    Effect.forEach(
      text
        .split(",")
        .map((entry) => entry.trim())
        .filter((entry) => entry !== ""),
      (entry) => {
        const value = read(entry)
        return value === undefined
          ? wrong(name, `expected ${expected} with commas between them, and ${JSON.stringify(entry)} is none`)
          : Effect.succeed(value)
      }
    )
  )

/** A whole number from `minimum` to `maximum`. */
export const whole = (name: string, minimum: number, maximum: number) =>
  understood(name, `a whole number from ${minimum} to ${maximum}`, (text) =>
    /^\d{1,15}$/.test(text) && Number(text) >= minimum && Number(text) <= maximum ? Number(text) : undefined
  )

/** One of these words, in whatever case. */
export const word = <const Word extends string>(name: string, words: ReadonlyArray<Word>) =>
  understood(name, `one of ${words.join(", ")}`, (text) =>
    words.find((known) => known.toLowerCase() === text.toLowerCase())
  )

/** The value of a header that is sent, without the line end that a file of secrets ends with. Never shown. */
export const header = (name: string) =>
  understood(name, "the text of one header, without line ends", (text) =>
    /^[\t\x20-\x7e\x80-\xff]*$/.test(text) ? Redacted.make(text) : undefined
  )

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** What is wrong with the surroundings, in a sentence that begins with the setting's name. */
export const sentence = ({ cause, message }: Config.ConfigError): string => {
  if (!Schema.isSchemaError(cause)) return message
  const { issues } = format(cause.issue)
  const said = new Set(issues.map((issue) => issue.message.replace(/^Expected /, "expected ")))
  return `${issues[0]?.path?.map(String).join(".")}: ${[...said].join(", or ")}.`
}
