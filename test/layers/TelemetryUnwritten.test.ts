import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, existsSync, openSync } from "node:fs"
import { fileURLToPath } from "node:url"

const owner = fileURLToPath(new URL("./TelemetryOwner.ts", import.meta.url))

/** What a process prints that logs to this, and how it ended. */
const logging = async (stderr: number | "pipe", command = [process.execPath]) => {
  const [program = "", ...args] = command
  const child = spawn(program, [...args, owner], { stdio: ["ignore", "pipe", stderr] })
  child.stderr?.destroy()
  let printed = ""
  child.stdout?.on("data", (bytes) => {
    printed += String(bytes)
  })
  const [code] = await once(child, "close")
  return { code, printed: printed.trim() }
}

const deno = ["@deno/linux-x64-glibc", "@deno/linux-arm64-glibc"]
  .map((name) => fileURLToPath(new URL(`../../node_modules/${name}/deno`, import.meta.url)))
  .find((path) => existsSync(path))

for (const [runtime, command] of [
  ["Node", [process.execPath]],
  ["Deno", deno === undefined ? undefined : [deno, "run", "-A"]]
] as const) {
  it.live.skipIf(command === undefined || !existsSync("/dev/full"))(
    `a process outlives a disk without room for its log under ${runtime}, and counts what is lost`,
    () =>
      Effect.gen(function* () {
        const full = yield* Effect.acquireRelease(
          Effect.sync(() => openSync("/dev/full", "w")),
          (file) => Effect.sync(() => closeSync(file))
        )
        const { code, printed } = yield* Effect.promise(() => logging(full, command?.slice()))
        assert.strictEqual(code, 0)
        assert.isAtLeast(Number(printed), 9)
      })
  )
}

it.live("a process outlives whoever read its log", () =>
  Effect.gen(function* () {
    const { code, printed } = yield* Effect.promise(() => logging("pipe"))
    assert.strictEqual(code, 0)
    assert.isAtLeast(Number(printed), 9)
  })
)

it.live("a process whose log nobody reads, though it could be read, keeps no more of it than a little", () =>
  Effect.gen(function* () {
    const child = spawn(process.execPath, [owner, "1000000"], { stdio: ["ignore", "pipe", "pipe"] })
    const [printed] = yield* Effect.promise(() => once(child.stdout, "data"))
    // What is held holds the process as well.
    child.stderr.resume()
    const [code] = yield* Effect.promise(() => once(child, "close"))
    assert.strictEqual(code, 0)
    assert.strictEqual(String(printed).trim(), "8", "one that was being written, and one that waited")
  })
)
