import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")
const guides = ["README.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)]

/** Where the commands of a guide write: `> file`, `-o file`, `-out file`. */
const written = (guide: string) =>
  [...readFileSync(join(root, guide), "utf8").matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, commands = ""]) =>
    [...commands.matchAll(/ (?:>|-o|-out) (\S+)/g)].map(([, file]) => `${guide}: ${file}`)
  )

describe("the commands of the guides", () => {
  it("write nothing into the clone, where it would be one commit from everybody", () => {
    const files = guides.flatMap(written)
    assert.isNotEmpty(files)
    assert.deepStrictEqual(
      files.filter((file) => !/: (?:\/tmp\/|"\$HELD\/)/.test(file)),
      []
    )
  })

  it("leave an agent's next key where its login looks for the key", () => {
    const agents = readFileSync(join(root, "docs/agents.md"), "utf8")
    const [, login] = agents.match(/-inkey (\S+) -rawin -in "\$HELD\/challenge.txt"/) ?? []
    const [, made] = agents.match(/-out (\S+)\nPUBLIC_KEY=[^\n]*\nprintf %s "rotate:/) ?? []
    assert.isDefined(made)
    assert.include(agents, `&& mv ${made} ${login}\n`)
  })
})

describe("what the README measured", () => {
  it("is what docs/speed.md measured: a worse day is told in both", () => {
    const all = readFileSync(join(root, "docs/speed.md"), "utf8")
    const [, speed = ""] = readFileSync(join(root, "README.md"), "utf8").split("\n## Speed\n")
    const [rows = ""] = speed.split("\n## ")
    const measured = rows.match(/\d[\d.,]* (?:x on a slow day )?to \d[\d.,]*/g) ?? []
    assert.isNotEmpty(measured)
    assert.deepStrictEqual(
      measured.filter((figures) => !all.includes(figures)),
      []
    )
  })
})
