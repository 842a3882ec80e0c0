import { assert, describe, it } from "vitest"
import { Schema } from "effect"
import { isStorableJson, name, text } from "#domain/Text.ts"

describe("text of a bounded length", () => {
  const accepts = (schema: Schema.Schema<string>, value: string) => Schema.is(schema)(value)

  it("is measured in code points, not in UTF-16 units", () => {
    assert.isTrue(accepts(text(1000), "🔑".repeat(600)))
    assert.isTrue(accepts(text(1000), "🔑".repeat(1000)))
    assert.isFalse(accepts(text(1000), "🔑".repeat(1001)))
    assert.isTrue(accepts(name(255), "🔑".repeat(255)))
    assert.isFalse(accepts(name(255), "k".repeat(256)))
  })

  it("is published with that length", () => {
    assert.deepInclude(Schema.toJsonSchemaDocument(text(1000)).schema, { type: "string", maxLength: 1000 })
  })

  it("is Unicode that can be stored", () => {
    for (const bad of ["a\u0000b", "\ud800", "\udc00\ud800"]) {
      assert.isFalse(accepts(text(1000), bad))
      for (const within of [bad, { a: [1, null, { b: bad }] }, { [bad]: true }]) assert.isFalse(isStorableJson(within))
    }
    assert.isTrue(isStorableJson({ a: [1, null, { "🔑": "🔑" }], b: false }))
  })
})
