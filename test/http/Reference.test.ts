import { assert, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { fieldsOf, glossary } from "#api/Glossary.ts"

interface Told {
  readonly name: string
  readonly description?: string
}
interface Operation {
  readonly operationId: string
  readonly parameters?: ReadonlyArray<Told>
  readonly requestBody?: object
  readonly responses: object
}

/** Every field and parameter of the reference, by the name that the glossary has for its place. */
const places = (): ReadonlyArray<readonly [string, string, string | undefined]> => {
  const spec = OpenApi.fromApi(Api)
  const operations: ReadonlyArray<Operation> = Object.values(spec.paths).flatMap((path) => Object.values(Object(path)))
  const within = (name: string, part: unknown) =>
    [...fieldsOf(part)].map(([path, field]) => [name, path, field.description] as const)
  return [
    ...Object.entries(spec.components.schemas).flatMap(([name, schema]) => within(name, schema)),
    ...operations.flatMap(({ operationId, parameters = [], requestBody, responses }) => [
      ...parameters.map(({ description, name }) => [operationId, name, description] as const),
      ...within(operationId, [requestBody, responses])
    ])
  ]
}

describe("The reference", () => {
  const all = places()

  it("says of every field and parameter what it means", () => {
    assert.isAbove(all.length, 2000)
    assert.deepStrictEqual(
      all.flatMap(([name, path, description]) => (description === undefined ? [`${name} ${path}`] : [])),
      []
    )
  })

  it("says it once of a parameter", () => {
    const twice = Object.values(OpenApi.fromApi(Api).paths)
      .flatMap((path) => Object.values(Object(path)))
      .flatMap((operation) => Object(operation).parameters ?? [])
      .filter(({ schema }) => Object(schema).description !== undefined)
    assert.deepStrictEqual(twice, [])
  })

  it("says nothing of fields that there are not", () => {
    const known = new Set(all.map(([name, path]) => `${name} ${path}`))
    const told = Object.entries(glossary).flatMap(([name, of]) => Object.keys(of).map((path) => `${name} ${path}`))
    assert.deepStrictEqual(
      told.filter((place) => !known.has(place)),
      []
    )
  })
})
