// Preloaded by the scripts that users run: a Node that cannot read TypeScript would only say that it does not know the ending.
const { existsSync } = require("node:fs")
const { join } = require("node:path")
const { engines } = require("../package.json")

const needed = Number.parseInt(/\d+/.exec(engines.node)[0])
if (Number.parseInt(process.versions.node, 10) < needed) {
  const isInstalled = existsSync(join(__dirname, `../node_modules/node-linux-${process.arch}/bin/node`))
  console.error(
    `Turnpike needs Node ${needed} or newer, and this is ${process.version}. ` +
      (isInstalled
        ? "The right one is installed, but not linked (as after npm ci --ignore-scripts): run `node scripts/link-node.mjs`."
        : "Run `npm ci`, which brings it along, or install it.")
  )
  process.exit(1)
}
