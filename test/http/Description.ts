import { OpenApi } from "effect/http-api"
import { Api } from "#api/Api.ts"

/** A schema as the published description writes it. */
export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly properties?: Record<string, JsonSchema>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: boolean | JsonSchema
  readonly items?: JsonSchema
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly if?: JsonSchema
  readonly else?: JsonSchema
  readonly not?: JsonSchema
  readonly dependentSchemas?: Record<string, JsonSchema>
  readonly enum?: ReadonlyArray<unknown>
  readonly pattern?: string
  readonly deprecated?: boolean
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
}

/** Parsed JSON, of whatever shape. */
type Json = ReturnType<typeof JSON.parse>

interface Media {
  readonly schema: JsonSchema
  readonly example?: Json
}

/** One operation of the published description. */
export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly guarded: boolean
  /** By what it may be called, each being enough. */
  readonly security: ReadonlyArray<Record<string, unknown>>
  /** Whether it may be called without a credential although it takes them. */
  readonly isOpen: boolean
  /** The kinds of credentials that it says it takes, and the scope. */
  readonly asked: { readonly kinds?: ReadonlyArray<string>; readonly scope?: string }
  readonly params: ReadonlyArray<string>
  readonly query: ReadonlyArray<string>
  readonly headers: ReadonlyArray<string>
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly in: string; readonly schema: JsonSchema }>
  readonly body: Media | undefined
  readonly responses: Record<string, Record<string, Media>>
  /** The names of the headers that an answer of this status is said to have, in lower case. */
  readonly responseHeaders: Record<string, ReadonlyArray<string>>
}

const document: Json = JSON.parse(JSON.stringify(OpenApi.fromApi(Api)))

/** What a subscription to an event of this type is posted, and the schema of it. */
export const postedOf = (type: string): Media => document.webhooks[type].post.requestBody.content["application/json"]

/** The groups that the description names, and those that what is posted by webhooks is under. */
export const groups: { readonly named: ReadonlyArray<string>; readonly ofPosted: ReadonlyArray<string> } = {
  named: document.tags.map(({ name }: Json) => name),
  ofPosted: Object.values<Json>(document.webhooks).flatMap(({ post }) => post.tags)
}

/** How callers show who they are. */
export const securitySchemes: Record<string, Json> = document.components.securitySchemes

/** Priced endpoints answer what their sellers answer: how they are called is described, and is no operation of the contract. */
const isContract = ([path]: readonly [path: string, methods: Json]) => !path.startsWith("/x402/")

/** Every operation of the API, as its callers read about it. */
export const described: ReadonlyArray<Operation> = Object.entries<Json>(document.paths)
  .filter(isContract)
  .flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]): Operation => {
      const named = (place: string) =>
        operation.parameters.filter((one: Json) => one.in === place).map((one: Json) => one.name)
      const { security = [] } = operation
      const isOpen = security.some((one: Json) => Object.keys(one).length === 0)
      const isBearers = security.some((one: Json) => "bearer" in one)
      return {
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        summary: operation.summary ?? "",
        description: operation.description ?? "",
        guarded: isBearers && (!isOpen || operation.responses["402"] !== undefined),
        security,
        isOpen,
        asked: {
          ...(operation["x-credentials"] && { kinds: operation["x-credentials"] }),
          ...(operation["x-scope"] && { scope: operation["x-scope"] })
        },
        params: named("path"),
        query: named("query"),
        headers: named("header"),
        parameters: operation.parameters,
        body: operation.requestBody?.content["application/json"],
        responses: Object.fromEntries(
          Object.entries<Json>(operation.responses).map(([status, { content = {} }]) => [status, content])
        ),
        responseHeaders: Object.fromEntries(
          Object.entries<Json>(operation.responses).map(([status, { headers = {} }]) => [
            status,
            Object.keys(headers).map((name) => name.toLowerCase())
          ])
        )
      }
    })
  )

/** Those that answer and are done. A stream of events goes on. */
export const operations = described.filter(({ responses }) => responses["200"]?.["text/event-stream"] === undefined)

export const operationOf = (id: string): Operation => {
  const found = described.find((operation) => operation.id === id)
  if (found === undefined) throw new Error(`the description has no operation ${id}`)
  return found
}

/** Headers that programs act on and that are not described. What is left of a limit is told to whom it is left, and to whom it is not. */
export const untoldHeaders = (
  { responseHeaders }: Operation,
  status: number,
  headers: object
): ReadonlyArray<string> => {
  const limits = status < 300 || status === 429 ? ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"] : []
  return ["idempotency-replayed", "x-credits-remaining", "retry-after", ...limits].filter(
    (name) => name in headers && !responseHeaders[status]?.includes(name)
  )
}

/** The schema itself, where a name stands for it. */
export const resolve = (schema: JsonSchema): JsonSchema =>
  schema.$ref === undefined ? schema : resolve(document.components.schemas[schema.$ref.split("/").at(-1) ?? ""])

/** The fields that a body of this operation may have. */
export const fieldsOf = ({ body }: Operation): Record<string, JsonSchema> =>
  body === undefined ? {} : (resolve(body.schema).properties ?? {})

const understood = new Set(
  "$ref type properties required additionalProperties items anyOf if else not dependentSchemas enum format pattern minimum maximum exclusiveMinimum minLength maxLength minItems maxItems uniqueItems default title description deprecated".split(
    " "
  )
)

const typeOf = (value: unknown): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return "array"
  return Number.isInteger(value) ? "integer" : typeof value
}

/** What in a value contradicts the schema, each with its place. Refuses to judge by a keyword it does not know. */
export const contradictions = (given: JsonSchema, value: Json, at = "$"): ReadonlyArray<string> => {
  const schema = resolve(given)
  for (const keyword of Object.keys(schema)) {
    if (!understood.has(keyword)) throw new Error(`this validator does not know ${keyword}`)
  }
  const { type } = schema
  const actual = typeOf(value)
  if (type !== undefined && type !== actual && !(type === "number" && actual === "integer")) {
    return [`${at} is ${actual}, not ${type}`]
  }
  const found: Array<string> = []
  const check = (holds: boolean, what: string) => {
    if (!holds) found.push(`${at} ${what}`)
  }
  const { anyOf, maximum = Infinity, minimum = -Infinity } = schema
  if (schema.enum !== undefined) check(schema.enum.includes(value), `is ${value}, which is not in the list`)
  if (anyOf !== undefined) {
    check(
      anyOf.some((one) => contradictions(one, value, at).length === 0),
      `fits none of: ${anyOf.flatMap((one) => contradictions(one, value, at)).join(", ")}`
    )
  }
  if (schema.if !== undefined && contradictions(schema.if, value, at).length > 0) {
    found.push(...contradictions(schema.else ?? {}, value, at))
  }
  for (const [name, dependent] of Object.entries(schema.dependentSchemas ?? {})) {
    if (name in Object(value)) found.push(...contradictions(dependent, value, at))
  }
  if (schema.not !== undefined) check(contradictions(schema.not, value, at).length > 0, "is what it must not be")
  if (typeof value === "number") {
    const { exclusiveMinimum = -Infinity } = schema
    check(value >= minimum && value > exclusiveMinimum && value <= maximum, `is out of bounds: ${value}`)
  }
  if (typeof value === "string") {
    const length = [...value].length
    check(length >= (schema.minLength ?? 0) && length <= (schema.maxLength ?? Infinity), `is ${length} long`)
    check(new RegExp(schema.pattern ?? "", "u").test(value), `does not match ${schema.pattern}`)
  }
  if (Array.isArray(value)) {
    check(value.length >= (schema.minItems ?? 0) && value.length <= (schema.maxItems ?? Infinity), "has a wrong size")
    check(!schema.uniqueItems || new Set(value).size === value.length, "has one thing twice")
    if (schema.items !== undefined) {
      for (const [index, item] of value.entries()) found.push(...contradictions(schema.items, item, `${at}.${index}`))
    }
  } else if (actual === "object") {
    // To a reader an object is open unless it says that it is closed; to us it has what is described, and no more.
    const { additionalProperties = schema.properties === undefined, properties = {}, required = [] } = schema
    for (const name of required) check(name in value, `has no ${name}`)
    for (const [name, member] of Object.entries(value)) {
      const known = Object.hasOwn(properties, name) ? properties[name] : additionalProperties
      if (known === false) found.push(`${at} has ${name}, which is not described`)
      else if (typeof known === "object") found.push(...contradictions(known, member, `${at}.${name}`))
    }
  }
  return found
}
