// Runs every static check at once: one line per part with its time, output only from parts that fail.
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { root, toolPath } from "./tool.mjs"

// What was checked before is checked again only where it may have changed: under these settings, by these versions.
const settings = createHash("sha256")
for (const file of ["tsconfig.json", "package-lock.json"]) settings.update(readFileSync(join(root, file)))
const known = `node_modules/.cache/types-${settings.digest("hex").slice(0, 16)}.tsbuildinfo`
// Each checker resolves for itself what several files use, so more of them than processors only repeat that.
const checkers = String(Math.min(4, availableParallelism()))
// The compiler's collector would take a third of its time: it collects only near the limit (at rest it needs 3 GB).
const env = { GOGC: "off", GOMEMLIMIT: "4GiB", ...process.env }

const parts = {
  "types and Effect diagnostics": [
    toolPath("tsc"),
    "-p",
    ".",
    "--checkers",
    checkers,
    "--incremental",
    "--tsBuildInfoFile",
    known
  ],
  "lint and format": [toolPath("biome"), "check", "--error-on-warnings", "."],
  tidy: [process.execPath, "node_modules/vitest/vitest.mjs", "run", "--project", "tidy", "--reporter", "dot"]
}

const run = ([name, [command, ...args]]) =>
  new Promise((done) => {
    const started = performance.now()
    const output = []
    const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] })
    child.stdout.on("data", (chunk) => output.push(chunk))
    child.stderr.on("data", (chunk) => output.push(chunk))
    child.on("error", (error) => output.push(Buffer.from(`${error}\n`)))
    child.on("close", (code) => {
      const seconds = ((performance.now() - started) / 1000).toFixed(1)
      console.log(`${code === 0 ? "ok  " : "FAIL"} ${name} ${seconds} s`)
      if (code !== 0) process.stdout.write(Buffer.concat(output))
      done(code === 0)
    })
  })

const results = await Promise.all(Object.entries(parts).map(run))
process.exitCode = results.every(Boolean) ? 0 : 1
