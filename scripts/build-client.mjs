// Bundles the client into one module without imports, for what cannot read TypeScript: browsers and older Nodes.
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"
import { root } from "./tool.mjs"

const [file = `${root}dist/client.js`] = process.argv.slice(2)
const bundle = await rolldown({
  input: fileURLToPath(new URL("../src/client/client.ts", import.meta.url)),
  platform: "neutral",
  transform: { target: "es2022" }
})
const { output } = await bundle.write({ file, format: "esm", minify: true })
await bundle.close()
for (const { code, fileName, imports } of output) {
  console.log(`${fileName}: ${Buffer.byteLength(code)} bytes, imports: ${imports.length === 0 ? "none" : imports}`)
}
