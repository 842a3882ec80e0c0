import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll } from "vitest"
import { Deployment } from "#services/Deployment.ts"
import { serviceSignature } from "#domain/WebhookSignature.ts"
import { buyer, charged, seller, server } from "../http/GatewayHarness.ts"
import { platform, seed } from "./ChannelStranger.ts"

const run = promisify(execFile)
const root = join(import.meta.dirname, "../..")
const deno = ["@deno/linux-x64-glibc", "@deno/linux-arm64-glibc"]
  .map((name) => join(root, "node_modules", name, "deno"))
  .find((path) => existsSync(path))

const dir = mkdtempSync(join(tmpdir(), "turnpike-client-"))
const bundle = join(dir, "client.js")
beforeAll(() => run(process.execPath, [join(root, "scripts/build-client.mjs"), bundle]))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

describe("the client for everywhere", () => {
  it("is smaller than 36 KB", () => {
    assert.isBelow(readFileSync(bundle).length, 36_000)
  })

  it("stands on web standards alone", () => {
    const text = readFileSync(bundle, "utf8")
    const imports = /\bimport(?:\s*[({"'*]|\s+\w)|\bfrom\s*["']|\brequire\s*\(/
    assert.isNull(imports.exec(text))
    for (const name of ["process", "Buffer", "global", "Deno", "window", "document"]) {
      assert.notMatch(text, new RegExp(`(?<![\\w."'\`-])${name}[.[(]`), name)
    }
  })
})

/** A program of an agent's author, given the address, its key, its wallet and what it calls. */
const program = (client: string) => `
  import { payingFetch, receiptOf, turnpike } from ${JSON.stringify(client)}
  const [baseUrl, apiKey, wallet, url] = (globalThis.Deno?.args ?? process.argv.slice(2))
  const fetch = payingFetch({ baseUrl, apiKey, wallet })
  const response = await fetch(url, { method: "POST", body: "hello" })
  const { balance_available } = await turnpike({ baseUrl, apiKey }).wallets.get({ params: { id: wallet } })
  console.log(JSON.stringify([response.status, await response.text(), receiptOf(response)?.amount, balance_available]))
`

/** A program that verifies one delivery, and says what the agent hears first. */
const listener = (client: string) => `
  import { agentChannel, verifyWebhook } from ${JSON.stringify(client)}
  const [baseUrl, privateKey, secret, body, signature] = (globalThis.Deno?.args ?? process.argv.slice(2))
  const { type } = await verifyWebhook({ body, headers: { "X-Service-Signature": signature }, secret })
  for await (const { id } of agentChannel({ baseUrl, agentId: "agt_1", privateKey })) {
    console.log(JSON.stringify([type, id]))
    break
  }
`

describe("the client listens", () => {
  const listensBy = async (command: string, args: ReadonlyArray<string>, client: string) => {
    const { url } = await platform((connection) => connection.say("evt_1", "task_assigned"))
    const event = { id: "evt_2", type: "webhook.test", created_at: "", data: {}, tenant_id: "", environment: "test" }
    const [body, secret] = [JSON.stringify(event), `whsec_${Buffer.alloc(24, 1).toString("base64")}`]
    const signed = { event: event.id, timestamp: Math.floor(Date.now() / 1000), body: Buffer.from(body) }
    const file = join(dir, "listener.mjs")
    writeFileSync(file, listener(client))
    const { stdout } = await run(command, [...args, file, url, seed, secret, body, serviceSignature([secret], signed)])
    assert.deepStrictEqual(JSON.parse(stdout), ["webhook.test", "evt_1"])
  }

  it("in Node", () => listensBy(process.execPath, [], bundle))

  it.skipIf(deno === undefined)("in Deno, bundled and as it is written", async () => {
    await listensBy(deno ?? "", ["run", "--allow-net=127.0.0.1", "--no-config"], bundle)
    await listensBy(deno ?? "", ["run", "--allow-net=127.0.0.1"], join(root, "src/client/client.ts"))
  })
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })("the client pays", (it) => {
  const paysBy = (command: string, args: ReadonlyArray<string>, client: string) =>
    Effect.gen(function* () {
      const { publicUrl } = yield* Deployment
      const shop = yield* seller((_, response) => response.end("sunny"), { method: "POST" })
      const agent = yield* buyer(1_000_000n)
      const file = join(dir, `${shop.endpoint.id}.mjs`)
      writeFileSync(file, program(client))
      const about = [publicUrl, agent.key, agent.purse, `${publicUrl}${shop.path}`]
      const { stdout } = yield* Effect.promise(() => run(command, [...args, file, ...about]))
      assert.deepStrictEqual(JSON.parse(stdout), [200, "sunny", "0.01", "0.99"])
      assert.strictEqual(yield* charged(agent.purse, 1_000_000n), 10_000n)
    })

  it.effect("in Node", () => paysBy(process.execPath, [], bundle))

  it.effect.skipIf(deno === undefined)("in Deno, bundled and as it is written", () =>
    Effect.gen(function* () {
      yield* paysBy(deno ?? "", ["run", "--allow-net=127.0.0.1", "--no-config"], bundle)
      yield* paysBy(deno ?? "", ["run", "--allow-net=127.0.0.1"], join(root, "src/client/client.ts"))
    })
  )
})
