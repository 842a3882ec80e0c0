import type { SchemaAST, SchemaIssue } from "effect"
import { meantBy } from "#domain/Misspelling.ts"

/** One thing that is wrong with a request: at which field, and what the field has to be. */
export interface Wrong {
  readonly path: string
  readonly message: string
}

/** What the checks of schemas expect, as callers are told. Others say it themselves. */
const phrases: ReadonlyArray<readonly [expected: RegExp, said: string]> = [
  [/^a string with at most (\d+) code points$/, "must have at most $1 characters"],
  [/^a value with a length of at least 1$/, "must not be empty"],
  // What is text counts code points: the lengths of others are those of lists.
  [/^a value with a length of at (least|most) (\d+)$/, "must have at $1 $2 items"],
  [/^a value between (\d+) and (\d+)$/, "must be between $1 and $2"],
  [/^an integer$/, "must be a whole number"],
  // Numbers come as text in queries alone, where all of them are whole.
  [/^a string representing a finite number$/, "must be a whole number"]
]

const mustBe = (expected: string): string => {
  const found = phrases.find(([known]) => known.test(expected))
  return found === undefined ? `must be ${expected}` : expected.replace(...found)
}

const membersOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> =>
  ast._tag === "Union" ? ast.types.flatMap(membersOf) : [ast]

const kindOf = (ast: SchemaAST.AST): string => {
  switch (ast._tag) {
    case "String":
      return "text"
    case "Number":
      return "a number"
    case "Boolean":
      return "true or false"
    case "Null":
      return "null"
    case "Arrays":
      return "a list"
    case "Objects":
      return "a JSON object"
    // What is anything else takes all of JSON, in which only a number can be too large to be read.
    default:
      return "JSON without numbers above 1.7e308"
  }
}

/** What JSON a schema takes. A body may be left out, but none is null. */
const kindsOf = (ast: SchemaAST.AST, path: string): string => {
  const literals: Array<string> = []
  const kinds = new Set<string>()
  for (const member of membersOf(ast)) {
    if (member._tag === "Literal") literals.push(JSON.stringify(member.literal))
    else if (path !== "" || member._tag !== "Null") kinds.add(kindOf(member))
  }
  const listed = literals.length > 1 ? [`one of ${literals.join(", ")}`] : literals
  return [...listed, ...kinds].join(" or ")
}

const said = (annotations: object | undefined, name: "message" | "expected"): string | undefined => {
  const text: unknown = Reflect.get(Object(annotations), name)
  return typeof text === "string" ? text : undefined
}

/** What was said of a value that is none of those it may be. */
const ofValue = ({ annotations }: SchemaIssue.InvalidValue): string | undefined => {
  const expected = said(annotations, "expected")
  return said(annotations, "message") ?? (expected === undefined ? undefined : mustBe(expected))
}

/** What a check says: the check itself first, then what it found. What it found elsewhere says so there. */
const ofCheck = ({ filter, issue }: SchemaIssue.Filter): string | undefined =>
  said(filter.annotations, "message") ??
  (issue._tag === "InvalidValue"
    ? (ofValue(issue) ?? mustBe(said(filter.annotations, "expected") ?? "something else"))
    : undefined)

/** What was not expected, and what its writer may have meant. */
const notKnown = ({ ast }: SchemaIssue.UnexpectedKey, path: string): string => {
  const known = ast._tag === "Objects" ? ast.propertySignatures.map(({ name }) => String(name)) : []
  const meant = meantBy(path.slice(path.lastIndexOf(".") + 1), known)
  return meant === undefined ? "is not known here" : `is not known here: did you mean ${meant}?`
}

/** A name that a caller made up may be as long as a body, and it is answered twice. */
const segment = (part: PropertyKey): string => {
  const name = String(part)
  return name.length > longest ? `${name.slice(0, longest)}…` : name
}
const longest = 100

/**
 * What is wrong, each with its place, in the words of the API: schemas are named by nobody else. Told one by one, because a body may have
 * thousands of wrong values and nobody reads them all.
 */
export function* wrongs(issue: SchemaIssue.Issue, path = ""): Generator<Wrong, void> {
  switch (issue._tag) {
    case "Filter": {
      const message = ofCheck(issue)
      return message === undefined ? yield* wrongs(issue.issue, path) : yield { path, message }
    }
    case "Encoding":
      return yield* wrongs(issue.issue, path)
    case "Pointer": {
      const inside = [...(path === "" ? [] : [path]), ...issue.path.map(segment)].join(".")
      return yield* wrongs(issue.issue, inside)
    }
    case "Composite":
      for (const inner of issue.issues) yield* wrongs(inner, path)
      return
    case "AnyOf":
      for (const inner of issue.issues) yield* wrongs(inner, path)
      if (issue.issues.length > 0) return
      return yield { path, message: mustBe(kindsOf(issue.ast, path)) }
    case "InvalidType":
      return yield { path, message: mustBe(kindsOf(issue.ast, path)) }
    case "InvalidValue":
      return yield { path, message: ofValue(issue) ?? "cannot be read" }
    case "MissingKey":
      return yield { path, message: "is needed" }
    case "UnexpectedKey":
      return yield { path, message: notKnown(issue, path) }
    default:
      return yield { path, message: "cannot be read" }
  }
}
