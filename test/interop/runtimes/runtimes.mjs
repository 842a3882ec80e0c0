// Our client as it is published, in runtimes whose `fetch`, streams and keys are others than Node's.
import { execFile, execFileSync } from "node:child_process"
import { createHmac } from "node:crypto"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { Miniflare } from "miniflare"
import { openOrigin, report, server } from "../x402/World.ts"
import { versionOf } from "../x402/versionOf.ts"

const here = import.meta.dirname
const folder = mkdtempSync(join(tmpdir(), "turnpike-runtimes-"))
execFileSync(process.execPath, [join(here, "../../../scripts/build-client.mjs"), join(folder, "built")])
cpSync(join(folder, "built/client.js"), join(folder, "client.js"))
for (const file of ["scenario.mjs", "worker.mjs", "bun.mjs"]) cpSync(join(here, file), join(folder, file))

const origin = await openOrigin(({ body, method }, response) => response.end(JSON.stringify({ method, body })))

const key = Buffer.alloc(24, 7)
const event = {
  id: "evt_1",
  type: "wallet.funded",
  created_at: new Date().toISOString(),
  tenant_id: "ten_1",
  environment: "test",
  data: {}
}
const [body, seconds] = [JSON.stringify(event), Math.floor(Date.now() / 1000)]
const signature = createHmac("sha256", key).update(`msg_1.${seconds}.${body}`).digest("base64")
const world = {
  ...server,
  originUrl: origin.url,
  secret: `whsec_${key.toString("base64")}`,
  delivery: {
    body,
    headers: { "webhook-id": "msg_1", "webhook-timestamp": String(seconds), "webhook-signature": `v1,${signature}` }
  }
}

const inBun = async () => {
  const env = { ...process.env, WORLD: JSON.stringify(world) }
  const bun = join(here, "node_modules/@oven/bun-linux-x64/bin/bun")
  const { stdout } = await promisify(execFile)(bun, [join(folder, "bun.mjs")], { env, timeout: 120_000 })
  return JSON.parse(stdout)
}

const inWorker = async () => {
  const worker = new Miniflare({
    modules: true,
    modulesRoot: folder,
    scriptPath: join(folder, "worker.mjs"),
    modulesRules: [{ type: "ESModule", include: ["**/*.js", "**/*.mjs"] }],
    compatibilityDate: "2024-01-01"
  })
  try {
    const answer = await worker.dispatchFetch("http://worker/", { method: "POST", body: JSON.stringify(world) })
    if (!answer.ok) throw new Error(await answer.text())
    return await answer.json()
  } finally {
    await worker.dispose()
  }
}

const runtimes = [
  { client: "turnpike/client on Bun", version: versionOf("@oven/bun-linux-x64", here), run: inBun },
  { client: "turnpike/client in workerd", version: versionOf("workerd", here).replace(/^1\./, ""), run: inWorker }
]
for (const { client, run, version } of runtimes) {
  const rows = await run().catch(({ message }) => [{ what: "runs", passed: false, note: message, ms: 0 }])
  for (const row of rows) report({ client, version, protocol: "", ...row })
}
origin.close()
rmSync(folder, { recursive: true, force: true })
