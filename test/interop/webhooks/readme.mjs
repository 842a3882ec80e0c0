// The receivers in the client's README run as they are written there.
import { randomBytes } from "node:crypto"
import { spawn } from "node:child_process"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { once } from "node:events"
import { setTimeout } from "node:timers/promises"
import { join } from "node:path"
import { attempt, expect } from "../x402/World.ts"
import { signed } from "./Verifiers.mjs"

const here = import.meta.dirname
const client = join(here, "../../../src/client")
const [, chapter = ""] = readFileSync(join(client, "README.md"), "utf8").split(/^## Webhooks$/m)
const [text = ""] = chapter.split(/^## /m)
const programs = [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, program]) => program)

const newSecret = () => `whsec_${randomBytes(24).toString("base64")}`
const secret = newSecret()
const event = { id: "evt_1", type: "webhook.test", created_at: "", tenant_id: "", environment: "test", data: {} }
const body = Buffer.from(JSON.stringify(event))

const freePort = async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address()
  server.close()
  return port
}

const send = async (url, body, headers) => {
  for (;;) {
    const sent = { method: "POST", body, headers: { "content-type": "application/json", ...headers } }
    const response = await fetch(url, sent).catch(() => undefined)
    if (response !== undefined) return response.status
    await setTimeout(20)
  }
}

for (const [index, program] of programs.entries()) {
  const name = /from "(?!node:|turnpike)([^"@]+)"/.exec(program)?.[1] ?? "node:http"
  await attempt({ client: name, version: "", protocol: "README" }, "the receiver as it is written there", async () => {
    const port = await freePort()
    const file = join(here, `readme-${index}.mjs`)
    const before = `const secret = ${JSON.stringify(secret)}\nconst handle = (event) => console.log(event.id)\n`
    const after = program.replace("turnpike/client", join(client, "client.ts")).replace("8080", String(port))
    writeFileSync(file, `${before}${after}`)
    const child = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] })
    let handled = ""
    child.stdout.on("data", (chunk) => {
      handled += chunk
    })
    try {
      const url = `http://127.0.0.1:${port}/hooks`
      expect("a delivery", await send(url, body, signed([secret], body, event.id)), 204)
      expect("a forged one", await send(url, body, signed([newSecret()], body, event.id)), 400)
      expect("one without a signature", await send(url, body, {}), 400)
      expect("handled", handled.trim(), event.id)
    } finally {
      child.kill()
      rmSync(file)
    }
  })
}
expect("programs in the README", programs.length, 3)
