import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

const owner = fileURLToPath(new URL("./NodeOwner.ts", import.meta.url))

it.live("a process that cannot put away what it stands on says why it has not stopped well", () =>
  Effect.gen(function* () {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => spawn(process.execPath, [owner, "stuck"], { stdio: ["ignore", "pipe", "pipe"] })),
      (one) => Effect.sync(() => one.kill("SIGKILL"))
    )
    let said = ""
    child.stderr.on("data", (bytes) => (said += String(bytes)))
    child.stdout.once("data", () => child.kill("SIGTERM"))
    const [code] = yield* Effect.promise(() => once(child, "close"))
    assert.strictEqual(code, 1)
    assert.match(said, /^\nThe owner cannot run: .*it is stuck/)
  })
)

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  it.live(`a process puts away what it stands on when it hears ${signal}`, () =>
    Effect.gen(function* () {
      const child = yield* Effect.acquireRelease(
        Effect.sync(() => spawn(process.execPath, [owner], { stdio: ["ignore", "pipe", "inherit"] })),
        (one) => Effect.sync(() => one.kill("SIGKILL"))
      )
      let printed = ""
      child.stdout.on("data", (bytes) => {
        printed += String(bytes)
        if (printed === "ready\n") child.kill(signal)
      })
      const [code] = yield* Effect.promise(() => once(child, "close"))
      assert.deepStrictEqual([code, printed], [0, "ready\nput away\n"])
    })
  )
}
