import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { afterAll, beforeAll } from "vitest"
import { Deployment } from "#services/Deployment.ts"
import { serviceSignature } from "#domain/WebhookSignature.ts"
import { buyer, charged, seller, server } from "../http/GatewayHarness.ts"
import { platform, seed } from "./ChannelStranger.ts"
import { type Consumer, consumer, deno, printed, root, wrongLines } from "./Consumer.ts"

let plain: Consumer
/** Where Effect is installed besides. */
let onEffect: string

beforeAll(async () => {
  plain = await consumer()
  onEffect = join(plain.everything, "on-effect")
  mkdirSync(join(onEffect, "node_modules"), { recursive: true })
  cpSync(join(plain.folder, "package.json"), join(onEffect, "package.json"))
  cpSync(plain.installed, join(onEffect, "node_modules/turnpike"), { recursive: true })
  symlinkSync(join(root, "node_modules/effect"), join(onEffect, "node_modules/effect"))
}, 600_000)
afterAll(() => rmSync(plain.everything, { recursive: true, force: true }))

describe("the package of the client", () => {
  it("installs nothing besides itself", () => {
    const names = readdirSync(join(plain.folder, "node_modules")).filter((name) => !name.startsWith("."))
    assert.deepStrictEqual(names, ["turnpike"])
  })

  it("holds modules and declarations, and no TypeScript to be compiled", () => {
    const files = readdirSync(plain.installed, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
    const others = files.filter(({ name }) => !name.endsWith(".d.mts")).map(({ name }) => name)
    assert.sameMembers(others, ["LICENSE", "README.md", "package.json", "client.js", "effect.js"])
  })

  it("is smaller than 30 KB", () => {
    assert.isBelow(readFileSync(join(plain.installed, "client.js")).length, 30_000)
  })

  it("brings less than 21 KB to who pays and calls the API", async () => {
    const entry = "entry"
    const names = `export { payingFetch, turnpike } from ${JSON.stringify(join(plain.installed, "client.js"))}`
    const bundle = await rolldown({
      input: entry,
      platform: "neutral",
      plugins: [
        { name: entry, resolveId: (id) => (id === entry ? id : null), load: (id) => (id === entry ? names : null) }
      ]
    })
    const { output } = await bundle.generate({ format: "esm", minify: true })
    assert.isBelow(Buffer.byteLength(output[0].code), 21_000)
  })

  it("stands on web standards alone", () => {
    const text = readFileSync(join(plain.installed, "client.js"), "utf8")
    const imports = /\bimport(?:\s*[({"'*]|\s+\w)|\bfrom\s*["']|\brequire\s*\(/
    assert.isNull(imports.exec(text))
    for (const name of ["process", "Buffer", "global", "Deno", "window", "document"]) {
      assert.notMatch(text, new RegExp(`(?<![\\w."'\`-])${name}[.[(]`), name)
    }
  })
})

/** Right as it is; `wrong` is what a line of it may be replaced by. */
const typed = `
import { agentChannel, payingFetch, PaymentError, receiptOf, turnpike, verifyWebhook } from "turnpike/client"
import type { AnswerOf, RequestOf, Turnpike, WebhookHeaders } from "turnpike/client"
const baseUrl = "https://api.example.com"
const api: Turnpike = turnpike({ baseUrl, apiKey: "key" })
const request: RequestOf<Turnpike["wallets"]["create"]> = { payload: { name: "Purse", metadata: { tags: [1, null] } } }
const wallet: AnswerOf<Turnpike["wallets"]["create"]> = await api.wallets.create(request)
const { id }: { id: string } = wallet
await api.wallets.fund({ params: { id }, payload: { amount: "25.00", currency: "USDC" } }, { timeoutMs: 5_000 })
for await (const entry of api.wallets.entries.all({ params: { id } })) console.log(entry.amount.length)
const fetch: typeof globalThis.fetch = payingFetch({ baseUrl, apiKey: "key", wallet: id, maxPerCall: "0.05" })
const answer = await fetch("https://api.example.com/x402/paid").catch((error) => error instanceof PaymentError)
if (typeof answer === "object") console.log(receiptOf(answer)?.amount)
const headers: Extract<WebhookHeaders, Headers> = new Headers()
const event = await verifyWebhook({ body: "{}", headers, secret: "whsec_secret" })
if (event.type === "transfer.completed") console.log(event.data.transfer.amount.length)
if (event.type === "x402.payment.completed") console.log(event.data.payment.charged?.length)
if (event.type === "batch.completed") for (const { completed } of event.data.batch.amounts) console.log(completed.length)
if (event.type === "scan.completed") console.log(event.data.scan.domain.length)
if (event.type === "test.completed") console.log(event.data.test.steps.length)
for await (const { data, type } of agentChannel({ baseUrl, agentId: "agt_1", privateKey: "key" }))
  if (type === "transfer_completed") console.log(data.direction === "inbound")
`

const mistakes = `
await api.wallets.create({ payload: { nam: "Purse" } })
await api.wallets.fund({ params: { id }, payload: { amount: 25, currency: "USDC" } })
await api.wallets.freeze({ params: { id } })
await api.wallets.burn({ params: { id } })
console.log(wallet.balance)
if (event.type === "transfer.complete") console.log(event)
if (event.type === "x402.payment.failed") console.log(event.data.payment.price)
if (event.type === "scan.completed") console.log(event.data.scan.checks)
payingFetch({ baseUrl, apiKey: "key", wallet: id, maxPerCal: "0.05" })
`

/** The numbers of the lines that are added to a program. */
const added = (program: string, more: string) => {
  const [before, after] = [program, program + more.trimStart()].map((text) => text.trimEnd().split("\n").length)
  return Array.from({ length: (after ?? 0) - (before ?? 0) }, (_, index) => String((before ?? 0) + index + 1))
}

const typedOnEffect = `
import { Effect, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { type Client, layerPaying, make } from "turnpike/client/effect"
export const balance = Effect.gen(function* () {
  const api: Client = yield* make({ baseUrl: "https://api.example.com", apiKey: Redacted.make("key") })
  const { data: [wallet] } = yield* api.wallets.list({ query: { status: "active", page: 1, limit: 1 } })
  const total: bigint = wallet === undefined ? 0n : wallet.balance_available
  return total
}).pipe(Effect.catchTag("MISSING_AUTH_HEADER", () => Effect.succeed(0n)), Effect.provide(FetchHttpClient.layer))
export const paying = layerPaying({ baseUrl: "https://api.example.com", apiKey: "key", wallet: "wal_1" })
`

const mistakesOnEffect = `
export const burn = Effect.flatMap(balance, () => Effect.void).pipe(Effect.catchTag("NO_SUCH_REFUSAL", () => Effect.void))
export const wrong = Effect.flatMap(make({ baseUrl: "https://api.example.com", apiKey: "key" }), () => Effect.void)
`

describe("the types of the package", () => {
  for (const module of ["nodenext", "preserve"] as const) {
    it(`need no Effect and tell right from wrong, with module ${module}`, async () => {
      const setup = { module, skipLibCheck: false }
      const wrong = await wrongLines(plain.folder, setup, typed + mistakes.trimStart())
      assert.deepStrictEqual(wrong, added(typed, mistakes))
    })
  }

  it("leave nothing open", () => {
    const files = readdirSync(join(plain.installed, "types/client"))
    for (const file of files) {
      const text = readFileSync(join(plain.installed, "types/client", file), "utf8")
      assert.notMatch(text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/"[^"\n]*"/g, ""), /\bany\b/, file)
    }
  })

  it("are the contract's own on Effect", async () => {
    const setup = { module: "nodenext", skipLibCheck: true } as const
    const wrong = await wrongLines(onEffect, setup, typedOnEffect + mistakesOnEffect.trimStart())
    assert.deepStrictEqual(wrong, added(typedOnEffect, mistakesOnEffect))
  })
})

const inNode = [process.execPath] as const
const inDeno = [deno ?? "", "run", "--allow-net=127.0.0.1"] as const
const written = join(root, "src/client/client.ts")

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
  const listensBy = async (command: readonly [string, ...ReadonlyArray<string>], client: string) => {
    const { url } = await platform((connection) => connection.say("evt_1", "task_assigned"))
    const event = { id: "evt_2", type: "webhook.test", created_at: "", data: {}, tenant_id: "", environment: "test" }
    const [body, secret] = [JSON.stringify(event), `whsec_${Buffer.alloc(24, 1).toString("base64")}`]
    const signed = { event: event.id, timestamp: Math.floor(Date.now() / 1000), body: Buffer.from(body) }
    const about = [url, seed, secret, body, serviceSignature([secret], signed)]
    assert.deepStrictEqual(await printed(plain.folder, command, listener(client), about), ["webhook.test", "evt_1"])
  }

  it("in Node", () => listensBy(inNode, "turnpike/client"))

  it.skipIf(deno === undefined)("in Deno, installed and as it is written", async () => {
    await listensBy(inDeno, "turnpike/client")
    await listensBy(inDeno, written)
  })
})

/** A program of an agent's author, given the address, its key, its wallet and what it calls. */
const payer = (client: string) => `
  import { payingFetch, receiptOf, turnpike } from ${JSON.stringify(client)}
  const [baseUrl, apiKey, wallet, url] = (globalThis.Deno?.args ?? process.argv.slice(2))
  const fetch = payingFetch({ baseUrl, apiKey, wallet })
  const response = await fetch(url, { method: "POST", body: "hello" })
  const { balance_available } = await turnpike({ baseUrl, apiKey }).wallets.get({ params: { id: wallet } })
  console.log(JSON.stringify([response.status, await response.text(), receiptOf(response)?.amount, balance_available]))
`

/** The same on Effect: the second call is above the cap of a day. */
const payerOnEffect = `
  import { Effect, Redacted } from "effect"
  import { FetchHttpClient, HttpClient } from "effect/http"
  import { PaymentError } from "turnpike/client"
  import { layerPaying, make } from "turnpike/client/effect"
  const [baseUrl, apiKey, wallet, url] = process.argv.slice(2)
  const call = HttpClient.post(url).pipe(Effect.flatMap(({ text }) => text))
  const program = Effect.gen(function* () {
    const answer = yield* call
    const { reason } = yield* Effect.flip(call)
    const api = yield* make({ baseUrl, apiKey: Redacted.make(apiKey) })
    const { balance_available } = yield* api.wallets.get({ params: { id: wallet } })
    console.log(JSON.stringify([answer, reason.cause instanceof PaymentError, String(balance_available)]))
  })
  await Effect.runPromise(Effect.provide(program, layerPaying({ baseUrl, apiKey, wallet, maxPerDay: "0.01" })))
`

layer(server, { timeout: "60 seconds", excludeTestServices: true })("the client pays", (it) => {
  const pays = (run: (about: ReadonlyArray<string>) => Promise<unknown>, said: ReadonlyArray<unknown>) =>
    Effect.gen(function* () {
      const { publicUrl } = yield* Deployment
      const shop = yield* seller((_, response) => response.end("sunny"), { method: "POST" })
      const agent = yield* buyer(1_000_000n)
      const about = [publicUrl, agent.key, agent.purse, `${publicUrl}${shop.path}`]
      assert.deepStrictEqual(yield* Effect.promise(() => run(about)), said)
      assert.strictEqual(yield* charged(agent.purse, 1_000_000n), 10_000n)
    })
  const paysBy = (command: readonly [string, ...ReadonlyArray<string>], client: string) =>
    pays((about) => printed(plain.folder, command, payer(client), about), [200, "sunny", "0.01", "0.99"])

  it.effect("in Node", () => paysBy(inNode, "turnpike/client"))

  it.effect("with no more of the web's standards than browsers had in 2022", () => {
    const old =
      "delete URL.canParse; delete URLSearchParams.prototype.size; delete AbortSignal.any; delete Promise.withResolvers"
    const program = `${old}\n${payer("turnpike/client")}`
    return pays((about) => printed(plain.folder, inNode, program, about), [200, "sunny", "0.01", "0.99"])
  })

  it.effect.skipIf(deno === undefined)("in Deno, installed and as it is written", () =>
    Effect.gen(function* () {
      yield* paysBy(inDeno, "turnpike/client")
      yield* paysBy(inDeno, written)
    })
  )

  it.effect("on Effect, and refuses with the same errors", () =>
    pays((about) => printed(onEffect, inNode, payerOnEffect, about), ["sunny", true, "990000"])
  )
})
