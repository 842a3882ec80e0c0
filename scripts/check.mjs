// Runs every static check at once: one line per part with its time, output only from parts that fail.
import { spawn } from "node:child_process"
import { root, toolPath } from "./tool.mjs"

const parts = {
  "types and Effect diagnostics": [toolPath("tsc"), "-p", "."],
  lint: [toolPath("biome"), "lint", "--error-on-warnings", "."],
  format: [toolPath("biome"), "format", "--reporter=summary", "."],
  tidy: [process.execPath, "node_modules/vitest/vitest.mjs", "run", "--project", "tidy", "--reporter", "dot"]
}

const run = ([name, [command, ...args]]) =>
  new Promise((done) => {
    const started = performance.now()
    const output = []
    const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] })
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
