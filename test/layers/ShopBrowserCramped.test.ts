import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { missing } from "./ShopBrowserHarness.ts"

/** What a visit says in a process of its own, which may open nothing more where it is cramped. */
const visited = (when: "cramped" | "roomy", env: NodeJS.ProcessEnv = {}) => {
  const owner = join(import.meta.dirname, "ShopBrowserCrampedOwner.ts")
  const limited = ["-c", 'ulimit -n 256; exec "$@"', "sh", process.execPath, owner, when]
  return Effect.map(
    Effect.promise(() => promisify(execFile)("sh", limited, { env: { ...process.env, ...env } })),
    ({ stdout }) => JSON.parse(stdout.split("\n").at(-1) ?? "")
  )
}
const cannotBeHad = { shown: { failure: "The browser of this server does not start." }, isBroken: true }

if (missing !== undefined) {
  it("was not tried: this machine has no browser", () => assert.match(missing ?? "", /no browser/))
} else {
  describe("a visit by a browser", () => {
    it.live("says that there is none where no more files are to be had", () =>
      Effect.map(visited("cramped"), (told) => assert.deepStrictEqual(told, cannotBeHad))
    )

    it.live("says that there is none where it can have no folder of its own", () =>
      Effect.map(visited("roomy", { TMPDIR: "/nonexistent" }), (told) => assert.deepStrictEqual(told, cannotBeHad))
    )
  })
}
