import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { audience, ChannelEventName } from "#domain/Channel.ts"
import { catalogue } from "#domain/EventExamples.ts"

const guide = readFileSync(new URL("../../docs/channel.md", import.meta.url), "utf8")
/** What each line of the table of events names, and whether it can be resumed after. */
const rows = [...guide.matchAll(/^\| `(\w+)` \|.*\| (yes|no|where it goes on) \|$/gm)].map(
  ([, name = "", id = ""]) => [name, id] as const
)

describe("docs/channel.md", () => {
  it("has every event", () => {
    assert.deepStrictEqual(rows.map(([name]) => name).sort(), [...ChannelEventName.literals].sort())
  })

  it("calls those reserved that no fact of this version is told by", () => {
    const raised = new Set(
      catalogue.filter(({ description }) => !description.includes("Reserved:")).map(({ type }) => type)
    )
    const told = new Set<string>(audience.filter(({ type }) => raised.has(type)).map(({ name }) => name))
    const silent = rows.filter(([name, id]) => id === "yes" && !told.has(name)).map(([name]) => name)
    const [, sentence = ""] = /\n\n([^\n]*) are reserved: nothing raises them/.exec(guide) ?? []
    assert.deepStrictEqual([...sentence.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name).sort(), silent.sort())
  })
})
