// Finds the native tools by architecture. Their npm wrappers list platform packages that not every registry
// carries, which breaks `npm ci`, so package.json names the platform packages and this file their binaries.
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { constants } from "node:os"
import { fileURLToPath } from "node:url"

const candidates = {
  biome: [`@biomejs/cli-linux-${process.arch}/biome`],
  deno: [`@deno/linux-${process.arch}-glibc/deno`],
  // TypeScript with the Effect diagnostics; plain TypeScript where that build does not exist.
  tsc: [`@effect/tsgo-linux-${process.arch}/lib/tsc`, ".bin/tsc"]
}

export const root = fileURLToPath(new URL("..", import.meta.url))

export const toolPath = (name) => {
  const found = (candidates[name] ?? [])
    .map((path) => fileURLToPath(new URL(`../node_modules/${path}`, import.meta.url)))
    .find((path) => existsSync(path))
  if (found === undefined)
    throw new Error(`${name} is not installed for ${process.platform}-${process.arch}: run npm ci`)
  return found
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name, ...args] = process.argv.slice(2)
  const child = spawn(toolPath(name), args, { stdio: "inherit" })
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal))
  child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}
