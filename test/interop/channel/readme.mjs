// The agent in the client's README listens as it is written there.
import { spawn } from "node:child_process"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { api, attempt, expect, server } from "../x402/World.ts"
import { newAgent, pay } from "./Agent.mjs"

const client = join(import.meta.dirname, "../../../src/client")
const [, chapter = ""] = readFileSync(join(client, "README.md"), "utf8").split(/^## An agent's events$/m)
const program = /```ts\n([\s\S]*?)```/.exec(chapter)?.[1] ?? ""

await attempt(
  { client: "agentChannel", version: "", protocol: "README" },
  "the agent as it is written there",
  async () => {
    const agent = await newAgent()
    const { agentId, privateKey } = agent
    const file = join(import.meta.dirname, "readme-agent.mjs")
    const given = { baseUrl: server.baseUrl, agentId, privateKey }
    const before = Object.entries(given).map(([name, value]) => `const ${name} = ${JSON.stringify(value)}\n`)
    writeFileSync(
      file,
      `${before.join("")}let lastEventId\n${program.replace("turnpike/client", join(client, "client.ts"))}`
    )
    const child = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] })
    let said = ""
    child.stdout.on("data", (chunk) => {
      said += chunk
    })
    try {
      // It is told what happens from its greeting on, which nobody but itself sees: it is paid until it hears of it.
      for (let paid = 0; said === "" && paid < 100; paid++) {
        if ((await api("GET", `/v1/agents/${agentId}/liveness`)).connected) await pay(agent)
        await setTimeout(500)
      }
      expect("said", said.split("\n")[0], "inbound 0.01 USDC")
    } finally {
      child.kill()
      rmSync(file)
    }
  }
)
