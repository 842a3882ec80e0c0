// Links node_modules/.bin/node to the Node that was installed. npm 10 removes that link itself: it clears away what the package
// for the other architecture would have linked (npm/cli issue 4362), and both packages have the same name for it.
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../", import.meta.url))
const node = `node-linux-${process.arch}/bin/node`
const installed = `${root}node_modules/${node}`
const link = `${root}node_modules/.bin/node`

// It is there and does not run where the C library is another one (musl): then the system's must do.
const isThere = existsSync(installed)
const runs = isThere && spawnSync(installed, ["--version"]).status === 0

if (isThere) rmSync(link, { force: true })
if (runs) {
  mkdirSync(`${root}node_modules/.bin`, { recursive: true })
  symlinkSync(`../${node}`, link)
} else {
  const missing = isThere ? `The Node of node-linux-${process.arch} does not run here (it needs glibc). ` : ""
  const needed = /\d+/.exec(JSON.parse(readFileSync(`${root}package.json`, "utf8")).engines.node)?.[0]
  if (Number.parseInt(process.versions.node, 10) < Number(needed)) {
    console.error(`${missing}Turnpike needs Node ${needed} or newer, and the system's is ${process.version}.`)
    process.exitCode = 1
  } else if (isThere) console.error(`${missing}Scripts run on the system's, ${process.version}.`)
}
