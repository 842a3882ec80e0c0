import { assert, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { described } from "./Description.ts"

/** A name as generators of clients write it in their language. */
const spelt = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "")

describe("generators of clients", () => {
  it("find no two parameters of an operation that they would give one name", () => {
    const clashing = described.filter(({ parameters }) => {
      const names = parameters.map(({ name }) => spelt(name))
      return new Set(names).size < names.length
    })
    assert.deepStrictEqual(
      clashing.map(({ id }) => id),
      []
    )
  })

  it("find no escaped slash in a pattern, which some of them escape themselves", () => {
    const patterns: Array<string> = []
    JSON.stringify(OpenApi.fromApi(Api), (key, value) => {
      if (key === "pattern" && typeof value === "string") patterns.push(value)
      return value
    })
    assert.isNotEmpty(patterns.filter((pattern) => pattern.includes("/")))
    assert.deepStrictEqual(
      patterns.filter((pattern) => pattern.includes("\\/")),
      []
    )
  })
})
