import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { retrySchedule } from "#domain/DeliverySchedule.ts"
import { catalogue } from "#domain/EventExamples.ts"

const guide = readFileSync(new URL("../../docs/webhooks.md", import.meta.url), "utf8")

/** What stands behind a mark, up to the next mark, heading or end. */
const behind = (mark: string) => {
  const at = guide.indexOf(`<!-- ${mark} -->`)
  assert.isAtLeast(at, 0, mark)
  return guide.slice(at + `<!-- ${mark} -->`.length)
}

const units = [
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000]
] as const
const inWords = (millis: number) => {
  const [name, size] = units.find(([, size]) => millis >= size && millis % size === 0) ?? units[2]
  const count = millis / size
  return `${count} ${name}${count === 1 ? "" : "s"}`
}

describe("docs/webhooks.md", () => {
  it("has every type of event with what it says and where its data is", () => {
    const rows = catalogue.map(({ description, example, type }) => {
      const keys = Object.keys(Object(example["data"])).map((key) => `\`${key}\``)
      return `| \`${type}\` | ${keys.join(", ")} | ${description} |`
    })
    const table = ["| Type | `data` has | Meaning |", "|---|---|---|", ...rows].join("\n")
    assert.strictEqual(behind("event types").trim(), table)
  })

  it("shows the body of an event as it is posted", () => {
    const shown = catalogue.find(({ type }) => type === "transfer.completed")
    const [, json = ""] = /^\s*```json\n([\s\S]*?)\n```/.exec(behind("example: transfer.completed")) ?? []
    assert.strictEqual(json, JSON.stringify(shown?.example, null, 2))
  })

  it("says when attempts are made again", () => {
    const again = retrySchedule.slice(1).map(inWords)
    const [, words] = /^\s*([^\n]+)\n/.exec(behind("schedule")) ?? []
    assert.strictEqual(words, `${again.slice(0, -1).join(", ")} and ${again.at(-1)},`)
  })
})
