// Lints the OpenAPI description of a running server: npm run lint:openapi [-- http://host:port]
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "./tool.mjs"

const base = process.argv[2] ?? "http://127.0.0.1:4020"
const home = join(root, "test/interop/openapi")
const redocly = join(home, "node_modules/@redocly/cli/bin/cli.js")

const url = new URL(base)
if (!url.pathname.endsWith(".json")) url.pathname = "/openapi.json"
const response = await fetch(url).catch((error) => {
  console.error(`${url}: ${error.cause?.code ?? error.message} (start the server first: npm start)`)
  process.exit(1)
})
if (!response.ok) {
  console.error(`${url} answered ${response.status}`)
  process.exit(1)
}

if (!existsSync(redocly)) {
  const install = spawnSync("npm", ["ci", "--include=dev", "--loglevel=error", "--prefix", home], { stdio: "inherit" })
  if (install.status !== 0) process.exit(install.status ?? 1)
}

const folder = mkdtempSync(join(tmpdir(), "turnpike-openapi-"))
try {
  const file = join(folder, "openapi.json")
  writeFileSync(file, await response.text())
  const args = [redocly, "lint", file, "--config", join(home, "redocly.yaml")]
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" }
  process.exitCode = spawnSync(process.execPath, args, { stdio: "inherit", env }).status ?? 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
