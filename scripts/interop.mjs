// Lets the clients of other people pay a fresh sandbox, verify its webhooks and hear its agents' channels:
// npm run interop [-- --v1 | --no-v1] [part of a script's name, such as webhooks or channel]
// The system's Node may be too old for TypeScript; everything runs on the one in node_modules.
import { spawn } from "node:child_process"
import { constants } from "node:os"
import { join } from "node:path"
import { root } from "./tool.mjs"

const bin = join(root, "node_modules/.bin")
const child = spawn(join(bin, "node"), [join(root, "test/interop/x402/Interop.ts"), ...process.argv.slice(2)], {
  stdio: "inherit",
  env: { ...process.env, PATH: `${bin}:${process.env.PATH}` }
})
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal))
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
