import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

it.live("a process that may open nothing more says so, once a minute", () =>
  Effect.gen(function* () {
    const owner = fileURLToPath(new URL("./DescriptorsOwner.ts", import.meta.url))
    const limited = ["-c", 'ulimit -n 64; exec "$@"', "sh", process.execPath, owner]
    const { stdout } = yield* Effect.promise(() => promisify(execFile)("sh", limited))
    const { after, before, first, said } = JSON.parse(stdout)
    assert.deepStrictEqual([before, first, after], [0, 1, 2])
    assert.strictEqual(said[0], "Error")
    assert.match(said[1], /ulimit -n.*callers are cut off/)
  })
)
