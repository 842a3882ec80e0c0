import { assert, describe, it } from "@effect/vitest"
import { catalogue } from "#domain/EventExamples.ts"
import { contradictions, groups, postedOf, resolve } from "./Description.ts"

describe("the description of what webhooks post", () => {
  for (const { example, type } of catalogue) {
    it(`holds for ${type}`, () => {
      const { example: shown, schema } = postedOf(type)
      assert.deepStrictEqual(contradictions(schema, example), [])
      assert.deepStrictEqual(shown, example)
    })
  }

  it("stands under a group that there is", () => {
    assert.isNotEmpty(groups.ofPosted)
    for (const group of groups.ofPosted) assert.include(groups.named, group)
  })

  it("tells one type of event from another", () => {
    const [first, second] = catalogue
    assert.isNotEmpty(contradictions(postedOf(first?.type ?? "").schema, second?.example))
  })

  it("names every member of the thing that it is about", () => {
    const { properties = {} } = resolve(postedOf("scan.completed").schema)
    const scan = properties["data"]?.properties?.["scan"]
    const members = Object.keys(Object(Object(exampleOf("scan.completed")).scan))
    assert.sameMembers([...(scan?.required ?? [])], members)
  })
})

const exampleOf = (type: string): unknown => catalogue.find((one) => one.type === type)?.example["data"]
