import { Schema } from "effect"

const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes("\u0000")

const storable = (value: string) => (isStorable(value) ? undefined : "must be Unicode text without NUL characters")

/** Whether all texts in a document of somebody else are such that a database keeps them. */
export const isStorableJson = (value: unknown): boolean => {
  if (typeof value === "string") return isStorable(value)
  if (typeof value !== "object" || value === null) return true
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorableJson(member))
}

/** What the description says of text: one pattern, because readers of it take no second. */
const said = (pattern: string) => ({ toJsonSchema: () => ({ pattern }) })

/** Text that is kept as it came: at most `longest` characters, and possibly empty. A character is a code point, as in JSON Schema. */
export const text = (longest: number) =>
  Schema.String.check(Schema.isMaxCodePoints(longest), Schema.makeFilter(storable, said("^[^\\x00]*$")))

/** The same of this form, and what the description says of that. */
export const textOf = (longest: number, form: RegExp, pattern: string, about: Schema.Annotations.Filter) =>
  Schema.String.check(
    Schema.isMaxCodePoints(longest),
    Schema.makeFilter(storable),
    Schema.isPattern(form, { ...about, ...said(pattern) })
  )

/** Text that is not all white space. */
export const filled = (longest: number, about: Schema.Annotations.Filter) =>
  textOf(longest, /\S/u, "^[^\\x00]*[^\\x00\\s][^\\x00]*$", about)

/** A name: 1 to `longest` characters, not all of them white space. */
export const name = (longest: number) => filled(longest, { message: "must not be blank" })

/** What makes two requests one: 1 to 255 printable characters. */
export const IdempotencyKey = Schema.String.check(
  Schema.isPattern(/^[^\p{C}\p{Zl}\p{Zp}]{1,255}$/u, {
    expected: "1 to 255 printable characters",
    // Python knows no \p, and JavaScript without a flag takes it for the letter: less is said than is meant.
    ...said("^[^\\x00-\\x1f\\x7f-\\x9f]{1,255}$")
  })
).annotate({
  description:
    "1 to 255 printable characters. The same key with the same parameters gives the first result again, for 24 hours. In a header it is UTF-8"
})
