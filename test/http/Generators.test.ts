import { assert, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { contradictions, described, operationOf, resolve, securitySchemes } from "./Description.ts"

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

  it("find the fields of every body: beside them, what must be one of others hides them from some, and makes of them anything to others", () => {
    const hidden = described.filter(({ body }) => {
      const schema = resolve(body?.schema ?? {})
      return schema.properties !== undefined && ["allOf", "anyOf", "oneOf"].some((keyword) => keyword in schema)
    })
    assert.deepStrictEqual(
      hidden.map(({ id }) => id),
      []
    )
    JSON.stringify(OpenApi.fromApi(Api), (_, value) => {
      const schema = Object(value)
      const isHidden = schema.type === "object" && "properties" in schema && ("anyOf" in schema || "oneOf" in schema)
      assert.isFalse(isHidden, JSON.stringify(value))
      return value
    })
  })

  it("find no two schemas that they would give one name: they take the title where there is one, and else the component's", () => {
    const schemas = Object.entries(Object(OpenApi.fromApi(Api).components?.schemas))
    const names = schemas.map(([name, schema]) => spelt(String(Object(schema).title ?? name)))
    assert.isNotEmpty(names)
    assert.deepStrictEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      []
    )
  })

  it("find in a pattern only what means the same in all their languages, and in JavaScript without a flag", () => {
    const patterns: Array<string> = []
    JSON.stringify(OpenApi.fromApi(Api), (key, value) => {
      if (key === "pattern" && typeof value === "string") patterns.push(value)
      return value
    })
    // Categories of letters, code points in braces, and looking around are written otherwise in some, or not known there.
    assert.deepStrictEqual(
      patterns.filter((pattern) => /\\[pPuUkdD]|\(\?[^:]/.test(pattern)),
      []
    )
  })

  it("find the scheme of credentials as they compare it: by another case they made clients that sent none", () => {
    assert.strictEqual(securitySchemes["bearer"].scheme, "bearer")
    const named = new Set(described.flatMap(({ security }) => security.flatMap((one) => Object.keys(one))))
    assert.deepStrictEqual([...named].sort(), Object.keys(securitySchemes).sort())
  })

  it("find the cookie that goes on with a session, without which it is refused", () => {
    const { security } = operationOf("sessions.refresh")
    assert.deepStrictEqual(security, [{ refresh_token: [] }])
    assert.deepStrictEqual(securitySchemes["refresh_token"], { type: "apiKey", in: "cookie", name: "refresh_token" })
  })

  it("find that a flag of a query is a boolean, not one of two words", () => {
    const flags = described.flatMap(({ parameters }) => parameters).filter(({ schema }) => schema.type === "boolean")
    assert.includeMembers(
      flags.map(({ name }) => name),
      ["connected", "due_soon", "include_revoked"]
    )
    const words = described
      .flatMap(({ parameters }) => parameters)
      .filter(({ schema }) => schema.enum?.includes("true"))
    assert.deepStrictEqual(words, [])
  })

  it("find nothing said of a stream of events that the data of each event would contradict", () => {
    const stream = operationOf("agent_channel.connect").responses["200"]?.["text/event-stream"]
    assert.deepStrictEqual(contradictions(stream?.schema ?? { type: "null" }, { reason: "shutdown" }), [])
    assert.deepStrictEqual(contradictions(stream?.schema ?? { type: "null" }, stream?.example), [])
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
