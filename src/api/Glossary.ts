import { agents } from "./Glossary/Agents.ts"
import { gateway } from "./Glossary/Gateway.ts"
import { money } from "./Glossary/Money.ts"
import { platform } from "./Glossary/Platform.ts"
import { returns } from "./Glossary/Returns.ts"
import { scanner } from "./Glossary/Scanner.ts"
import { scans } from "./Glossary/Scans.ts"
import { schedules } from "./Glossary/Schedules.ts"
import { shoppingTests } from "./Glossary/ShoppingTests.ts"
import { streams } from "./Glossary/Streams.ts"
import { common, identifiers, inDetails, type Terms } from "./Glossary/Terms.ts"

/** What is said of fields and parameters by their place. */
const glossary: Terms = {
  ...agents,
  ...gateway,
  ...money,
  ...platform,
  ...returns,
  ...scanner,
  ...scans,
  ...schedules,
  ...shoppingTests,
  ...streams
}

interface Part {
  readonly properties?: Record<string, Part>
  readonly pattern?: string
  readonly description?: string
}
interface Parameter extends Part {
  readonly name: string
  readonly in: string
  readonly schema?: Part
}
interface Operation {
  readonly operationId: string
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: object
  readonly responses: object
}

/** What an identifier is of, by the prefixes its pattern names. */
const identified = ({ pattern = "" }: Part): string | undefined => {
  const prefixes = /^\^\(\?:(?:\(\?:)?([a-z|]+)\)?_/.exec(pattern)?.[1]?.split("|")
  const told = prefixes?.map((prefix) => `${identifiers[prefix] ?? "something"} (\`${prefix}_…\`)`)
  return told && `Id of ${told.join(" or ")}${pattern.includes("|[0-9A-Fa-f]{8}") ? ", or the UUID it stands for" : ""}`
}

/** Every field that an object of this schema may have, with its path in it. */
const fieldsOf = function* (part: unknown, path = ""): Generator<readonly [string, Part]> {
  if (typeof part !== "object" || part === null) return
  for (const [key, child] of Object.entries(part)) {
    if (key === "example" || key === "examples" || key === "default" || key === "enum") continue
    if (key !== "properties") yield* fieldsOf(child, path)
    else {
      for (const [name, field] of Object.entries(Object(child))) {
        const at = path === "" ? name : `${path}.${name}`
        yield [at, Object(field)]
        yield* fieldsOf(field, at)
      }
    }
  }
}

const explainFields = (name: string, part: unknown): void => {
  for (const [path, field] of fieldsOf(part)) {
    const general = path.startsWith("details.") ? inDetails[path.slice(path.lastIndexOf(".") + 1)] : common[path]
    const description = glossary[name]?.[path] ?? field.description ?? general ?? identified(field)
    if (description !== undefined) Object.assign(field, { description })
  }
}

const explainParameter = (operation: string, parameter: Parameter): void => {
  const { name, schema = {} } = parameter
  const own = parameter.description ?? schema.description
  const description = glossary[operation]?.[name] ?? own ?? common[name] ?? identified(schema)
  if (description === undefined) return
  const { description: _, ...undescribed } = schema
  Object.assign(parameter, { description, schema: undescribed })
}

/** Says of every field and parameter what it means. */
export const explain = (paths: object, schemas: object): void => {
  for (const [name, schema] of Object.entries(schemas)) explainFields(name, schema)
  const operations: ReadonlyArray<Operation> = Object.values(paths).flatMap((path) => Object.values(Object(path)))
  for (const { operationId, parameters = [], requestBody, responses } of operations) {
    for (const parameter of parameters) explainParameter(operationId, parameter)
    explainFields(operationId, [requestBody, responses])
  }
}
