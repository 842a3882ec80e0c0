import { Schema, SchemaTransformation, Struct } from "effect"
import { HttpApiSchema } from "effect/http-api"

/** A refusal as callers see it: RFC 9457, always with the stable `code` and the id of the request. */
export interface ProblemBody {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly details?: { readonly [field: string]: unknown } | undefined
  readonly request_id?: string | undefined
}

/** A class of refusals: its tag is the public code, its annotations carry the HTTP status and the title. */
export interface RefusalClass extends Schema.Top {
  readonly fields: Schema.Struct.Fields
  readonly identifier: string
  readonly name: string
  new (props: never): { readonly _tag: string; readonly message: string }
}

/** What a refusal class says about itself. */
export const describe = (refusal: RefusalClass) => {
  const { httpApiStatus, title } = refusal.ast.annotations ?? {}
  return {
    code: refusal.identifier,
    status: typeof httpApiStatus === "number" ? httpApiStatus : 500,
    title: typeof title === "string" ? title : refusal.identifier
  }
}

/** Where a code is explained, relative to the public address. */
const problemType = (code: string): string => `/docs/errors#${code}`

const known = new Map<RefusalClass, Schema.Top>()

/** Lists refusals of what is no operation of the API, such as the gateway, with those that operations declare. */
export const listRefusals = (...refusals: ReadonlyArray<RefusalClass>): void => {
  for (const refusal of refusals) problem(refusal)
}

/** Every refusal class that some operation declares, or that is listed beside them; complete once the whole API is loaded. */
export const declaredRefusals = (): ReadonlyArray<RefusalClass> => [...known.keys()]

/** A fact as it is read in a sentence; empty for one that is too long for it, or has parts. */
const told = (fact: unknown): string => {
  if (Array.isArray(fact)) return fact.every((one) => typeof one !== "object") ? told(fact.join(", ")) : ""
  const text = typeof fact === "object" ? "" : String(fact)
  return text.length > 200 ? "" : text
}

/** What went wrong this time, in a sentence: what the error says, or the first wrong field, or what kind of thing it is with its facts. */
const detailOf = (error: unknown, title: string, details: Readonly<Record<string, unknown>>): string => {
  const { errors, message: said, param } = details
  const message: unknown = Reflect.get(Object(error), "message")
  // What is said of one field alone does not name it.
  if (typeof param === "string" && param !== "" && message === said) return `${param}: ${message}`
  if (typeof message === "string" && message !== "") return message
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined
  if (typeof first === "object" && first !== null && "path" in first && "message" in first) {
    return first.path === "" ? `The request: ${first.message}` : `${first.path}: ${first.message}`
  }
  const facts = Object.entries(details).flatMap(([name, fact]) => {
    const text = told(fact)
    return text === "" ? [] : [`${name}: ${text}`]
  })
  return facts.length === 0 ? title : `${title} (${facts.join("; ")})`
}

const make = (refusal: RefusalClass): Schema.Top => {
  const { code, status, title } = describe(refusal)
  const fields = Struct.omit(refusal.fields, ["_tag"])
  const names = Object.keys(fields)
  const body = Schema.Struct({
    type: Schema.String.annotate({ description: "Where this code is explained" }),
    title: Schema.String.annotate({ description: "What kind of refusal this is" }),
    status: Schema.Literal(status).annotate({ description: "The status of the answer" }),
    detail: Schema.String.annotate({ description: "What went wrong this time, in a sentence" }),
    code: Schema.Literal(code).annotate({
      description: "What kind of refusal this is, for programs: it does not change"
    }),
    ...(names.length === 0
      ? {}
      : { details: Schema.Struct(fields).annotate({ description: "The facts of this refusal, for programs" }) }),
    request_id: Schema.optionalKey(Schema.String.annotate({ description: "`X-Request-Id` of the answer" }))
  }).annotate({ identifier: `${refusal.name}Problem`, description: title })
  return body.pipe(
    Schema.decodeTo(
      Schema.toType(refusal),
      SchemaTransformation.transform<unknown, ProblemBody>({
        decode: (problem) => Reflect.construct(refusal, [problem.details ?? {}]),
        encode: (error) => {
          const details: Record<string, unknown> = {}
          for (const name of names) {
            const value: unknown = Reflect.get(Object(error), name)
            if (value !== undefined) details[name] = value
          }
          return {
            type: problemType(code),
            title,
            status,
            detail: detailOf(error, title, details),
            code,
            ...(names.length === 0 ? {} : { details })
          }
        }
      }) as never
    ),
    HttpApiSchema.asJson({ contentType: "application/problem+json" })
  )
}

/** The wire form of a refusal class, for an endpoint's `error`: the Type is the class, the Encoded side a `ProblemBody`. */
export const problem = <Refusal extends RefusalClass>(refusal: Refusal): Schema.Codec<Refusal["Type"], ProblemBody> => {
  let schema = known.get(refusal)
  if (schema === undefined) {
    schema = make(refusal)
    known.set(refusal, schema)
  }
  return schema as never
}

/** The same for several classes at once: `error: problems(NotFound, WalletFrozen)`. */
export const problems = <const Refusals extends ReadonlyArray<RefusalClass>>(
  ...refusals: Refusals
): { readonly [Index in keyof Refusals]: Schema.Codec<Refusals[Index]["Type"], ProblemBody> } =>
  refusals.map((refusal) => problem(refusal)) as never

/** Something that says itself how it is refused: an instance of a refusal class. */
export interface Refusal {
  readonly _tag: string
  readonly message: string
}

const classOf = (value: unknown): RefusalClass | undefined => {
  const made: unknown = value instanceof Error ? value.constructor : undefined
  return Schema.isSchema(made) && typeof made.ast.annotations?.["httpApiStatus"] === "number"
    ? (made as RefusalClass)
    : undefined
}

export const isRefusal = (value: unknown): value is Refusal => classOf(value) !== undefined

/** The wire form of a refusal; undefined for anything else. `type` is still relative and the request id is missing. */
export const toProblem = (value: unknown): ProblemBody | undefined => {
  const refusal = classOf(value)
  return refusal === undefined ? undefined : Schema.encodeUnknownSync(problem(refusal))(value)
}
