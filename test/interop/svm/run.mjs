// The Solana part of `npm run interop`: one line per check; exit code 1 when one fails. Needs no server and no network
// once its packages are there, which it installs when they are missing.
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

const home = fileURLToPath(new URL(".", import.meta.url))
if (!existsSync(new URL("node_modules/litesvm", import.meta.url))) {
  // Not `npm ci`: it refuses where a registry has not the binaries of every platform.
  const install = spawnSync(
    "npm",
    ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", home],
    { stdio: "inherit" }
  )
  if (install.status !== 0) process.exit(install.status ?? 1)
}
await import("./checks.mjs")
