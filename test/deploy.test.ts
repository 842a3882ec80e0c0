import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { startFlags, startSettings } from "../scripts/cluster/Start.ts"

describe("deployment", () => {
  for (const file of ["turnpike@.service", "Dockerfile"]) {
    it(`${file} starts a server as \`npm start\` does`, () => {
      const text = readFileSync(new URL(`../deploy/${file}`, import.meta.url), "utf8")
      const words = [...startFlags, ...Object.entries(startSettings).map(([name, value]) => `${name}=${value}`)]
      assert.isAbove(words.length, startFlags.length)
      for (const word of words) assert.include(text, word)
    })
  }
})
